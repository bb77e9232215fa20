package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// readJSON reads the results in a file of JSON: one object, several one after
// the other, as tools leave that append to their file, or an array of them.
//
// The file is read twice. The first time everything is checked, figures and
// settings are kept, and of long arrays the place. Records are read from those
// places when somebody asks for them, all arrays of a result in step (columns).
func readJSON(s Source) ([]Found, []Problem) {
	d := &document{source: s, seen: map[string]int{}, digest: sha256.New()}
	d.read()
	return d.finish()
}

// A document is a file as it is read.
type document struct {
	source   Source
	digest   hash.Hash
	drafts   []*draft
	own      []Found // runs that Pitot exported
	problems []Problem
	seen     map[string]int // how often an object stood in the file, by content

	strange     int // objects that are no result
	unknown     *object
	benchmark   *object // of a list of vLLM's for the PyTorch benchmark database
	benchmarkID []byte
}

// A draft is a result on its way to being Found.
type draft struct {
	Found
	at       place
	origin   *trace.Origin
	problems []*scanError
}

// A format is one tool's result file.
type format struct {
	is   func(*object) bool
	read func(*reading)
}

// formats are those that are known, each after those that it could be mistaken
// for.
func formats() []format {
	return []format{
		{isSGLang, readSGLang},
		{isVLLM, readVLLM},
		{isGuideLLM, readGuideLLM},
		{isAIPerf, readAIPerf},
		{isInferencePerf, readInferencePerf},
	}
}

// A reading is one object of a file, given to the reader of its format, which
// adds drafts.
type reading struct {
	*document
	object *object
	id     []byte // of the bytes of the object
}

func (d *document) scanner(at place) *keeper {
	return &keeper{scanner: newScanner(d.source.Data, d.source.Size, at), room: keptTotal}
}

func (d *document) read() {
	at := fileStart
	k := d.scanner(at)
	if k.peek() == 0xEF { // a byte order mark
		k.next += 3
	}
	for !k.done() && k.err == nil {
		at = k.at()
		if k.peek() == '[' {
			k.items(func() { d.one(k) })
			d.pytorch()
		} else {
			d.one(k)
		}
		if k.err != nil {
			k = d.resume(at, k)
		}
	}
}

// one reads an object.
func (d *document) one(k *keeper) {
	k.start()
	d.digest.Reset()
	k.room = keptTotal
	k.measure(d.digest)
	o := k.object(0)
	k.measure(nil)
	if k.err == nil {
		d.take(o, d.digest.Sum(nil))
	}
}

// take gives an object to the reader of its format.
func (d *document) take(o *object, id []byte) {
	switch {
	case isBenchmark(o):
		d.gather(o, id)
		return
	case isPitot(o):
		d.exported(o)
		return
	}
	for _, f := range formats() {
		if f.is(o) {
			f.read(&reading{d, o, id})
			return
		}
	}
	d.refuse(o)
}

// refuse notes an object that is no result.
func (d *document) refuse(o *object) {
	if d.strange++; d.strange == 1 {
		d.unknown = o
	}
}

// resume tells of the mistake that ended failed, in what started at begun. It
// goes on from the next line that starts with an object: a tool that was stopped
// while it wrote a result appends the next to the rest of it.
func (d *document) resume(begun place, failed *keeper) *keeper {
	bad, broken := failed.at(), failed.peekAt()
	k := d.nextLine(begun, bad)
	if k.peek() != 0 && (broken == '\n' || k.at() == bad) {
		d.problem(&scanError{begun, fmt.Sprintf("the result that begins here is cut short, and another begins in line %d", k.line)})
	} else {
		d.problem(failed.err)
	}
	return k
}

// nextLine is at the next line that starts with an object, neither the one at
// begun nor one ahead of bad.
func (d *document) nextLine(begun, bad place) *keeper {
	k := d.scanner(begun)
	for k.next < k.end || k.fill() {
		c := k.buf[k.next]
		if at := k.at(); c == '{' && at.column == 1 && at.line > begun.line && at.line >= bad.line {
			return k
		}
		k.next++
		if c == '\n' {
			k.line, k.lineStart = k.line+1, k.base+int64(k.next)
		}
	}
	return k
}

func (d *document) problem(err error) {
	p := Problem{File: d.source.Name, Reason: err.Error()}
	var at *scanError
	if errors.As(err, &at) {
		p.Line = at.at.line
		p.Reason = fmt.Sprintf("column %d, byte %d: %s", at.at.column, at.at.offset, at.reason)
	}
	d.problems = append(d.problems, p)
}

// draft is a new result of a tool; part tells it from others in its object.
func (r *reading) draft(tool string, part ...string) *draft {
	d := &draft{at: r.object.at, origin: &trace.Origin{Tool: tool, Detail: trace.Summed, File: r.source.Name}}
	d.origin.Path = part
	name := strings.Join(append(nameParts(r.source.Name), part...), " / ")
	d.Run = trace.Run{
		ID: r.identify(tool), Name: name, Kind: trace.Imported, Status: trace.Complete, End: trace.Never,
		Plan: trace.Plan{Dialect: tool}, Origin: d.origin,
	}
	r.drafts = append(r.drafts, d)
	return d
}

// identify is the id of a result: the same for the same bytes, wherever the file is
// kept, but for those that stand several times in it.
func (r *reading) identify(tool string) string {
	key := fmt.Sprintf("%s\x00%x", tool, r.id)
	r.seen[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, r.seen[key]-1))
	return "imp-" + hex.EncodeToString(sum[:6])
}

// nameParts are the parts of a source's path that name its runs: the folders and
// the stem. A path that leaves the working directory tells where somebody keeps
// files, so there it is the stem alone.
func nameParts(name string) []string {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	parts := strings.Split(clean, "/")
	last := len(parts) - 1
	parts[last] = strings.TrimSuffix(parts[last], path.Ext(parts[last]))
	switch {
	case path.IsAbs(clean) || parts[0] == "..":
		return parts[last:]
	case last > 0 && repeat.MatchString(parts[last]):
		return parts[:last]
	}
	return parts
}

// repeat is what vLLM's sweeps call the runs of one configuration, which is the
// folder: they are repeats of each other.
var repeat = regexp.MustCompile(`^run=\d+$`)

// finish is what was found. Lines are told where a file has several results.
func (d *document) finish() (found []Found, problems []Problem) {
	for _, f := range d.drafts {
		if len(d.drafts) > 1 {
			f.origin.Line = f.at.line
		}
		for _, p := range f.problems {
			d.problem(p)
		}
		if f.origin.Detail != trace.Recorded && f.origin.Detail != trace.Undated {
			f.Records = nil
		}
		found = append(found, f.Found)
	}
	found = append(found, d.own...)
	switch {
	case d.strange > 0:
		d.problems = append(d.problems, d.stranger())
	case len(found) == 0 && len(d.problems) == 0:
		d.problems = append(d.problems, Problem{File: d.source.Name, Reason: "it holds no result", Nothing: true})
	}
	return found, d.problems
}

// stranger tells of the objects that no reader knows.
func (d *document) stranger() Problem {
	p := Problem{File: d.source.Name, Reason: explain(d.unknown), Nothing: len(d.drafts)+len(d.own) == 0}
	if d.unknown.at.line > 1 {
		p.Line = d.unknown.at.line
	}
	if d.strange > 1 {
		p.Reason = fmt.Sprintf("%s; so are %d more objects", p.Reason, d.strange-1)
	}
	return p
}

// explain says what an object is that is no result, as far as that is known.
func explain(o *object) string {
	switch {
	case o.has("run", "service"):
		return "it is a report of Pitot's: its run is in the store that it was made with, and `pitot runs export` writes it with its records"
	case o.has("info", "start_time", "end_time", "request"):
		return "it is inference-perf's file of single requests: read summary_lifecycle_metrics.json or stage_N_lifecycle_metrics.json beside it"
	case o.has("metadata", "metrics") && o.object("metadata").has("request_start_ns"):
		return "it is AIPerf's file of single requests: read profile_export_aiperf.json beside it"
	}
	names := slices.Clone(o.names)
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	if len(names) == 0 {
		return "no tool known writes an empty object"
	}
	return "no tool known writes such results: their members are " + strings.Join(names, ", ")
}

// figure adds one, once, if it is a number.
func (f *draft) figure(name string, value float64) {
	if _, twice := f.origin.Figure(name); twice || !isFinite(value) {
		return
	}
	f.origin.Figures = append(f.origin.Figures, trace.Figure{Name: name, Value: value})
}
