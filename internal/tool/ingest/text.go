package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/grid"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A textReader reads the tables of a note or of a terminal's log. It sees one line
// at a time, and the next.
type textReader struct {
	*Reader
	name     string
	outline  outline
	system   environment.Listing // recognizes lines on the environment
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
	place     place  // of the table that grid reads
	sides     int    // how many tables are read beside each other
	fence     string // what opened the block of code that it is in, "" outside
	fenced    bool   // that block began directly below the label
	window    window // ahead of the next table
	colon     bool   // its label ends with one
	listed    int    // indentation of its label in a list, -1 outside
	prose     bool   // the line before was text of a paragraph
	last      *printed
	pending   []pendingClaim // of the next table
	stated    int            // claims since the last table
	paragraph []line
	items     []item // of lists, that the next line may stand below
	above     int    // the last line that is not empty
	units     []statedUnit
}

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
	r.scaleTables()
	r.dropSummaries()
	if n := len(r.closed); n > 0 {
		r.closed[n-1].claims = append(r.closed[n-1].claims, r.claimsFor(nil)...)
	}
	r.shareValues()
	r.settle()
	found := r.found()
	if why.Reason != "" {
		r.problems = append(r.problems, why)
	}
	slices.SortStableFunc(r.problems, func(a, b result.Problem) int { return a.Line - b.Line })
	if n := len(r.pending); len(found) == 0 && n > 0 {
		c := r.pending[0]
		r.problem(c.Line, "%q is stated, the first of %d changes, and there is no table to hold it against", c.Text, n)
	}
	if len(found) == 0 && len(r.problems) == 0 {
		r.problem(0, "no table of %s in it, nor another with figures, and it is no JSON", strings.Join(r.programs(), " or of "))
	}
	if r.untold > 0 {
		r.problems = append(r.problems, result.Problem{File: r.name, Reason: fmt.Sprintf("%d more problems are not listed", r.untold)})
	}
	for i := range r.problems {
		r.problems[i].Nothing = len(r.closed) == 0
	}
	return found, r.problems
}

// shareValues gives claims the values of others that state the same change of the same metric: a text repeats in words
// what its table of changes says.
func (r *textReader) shareValues() {
	type change struct {
		metric string
		size   float64
	}
	values := map[change]trace.Claim{}
	for _, t := range r.closed {
		for _, c := range t.claims {
			if c.Before > 0 {
				values[change{c.Metric, c.Change}] = c
			}
		}
	}
	for _, t := range r.closed {
		for i, c := range t.claims {
			if of, ok := values[change{c.Metric, c.Change}]; ok && c.Before == 0 && (c.Stat == "" || c.Stat == of.Stat) {
				t.claims[i].Before, t.claims[i].After = of.Before, of.After
			}
		}
	}
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

// choice says how a text was understood.
func (r *textReader) choice(n int, format string, a ...any) {
	before := len(r.problems)
	r.problem(n, format, a...)
	for i := range r.problems[before:] {
		r.problems[before+i].Choice = true
	}
}

var (
	// What may stand behind a line of a table: the end of a cell, of a string, of HTML.
	behind    = `(?:[\s|"'\\]|</?[a-z]+>)*$`
	titleLine = lexicon.Compile(`={3,} ?Serving Benchmark Result ?={3,}` + behind)
	titles    = lexicon.Compile(`={3,} ?Serving Benchmark Result ?={3,}`)
	endLine   = lazy.Regexp(`(?:^|[^=])={40,}` + behind)
	hunk      = lexicon.Compile(`^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@`)
	fenceLine = lazy.Regexp("^[ \t]*(`{3,}|~{3,})(.*)$")
)

// undiff takes the mark that a diff puts ahead of a line off it.
func (r *textReader) undiff(l *line) {
	switch {
	case hunk.Find(l.text) != nil:
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
	text := grid.Unquoted(l.text)
	text = r.systemRow(text)
	if strings.Contains(text, "</details>") {
		r.outline.endDetails()
	}
	drawn := r.table == nil && titleLine.Find(l.text) == nil && r.grid.Line(l.n, text)
	r.gridTables()
	r.remember(l.n)
	r.cells.read(text)
	r.noteUnits(line{n: l.n, text: text})
	switch {
	case titleLine.Find(l.text) != nil:
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
		r.text(line{l.n, text, l.mark}, grid.Unquoted(next))
	}
	if strings.TrimSpace(text) != "" {
		r.above = l.n
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
var sectionRule = lazy.Regexp(`^[\s#>]*-{3,}[^-\s].*-{3,}\s*$`)

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

var numbered = lazy.Regexp(`:(\s+)-?\d+(?:\.\d+)?\s*$`)

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
	f.Value, f.Step, ok = lexicon.Number(strings.TrimSpace(text[m[3]:]))
	return f, ok && named(f.Name)
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
	m := fenceLine.FindStringSubmatch(grid.Unquoted(text))
	return m != nil && m[1][0] == fence[0] && len(m[1]) >= len(fence) && strings.TrimSpace(m[2]) == ""
}

// text reads a line of prose: a heading, a label, a claim, or words on the
// environment. Rows that stand there are a table without its beginning.
func (r *textReader) text(l line, next string) {
	prose := r.prose
	r.prose = true
	if escape.In(l.text, "") {
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
	if label, colon, ok := plainLabel(l.text); r.stated < mostClaims && len(claimsIn(l.text)) > 0 {
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
	for n := len(r.items); n > 0 && r.items[n-1].indent >= indentOf(l.text); n-- {
		r.items = r.items[:n-1]
	}
	text := strings.TrimSpace(l.text)
	size := len(text)
	for _, p := range r.paragraph {
		size += len(p.text) + 1
	}
	if size > longestClaim || text[0] == '|' || unlisted(text) != text {
		r.endParagraph()
		r.enterItem(l.text)
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
	r.last, r.window, r.prose, r.items = nil, window{}, false, nil
	r.outline.place(h)
	r.claim(r.claimsOf(line{n: l.n, text: emphasis.Replace(h.text)}))
	r.take(line{n: l.n, text: h.text})
}

// mostClaims is how many changes can be stated between two tables: a text that has
// more is no note on them.
const mostClaims = 500

func (r *textReader) claimsOf(l line) []claim {
	if r.stated >= mostClaims {
		return nil
	}
	found := claimsIn(l.text)
	for i := range found {
		found[i].Line = l.n
		r.locate(&found[i].Claim)
	}
	if r.stated += len(found); r.stated >= mostClaims && len(r.closed) > 0 {
		r.problem(l.n, "%d changes are stated since the last table: what follows up to the next one is not read as such", r.stated)
	}
	return found
}

type pendingClaim struct {
	trace.Claim
	below   *heading
	inLabel bool // of the table
}

// claim gives what an author states to the table above, or if a heading stands
// between to the next one below the same heading.
func (r *textReader) claim(found []claim) {
	for _, c := range found {
		if r.last != nil {
			c.Loose = c.Loose || r.last.mixed
			r.last.claims = append(r.last.claims, c.Claim)
			continue
		}
		below := r.outline.top()
		if r.window.label.text != "" {
			below = r.outline.marked() // the label will be the heading
		}
		r.pending = append(r.pending, pendingClaim{c.Claim, below, r.window.label.line == c.Line})
	}
}

// claimsFor are the claims of a table below some headings. Those below another heading, with no table of its own, may
// be of any comparison in the text.
func (r *textReader) claimsFor(stack []*heading) (all []trace.Claim) {
	for _, c := range r.pending {
		c.Loose = !c.inLabel && (c.below == &r.outline.root || !slices.Contains(stack, c.below))
		all = append(all, c.Claim)
	}
	r.pending = nil
	return all
}
