package runs

import (
	"archive/zip"
	"cmp"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostBundled is the size of a bundle in bytes: what GitHub takes as an attachment of an issue.
const mostBundled = 25 << 20

// A Bundle is stored runs as one file to send with a report of a fault: a zip with, for each run, run.json (an export),
// report.txt, and damage.txt if parts cannot be read; the journals of their experiments; and Facts.
//
// Secrets are masked as the store has them. Hosts, addresses and home directories are replaced. Answers, texts of request
// bodies, and what servers said in errors are left out unless Texts. So are the records of runs for which there is no
// room, all of a run or none.
type Bundle struct {
	Runs  []string       // ids
	Facts map[string]any // further files, as JSON, by name
	Texts bool

	most    int // bytes; 0: mostBundled
	zip     *zip.Writer
	bytes   meter
	mask    mask
	leftOut []string
}

// Write writes the bundle, and returns what is to be known of it, a line each.
func (b *Bundle) Write(w io.Writer, s *store.Store) (remarks []string, err error) {
	b.bytes = meter{w: w, most: cmp.Or(b.most, mostBundled)}
	b.zip, b.mask = zip.NewWriter(&b.bytes), mask{texts: b.Texts}
	for _, id := range b.Runs {
		if err := b.run(s, id); err != nil {
			return nil, fmt.Errorf("bundle run %s: %w", id, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Facts)) {
		if err := b.json(name, b.Facts[name]); err != nil {
			return nil, fmt.Errorf("bundle %s: %w", name, err)
		}
	}
	about := b.about()
	err = b.text("about.txt", strings.Join(about, "\n")+"\n")
	for _, a := range b.mask.aliases {
		remarks = append(remarks, fmt.Sprintf("%-10s stands for %s", a.name, a.original))
	}
	slices.Sort(remarks)
	return append(remarks, about...), errors.Join(err, b.zip.Close())
}

// about says what was left out and what was not.
func (b *Bundle) about() (lines []string) {
	for _, id := range b.leftOut {
		lines = append(lines, fmt.Sprintf("Without the records of run %s: a bundle has at most %d MiB.", id, mostBundled>>20))
	}
	lines = append(lines, "Hidden: keys and credentials, hosts, addresses, home directories.")
	if b.Texts {
		lines = append(lines, "Not hidden: answers that were stored, request bodies, the words of servers in errors.")
	} else {
		lines = append(lines, "Left out: answers, texts of request bodies, the words of servers in errors, ends of logs.")
	}
	return append(lines, "Not hidden: names of runs, tenants, conversations, models, files and images; tags and remarks; arguments and variables of servers.",
		"Look through it before you send it.")
}

// run adds a run. One that cannot be read has its damage only.
func (b *Bundle) run(s *store.Store, id string) error {
	folder := notInNames.ReplaceAllString(id, "_")
	stored, err := Open(s, id)
	if err != nil {
		return b.text(folder+"/damage.txt", b.mask.text("", err.Error())+"\n")
	}
	masked, err := b.masked(stored)
	if err != nil {
		return err
	}
	if o := stored.Run.Origin; o == nil || o.Detail == trace.Recorded {
		err = b.report(folder+"/report.txt", masked)
	}
	if masked.Run, err = b.tidy(stored.Run, err); err != nil { // it has what reading its records found
		return err
	}
	var damage strings.Builder
	for _, note := range store.LeftOut(masked.Trace) {
		fmt.Fprintln(&damage, words.In(words.Default).Say(note))
	}
	if damage.Len() > 0 {
		err = b.text(folder+"/damage.txt", damage.String())
	}
	return errors.Join(err, b.export(folder, masked), b.journal(s, stored.Run.Leg))
}

// export adds a run with its records, or without if there is no room.
func (b *Bundle) export(folder string, one Stream) error {
	one = one.unmarked()
	all := func(w io.Writer) error {
		return store.WriteJSONOf(w, one.Trace, iter.Seq2[[]*trace.Record, error](one.Some))
	}
	if err := b.zip.Flush(); err != nil {
		return err
	}
	room := meter{w: io.Discard, most: b.bytes.most*9/10 - b.bytes.n}
	f, _ := flate.NewWriter(&room, flate.DefaultCompression) // a level that there is
	err := cmp.Or(all(f), f.Close())
	switch {
	case errors.Is(err, errNoRoom):
		b.leftOut = append(b.leftOut, one.Run.ID)
		return b.json(folder+"/run-without-records.json", map[string]any{"run": one.Run})
	case err != nil:
		return err
	}
	return b.entry(folder+"/run.json", all)
}

// masked is a run as the bundle has it.
func (b *Bundle) masked(s Stream) (Stream, error) {
	run, err := b.tidy(s.Run, nil)
	t := &trace.Trace{Run: run}
	if s.Telemetry != nil && err == nil {
		set := *s.Telemetry
		set.Sources, err = masked(&b.mask, set.Sources)
		set.Series = slices.Clone(set.Series)
		for i, one := range set.Series {
			series := *one
			var errKey error
			series.Key, errKey = masked(&b.mask, one.Key)
			set.Series[i], err = &series, errors.Join(err, errKey)
		}
		t.Telemetry = &set
	}
	return Stream{t, func(yield func([]*trace.Record, error) bool) {
		for some, err := range s.Some {
			copies := make([]*trace.Record, len(some))
			for i, r := range some {
				copies[i] = b.mask.record(r)
			}
			if !yield(copies, err) {
				return
			}
		}
	}}, err
}

// tidy is a run, masked.
func (b *Bundle) tidy(run trace.Run, err error) (trace.Run, error) {
	if err != nil {
		return run, err
	}
	run.Probes = slices.Clone(run.Probes)
	for i, r := range run.Probes {
		run.Probes[i] = b.mask.record(r)
	}
	if run.Plan.Spec != nil && !b.Texts {
		spec := *run.Plan.Spec
		for _, body := range []*json.RawMessage{&spec.Request.Body, &spec.Request.Sampling, &spec.Before.Profiler.Start.Body, &spec.Before.Profiler.Stop.Body} {
			*body = longText(*body)
		}
		run.Plan.Spec = &spec
	}
	if run.Origin != nil && !b.Texts {
		origin := *run.Origin
		origin.Note, origin.Around, origin.Claims, origin.Command = nil, nil, nil, longText(origin.Command)
		run.Origin = &origin
	}
	raw, err := json.Marshal(run)
	if err != nil {
		return run, err
	}
	b.mask.learn(raw)
	return masked(&b.mask, run)
}

// report adds the report of a run.
func (b *Bundle) report(name string, one Stream) error {
	summary, err := metrics.SummarizeRecords(one.Trace, one.Some, metrics.Options{})
	if err != nil {
		return err
	}
	return b.entry(name, func(w io.Writer) error { return report.Text(w, summary, words.In(words.Default)) })
}

// journal adds that of the experiment of a run, once.
func (b *Bundle) journal(s *store.Store, leg *trace.Leg) error {
	if leg == nil {
		return nil
	}
	name := "experiment-" + notInNames.ReplaceAllString(leg.Experiment, "_") + ".json"
	e, err := s.Experiment(leg.Experiment)
	if _, there := b.Facts[name]; there || errors.Is(err, store.ErrNoExperiment) {
		return nil
	}
	if err == nil {
		b.Facts[name] = e.Body
	}
	return err
}

// json adds a value as JSON, masked.
func (b *Bundle) json(name string, v any) error {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	b.mask.learn(raw)
	return b.text(name, string(secret.MapJSON(raw, b.mask.text))+"\n")
}

func (b *Bundle) text(name, text string) error {
	return b.entry(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func (b *Bundle) entry(name string, write func(io.Writer) error) error {
	w, err := b.zip.Create(name)
	if err != nil {
		return err
	}
	return write(w)
}

// notInNames is what a name of a file must not have, as ids and names of experiments of another program may.
var notInNames = regexp.MustCompile(`[^\w-]`)

var errNoRoom = fmt.Errorf("a bundle has at most %d MiB; name fewer runs", mostBundled>>20)

// A meter counts bytes, up to a limit.
type meter struct {
	w       io.Writer
	n, most int
}

func (m *meter) Write(p []byte) (int, error) {
	if m.n += len(p); m.n > m.most {
		return 0, errNoRoom
	}
	return m.w.Write(p)
}
