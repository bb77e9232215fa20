package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/grid"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A printed table, as it is read.
type printed struct {
	at        int // line where it begins
	titled    bool
	ended     bool
	rows      []result.Match
	lines     []int // of the rows
	foreign   int   // lines since the last row that are not the table's
	stack     []*heading
	claims    []trace.Claim
	env       [][]string // lines on the environment, by headings, outermost first
	around    tableContext
	window    window
	marks     []byte                 // of a diff, of the rows
	grid      *grid.Result           // of a table that is drawn, in place of rows
	first     int                    // line of that table
	tool      string                 // that drew it; "" if that is not known
	section   *heading               // that it stands below
	mixed     bool                   // that table has several loads, of any of which the text below it may be
	captioned bool                   // the line above the table names its metric
	others    []trace.ReportedFigure // of rows that no known tool prints
	load      printedLoad

	path   []string // its name, once all are read
	why    candidate
	repeat bool // a label counts it among repeated runs
}

func (p *printed) add(l line, row result.Match) {
	n := l.n
	p.foreign = 0
	if len(p.rows) < mostRows {
		p.rows, p.lines, p.marks = append(p.rows, row), append(p.lines, n), append(p.marks, l.mark)
	}
	if row.Remark == "" {
		return
	}
	for _, c := range claimsIn(row.Label + " " + row.Remark) {
		c.Line, c.Text = n, row.Label+" "+row.Value+" "+row.Remark
		p.claims = append(p.claims, c.Claim)
	}
}

// What makes a table, and how far apart its lines can be.
const (
	mostRows    = 1000
	leastRows   = 3 // of one without its title
	mostForeign = 200
	mostOthers  = 64
)

// lost reports whether so many other lines came that the rest of the table will
// not.
func (p *printed) lost() bool {
	return p.foreign > mostForeign || !p.titled && p.foreign > leastRows
}

func (r *textReader) openTable(n int, titled bool) {
	r.closeTable()
	r.endParagraph()
	r.placeLabels()
	r.side, r.prose = "", false
	r.table = &printed{at: n, titled: titled, stack: slices.Clone(r.outline.stack), env: r.outline.env(), window: r.window}
	r.window = window{}
}

// closeTable ends the table that is open, if it is one.
func (r *textReader) closeTable() {
	t := r.table
	r.table = nil
	if t == nil || !t.titled && len(t.rows) < leastRows {
		return
	}
	if len(t.rows) == 0 {
		r.problem(t.at, "a table without rows")
		return
	}
	t.around, r.around = r.around, tableContext{}
	t.claims = append(r.claimsFor(append([]*heading{}, t.stack...)), t.claims...)
	if len(t.stack) > 0 {
		t.stack[len(t.stack)-1].tables++
	}
	r.closed, r.last, r.stated = append(r.closed, t.sides()...), t, 0
}

// sides are the tables on both sides of a diff, or the only one.
func (p *printed) sides() []*printed {
	removed, added := slices.Contains(p.marks, '-'), slices.Contains(p.marks, '+')
	mixed := removed && added
	side := func(other byte, name string) *printed {
		s := *p
		s.rows, s.lines, s.env = nil, nil, slices.Clone(p.env)
		for i, row := range p.rows {
			if p.marks[i] != other {
				if s.at == p.at && p.marks[i] != 0 && p.marks[i] != ' ' && mixed {
					s.at = p.lines[i]
				}
				s.rows, s.lines = append(s.rows, row), append(s.lines, p.lines[i])
			}
		}
		s.window.candidates = append(slices.Clone(p.window.candidates), candidate{name, s.at, scoreMark})
		s.load = loadOf(s.rows)
		return &s
	}
	switch {
	case mixed:
		before, after := side('+', "before"), side('-', "after")
		after.claims = nil
		return []*printed{before, after}
	case removed:
		return []*printed{side('+', "before")}
	case added:
		return []*printed{side('-', "after")}
	}
	p.load = loadOf(p.rows)
	return []*printed{p}
}

// found makes runs of the tables. A table that stands there again, to the digit, is
// no second run; else its id tells it from those that are alike, in their order.
func (r *textReader) found() (all []result.Found) {
	lines := map[string][]int{} // of tables that are alike
	seen := map[string]int{}
	for _, t := range r.closed {
		if t.grid != nil {
			all = append(all, r.gridFound(t, seen))
			continue
		}
		run, ok := r.run(t)
		if !ok {
			continue
		}
		h := sha256.New()
		fmt.Fprintf(h, "%s\n%s\n", run.Origin.Tool, run.Name)
		for _, row := range t.rows {
			fmt.Fprintf(h, "%s %s\n", row.Label, row.Value)
		}
		same := string(h.Sum(nil))
		before := lines[same]
		lines[same] = append(before, t.at)
		if len(before) > 0 && len(t.rows) >= tellingRows {
			r.problem(t.at, "the table of line %d stands here again, under the same name and to the digit: it is kept once", before[0])
			continue
		}
		fmt.Fprintf(h, "%d\n", len(before)+1)
		run.ID = "imp-" + hex.EncodeToString(h.Sum(nil))[:12]
		all = append(all, result.Found{Run: run, Naming: t.naming()})
	}
	return all
}

// tellingRows are as many as two runs will not have all alike.
const tellingRows = 8

// run makes a run of a table, and notes what it lacks.
func (r *textReader) run(t *printed) (trace.Run, bool) {
	reading := r.tables.Read(t.rows)
	for _, d := range reading.Doubts {
		r.problem(t.lines[d.Row], "%s", d.Reason)
	}
	if !t.titled {
		r.problem(t.at, "the table has lost its beginning: no title stands above it")
	}
	if end := len(t.rows) - 1; !t.ended {
		r.problem(t.lines[end], "the table breaks off behind %q: it has no line of = at its end", t.rows[end].Label)
	}
	if len(reading.Missing) > 0 {
		r.problem(t.at, "the table lacks %s", strings.Join(reading.Missing, ", "))
	}
	if len(reading.Figures) == 0 {
		r.problem(t.at, "the table has no figures")
		return trace.Run{}, false
	}
	o := &trace.Origin{
		Tool: reading.Tool, Form: reading.Form, Detail: trace.Table, File: r.name, Line: t.at,
		Path: t.path, Repeat: t.repeat, Figures: reading.Figures, Claims: t.claims, Trimmed: trimmed(t.rows),
		Setup: reading.Setup, Around: t.beside(),
	}
	for _, f := range t.others {
		if _, ok := o.Figure(f.Name); !ok {
			o.Figures = append(o.Figures, f)
		}
	}
	if what := r.contradiction(o, t.around.settings); what != "" {
		r.problem(t.around.at, "the Namespace is not of the table in line %d and is left out: it has %s", t.at, what)
		t.around.settings = nil
	}
	if typed := commandSettings(t.around.run); t.around.settings == nil && r.contradiction(o, typed) == "" {
		t.around.settings = typed
	} else {
		maps.Copy(o.Setup, t.around.settings)
	}
	run := r.runOf(o, t)
	run.Plan = r.plan(o, &t.around)
	r.headingLoad(&run, t)
	return run, true
}

// runOf is a run of which only its origin is known.
func (r *textReader) runOf(o *trace.Origin, t *printed) trace.Run {
	run := trace.Run{
		Name: strings.Join(append([]string{stem(r.name)}, o.Path...), " / "), Origin: o,
		Kind: trace.Imported, Status: trace.Complete, End: trace.Never,
		Env: trace.Environment{Server: r.server(o.Around, o.Tool), Serving: serverOf(t.env, t.around.run)},
	}
	if f, ok := o.Figure(figure.Duration); ok && f.Value >= 0 && f.Value < 1e9 {
		run.End = trace.Instant(f.Value*1e9 + 0.5)
	}
	return run
}

// beside are the lines that belong to a table, without those of a drawn one.
func (p *printed) beside() (lines []string) {
	for _, l := range slices.Concat(p.env...) {
		if !strings.HasPrefix(l, "|") && !strings.HasPrefix(l, "+") {
			lines = append(lines, l)
		}
	}
	return append(lines, p.around.run...)
}

// stem is the name of a file without folder and extension; what has digits is no
// extension but a version.
func stem(name string) string {
	base := path.Base(name)
	if ext := path.Ext(base); !strings.ContainsAny(ext, "0123456789") {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// trimmed reports whether the rows that a tool fills up with blanks have lost
// them.
func trimmed(rows []result.Match) bool {
	short := 0
	for _, row := range rows {
		if row.Padded {
			return false
		}
		if row.Short() && row.Remark == "" {
			short++
		}
	}
	return short > 0
}
