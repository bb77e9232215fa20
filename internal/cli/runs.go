package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/text"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/table"
)

// runsCmd is `pitot runs`.
type runsCmd struct {
	List   runsListCmd   `cmd:"" help:"List the stored runs, newest first."`
	Show   runsShowCmd   `cmd:"" help:"Show a run: its plan, its environment, and every record."`
	Report runsReportCmd `cmd:"" help:"Report a run, in any dialect."`
	Export runsExportCmd `cmd:"" help:"Write a run as JSON, JSONL, CSV or Parquet."`
	Rm     runsRmCmd     `cmd:"" help:"Remove runs."`
	Check  runsCheckCmd  `cmd:"" help:"Read all runs and list what is damaged."`
	Repair runsRepairCmd `cmd:"" help:"Replace a damaged store by one with everything that can be read; the damaged one is kept."`
}

// runArg names a run.
type runArg struct {
	Run string `arg:"" default:"last" help:"Id, prefix of an id, name, or last (${default})."`
	storeSetting
}

// load reads the run.
func (a runArg) load(p *Process) (t *trace.Trace, err error) {
	err = a.with(p, func(runs *store.Store) (err error) {
		t, err = runs.Load(a.Run)
		return err
	})
	if errors.Is(err, store.ErrNoRun) {
		err = usage(err)
	}
	return p.tellDamage(t), err
}

// with lets use have the store.
func (s storeSetting) with(p *Process, use func(*store.Store) error) error {
	runs, err := p.openRuns(s.Store)
	if err != nil {
		return err
	}
	defer runs.Close()
	return use(runs)
}

type runsListCmd struct {
	N      int      `short:"n" default:"20" placeholder:"N" help:"Number of runs to show, 0 for all (${default})."`
	Figure []string `short:"f" placeholder:"NAME" help:"Figure to show for each run, such as ttft.p99 or throughput.output, by Pitot's definitions; may be repeated."`
	storeSetting
}

// Run lists.
func (c runsListCmd) Run(p *Process) error {
	titles := []string{"RUN", "NAME", "KIND", "STATUS", "VERDICT", "REQUESTS", "FAILED"}
	for _, name := range c.Figure {
		if !metrics.Known(name) {
			return usagef("--figure %q: no figure has that name; `pitot compare` and `pitot runs show` list those of runs", name)
		}
		titles = append(titles, text.FigureTitle(name))
	}
	rows := [][]string{append(titles, "MODEL", "LOAD")}
	err := c.with(p, func(runs *store.Store) error {
		list, err := runs.List(store.Filter{Limit: c.N})
		total, errTotal := runs.Count(store.Filter{})
		if err := errors.Join(err, errTotal); err != nil {
			return err
		}
		for _, l := range list {
			figures, err := c.figures(runs, l)
			if err != nil && !p.passOver(err) {
				return err
			}
			records, failed := counts(l)
			rows = append(rows, slices.Concat([]string{l.ID, l.Name, string(l.Kind), string(l.Status), cmp.Or(string(l.Validity), "–"), records, failed},
				figures, []string{l.Model, text.Load(l.Plan(), english)}))
		}
		if more := total - len(list); more > 0 {
			rows = append(rows, []string{fmt.Sprintf("… %d more (-n 0 shows all)", more)})
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(rows) == 1:
		_, err := fmt.Fprintln(p.Stdout, "no runs yet: pitot bench makes one")
		return err
	}
	return text.Columns(p.Stdout, rows)
}

// figures are those asked for of a run. They are computed once.
func (c runsListCmd) figures(runs *store.Store, l store.Listing) ([]string, error) {
	if c.Figure == nil {
		return nil, nil
	}
	all, known, err := runs.Figures(l.ID, ownFigures, metrics.Version)
	if err == nil && !known {
		var t *trace.Trace
		if t, err = runs.Load(l.ID); err == nil {
			all, err = keepFigures(runs, t)
		}
	}
	shown := make([]string, len(c.Figure))
	for i, name := range c.Figure {
		shown[i] = "–"
		if j := slices.IndexFunc(all, func(f trace.Figure) bool { return f.Name == name }); j >= 0 {
			shown[i] = text.Figure(name, all[j].Value)
		}
	}
	return shown, err
}

// ownFigures are kept under this name: by Pitot's definitions, or of a run without records
// as its tool told them.
const ownFigures = "pitot"

// keepFigures computes the figures of a run and keeps them.
func keepFigures(runs *store.Store, t *trace.Trace) ([]trace.Figure, error) {
	tool := ownFigures
	if o := t.Run.Origin; o != nil && !compare.HasRecords(t.Run) {
		tool = o.Tool
	}
	all := rules().Figures(t, tool, "")
	if t.Run.Status == trace.Running {
		return all, nil
	}
	return all, runs.KeepFigures(t, ownFigures, metrics.Version, all)
}

// counts are the requests of a run and the failed ones among them, by its records,
// or else by what its tool reported.
func counts(l store.Listing) (records, failed string) {
	if l.Records > 0 || l.Kind != trace.Imported {
		return strconv.Itoa(l.Records), strconv.Itoa(l.Failed)
	}
	records, failed = "–", "–"
	if l.Requests > 0 {
		records = strconv.Itoa(l.Requests)
	}
	if l.Failed >= 0 {
		failed = strconv.Itoa(l.Failed)
	}
	return records, failed
}

type runsShowCmd struct {
	N int `short:"n" placeholder:"N" help:"Number of records to show. Default: all."`
	runArg
}

// Run shows.
func (c runsShowCmd) Run(p *Process) error {
	t, err := c.load(p)
	if err != nil {
		return err
	}
	return text.Run(p.Stdout, t, c.N, english)
}

type runsReportCmd struct {
	Dialect        string           `enum:"pitot,vllm,sglang,json" default:"pitot" placeholder:"NAME" help:"pitot, vllm, sglang, or json for pitot's figures (${default})."`
	DialectVersion string           `placeholder:"FORM" help:"Version of the report: for vllm main, 2026-11, 2026-08, 2025-12 or 2025-07, for sglang main or 2026-01. Default: the run's, or main."`
	SLO            []plan.Objective `name:"slo" placeholder:"LIMITS" help:"Goodput objectives instead of the run's."`
	Percentiles    []float64        `placeholder:"LIST" help:"Percentiles instead of the run's."`
	runArg
}

// Run reports.
func (c runsReportCmd) Run(p *Process) error {
	wrong := append(plan.CheckObjectives("slo", c.SLO), plan.CheckPercentiles("percentiles", c.Percentiles)...)
	if err := errors.Join(usage(asTool{"slo": "--slo", "percentiles": "--percentiles"}.Explain(wrong)), checkForm(c.Dialect, c.DialectVersion), c.checkDialect()); err != nil {
		return err
	}
	t, err := c.load(p)
	if err != nil {
		return err
	}
	if c.Dialect == "vllm" && t.Run.Plan.Dialect == "vllm" && (len(c.SLO) > 0 || len(c.Percentiles) > 0) {
		return usagef("run %s has the objectives and percentiles of its own command line; --slo and --percentiles only apply to --dialect pitot", t.Run.ID)
	}
	if c.Dialect == "vllm" && slices.ContainsFunc(c.SLO, func(o plan.Objective) bool { return o.Metric == "itl" }) {
		return usagef("--slo itl: vllm knows objectives on ttft, tpot and e2el")
	}
	if o := t.Run.Origin; o != nil && o.Detail != trace.Recorded {
		return c.reported(p, t.Run)
	}
	if len(c.SLO) > 0 {
		t.Run.Plan.Objectives = nil
	}
	for _, o := range c.SLO {
		t.Run.Plan.Objectives = append(t.Run.Plan.Objectives, trace.SLO{Metric: o.Metric, Limit: o.Limit.Std()})
	}
	if len(c.Percentiles) > 0 {
		t.Run.Plan.Percentiles = c.Percentiles
	}
	summary := metrics.Summarize(t, metrics.Options{})
	if c.Dialect != "pitot" {
		p.warn(summary.Health)
	}
	return p.printReport(t, summary, c.Dialect, c.DialectVersion)
}

// reported writes the report of a run of which there is what its tool said and not
// each request: that tool's own is all there can be.
func (c runsReportCmd) reported(p *Process, run trace.Run) error {
	o := run.Origin
	asked := c.Dialect != "pitot" && c.Dialect != o.Tool || c.DialectVersion != "" && c.DialectVersion != o.Form
	if toolNamed(o.Tool).Log == nil {
		return usagef("run %s was imported from %s, and Pitot does not write its report; see `pitot runs show %s`", run.ID, o.Tool, run.ID)
	}
	if asked || len(c.SLO)+len(c.Percentiles) > 0 {
		return usagef("run %s was imported as %s of %s, and nothing else can be computed from it; remove --dialect, --dialect-version, --slo and --percentiles", run.ID, text.Detail(o.Detail), o.Tool)
	}
	return table.WriteReported(p.Stdout, run, tool.Tables(tools())...)
}

// checkDialect holds the flags to what the dialect has.
func (c runsReportCmd) checkDialect() error {
	if c.Dialect == "sglang" && len(c.SLO)+len(c.Percentiles) > 0 {
		return usagef("--slo and --percentiles only apply to --dialect pitot and vllm")
	}
	return nil
}

type runsExportCmd struct {
	Format string `short:"f" enum:"json,jsonl,csv,parquet" default:"json" placeholder:"FORMAT" help:"json, jsonl, csv or parquet (${default})."`
	Output string `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	runArg
}

// Run exports.
func (c runsExportCmd) Run(p *Process) error {
	t, err := c.load(p)
	if err != nil {
		return err
	}
	if c.Output == "" {
		return store.Export(map[bool]io.Writer{true: p.Stdout, false: p.data}[c.Format == "json" || c.Format == "jsonl"], t, store.Format(c.Format))
	}
	return writeFile("--output", c.Output, func(w io.Writer) error { return store.Export(w, t, store.Format(c.Format)) })
}

type runsRmCmd struct {
	Runs []string `arg:"" optional:"" help:"Ids, prefixes of ids, names, or last."`
	storeSetting
}

// Run removes.
func (c runsRmCmd) Run(p *Process) error {
	if err := some("run", "runs rm", c.Runs); err != nil {
		return err
	}
	return c.with(p, func(runs *store.Store) error {
		ids, err := c.find(runs)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := runs.Remove(id); err != nil {
				return err
			}
			fmt.Fprintln(p.Stdout, "removed", id)
		}
		return nil
	})
}

// find turns every reference into an id, before any run is removed.
func (c runsRmCmd) find(runs *store.Store) (ids []string, err error) {
	for _, ref := range c.Runs {
		l, err := runs.Find(ref)
		if err != nil {
			return nil, usage(err)
		}
		if l.Status == trace.Running {
			return nil, usagef("run %s is still running; it can be removed when it has ended", l.ID)
		}
		ids = append(ids, l.ID)
	}
	return ids, nil
}

type runsCheckCmd struct{ storeSetting }

// Run reads everything.
func (c runsCheckCmd) Run(p *Process) error {
	return c.with(p, func(runs *store.Store) error {
		health, err := runs.Check()
		fmt.Fprintln(p.Stdout, health)
		return errors.Join(err, health.Err())
	})
}

type runsRepairCmd struct{ storeSetting }

// Run repairs.
func (c runsRepairCmd) Run(p *Process) error {
	path, err := p.storePath(c.Store)
	if err != nil {
		return err
	}
	health, err := store.Repair(path)
	fmt.Fprintln(p.Stdout, health)
	return err
}
