package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/conform"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/runs"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// runsCmd is `pitot runs`.
type runsCmd struct {
	List    runsListCmd          `cmd:"" help:"List the stored runs, newest first."`
	Show    runsShowCmd          `cmd:"" help:"Show a run: its plan, its environment, and every record."`
	Diff    envDiffCmd           `cmd:"" help:"Show what differs between two runs: plan and environment."`
	Answers comparing.AnswersCmd `cmd:"" help:"List the requests that two runs answered differently, earliest difference first."`
	Report  runsReportCmd        `cmd:"" help:"Report a run, in any dialect."`
	Export  runsExportCmd        `cmd:"" help:"Write a run as JSON, JSONL, CSV or Parquet."`
	Rm      runsRmCmd            `cmd:"" help:"Remove runs."`
	Tag     tagsCmd              `cmd:"" help:"Write tags and a remark of runs."`
	Check   runsCheckCmd         `cmd:"" help:"Read all runs and list what is damaged."`
	Repair  runsRepairCmd        `cmd:"" help:"Replace a damaged store by one with everything that can be read; the damaged one is kept."`
}

type runArg struct {
	Run string `arg:"" default:"last" help:"Id, prefix of an id, name, or last (${default})."`
	flags.StoreFlag
}

func (a runArg) with(sess *session.Session, use func(runs.Stream) error) error {
	err := sess.With(a.Store, func(s *store.Store) error {
		one, err := runs.Open(s, a.Run)
		if err == nil {
			err = use(one)
		}
		return err
	})
	if errors.Is(err, store.ErrNoRun) {
		err = usage(err)
	}
	return err
}

func (a runArg) load(sess *session.Session) (t *trace.Trace, err error) {
	err = a.with(sess, func(one runs.Stream) error {
		t, err = one.Trace, one.Load()
		return err
	})
	return sess.ReportSkipped(t), err
}

type runsListCmd struct {
	Match  string   `arg:"" optional:"" placeholder:"PATTERN" help:"A name, the beginning of a name path, or a pattern such as 'nightly*'. Default: all runs."`
	N      int      `short:"n" default:"20" placeholder:"N" help:"Number of runs to show, 0 for all (${default})."`
	Figure []string `short:"f" placeholder:"NAME" help:"Figure to show for each run, such as ttft.p99 or throughput.output, by Pitot's definitions; may be repeated."`
	JSON   bool     `name:"json" help:"Print an array of objects, with all figures of each run."`
	All    bool     `hidden:"" help:"As -n 0."`
	flags.Filter
	flags.StoreFlag
}

// Run lists.
func (c runsListCmd) Run(sess *session.Session) error {
	for _, name := range c.Figure {
		if !figure.Known(name) {
			return usagef("--figure %q: no figure has that name%s; `pitot compare` and `pitot runs show` list those of runs", name, figure.Like(name))
		}
	}
	filter, err := c.Select(c.Match)
	if err != nil {
		return err
	}
	total := 0
	var all []runs.Run
	err = sess.With(c.Store, func(s *store.Store) (err error) {
		if err = c.Within(s, &filter, sess.Words()); err == nil {
			total, err = s.Count(filter)
		}
		if filter.Limit = c.N; c.All {
			filter.Limit = 0
		}
		list, errList := s.List(filter)
		if err = errors.Join(err, errList); err == nil && (c.JSON || c.Figure != nil) {
			all, err = withFigures(sess, s, list)
			return err
		}
		for _, l := range list {
			all = append(all, runs.Run{Listing: l})
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return runs.Summary(sess.Stdout, all, runs.JSON, english())
	case total == 0 && c.Match == "" && !c.Selects():
		_, err := fmt.Fprintln(sess.Stdout, sess.Word("runs.none"))
		return err
	}
	return runs.List(sess.Stdout, all, c.Figure, total, sess.Words())
}

// withFigures adds the figures of runs, which are computed once. Damaged runs have none.
func withFigures(sess *session.Session, s *store.Store, list []store.Listing) (all []runs.Run, err error) {
	for i := 0; i < len(list) && err == nil; i++ {
		one := runs.Run{Listing: list[i]}
		if one.Figures, err = known.StoredFigures(s, one.ID); err != nil && sess.ReportDamage(err) {
			err = nil
		}
		all = append(all, one)
	}
	return all, err
}

type runsShowCmd struct {
	N   int  `short:"n" placeholder:"N" help:"Number of records to show. Default: all."`
	All bool `hidden:"" help:"All records, as by default."`
	runArg
}

// Run shows.
func (c runsShowCmd) Run(sess *session.Session) error {
	t, err := c.load(sess)
	if err != nil {
		return err
	}
	return report.Trace(sess.Stdout, t, c.N, sess.Words())
}

type runsReportCmd struct {
	Dialect        string           `enum:"pitot,vllm,sglang,json" default:"pitot" placeholder:"NAME" help:"pitot, vllm, sglang, or json for pitot's figures (${default})."`
	DialectVersion string           `placeholder:"FORM" help:"Version of the report: for vllm 2026-11, 2026-08, 2025-12 or 2025-07, for sglang main or 2026-01. Default: the run's, or the newest."`
	SLO            []plan.Objective `name:"slo" placeholder:"LIMITS" help:"Objectives instead of the run's: ttft=200ms of each request, ttft.p99=200ms of the run."`
	Percentiles    []float64        `placeholder:"LIST" help:"Percentiles instead of the run's."`
	All            bool             `hidden:"" help:"The whole report, as always."`
	flags.Prices
	reportFile
	runArg
}

// Run reports.
func (c runsReportCmd) Run(sess *session.Session) error {
	refused := func(run trace.Run) error { return usage(known.Named(c.Dialect).CheckReport(run, c.SLO, c.Percentiles)) }
	wrong := append(plan.CheckObjectives("slo", c.SLO), plan.CheckPercentiles("percentiles", c.Percentiles)...)
	err := errors.Join(usage(tool.Names{"slo": "--slo", "percentiles": "--percentiles"}.Explain(wrong)),
		checkForm(c.Dialect, c.DialectVersion), refused(trace.Run{}), c.reportFile.Check(), usage(c.Prices.Check()))
	if err != nil {
		return err
	}
	if c.Output != "" {
		return c.file(sess)
	}
	if j := experimentNamed(sess, c.runArg.Run, c.Store); j != nil {
		return reportExperiment(sess, j, c.Dialect, c.StoreFlag)
	}
	return c.with(sess, func(one runs.Stream) error {
		if err := refused(one.Run); err != nil {
			return err
		}
		return c.report(sess, one)
	})
}

func (c runsReportCmd) report(sess *session.Session, one runs.Stream) error {
	t := one.Trace
	if o := t.Run.Origin; o != nil && o.Detail != trace.Recorded {
		return c.reported(sess, t.Run)
	}
	if len(c.SLO) > 0 {
		t.Run.Plan.Objectives = c.SLO
	}
	if len(c.Percentiles) > 0 {
		t.Run.Plan.Percentiles = c.Percentiles
	}
	if c.Dialect != "pitot" && c.Dialect != "json" { // which have nothing of a Summary
		err := one.Load()
		if sess.ReportSkipped(t); err != nil {
			return err
		}
		printHealth(sess, metrics.HealthOf(t))
		return printReport(sess, t, metrics.Summary{}, c.Dialect, c.DialectVersion, true)
	}
	summary, err := metrics.SummarizeRecords(t, one.Some, metrics.Options{})
	if sess.ReportSkipped(t); err != nil {
		return err
	}
	summary.Cost = metrics.CostOf(summary, c.PerHour(), c.Devices)
	if c.Dialect != "pitot" {
		printHealth(sess, summary.Health)
	}
	return printReport(sess, t, summary, c.Dialect, c.DialectVersion, true)
}

func (c runsReportCmd) file(sess *session.Session) error {
	if c.Dialect != "pitot" || c.DialectVersion != "" || len(c.SLO)+len(c.Percentiles) > 0 {
		return usagef("--output %s: --dialect, --dialect-version, --slo and --percentiles only apply to text", c.Output)
	}
	if c.Page() {
		return c.WritePage(sess, c.Store, c.runArg.Run)
	}
	v := variants{Runs: []string{c.runArg.Run}, Level: "95%", Margin: "2%", StoreFlag: c.StoreFlag}
	o, err := v.options("runs report")
	if err != nil {
		return err
	}
	n, err := v.note(sess, o, "", c.words(sess))
	if err != nil {
		return err
	}
	return c.WritePlot(n)
}

// reported writes the report of a run that has its tool's figures but no requests: only that tool's own report is
// possible.
func (c runsReportCmd) reported(sess *session.Session, run trace.Run) error {
	o := run.Origin
	asked := c.Dialect != "pitot" && c.Dialect != o.Tool || c.DialectVersion != "" && c.DialectVersion != o.Form
	if toolNamed(o.Tool).Log == nil {
		return usagef("run %s was imported from %s, and Pitot does not write its report; see `pitot runs show %s`", run.ID, o.Tool, run.ID)
	}
	if asked || len(c.SLO)+len(c.Percentiles) > 0 {
		return usagef("run %s was imported as %s of %s, and nothing else can be computed from it; remove --dialect, --dialect-version, --slo and --percentiles", run.ID, report.Detail(o.Detail), o.Tool)
	}
	return result.WriteReported(sess.Stdout, run, tool.Tables(known.Tools())...)
}

type runsExportCmd struct {
	Runs      []string `arg:"" optional:"" help:"Ids, prefixes of ids, names, last, or patterns such as 'nightly*', which take all runs that match. Default: last; with --summary all runs."`
	Format    string   `short:"f" enum:",json,jsonl,csv,parquet" default:"" placeholder:"FORMAT" help:"json, jsonl, csv or parquet; several runs need csv or parquet. Default: as the name of --output ends, else json."`
	Output    string   `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	Summary   bool     `xor:"what" help:"Write a row for each run, with its figures, in any format."`
	Telemetry bool     `xor:"what" help:"Write a row for each sample of server, devices and hosts, in any format."`
	Marks     bool     `help:"Write the marks of the answers too, by which those of runs can be compared without their texts."`
	Bundle    string   `xor:"what" placeholder:"FILE" help:"Write runs, masked, with their reports and the facts of this machine into one new zip file, for a report of a fault."`
	WithText  bool     `help:"With --bundle, keep stored answers, request bodies and what servers said in errors."`
	flags.Filter
	flags.StoreFlag
}

// Run exports.
func (c runsExportCmd) Run(sess *session.Session) error {
	filter, err := c.Select("")
	if err != nil {
		return err
	}
	if c.Selects() && !slices.ContainsFunc(c.Runs, session.IsPattern) && (!c.Summary || len(c.Runs) > 0) {
		return usagef("--kind, --status, --verdict, --model, --load, --tag and --since only apply to patterns, and to --summary of all runs")
	}
	if c.Bundle != "" || c.WithText {
		return c.bundle(sess, filter)
	}
	form := cmp.Or(runs.Format(c.Format), runs.FormatOf(c.Output), runs.JSON)
	return sess.With(c.Store, func(s *store.Store) error {
		if err := c.Within(s, &filter, sess.Words()); err != nil {
			return err
		}
		write, err := c.writer(sess, s, filter, form)
		switch {
		case err != nil:
			return err
		case c.Output != "":
			return session.WriteFile("--output", c.Output, write)
		case form.Text():
			return write(sess.Stdout)
		}
		return write(sess.RawStdout)
	})
}

// bundle writes runs into one file for a report of a fault.
func (c runsExportCmd) bundle(sess *session.Session, filter store.Filter) error {
	_, err := os.Lstat(c.Bundle)
	switch {
	case c.Bundle == "":
		return usagef("--with-text: needs --bundle FILE")
	case c.Format+c.Output != "":
		return usagef("--bundle %s: is always a zip file; remove --format and --output", c.Bundle)
	case c.Marks:
		return usagef("--bundle %s: has no marks of answers; remove --marks", c.Bundle)
	case err == nil:
		return usagef("--bundle %s: already exists; name a new file", c.Bundle)
	case len(c.Runs) == 0:
		c.Runs = []string{"last"}
	}
	health, err := conform.Diagnose(sess, doctor.PlannedLoad{})
	if err != nil {
		return err
	}
	b := runs.Bundle{Texts: c.WithText, Facts: map[string]any{"version.json": flags.Build(sess), "doctor.json": health}}
	return sess.With(c.Store, func(s *store.Store) error {
		list, err := found(s, c.Runs, filter)
		if err != nil {
			return err
		}
		for _, l := range list {
			b.Runs = append(b.Runs, l.ID)
		}
		var remarks []string
		err = files.WritePrivate(c.Bundle, func(w io.Writer) error {
			remarks, err = b.Write(w, s)
			return err
		})
		if err != nil {
			return fmt.Errorf("--bundle: %w", err)
		}
		_, err = fmt.Fprintf(sess.Stdout, "wrote %s: %s\n%s\n", c.Bundle, session.Plural(len(list), "run"), plain.Text(strings.Join(remarks, "\n")))
		return err
	})
}

func (c runsExportCmd) writer(sess *session.Session, s *store.Store, filter store.Filter, form runs.Format) (func(io.Writer) error, error) {
	if c.Summary && len(c.Runs) == 0 {
		list, err := s.List(filter)
		return func(w io.Writer) error { return summarize(sess, w, s, list, form) }, err
	}
	if len(c.Runs) == 0 {
		c.Runs = []string{"last"}
	}
	list, err := found(s, c.Runs, filter)
	switch {
	case c.Summary:
		return func(w io.Writer) error { return summarize(sess, w, s, list, form) }, err
	case c.Telemetry:
		return func(w io.Writer) error { return runs.ExportTelemetry(w, opened(sess, s, list), form) }, err
	case err == nil && len(list) > 1 && !form.Holds():
		err = usagef("%d runs do not fit into one %s file; use -f csv or parquet, or --summary", len(list), form)
	}
	return func(w io.Writer) error { return runs.Export(w, opened(sess, s, list), form, c.Marks) }, err
}

// summarize writes a row for each run.
func summarize(sess *session.Session, w io.Writer, s *store.Store, list []store.Listing, form runs.Format) error {
	all, err := withFigures(sess, s, list)
	return errors.Join(err, runs.Summary(w, all, form, english()))
}

// opened are stored runs, one after the other.
func opened(sess *session.Session, s *store.Store, list []store.Listing) runs.Streams {
	return func(yield func(runs.Stream, error) bool) {
		for _, l := range list {
			one, err := runs.Open(s, l.ID)
			if err != nil && len(list) > 1 && sess.ReportDamage(err) {
				continue
			}
			more := yield(one, err)
			if sess.ReportSkipped(one.Trace); !more {
				return
			}
		}
	}
}

// found are the runs that references name, each once; a pattern names all of a filter that
// match.
func found(s *store.Store, refs []string, filter store.Filter) (all []store.Listing, err error) {
	for _, ref := range refs {
		var list []store.Listing
		if session.IsPattern(ref) {
			filter.Match = ref
			if list, err = s.List(filter); err == nil && len(list) == 0 {
				err = usagef("%s: no stored run has this name or id; see `pitot runs list`", ref)
			}
		} else {
			list = make([]store.Listing, 1)
			list[0], err = s.Find(ref)
			err = usage(err)
		}
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			if !slices.ContainsFunc(all, func(k store.Listing) bool { return k.ID == l.ID }) {
				all = append(all, l)
			}
		}
	}
	return all, nil
}

type runsRmCmd struct {
	Runs []string `arg:"" optional:"" help:"Ids, prefixes of ids, names, last, or patterns such as 'try-*'."`
	Yes  bool     `short:"y" help:"Do not ask before runs are removed that a pattern matches."`
	flags.StoreFlag
}

// Run removes.
func (c runsRmCmd) Run(sess *session.Session) error {
	if err := session.RequireArgs("run", "runs rm", c.Runs); err != nil {
		return err
	}
	return sess.With(c.Store, func(s *store.Store) error {
		list, err := found(s, c.Runs, store.Filter{})
		for _, l := range list {
			if l.Status == trace.Running {
				err = usagef("run %s is still running; it can be removed when it has ended", l.ID)
			}
		}
		if err == nil && !c.Yes && slices.ContainsFunc(c.Runs, session.IsPattern) {
			err = confirmRemoval(sess, list)
		}
		for i := 0; i < len(list) && err == nil; i++ {
			if err = s.Remove(list[i].ID); err == nil {
				fmt.Fprintln(sess.Stdout, "removed", list[i].ID)
			}
		}
		return err
	})
}

// confirmRemoval asks at a terminal whether runs are to be removed.
func confirmRemoval(sess *session.Session, list []store.Listing) error {
	for _, l := range list {
		fmt.Fprintln(sess.Stderr, plain.Line(doc.Join("  ", l.ID, l.Name)))
	}
	if sess.Stdin == nil {
		return usagef("%s would be removed; add --yes", session.Plural(len(list), "run"))
	}
	fmt.Fprintf(sess.Stderr, "remove %s? [y/N] ", session.Plural(len(list), "run"))
	answer, _ := bufio.NewReader(io.LimitReader(sess.Stdin, 64)).ReadString('\n') // no answer is no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was removed")
	}
	return nil
}

type runsCheckCmd struct{ flags.StoreFlag }

// Run reads everything.
func (c runsCheckCmd) Run(sess *session.Session) error {
	sess.RemoveStale()
	return sess.With(c.Store, func(runs *store.Store) error {
		health, err := runs.Check(known.VerifyFigures)
		fmt.Fprintln(sess.Stdout, health)
		return errors.Join(err, health.Err())
	})
}

type runsRepairCmd struct{ flags.StoreFlag }

// Run repairs.
func (c runsRepairCmd) Run(sess *session.Session) error {
	path, err := sess.StorePath(c.Store)
	if err != nil {
		return err
	}
	health, err := store.Repair(path, known.VerifyFigures)
	fmt.Fprintln(sess.Stdout, health)
	return err
}
