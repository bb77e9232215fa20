package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/grid"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A place is where a table began: what stood above it. The first line of one may be read as text, until the next shows
// what it is.
type place struct {
	line   int
	stack  []*heading
	window window
}

// remember keeps the place of a table that begins in a line.
func (r *textReader) remember(n int) {
	if r.grid.First() == n {
		r.place = place{n, slices.Clone(r.outline.stack), r.window}
	}
}

// gridTables keeps what the tables say that have ended: each of their results as a table of its own, and the changes
// that they state as claims.
func (r *textReader) gridTables() {
	for _, g := range r.grid.Take() {
		r.endParagraph()
		if g.Unnamed {
			r.choice(g.First, "the table has times and names no metric: it is not read")
		}
		if r.continues(g) {
			continue
		}
		from := len(r.closed)
		if len(g.Results) > 0 {
			if r.place.line == g.First {
				r.outline.stack, r.window = r.place.stack, r.place.window
			}
			fenced := r.fenced
			r.fenced = true // a caption right above is of the table
			r.placeLabels()
			r.fenced, r.prose = fenced, false
		}
		if most := max(0, mostTables-len(r.closed)); len(g.Results) > most {
			r.problem(g.First, "the table has %d results; the first %d are read", len(g.Results), most)
			g.Results = g.Results[:most]
		}
		rows := map[string]int{} // by what tells results apart
		for _, result := range g.Results {
			rows[sideOf(result)]++
		}
		for i, result := range g.Results {
			t := r.gridTable(g, &g.Results[i])
			t.window.repeat = t.window.repeat || rows[sideOf(result)] > 1 && g.Tool == "" // a row for each run
			t.mixed = !consistent(result.Load, g.Results[0].Load) || !consistent(result.Load, g.Results[len(g.Results)-1].Load)
			r.closed = append(r.closed, t)
		}
		own := r.closed[from:]
		for _, c := range g.Changes {
			r.gridChange(c, g.Results, own)
		}
		if len(own) > 0 {
			r.window, r.around, r.stated = window{}, tableContext{}, 0
			r.last = own[len(own)-1]
		}
	}
}

// continues adds the results of a table to those that an earlier one began: of a console that prints several tables for
// one run, or where each table has one metric, which its caption names.
func (r *textReader) continues(g grid.Table) bool {
	if len(g.Results) == 0 || g.Tool == "" && !g.Captioned || g.Tool != "" && r.window.label.text != "" {
		return false
	}
	begun := map[*grid.Result]*printed{}
	var into []*printed
	for i := range g.Results {
		t := r.begun(g, &g.Results[i])
		if t == nil || begun[t.grid] != nil {
			return false
		}
		begun[t.grid], into = t, append(into, t)
	}
	for i, t := range into {
		next := g.Results[i]
		t.grid.Figures = append(t.grid.Figures, fresh(next.Figures, t.grid)...)
		t.grid.Unscaled = append(t.grid.Unscaled, fresh(next.Unscaled, t.grid)...)
		for _, s := range next.Load {
			t.grid.Set(s)
		}
	}
	for _, c := range g.Changes {
		r.gridChange(c, g.Results, into)
	}
	r.window, r.last = window{}, into[len(into)-1]
	return true
}

// begun is the last result that another one is a part of: of the same tool, section, variant and load, and with other
// figures. Some consoles repeat a few.
func (r *textReader) begun(g grid.Table, next *grid.Result) *printed {
	section := r.section()
	for _, t := range slices.Backward(r.closed) {
		if t.grid == nil || t.tool != g.Tool || t.section != section || g.Tool == "" && !t.captioned {
			return nil
		}
		if t.grid.Variant != next.Variant || !consistent(t.grid.Load, next.Load) {
			continue
		}
		all := len(next.Figures) + len(next.Unscaled)
		own := len(fresh(next.Figures, t.grid)) + len(fresh(next.Unscaled, t.grid))
		if own*2 < all || g.Tool == "" && own < all {
			return nil // the same again: another run
		}
		return t
	}
	return nil
}

func fresh(figures []trace.ReportedFigure, of *grid.Result) []trace.ReportedFigure {
	return slices.DeleteFunc(slices.Clone(figures), func(f trace.ReportedFigure) bool { return of.Has(f.Name) })
}

func consistent(a, b []grid.Setting) bool {
	for _, s := range a {
		if slices.ContainsFunc(b, func(o grid.Setting) bool { return o.Name == s.Name && o.Value != s.Value }) {
			return false
		}
	}
	return true
}

// section is the heading of Markdown right above, but of those that are the caption of one table.
func (r *textReader) section() *heading {
	for _, h := range slices.Backward(r.outline.stack) {
		if h.level < boldLevel && !grid.IsCaption(h.text) {
			return h
		}
	}
	return &r.outline.root
}

func (r *textReader) gridTable(g grid.Table, result *grid.Result) *printed {
	t := &printed{
		at: result.Line, titled: true, ended: true, stack: slices.Clone(r.outline.stack), env: r.outline.env(),
		around: tableContext{run: r.around.run}, window: r.window, grid: result, first: g.First, tool: g.Tool, section: r.section(),
		captioned: g.Captioned,
	}
	if g.Captioned { // it names the metric
		caption := func(c candidate) bool { return grid.IsCaption(c.text) }
		t.stack = slices.DeleteFunc(t.stack, func(h *heading) bool { return grid.IsCaption(h.text) })
		t.window.candidates = slices.DeleteFunc(slices.Clone(t.window.candidates), caption)
	}
	if isRepeatLabel(result.Variant) {
		t.window.repeat = true
	}
	if result.Variant != "" && !isRepeatLabel(result.Variant) {
		for i, part := range strings.Split(result.Variant, " / ") {
			t.stack = append(t.stack, &heading{level: sideLevel + i, text: cleanHeading(part), line: result.Line})
		}
	}
	for _, s := range result.Load {
		t.load.setup += s.Name + " " + s.Value + ", "
	}
	return t
}

// sideOf is what tells the results of a table apart.
func sideOf(result grid.Result) string { return fmt.Sprint(result.Variant, result.Load) }

// gridChange gives a change that a cell states to that one of the results of its table that it is of, which tables are
// own, or else to the table above or below.
func (r *textReader) gridChange(c grid.Change, results []grid.Result, own []*printed) {
	stated := trace.Claim{Text: trimClaim(c.Text), Line: c.Line, Metric: c.Metric, Stat: c.Stat, Change: c.Change, Step: c.Step}
	if c.Before != nil && c.After != nil {
		stated.Before, stated.After = *c.Before, *c.After
	}
	if c.Variant != "" {
		stated.Sentence = c.Variant + ": " + stated.Text
	}
	if len(own) == 0 {
		r.claim([]claim{{Claim: stated}})
		return
	}
	best := ofVariant(c, results)
	if best < 0 { // a row for the change alone: of one of the results above it
		best, stated.Loose = 0, c.Variant != ""
		for i, result := range results {
			if result.Line <= c.Line {
				best = i
			}
		}
	}
	own[best].claims = append(own[best].claims, stated)
}

// ofVariant is the result that a change names, in its row if it stands there; -1 if it names none.
func ofVariant(c grid.Change, results []grid.Result) (best int) {
	best = -1
	for i, result := range results {
		if result.Variant == c.Variant && (best < 0 || result.Line == c.Line) {
			best = i
		}
	}
	return best
}

// dropSummaries leaves out the results of tables that say again what printed tables of the document say.
func (r *textReader) dropSummaries() {
	var printedFigures []trace.ReportedFigure
	for _, t := range r.closed {
		if t.grid == nil {
			printedFigures = append(printedFigures, r.tables.Read(t.rows).Figures...)
		}
	}
	if len(printedFigures) == 0 {
		return
	}
	r.drop(func(t *printed) bool {
		return t.grid != nil && t.tool == "" && slices.ContainsFunc(t.grid.Figures, func(f trace.ReportedFigure) bool {
			return slices.ContainsFunc(printedFigures, func(p trace.ReportedFigure) bool { return saysAgain(f, p) })
		})
	})
}

// drop leaves out tables, and leaves their claims to the last of the others: they may be of any comparison.
func (r *textReader) drop(is func(*printed) bool) {
	var claims []trace.Claim
	r.closed = slices.DeleteFunc(r.closed, func(t *printed) bool {
		dropped := is(t)
		if dropped {
			claims = append(claims, t.claims...)
		}
		return dropped
	})
	if n := len(r.closed); n > 0 {
		for i := range claims {
			claims[i].Loose = true
		}
		r.closed[n-1].claims = append(r.closed[n-1].claims, claims...)
	}
}

// saysAgain reports whether a figure is one of a printed table, rounded. Counts are the same in all runs of a load.
func saysAgain(f, p trace.ReportedFigure) bool {
	name, _, _ := strings.Cut(p.Name, ".")
	same := f.Name == p.Name || f.Name == name
	return same && p.Value > 0 && !figure.Lookup(p.Name).Unit.IsCount() && math.Abs(f.Value-p.Value) <= f.Step/2+p.Step/2
}

func (r *textReader) gridRun(t *printed) trace.Run {
	o := &trace.Origin{
		Tool: t.tool, Detail: trace.Table, File: r.name, Line: t.at, Path: t.path, Repeat: t.repeat, Figures: t.grid.Figures,
		Claims: t.claims, Around: t.beside(), Setup: map[string]string{},
	}
	if o.Tool == "" {
		o.Tool = trace.UnknownTool
	}
	run := r.runOf(o, t)
	setLoad(&run, t.grid.Load)
	r.headingLoad(&run, t)
	return run
}

// headingLoad gives a run the settings of the load that headings above its table consist of, as `Concurrency 4`.
func (r *textReader) headingLoad(run *trace.Run, t *printed) {
	for _, h := range slices.Backward(t.stack) {
		settings := grid.OnlySettings(h.text)
		setLoad(run, slices.DeleteFunc(settings, func(s grid.Setting) bool {
			switch s.Name {
			case "concurrency":
				return run.Plan.Concurrency > 0
			case "requests":
				return run.Plan.Requests > 0
			case "rate":
				return run.Plan.Rate > 0
			}
			return t.grid == nil || run.Origin.Setup[s.Name] != ""
		}))
	}
}

func setLoad(run *trace.Run, settings []grid.Setting) {
	var lengths []string
	for _, s := range settings {
		run.Origin.Setup[s.Name] = s.Value
		switch v, err := strconv.ParseFloat(s.Value, 64); {
		case err == nil && s.Name == "concurrency" && v >= 1 && v < 1e9:
			run.Plan.Concurrency = int(v)
		case err == nil && s.Name == "requests" && v >= 1 && v < 1e9:
			run.Plan.Requests = int(v)
		case s.Name == "rate":
			if err == nil && v > 0 && v < 1e9 {
				run.Plan.Rate = v
			}
		default:
			lengths = append(lengths, s.Name+" "+s.Value)
		}
	}
	if lengths != nil && run.Plan.Workload.IsZero() {
		run.Plan.Workload = plan.Text(strings.Join(lengths, ", "))
	}
}

// gridFound is a result, with an id of its figures, its name, and how many alike stood before it.
func (r *textReader) gridFound(t *printed, seen map[string]int) result.Found {
	run := r.gridRun(t)
	h := sha256.New()
	fmt.Fprintf(h, "grid\n%s\n%s\n%v\n", run.Origin.Tool, run.Name, t.grid.Load)
	for _, f := range t.grid.Figures {
		fmt.Fprintf(h, "%s %v\n", f.Name, f.Value)
	}
	same := string(h.Sum(nil))
	seen[same]++
	fmt.Fprintf(h, "%d\n", seen[same])
	run.ID = "imp-" + hex.EncodeToString(h.Sum(nil))[:12]
	return result.Found{Run: run, Naming: t.naming()}
}
