package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/grid"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A place is where a table began: what stood above it.
type place struct {
	line   int
	stack  []*heading
	window window
	around []string // lines of its run
}

// mostPlacesKept is how many are kept of tables that have not been read yet.
const mostPlacesKept = 16

// remember keeps the place of a table that begins in a line.
func (r *textReader) remember(n int) {
	if r.grid.First() != n {
		return
	}
	if len(r.places) == mostPlacesKept {
		r.places = r.places[1:]
	}
	r.places = append(r.places, place{n, slices.Clone(r.outline.stack), r.window, r.around.run})
}

// gridTables keeps what the tables say that have ended: each of their results as a table of its own, and the changes
// that they state as claims.
func (r *textReader) gridTables() {
	for _, g := range r.grid.Take() {
		r.endParagraph()
		if r.continues(g) {
			continue
		}
		from, now := len(r.closed), place{0, r.outline.stack, r.window, r.around.run}
		at := now
		i := slices.IndexFunc(r.places, func(p place) bool { return p.line == g.First })
		late := i >= 0 && (r.places[i].window.label != r.window.label || !slices.Equal(r.places[i].stack, r.outline.stack))
		if late { // a console is read some lines after its end: other headings may have followed it
			at = r.places[i]
			r.outline.stack, r.window = at.stack, at.window
		}
		if len(g.Results) > 0 {
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
			t := r.gridTable(g, &g.Results[i], at.around)
			t.window.repeat = t.window.repeat || rows[sideOf(result)] > 1 && g.Tool == "" // a row for each run
			r.closed = append(r.closed, t)
		}
		own := r.closed[from:]
		for _, c := range g.Changes {
			r.gridChange(c, own)
		}
		switch {
		case late:
			r.outline.stack, r.window = now.stack, now.window
		case len(own) > 0:
			r.window, r.around, r.stated = window{}, tableContext{}, 0
			r.last = own[len(own)-1]
		}
	}
}

// continues adds a console's further table to the run of the first: evalscope and AISBench print two for one.
func (r *textReader) continues(g grid.Table) bool {
	n := len(r.closed)
	if g.Tool == "" || len(g.Results) != 1 || n == 0 || r.closed[n-1].grid == nil || r.closed[n-1].tool != g.Tool || r.closed[n-1].section != r.outline.marked() {
		return false
	}
	into := r.closed[n-1].grid
	has := func(f trace.ReportedFigure) bool {
		return slices.ContainsFunc(into.Figures, func(o trace.ReportedFigure) bool { return o.Name == f.Name })
	}
	all := g.Results[0].Figures
	fresh := slices.DeleteFunc(slices.Clone(all), has)
	if len(fresh)*2 < len(all) {
		return false // the same again: another run
	}
	into.Figures = append(into.Figures, fresh...)
	for _, s := range g.Results[0].Load {
		if !slices.ContainsFunc(into.Load, func(o grid.Setting) bool { return o.Name == s.Name }) {
			into.Load = append(into.Load, s)
		}
	}
	return true
}

func (r *textReader) gridTable(g grid.Table, result *grid.Result, around []string) *printed {
	t := &printed{
		at: result.Line, titled: true, ended: true, stack: slices.Clone(r.outline.stack), env: r.outline.env(),
		around: tableContext{run: around}, window: r.window, grid: result, tool: g.Tool, section: r.outline.marked(),
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

// gridChange gives a change that a cell states to the result that it is of, or else to the table above or below.
func (r *textReader) gridChange(c grid.Change, own []*printed) {
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
	best := ofVariant(c, own)
	if best == nil { // a row for the change alone: of one of the results above it
		best, stated.Loose = own[0], c.Variant != ""
		for _, t := range own {
			if t.grid.Line <= c.Line {
				best = t
			}
		}
	}
	best.claims = append(best.claims, stated)
}

// ofVariant is the result that a change names, in its row if it stands there; nil if it names none.
func ofVariant(c grid.Change, own []*printed) (best *printed) {
	for _, t := range own {
		if t.grid.Variant == c.Variant && (best == nil || t.grid.Line == c.Line) {
			best = t
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
	var claims []trace.Claim
	r.closed = slices.DeleteFunc(r.closed, func(t *printed) bool {
		again := t.grid != nil && slices.ContainsFunc(t.grid.Figures, func(f trace.ReportedFigure) bool {
			return slices.ContainsFunc(printedFigures, func(p trace.ReportedFigure) bool { return saysAgain(f, p) })
		})
		if again {
			claims = append(claims, t.claims...)
		}
		return again
	})
	if n := len(r.closed); n > 0 {
		for i := range claims {
			claims[i].Loose = true
		}
		r.closed[n-1].claims = append(r.closed[n-1].claims, claims...)
	}
}

// saysAgain reports whether a figure is one of a printed table, rounded.
func saysAgain(f, p trace.ReportedFigure) bool {
	name, _, _ := strings.Cut(p.Name, ".")
	same := f.Name == p.Name || f.Name == name
	return same && p.Value > 0 && math.Abs(f.Value-p.Value) <= f.Step/2+p.Step/2
}

// gridRun makes a run of a result.
func (r *textReader) gridRun(t *printed) trace.Run {
	o := &trace.Origin{
		Tool: t.tool, Detail: trace.Table, File: r.name, Line: t.at, Path: t.path, Repeat: t.repeat, Figures: t.grid.Figures,
		Claims: t.claims, Around: t.beside(), Setup: map[string]string{},
	}
	if o.Tool == "" {
		o.Tool = trace.UnknownTool
	}
	run := r.runOf(o, t)
	var lengths []string
	for _, s := range t.grid.Load {
		o.Setup[s.Name] = s.Value
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
	if lengths != nil {
		run.Plan.Workload = plan.Text(strings.Join(lengths, ", "))
	}
	return run
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
