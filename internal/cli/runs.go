package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

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
}

// runArg names a run.
type runArg struct {
	Run string `arg:"" default:"last" help:"Id, the beginning of one, a name, or last (${default})."`
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
	return t, err
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
	N int `short:"n" default:"20" placeholder:"N" help:"Show so many, 0 for all (${default})."`
	storeSetting
}

// Run lists.
func (c runsListCmd) Run(p *Process) error {
	var list []store.Listing
	total := 0
	err := c.with(p, func(runs *store.Store) (err error) {
		if list, err = runs.List(store.Filter{Limit: c.N}); err == nil {
			total, err = runs.Count(store.Filter{})
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no runs yet: pitot bench makes one")
		return err
	}
	rows := [][]string{{"RUN", "NAME", "KIND", "STATUS", "VERDICT", "REQUESTS", "FAILED", "MODEL", "LOAD"}}
	for _, l := range list {
		records, failed := counts(l)
		rows = append(rows, []string{
			l.ID, l.Name, string(l.Kind), string(l.Status), cmp.Or(string(l.Validity), "–"), records, failed, l.Model, describeLoad(l.Plan()),
		})
	}
	if more := total - len(list); more > 0 {
		rows = append(rows, []string{fmt.Sprintf("… %d more (-n 0 shows all)", more)})
	}
	return text.Columns(p.Stdout, rows)
}

// verdict is what was thought of a run when it was over.
func verdict(run trace.Run) string {
	if run.Verdict == nil {
		return "–"
	}
	return string(run.Verdict.Validity)
}

func describeLoad(p trace.Plan) string {
	parts := slices.DeleteFunc([]string{english.Say(p.Workload), english.Say(p.Arrival)}, func(s string) bool { return s == "" })
	if p.Concurrency > 0 {
		parts = append(parts, fmt.Sprintf("at most %d in flight", p.Concurrency))
	}
	return strings.Join(parts, ", ")
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
	N int `short:"n" placeholder:"N" help:"Show so many records. Default: all."`
	runArg
}

// Run shows.
func (c runsShowCmd) Run(p *Process) error {
	t, err := c.load(p)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	showRun(w, t)
	fmt.Fprintln(w)
	if t.Run.Origin != nil {
		showFigures(w, t.Run.Origin.Figures)
	}
	if len(t.Records) > 0 {
		showRecords(w, t, c.N)
	}
	return w.Flush()
}

func showRun(w io.Writer, t *trace.Trace) {
	run := t.Run
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	line("run", run.ID)
	line("name", run.Name)
	line("kind", string(run.Kind))
	line("status", string(run.Status))
	if !run.Started.IsZero() {
		line("started", run.Started.Local().Format(time.RFC3339))
	}
	line("target", strings.TrimSpace(run.Plan.URL+" "+run.Plan.Model))
	line("load", describeLoad(run.Plan))
	line("records", fmt.Sprintf("%d of %d requests", len(t.Records), run.Plan.Requests))
	line("server", run.Env.Server)
	line("tokenizer", english.Say(run.Env.Tokenizer))
	line("", english.Say(run.Env.TokenizerWhy))
	if o := run.Origin; o != nil {
		showOrigin(line, o)
	} else {
		line("client", fmt.Sprintf("pitot %s, %s, %s, %s, %d processors, %d files", run.Env.Pitot, run.Env.Go, run.Env.OS, run.Env.Host, run.Env.CPUs, run.Env.FileLimit))
		line("command", "pitot "+strings.Join(run.Env.Invocation, " "))
	}
	line("verdict", verdict(run))
	if run.Verdict != nil {
		for _, r := range run.Verdict.Reasons {
			line("", english.Say(r))
		}
	}
	for _, n := range run.Notes {
		line("note", english.Say(n))
	}
}

// detailWords say what another tool left.
var detailWords = map[trace.Detail]string{
	trace.Table: "a table", trace.Summed: "a summary", trace.Undated: "a summary with the timing of each request", trace.Recorded: "all requests as recorded",
}

// showOrigin tells where an imported run came from, and what stood there.
func showOrigin(line func(name, value string), o *trace.Origin) {
	line("from", fmt.Sprintf("%s, %s of %s", place(o.File, o.Line), detailWords[o.Detail], strings.TrimSpace(o.Tool+" "+o.Form)))
	if o.Detail == trace.Table {
		line("headings", strings.Join(o.Path, " / "))
	}
	for _, c := range o.Claims {
		line("claim", fmt.Sprintf("%s (line %d)", c.Text, c.Line))
	}
	for _, a := range o.Around {
		line("beside it", a)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Setup)) {
		line("setting", name+" = "+o.Setup[name])
	}
}

// showFigures is a line a figure, as another tool reported it, in the units of
// storage.
func showFigures(w io.Writer, figures []trace.Figure) {
	fmt.Fprintln(w, "FIGURE\tVALUE\tUNIT")
	for _, f := range figures {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, strconv.FormatFloat(f.Value, 'g', 10, 64), metrics.QuantityOf(f.Name).Unit)
	}
	fmt.Fprintln(w)
}

// showRecords is a line a record; instants are in seconds since the start of the
// run, TTFT and E2EL from the first byte sent in milliseconds.
func showRecords(w io.Writer, t *trace.Trace, most int) {
	records := slices.SortedFunc(slices.Values(t.Records), func(a, b *trace.Record) int { return a.Index - b.Index })
	fmt.Fprintln(w, "INDEX\tDUE s\tRELEASED s\tSENT s\tTTFT ms\tE2EL ms\tIN\tOUT\tCHUNKS\tRESULT")
	for i, r := range records {
		if most > 0 && i == most {
			fmt.Fprintf(w, "… %d more\n", len(records)-i)
			return
		}
		first, _, chunks := r.Output()
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", r.Index, at(r.Due), at(r.Released), at(r.Sent),
			since(r.Sent, first), since(r.Sent, r.Done), r.PromptTokens, r.OutputTokens, chunks, outcome(r))
	}
}

func at(t trace.Instant) string {
	if !t.Happened() {
		return "–"
	}
	return fmt.Sprintf("%.4f", t.Seconds())
}

func since(from, to trace.Instant) string {
	if !from.Happened() || !to.Happened() {
		return "–"
	}
	return fmt.Sprintf("%.2f", to.Sub(from).Seconds()*1000)
}

func outcome(r *trace.Record) string {
	switch {
	case r.OK():
		return "ok " + r.FinishReason
	case r.Class == trace.HTTP:
		return fmt.Sprintf("%s %d", r.Class, r.Status)
	}
	return string(r.Class)
}

type runsReportCmd struct {
	Dialect        string           `enum:"pitot,vllm,sglang,json" default:"pitot" placeholder:"NAME" help:"pitot, vllm, sglang, or json for pitot's figures (${default})."`
	DialectVersion string           `placeholder:"FORM" help:"Form of a foreign report: of vllm's main, 2026-11, 2026-08, 2025-12 or 2025-07, of sglang's main or 2026-01. Default: the run's, or main."`
	SLO            []plan.Objective `name:"slo" placeholder:"LIMITS" help:"Goodput objectives in place of the run's."`
	Percentiles    []float64        `placeholder:"LIST" help:"Percentiles in place of the run's."`
	runArg
}

// Run reports.
func (c runsReportCmd) Run(p *Process) error {
	wrong := append(plan.CheckObjectives("slo", c.SLO), plan.CheckPercentiles("percentiles", c.Percentiles)...)
	if err := errors.Join(asTool{"slo": "--slo", "percentiles": "--percentiles"}.explain(wrong), checkForm(c.Dialect, c.DialectVersion), c.checkDialect()); err != nil {
		return err
	}
	t, err := c.load(p)
	if err != nil {
		return err
	}
	if c.Dialect == "vllm" && t.Run.Plan.Dialect == "vllm" && (len(c.SLO) > 0 || len(c.Percentiles) > 0) {
		return usagef("run %s has the objectives and percentiles of its own command line: --slo and --percentiles are for --dialect pitot", t.Run.ID)
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
		return usagef("run %s was imported from %s, whose report pitot does not write: `pitot runs show %s` has its figures", run.ID, o.Tool, run.ID)
	}
	if asked || len(c.SLO)+len(c.Percentiles) > 0 {
		return usagef("run %s was imported as %s of %s: nothing else can be computed from it, so leave out --dialect, --dialect-version, --slo and --percentiles", run.ID, detailWords[o.Detail], o.Tool)
	}
	return table.WriteReported(p.Stdout, run, tool.Tables(tools())...)
}

// checkDialect holds the flags to what the dialect has.
func (c runsReportCmd) checkDialect() error {
	if c.Dialect == "sglang" && len(c.SLO)+len(c.Percentiles) > 0 {
		return usagef("--slo and --percentiles are for --dialect pitot and vllm: sglang's report has no goodput, and percentiles of its own")
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
		return store.Export(p.Stdout, t, store.Format(c.Format))
	}
	file, err := os.Create(c.Output)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return errors.Join(store.Export(file, t, store.Format(c.Format)), file.Close())
}

type runsRmCmd struct {
	Runs []string `arg:"" optional:"" help:"Ids, beginnings of ids, names, or last."`
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
			return nil, usagef("run %s is under way: it can be removed when it has ended", l.ID)
		}
		ids = append(ids, l.ID)
	}
	return ids, nil
}
