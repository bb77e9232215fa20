package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Trace shows a run: its plan, its environment, and up to most records, 0 for all.
func Trace(to io.Writer, t *trace.Trace, most int, l *words.Language) error {
	if err := doc.Columns(to, runRows(t, l)); err != nil {
		return err
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w)
	if t.Run.Origin != nil {
		showFigures(w, t.Run.Origin.Figures)
	}
	if len(t.Records) > 0 {
		showRecords(w, t, most)
	}
	return w.Flush()
}

// Judged is how far a run can be trusted, in lower case; a dash where nobody judged.
func Judged(v trace.Validity, l *words.Language) string {
	if v == "" {
		return "–"
	}
	return l.Word(plan.Code("judged." + string(v)))
}

func runRows(t *trace.Trace, l *words.Language) (rows [][]string) {
	run := t.Run
	line := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	line(l.Word("shown.run"), run.ID)
	line(l.Word("shown.name"), run.Name)
	line(l.Word("shown.kind"), l.Word(plan.Code("kind."+string(run.Kind))))
	line(l.Word("shown.status"), l.Word(plan.Code("status."+string(run.Status))))
	if !run.Started.IsZero() {
		line(l.Word("shown.started"), run.Started.Local().Format(time.RFC3339))
	}
	line(l.Word("shown.target"), strings.TrimSpace(run.Plan.URL+" "+run.Plan.Model))
	line(l.Word("shown.load"), Load(run.Plan, l))
	if run.Labels != nil {
		line(l.Word("shown.tags"), strings.Join(run.Labels.Tags, ", "))
		line(l.Word("shown.remark"), run.Labels.Remark)
	}
	line(l.Word("shown.records"), l.Word("shown.records-of", "n", len(t.Records), "of", run.Plan.Requests))
	line(l.Word("shown.server"), run.Env.Server)
	line(l.Word("shown.tokenizer"), l.Say(run.Env.Tokenizer))
	line("", l.Say(run.Env.TokenizerWhy))
	if o := run.Origin; o != nil {
		showOrigin(line, o, l)
	} else {
		line(l.Word("shown.client"), l.Join("comma", "pitot "+run.Env.Pitot, run.Env.Go, run.Env.OS, run.Env.Host, l.Word("shown.processors", "n", run.Env.CPUs), l.Word("shown.files", "n", run.Env.FileLimit)))
		if run.Fleet != nil {
			line(l.Word("shown.fleet"), doc.Join(" · ", FleetSummary(run, l), ClockOffset(run.Fleet, l)))
		}
		line(l.Word("shown.command"), "pitot "+strings.Join(run.Env.Invocation, " "))
	}
	showServers(line, run)
	if v := run.Verdict; v == nil {
		line(l.Word("shown.verdict"), "–")
	} else {
		line(l.Word("shown.verdict"), Judged(v.Validity, l))
		for _, r := range v.Reasons {
			line("", l.Say(r))
		}
	}
	for _, n := range run.Notes {
		line(l.Word("shown.note"), l.Say(n))
	}
	return rows
}

// showServers tells the environments of the processes that served: all that may explain a difference.
func showServers(line func(name, value string), run trace.Run) {
	for side, e := range run.Env.Sides {
		hidden := 0
		for _, f := range e.Facts() {
			variable, isVariable := strings.CutPrefix(f.Name, "env.")
			switch {
			case side == "client":
			case isVariable && environment.Idle(variable), !f.Main && strings.HasPrefix(f.Name, "package."):
				hidden++
			default:
				line(plain.Line(side+" "+f.Name), f.Value)
			}
		}
		if hidden > 0 {
			line(plain.Line(side)+" others", fmt.Sprintf("%d more in packages and variables (runs export has all)", hidden))
		}
	}
}

// Detail says what another tool left.
func Detail(d trace.Detail) string { return details[d] }

var details = map[trace.Detail]string{
	trace.Table: "a table", trace.Summed: "a summary", trace.Undated: "a summary with the timing of each request", trace.Recorded: "all requests as recorded",
}

// showOrigin tells where an imported run came from, and what stood there.
func showOrigin(line func(name, value string), o *trace.Origin, l *words.Language) {
	line(l.Word("shown.from"), fmt.Sprintf("%s, %s of %s", Place(o.File, o.Line), Detail(o.Detail), strings.TrimSpace(o.Tool+" "+o.Form)))
	if o.Detail == trace.Table {
		line(l.Word("shown.headings"), strings.Join(o.Path, " / "))
	}
	for _, c := range o.Claims {
		line(l.Word("shown.claim"), fmt.Sprintf("%s (line %d)", c.Text, c.Line))
	}
	for _, a := range o.Around {
		line(l.Word("shown.beside"), a)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Setup)) {
		line(l.Word("shown.setting"), name+" = "+o.Setup[name])
	}
}

// showFigures is a line a figure, as another tool reported it, in the units of
// storage.
func showFigures(w io.Writer, figures []trace.ReportedFigure) {
	fmt.Fprintln(w, "FIGURE\tVALUE\tUNIT")
	for _, f := range figures {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, strconv.FormatFloat(f.Value, 'g', 10, 64), figure.Lookup(f.Name).Unit)
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
			since(r.Sent, first), since(r.Sent, r.Done), r.PromptTokens, r.OutputTokens, chunks, plain.Line(outcome(r)))
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

// Load is what a run was to send and when, in one line.
func Load(p trace.Load, l *words.Language) string {
	limit := ""
	if p.Concurrency > 0 {
		limit = l.Word("load.at-most", "value", p.Concurrency)
	}
	return doc.Join(l.Word("list.comma"), l.Say(p.Workload), l.Say(p.Arrival), limit)
}

// Place is a line of a file, 0 for the file.
func Place(path string, line int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}
