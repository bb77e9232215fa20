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
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Trace shows a run: its plan, its environment, and up to most records, 0 for all.
func Trace(to io.Writer, t *trace.Trace, most int, l *words.Language) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	showRun(w, t, l)
	fmt.Fprintln(w)
	if t.Run.Origin != nil {
		showFigures(w, t.Run.Origin.Figures)
	}
	if len(t.Records) > 0 {
		showRecords(w, t, most)
	}
	return w.Flush()
}

func showRun(w io.Writer, t *trace.Trace, l *words.Language) {
	run := t.Run
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, plain.Line(value))
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
	line("load", Load(run.Plan, l))
	if run.Labels != nil {
		line("tags", strings.Join(run.Labels.Tags, ", "))
		line("remark", run.Labels.Remark)
	}
	line("records", fmt.Sprintf("%d of %d requests", len(t.Records), run.Plan.Requests))
	line("server", run.Env.Server)
	line("tokenizer", l.Say(run.Env.Tokenizer))
	line("", l.Say(run.Env.TokenizerWhy))
	if o := run.Origin; o != nil {
		showOrigin(line, o)
	} else {
		line("client", fmt.Sprintf("pitot %s, %s, %s, %s, %d processors, %d files", run.Env.Pitot, run.Env.Go, run.Env.OS, run.Env.Host, run.Env.CPUs, run.Env.FileLimit))
		if run.Fleet != nil {
			line("fleet", doc.Join(" · ", FleetSummary(run, l), ClockOffset(run.Fleet, l)))
		}
		line("command", "pitot "+strings.Join(run.Env.Invocation, " "))
	}
	showServers(line, run)
	if v := run.Verdict; v == nil {
		line("verdict", "–")
	} else {
		line("verdict", string(v.Validity))
		for _, r := range v.Reasons {
			line("", l.Say(r))
		}
	}
	for _, n := range run.Notes {
		line("note", l.Say(n))
	}
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
func showOrigin(line func(name, value string), o *trace.Origin) {
	line("from", fmt.Sprintf("%s, %s of %s", Place(o.File, o.Line), Detail(o.Detail), strings.TrimSpace(o.Tool+" "+o.Form)))
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
	return doc.Join(", ", l.Say(p.Workload), l.Say(p.Arrival), limit)
}

// Place is a line of a file, 0 for the file.
func Place(path string, line int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}
