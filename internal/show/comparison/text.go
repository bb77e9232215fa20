package comparison

import (
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Text writes a comparison for a terminal: metrics as rows, variants as columns, as many
// tables as the width asks for, the baseline in each.
func Text(w io.Writer, c compare.Comparison, o Options) error {
	v := newShown(c, o)
	labels := v.Notes
	for _, s := range v.Workloads {
		labels = slices.Concat(labels, s.Head, s.Tail)
	}
	t := terminal{width: o.Width, color: o.Color}
	t.label = widest(v.Kinds)
	t.lines(v.Kinds)
	if t.block(v.Verdict); t.Len() > 0 && len(v.Notes) > 0 {
		t.WriteString("\n")
	}
	t.label = widest(labels)
	t.lines(v.Notes)
	for _, s := range v.Workloads {
		if t.Len() > 0 {
			t.WriteString("\n")
		}
		t.WriteString(t.paint(s.Name, plain.Bold) + "\n")
		t.lines(s.Head)
		t.tables(v.Rule, s)
		t.lines(s.Tail)
	}
	for _, b := range v.Blocks {
		t.block(b)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// A terminal is a text in the making for one of that many columns.
type terminal struct {
	strings.Builder
	width int
	color bool
	label int // columns of labels
}

// tables of a workload: in each the baseline and as many variants as fit.
func (t *terminal) tables(rule string, s section) {
	if len(s.Rows) == 0 {
		return
	}
	columns := make([]column, len(s.Heads))
	for i := range columns {
		columns[i] = newColumn(s, i, false)
	}
	for i := 1; i < len(columns); i++ {
		if t.width > 0 && indent+leastTitle+2*gap+columns[0].width+columns[i].width > t.width {
			columns[i] = newColumn(s, i, true)
		}
	}
	titles := doc.Width(rule)
	for _, r := range s.Rows {
		titles = max(titles, doc.Width(r.Title))
	}
	t.WriteString("\n")
	if len(columns) == 1 {
		t.table(s, titles, columns)
		return
	}
	for rest := columns[1:]; len(rest) > 0; {
		n, room := t.fitting(titles, columns[0], rest)
		t.table(s, room, slices.Concat(columns[:1], rest[:n]))
		rest = rest[n:]
	}
}

// newColumn has room for the cells of a variant; a narrow one has no intervals.
func newColumn(s section, i int, narrow bool) column {
	c := column{variant: i}
	for _, r := range s.Rows {
		for j, p := range r.Cells[i].parts() {
			c.parts[j] = max(c.parts[j], doc.Width(p))
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
	c.width = max(max(c.width-2, 1), min(doc.Width(s.Heads[i]), room))
	c.head = doc.Wrap(s.Heads[i], c.width)
	if len(c.head) > headLines {
		rest := strings.Join(c.head[headLines-1:], " ")
		c.head = append(c.head[:headLines-1], doc.Cut(rest, c.width))
	}
	return c
}

// headWidth is what a name has at least, if it wants it, and loneWidth what that of an
// only column has; headLines how many lines at most.
const (
	headWidth = 20
	loneWidth = 40
	headLines = 3
)

func (t *terminal) table(s section, titles int, columns []column) {
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
		title := doc.Wrap(r.Title, titles)
		row := strings.Repeat(" ", indent) + doc.PadRight(title[0], titles)
		for _, c := range columns {
			row += strings.Repeat(" ", gap) + t.cell(c, r.Cells[c.variant])
		}
		t.WriteString(strings.TrimRight(row, " ") + "\n")
		for _, more := range title[1:] {
			t.WriteString(strings.Repeat(" ", indent+1) + more + "\n")
		}
	}
	t.WriteString("\n")
}

func (t *terminal) cell(c column, own cell) string {
	if c.parts[1] == 0 {
		return doc.PadLeft(own.Value, c.width)
	}
	change := ""
	for j, p := range own.parts() {
		switch {
		case j == 0 || c.parts[j] == 0:
		case j == 3:
			change += "  " + p
		default:
			change += "  " + doc.PadLeft(p, c.parts[j])
		}
	}
	change = strings.TrimRight(change, " ")
	filler := strings.Repeat(" ", c.width-c.parts[0]-doc.Width(change))
	return doc.PadLeft(own.Value, c.parts[0]) + t.paint(change, colorOf(own.Tone)) + filler
}

// fitting is how many of the variants fit beside the baseline, at least one, and
// how much room the titles have then.
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
		return 1, between(leastTitle, left-rest[0].width-gap, titles)
	}
	tables := (len(rest) + n - 1) / n // each with about as many
	return (len(rest) + tables - 1) / tables, titles
}

// A column is a variant in a table: value, change, interval and verdict beside one
// another.
type column struct {
	variant int
	head    []string
	width   int
	parts   [4]int // the widths of the four
}

// gap is what lies between columns.
const gap = 3

// leastTitle is how narrow the column of titles may get.
const leastTitle = 14

// padName: the name of a lone value is above its end, of several parts above their
// beginning.
func (c column) padName(name string) string {
	if c.parts[1] == 0 {
		return doc.PadLeft(name, c.width)
	}
	return doc.PadRight(name, c.width)
}

func (c cell) parts() [4]string { return [4]string{c.Value, c.Change, c.Interval, c.Verdict} }

func (t *terminal) block(b block) {
	if len(b.Lines) == 0 {
		return
	}
	if t.Len() > 0 {
		t.WriteString("\n")
	}
	t.label = widest(b.Lines)
	t.WriteString(t.paint(b.Name, plain.Bold) + "\n")
	t.lines(b.Lines)
}

func widest(lines lines) (n int) {
	for _, l := range lines {
		n = max(n, doc.Width(l.Label))
	}
	return n
}

// lines are written with their labels beside them, each once, and broken at the
// width.
func (t *terminal) lines(lines lines) {
	width := readable
	if t.width > 0 {
		width = min(t.width, readable)
	}
	room := max(20, width-indent-t.label-2)
	for _, l := range lines.Once() {
		code := colorOf(l.Tone)
		if l.Tone == unclear {
			code = "" // that nothing can be told is no small print
		}
		for _, part := range doc.Wrap(l.Text, room) {
			said := doc.PadRight(l.Label, t.label) + "  " + t.paint(part, code)
			t.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+said, " ") + "\n")
			l.Label = ""
		}
	}
}

// readable is where lines of text are broken that a terminal may have room for.
const readable = 120

// indent is how far everything is from the left, but for names of workloads.
const indent = 2

func colorOf(t tone) string {
	return map[tone]string{good: plain.Green, bad: plain.Red, unclear: plain.Dim}[t]
}

func (t *terminal) paint(s, color string) string {
	if !t.color {
		return s
	}
	return plain.Paint(s, color)
}
