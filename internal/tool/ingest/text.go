package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/grid"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A textReader reads the tables of a note or of a terminal's log. It sees one line
// at a time, and the next.
type textReader struct {
	*Reader
	name     string
	outline  outline
	around   tableContext
	table    *printed // being read
	closed   []*printed
	problems []result.Problem
	untold   int // problems, beyond result.MaxProblems

	aside     *rightText // a table to the right of the one that is open
	side      string     // of the next table, "" if it stands alone
	diff      bool       // lines begin with the mark of a change
	cells     htmlCells
	grid      grid.Scanner
	sides     int    // how many tables are read beside each other
	fence     string // what opened the block of code that it is in, "" outside
	fenced    bool   // that block began directly below the label
	window    window // ahead of the next table
	colon     bool   // its label ends with one
	prose     bool   // the line before was text of a paragraph
	last      *printed
	pending   []pendingClaim // of the next table
	stated    int            // claims since the last table
	paragraph []line
}

// readText reads the tables in a text.
func (all *Reader) readText(s result.Source) ([]result.Found, []result.Problem) {
	r := &textReader{Reader: all, name: s.Name}
	var current *line
	text := &progressReader{Reader: decoded(s), found: func() int { return len(r.closed) }}
	var why result.Problem
	for l, err := range lines(text) {
		if err = cmp.Or(err, r.full()); err != nil {
			why = result.Problem{File: r.name, Line: l.n, Reason: fmt.Sprintf("read the file: %v", err)}
			break
		}
		if current != nil {
			r.line(*current, l.text)
		}
		current = &l
	}
	if current != nil {
		r.line(*current, "")
	}
	r.endParagraph()
	r.closeTable()
	r.turn()
	r.grid.Close()
	r.gridTables()
	r.dropSummaries()
	if n := len(r.closed); n > 0 {
		r.closed[n-1].claims = append(r.closed[n-1].claims, r.claimsFor(nil)...)
	}
	r.settle()
	found := r.found()
	if why.Reason != "" {
		r.problems = append(r.problems, why)
	}
	slices.SortStableFunc(r.problems, func(a, b result.Problem) int { return a.Line - b.Line })
	if len(found) == 0 && len(r.problems) == 0 {
		r.problem(0, "no table of %s in it, and it is no JSON", strings.Join(r.programs(), " or of "))
	}
	if r.untold > 0 {
		r.problems = append(r.problems, result.Problem{File: r.name, Reason: fmt.Sprintf("%d more problems are not listed", r.untold)})
	}
	for i := range r.problems {
		r.problems[i].Nothing = len(r.closed) == 0
	}
	return found, r.problems
}

// mostTables is how many tables of a text are read: a sweep of days prints some thousand.
const mostTables = 10_000

// full is the error for a text of which enough was read.
func (r *textReader) full() error {
	switch {
	case len(r.closed) >= mostTables:
		return fmt.Errorf("the rest of the file is not read: it has more than %d tables", mostTables)
	case r.untold > 0:
		return result.ErrBarren
	}
	return nil
}

// programs are the tools that have tables to read.
func (all *Reader) programs() (names []string) {
	for _, t := range all.tools {
		if t.Log != nil {
			names = append(names, t.Program)
		}
	}
	return names
}

func (r *textReader) problem(n int, format string, a ...any) {
	if len(r.problems) >= result.MaxProblems {
		r.untold++
		return
	}
	r.problems = append(r.problems, result.Problem{File: r.name, Line: n, Reason: fmt.Sprintf(format, a...)})
}

var (
	// What may stand behind a line of a table: the end of a cell, of a string, of HTML.
	behind    = `(?:[\s|"'\\]|</?[a-z]+>)*$`
	titleLine = compile(`={3,} ?Serving Benchmark Result ?={3,}` + behind)
	titles    = compile(`={3,} ?Serving Benchmark Result ?={3,}`)
	endLine   = regexp.MustCompile(`(?:^|[^=])={40,}` + behind)
	hunk      = compile(`^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@`)
	quoted    = regexp.MustCompile(`^ {0,3}(?:> ?)+`)
	fenceLine = regexp.MustCompile("^[ \t]*(`{3,}|~{3,})(.*)$")
)

// unquoted is a line without the marks of a quotation.
func unquoted(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, " "), ">") {
		return text
	}
	return quoted.ReplaceAllString(text, "")
}

// undiff takes the mark that a diff puts ahead of a line off it.
func (r *textReader) undiff(l *line) {
	switch {
	case hunk.find(l.text) != nil:
		r.diff, l.text = true, ""
	case !r.diff || l.text == "":
	case strings.IndexByte("+- ", l.text[0]) >= 0:
		l.mark, l.text = l.text[0], l.text[1:]
	default:
		r.diff = false
	}
}

// line reads a line of the document. What stands to the right of a table is read
// after it.
func (r *textReader) line(l line, next string) {
	r.undiff(&l)
	if r.split(&l) {
		next = ""
	}
	text := unquoted(l.text)
	drawn := r.table == nil && titleLine.find(l.text) == nil && r.grid.Line(l.n, text)
	r.gridTables()
	r.cells.read(text)
	switch {
	case titleLine.find(l.text) != nil:
		r.openTable(l.n, true)
	case r.table != nil && r.tableLine(line{l.n, strings.TrimRight(l.text, `\"`), l.mark}):
	case r.fenceMark(text):
		r.endParagraph()
		r.prose = false
	case drawn:
		r.prose = false
	case r.fence != "":
		r.code(line{l.n, text, l.mark})
	case strings.TrimSpace(text) == "":
		r.endParagraph()
		r.prose = false
	default:
		r.text(line{l.n, text, l.mark}, unquoted(next))
	}
}

// code reads a line in a block of code, outside of tables: it may be the label of the
// table right below it.
func (r *textReader) code(l line) {
	text := strings.TrimSpace(l.text)
	if text == "" || sectionRule.MatchString(text) {
		return
	}
	r.window.near = candidate{}
	if h, ok := bannerHeading(text); ok {
		r.heading(h, l)
		return
	}
	if row, ok := r.tables.Find(l.text); ok && row.Aligned {
		r.openTable(l.n, false)
		r.table.add(l, row)
		return
	}
	if !r.take(l) {
		r.codeLabel(l)
	}
}

// tableLine reads a line while a table is open, and reports whether it was of the
// table.
func (r *textReader) tableLine(l line) bool {
	row, isRow := r.findRow(l.text)
	switch {
	case isRow && r.table.restarts(row):
		r.openTable(l.n, false)
		r.table.add(l, row)
	case isRow:
		r.table.add(l, row)
	case !r.table.titled && len(r.table.rows) >= leastRows && isMarked(l.text):
		r.closeTable()
		return false
	case endLine.MatchString(l.text):
		r.table.ended = true
		r.closeTable()
	case r.fence != "" && closes(r.fence, l.text), r.fence == "" && endsTable(l.text), r.table.lost():
		r.closeTable()
		return false
	default:
		r.table.foreign++
		if f, ok := unknownRow(l.text); ok && r.table.titled && len(r.table.others) < mostOthers {
			r.table.others, r.table.foreign = append(r.table.others, f), 0
		}
	}
	return true
}

// sectionRule is the heading of a section of a table.
var sectionRule = regexp.MustCompile(`^[\s#>]*-{3,}[^-\s].*-{3,}\s*$`)

// endsTable reports whether a line is a heading of the document.
func endsTable(text string) bool {
	return atxHeading.MatchString(text) && !sectionRule.MatchString(text) && strings.Trim(text, "#=- \t") != ""
}

// restarts reports whether a row begins another table: one that has lost its title, too, stood before it.
func (p *printed) restarts(row result.Match) bool {
	return !p.titled && len(p.rows) >= leastRows && slices.ContainsFunc(p.rows, func(o result.Match) bool { return o.Label == row.Label })
}

// isMarked reports whether a line names what follows.
func isMarked(text string) bool {
	if h, ok := markedHeading(text); ok {
		return named(h.text)
	}
	label, colon, ok := plainLabel(text)
	return ok && colon && isWords(label) && !isGeneric(label)
}

// findRow finds a row that stands where a tool puts it, or begins its line.
func (all *Reader) findRow(text string) (result.Match, bool) {
	row, ok := all.tables.Find(text)
	if !ok || !row.Aligned && strings.Trim(text[:row.Start], " \t>|+-") != "" {
		return result.Match{}, false
	}
	return row, true
}

var numbered = regexp.MustCompile(`:(\s+)-?\d+(?:\.\d+)?\s*$`)

// unknownRow is the figure in a line that looks like a row and is of no tool's table that is known here: forks print
// rows of their own. It goes by its label.
func unknownRow(text string) (f trace.ReportedFigure, ok bool) {
	m := numbered.FindStringSubmatchIndex(text)
	if m == nil {
		return f, false
	}
	const column = 41
	start := utf8.RuneCountInString(text[:m[3]]) - column
	if start < 0 {
		return f, false
	}
	runes := []rune(text[:m[2]])
	if start >= len(runes) || runes[start] == ' ' && !strings.HasPrefix(string(runes[start:]), "  ") || start > 0 && runes[start-1] != ' ' && runes[start-1] != '|' {
		return f, false
	}
	f.Name = strings.Trim(string(runes[start:]), " :")
	f.Value, f.Step = digits(strings.TrimSpace(text[m[3]:]))
	return f, named(f.Name)
}

// fenceMark reads the beginning or the end of a block of code.
func (r *textReader) fenceMark(text string) bool {
	if r.fence != "" {
		if !closes(r.fence, text) {
			return false
		}
		r.fence, r.fenced = "", false
		return true
	}
	m := fenceLine.FindStringSubmatch(text)
	if m == nil || m[1][0] == '`' && strings.Contains(m[2], "`") {
		return false
	}
	r.fence, r.fenced = m[1], true
	r.diff = r.diff || strings.TrimSpace(m[2]) == "diff"
	return true
}

// closes reports whether a line ends the block that fence began.
func closes(fence, text string) bool {
	m := fenceLine.FindStringSubmatch(unquoted(text))
	return m != nil && m[1][0] == fence[0] && len(m[1]) >= len(fence) && strings.TrimSpace(m[2]) == ""
}

// text reads a line of prose: a heading, a label, a claim, or words on the
// environment. Rows that stand there are a table without its beginning.
func (r *textReader) text(l line, next string) {
	prose := r.prose
	r.prose = true
	if escape.in(l.text, "") {
		l.text = escape.ReplaceAllString(l.text, "$1")
	}
	if level := underlined(l.text, next); level > 0 && !prose {
		r.heading(heading{level: level, text: l.text}, l)
		return
	}
	if h, ok := markedHeading(l.text); ok && (h.level < boldLevel || !onlyClaims(h.text)) {
		r.heading(h, l)
		return
	}
	if row, ok := r.tables.Find(l.text); ok && row.Aligned {
		r.openTable(l.n, false)
		r.table.add(l, row)
		return
	}
	if strings.Trim(l.text, "=- \t") == "" || sectionRule.MatchString(l.text) {
		return
	}
	if label, colon, ok := plainLabel(l.text); len(claimsIn(l.text)) > 0 {
		if ok && colon && !onlyClaims(label) {
			r.endParagraph()
			r.labelLine(l, true)
		}
	} else if !r.take(l) && !r.cells.inside {
		listed := unlisted(l.text) != strings.TrimSpace(l.text)
		r.labelLine(l, !prose || listed)
	}
	r.proseLine(l)
}

// proseLine adds a line to the paragraph that it goes on, or begins one.
func (r *textReader) proseLine(l line) {
	text := strings.TrimSpace(l.text)
	size := len(text)
	for _, p := range r.paragraph {
		size += len(p.text) + 1
	}
	if size > longestClaim || text[0] == '|' || unlisted(text) != text {
		r.endParagraph()
	}
	r.paragraph = append(r.paragraph, line{n: l.n, text: text})
	if text[0] == '|' {
		r.endParagraph()
	}
}

// endParagraph reads the claims of a paragraph: a sentence may go on in the next line.
func (r *textReader) endParagraph() {
	all := r.paragraph
	if r.paragraph = nil; len(all) == 0 {
		return
	}
	var b strings.Builder
	ends := make([]int, len(all)) // in the joined text
	for i, l := range all {
		b.WriteString(l.text + " ")
		ends[i] = b.Len()
	}
	found := r.claimsOf(line{n: all[0].n, text: b.String()})
	for i := range found {
		found[i].Line = all[slices.IndexFunc(ends, func(end int) bool { return found[i].start < end })].n
	}
	r.claim(found)
}

func (r *textReader) heading(h heading, l line) {
	r.endParagraph()
	h.line = l.n
	r.last, r.window, r.prose = nil, window{}, false
	r.outline.place(h)
	r.claim(r.claimsOf(line{n: l.n, text: emphasis.Replace(h.text)}))
	r.take(line{n: l.n, text: h.text})
}

// mostClaims is how many changes can be stated between two tables: a text that has
// more is no note on them.
const mostClaims = 500

// claimsOf are the changes that a line states.
func (r *textReader) claimsOf(l line) []claim {
	if r.stated >= mostClaims {
		return nil
	}
	found := claimsIn(l.text)
	for i := range found {
		found[i].Line = l.n
	}
	if r.stated += len(found); r.stated >= mostClaims && len(r.closed) > 0 {
		r.problem(l.n, "%d changes are stated since the last table: what follows up to the next one is not read as such", r.stated)
	}
	return found
}

// A pendingClaim waits for a table.
type pendingClaim struct {
	trace.Claim
	below *heading
}

// claim gives what an author states to the table above, or if a heading stands
// between to the next one below the same heading.
func (r *textReader) claim(found []claim) {
	for _, c := range found {
		if r.last != nil {
			r.last.claims = append(r.last.claims, c.Claim)
			continue
		}
		below := r.outline.top()
		if r.window.label.text != "" {
			below = r.outline.marked() // the label will be the heading
		}
		r.pending = append(r.pending, pendingClaim{c.Claim, below})
	}
}

// claimsFor are the claims of a table below some headings. Those below another heading, with no table of its own, may
// be of any comparison in the text.
func (r *textReader) claimsFor(stack []*heading) (all []trace.Claim) {
	for _, c := range r.pending {
		c.Loose = c.below == &r.outline.root || !slices.Contains(stack, c.below)
		all = append(all, c.Claim)
	}
	r.pending = nil
	return all
}

// A printed table, as it is read.
type printed struct {
	at      int // line where it begins
	titled  bool
	ended   bool
	rows    []result.Match
	lines   []int // of the rows
	foreign int   // lines since the last row that are not the table's
	stack   []*heading
	claims  []trace.Claim
	env     []string
	around  tableContext
	window  window
	marks   []byte                 // of a diff, of the rows
	grid    *grid.Result           // of a table that is drawn, in place of rows
	tool    string                 // that drew it; "" if that is not known
	section *heading               // that it stands below
	others  []trace.ReportedFigure // of rows that no known tool prints
	load    printedLoad

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
		s.rows, s.lines = nil, nil
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
		Setup: reading.Setup, Around: append(t.env, t.around.run...),
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
	run := trace.Run{
		Name: strings.Join(append([]string{stem(r.name)}, o.Path...), " / "), Kind: trace.Imported, Status: trace.Complete,
		End: trace.Never, Plan: r.plan(o, &t.around), Origin: o, Env: trace.Environment{Server: r.server(o.Around, o.Tool), Serving: serverOf(o.Around)},
	}
	if f, ok := o.Figure(figure.Duration); ok && f.Value >= 0 && f.Value < 1e9 {
		run.End = trace.Instant(f.Value*1e9 + 0.5)
	}
	return run, true
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
