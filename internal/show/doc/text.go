package doc

import (
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Text writes a document for a terminal of so many columns, 0 for no limit. A table that does not
// fit is split into several, each with the baseline.
func Text(w io.Writer, d Document, width int, color bool) error {
	t := terminal{width: width, color: color}
	groups := map[int]int{}
	for s := range d.sections() {
		groups[s.Group] = max(groups[s.Group], s.labels())
	}
	for s := range d.sections() {
		if t.label = groups[s.Group]; s.Group == 0 {
			t.label = s.labels()
		}
		t.section(s)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

func (s Section) labels() (n int) {
	for _, i := range s.Items {
		if lines, ok := i.(Lines); ok {
			for _, l := range lines {
				n = max(n, Width(l.Label))
			}
		}
	}
	return n
}

// A terminal is text for one of that many columns.
type terminal struct {
	strings.Builder
	width int
	color bool
	label int // columns of labels
}

// line writes a line, and no blanks behind it.
func (t *terminal) line(s string) { t.WriteString(strings.TrimRight(plain.Line(s), " ") + "\n") }

func (t *terminal) section(s Section) {
	if t.Len() > 0 {
		t.WriteString("\n")
	}
	if s.Title != "" {
		t.WriteString(t.paint(s.Title, plain.Bold) + "\n")
	}
	for i, item := range s.Items {
		if i > 0 {
			t.WriteString("\n")
		}
		t.item(item)
	}
}

func (t *terminal) item(i Item) {
	switch i := i.(type) {
	case Lines:
		t.lines(i)
	case Table:
		t.tables(i)
	case Grid:
		t.grid(i)
	case Prose:
		t.line(Plain(string(i)))
	case List:
		for _, said := range i {
			if said != "" {
				t.line(Plain(said))
			}
		}
	case Pre:
		t.WriteString(i.Text + "\n")
	case Image:
		t.line(i.Title + ": " + i.Path)
	case Folded:
		t.section(Section{Title: i.Title, Items: i.Items})
	}
}

// grid aligns columns, as many as there are widths or else heads. A row with more or fewer cells ends
// with a sentence, which is in no column.
func (t *terminal) grid(g Grid) {
	columns, gap := len(g.Rows[0]), "  "
	if g.Widths != nil {
		columns, gap = len(g.Widths), " "
	}
	rows, sentences := make([][]string, len(g.Rows)), make([][]string, len(g.Rows))
	for n, row := range g.Rows {
		for _, cell := range row {
			rows[n] = append(rows[n], plain.Line(Plain(cell)))
		}
		if last := max(0, len(row)-1); len(row) != columns {
			rows[n], sentences[n] = rows[n][:last], rows[n][last:]
		}
	}
	align(rows, g.Widths, g.right)
	for n, row := range rows {
		t.line(strings.Join(slices.Concat(row, sentences[n]), gap))
	}
}

// lines are written after their labels, each once, and broken at the width.
func (t *terminal) lines(lines Lines) {
	width := readable
	if t.width > 0 {
		width = min(t.width, readable)
	}
	room := max(20, width-indent-t.label-2)
	for _, l := range lines.WithoutRepeatedLabels() {
		code := colors[l.Tone]
		if l.Tone == Unclear {
			code = "" // only cells of tables are dimmed
		}
		for _, part := range Wrap(Plain(l.Text), room) {
			text := PadRight(l.Label, t.label) + "  " + t.paint(part, code)
			t.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+text, " ") + "\n")
			l.Label = ""
		}
	}
}

// tables are a table in as many as the width asks for: in each the baseline and as many variants as
// fit.
func (t *terminal) tables(s Table) {
	columns := make([]column, len(s.Heads))
	for i := range columns {
		columns[i] = newColumn(s, i, false)
	}
	for i := 1; i < len(columns); i++ {
		if t.width > 0 && indent+leastTitle+2*gap+columns[0].width+columns[i].width > t.width {
			columns[i] = newColumn(s, i, true)
		}
	}
	titles := Width(s.Rule)
	for _, r := range s.Rows {
		titles = max(titles, Width(r.Title))
	}
	if len(columns) == 1 {
		t.table(s, titles, columns)
		return
	}
	for rest := columns[1:]; len(rest) > 0; {
		n, room := t.fitting(titles, columns[0], rest)
		t.table(s, room, slices.Concat(columns[:1], rest[:n]))
		if rest = rest[n:]; len(rest) > 0 {
			t.WriteString("\n")
		}
	}
}

// newColumn has room for the cells of a variant; a narrow one has no intervals.
func newColumn(s Table, i int, narrow bool) column {
	c := column{variant: i}
	for _, r := range s.Rows {
		for j, p := range r.Cells[i].parts() {
			c.parts[j] = max(c.parts[j], Width(p))
		}
	}
	if narrow {
		c.parts[2] = 0
	}
	for _, n := range c.parts {
		if n > 0 {
			c.width += n + 2
		}
	}
	room := headWidth
	if len(s.Heads) == 1 {
		room = loneWidth
	}
	c.width = max(max(c.width-2, 1), min(Width(s.Heads[i]), room))
	c.head = Wrap(s.Heads[i], c.width)
	if len(c.head) > headLines {
		rest := strings.Join(c.head[headLines-1:], " ")
		c.head = append(c.head[:headLines-1], Cut(rest, c.width))
	}
	return c
}

func (t *terminal) table(s Table, titles int, columns []column) {
	lines := 0
	for _, c := range columns {
		lines = max(lines, len(c.head))
	}
	for i := range lines {
		row := strings.Repeat(" ", indent+titles)
		for _, c := range columns {
			name := ""
			if j := i - (lines - len(c.head)); j >= 0 {
				name = c.head[j]
			}
			row += strings.Repeat(" ", gap) + t.paint(c.padName(name), plain.Bold)
		}
		t.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	for _, r := range s.Rows {
		title := Wrap(r.Title, titles)
		row := strings.Repeat(" ", indent) + PadRight(title[0], titles)
		for _, c := range columns {
			row += strings.Repeat(" ", gap) + t.cell(c, r.Cells[c.variant])
		}
		t.WriteString(strings.TrimRight(row, " ") + "\n")
		for _, more := range title[1:] {
			t.WriteString(strings.Repeat(" ", indent+1) + more + "\n")
		}
	}
}

func (t *terminal) cell(c column, own Cell) string {
	if c.parts[1] == 0 {
		return PadLeft(own.Value, c.width)
	}
	change := ""
	for j, p := range own.parts() {
		switch {
		case j == 0 || c.parts[j] == 0:
		case j == 3:
			change += "  " + p
		default:
			change += "  " + PadLeft(p, c.parts[j])
		}
	}
	change = strings.TrimRight(change, " ")
	filler := strings.Repeat(" ", c.width-c.parts[0]-Width(change))
	return PadLeft(own.Value, c.parts[0]) + t.paint(change, colors[own.Tone]) + filler
}

// fitting is how many of the variants fit next to the baseline, at least one, and the room left for
// titles.
func (t *terminal) fitting(titles int, baseline column, rest []column) (n, room int) {
	if t.width == 0 {
		return len(rest), titles
	}
	left := t.width - indent - baseline.width - gap
	for n < len(rest) && left-titles >= rest[n].width+gap {
		left -= rest[n].width + gap
		n++
	}
	if n == 0 {
		return 1, min(max(leastTitle, left-rest[0].width-gap), titles)
	}
	tables := (len(rest) + n - 1) / n // each with about as many
	return (len(rest) + tables - 1) / tables, titles
}

// A column is a variant in a table: value, change, interval and verdict side by side.
type column struct {
	variant int
	head    []string
	width   int
	parts   [4]int // the widths of the four
}

// The layout of a text, in columns.
const (
	readable   = 120 // lines are broken here, however wide the terminal is
	indent     = 2   // of everything but titles, grids and prose
	gap        = 3   // between columns of a table
	leastTitle = 14  // of rows
	headWidth  = 20  // that a head has, if it wants it
	loneWidth  = 40  // that the head of an only column has
	headLines  = 3
)

// padName puts the name of a lone value above its end, and of several parts above their beginning.
func (c column) padName(name string) string {
	if c.parts[1] == 0 {
		return PadLeft(name, c.width)
	}
	return PadRight(name, c.width)
}

func (c Cell) parts() [4]string { return [4]string{c.Value, c.Change, c.Interval, c.Verdict} }

var colors = map[Tone]string{Good: plain.Green, Bad: plain.Red, Unclear: plain.Dim}

func (t *terminal) paint(s, color string) string {
	if !t.color {
		return s
	}
	return plain.Paint(s, color)
}
