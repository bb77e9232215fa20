package report

import (
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/pitot-bench/pitot/internal/judge/compare"
)

// CompareText writes a comparison for a terminal: metrics as rows, variants as
// columns, as many tables as the width asks for, the baseline in each.
func CompareText(w io.Writer, c compare.Comparison, o CompareOptions) error {
	v := newComparisonView(c, o)
	t := terminal{width: o.Width, color: o.Color, label: labelWidth(v)}
	t.lines(v.notes)
	for i, s := range v.workloads {
		if i > 0 || len(v.notes) > 0 {
			t.WriteString("\n")
		}
		t.WriteString(t.paint(s.Name, bold) + "\n")
		t.lines(s.Head)
		t.tables(v.words, s)
		t.lines(s.Tail)
	}
	t.block(v.words.gates, v.gates)
	t.block(v.words.marks, v.marks)
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

// The colours of a terminal.
const (
	bold  = "1"
	red   = "31"
	green = "32"
	dim   = "2"
)

func (t *terminal) paint(s, code string) string {
	if !t.color || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func colorOf(t tone) string {
	return map[tone]string{good: green, bad: red, unclear: dim}[t]
}

// indent is how far everything is from the left, but for names of workloads.
const indent = 2

func labelWidth(v comparisonView) (n int) {
	n = widest(v.notes)
	for _, s := range v.workloads {
		n = max(n, widest(s.Head), widest(s.Tail))
	}
	return n
}

func widest(lines []line) (n int) {
	for _, l := range lines {
		n = max(n, columnsOf(l.Label))
	}
	return n
}

// block is lines under a heading of their own.
func (t *terminal) block(heading string, lines []line) {
	if len(lines) == 0 {
		return
	}
	t.label = widest(lines)
	t.WriteString("\n" + t.paint(heading, bold) + "\n")
	t.lines(lines)
}

// lines are written with their labels beside them, each once, and broken at the
// width.
func (t *terminal) lines(lines []line) {
	last := ""
	for _, l := range lines {
		label := l.Label
		if label == last {
			label = ""
		}
		last = l.Label
		room := 0
		if t.width > 0 {
			room = max(20, t.width-indent-t.label-2)
		}
		code := colorOf(l.Tone)
		if l.Tone == unclear {
			code = "" // that nothing can be told is no small print
		}
		for _, part := range wrap(l.Text, room) {
			text := padRight(label, t.label) + "  " + t.paint(part, code)
			t.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+text, " ") + "\n")
			label = ""
		}
	}
}

// A column is a variant in a table: value, change, interval and verdict beside one
// another.
type column struct {
	head  []string
	width int
	parts [4]int // the widths of the four
	cells []viewCell
}

// headWidth is what a name has at least, if it wants it, and loneWidth what that of an
// only column has; headLines how many lines at most.
const (
	headWidth = 14
	loneWidth = 40
	headLines = 3
)

func newColumn(s section, i int) column {
	c := column{}
	for _, r := range s.Rows {
		cell := r.Cells[i]
		for j, p := range cell.parts() {
			c.parts[j] = max(c.parts[j], columnsOf(p))
		}
		c.cells = append(c.cells, cell)
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
	c.width = max(max(c.width-2, 1), min(columnsOf(s.Heads[i]), room))
	c.head = wrap(s.Heads[i], c.width)
	if len(c.head) > headLines {
		rest := strings.Join(c.head[headLines-1:], " ")
		c.head = append(c.head[:headLines-1], cut(rest, c.width))
	}
	return c
}

func (c viewCell) parts() [4]string { return [4]string{c.Value, c.Change, c.Interval, c.Verdict} }

// tables of a workload: in each the baseline and as many variants as fit.
func (t *terminal) tables(w words, s section) {
	if len(s.Rows) == 0 || len(s.Heads) == 0 {
		return
	}
	columns := make([]column, len(s.Heads))
	for i := range columns {
		columns[i] = newColumn(s, i)
	}
	titles := columnsOf(w.rule)
	for _, r := range s.Rows {
		titles = max(titles, columnsOf(r.Title))
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

// gap is what lies between columns.
const gap = 3

// leastTitle is how narrow the column of titles may get.
const leastTitle = 14

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
			row += strings.Repeat(" ", gap) + t.paint(c.padName(name), bold)
		}
		t.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	for i, r := range s.Rows {
		title := wrap(r.Title, titles)
		row := strings.Repeat(" ", indent) + padRight(title[0], titles)
		for _, c := range columns {
			row += strings.Repeat(" ", gap) + t.cell(c, i)
		}
		t.WriteString(strings.TrimRight(row, " ") + "\n")
		for _, more := range title[1:] {
			t.WriteString(strings.Repeat(" ", indent+1) + more + "\n")
		}
	}
	t.WriteString("\n")
}

// padName: the name of a lone value is above its end, of several parts above their
// beginning.
func (c column) padName(name string) string {
	if c.parts[1] == 0 {
		return padLeft(name, c.width)
	}
	return padRight(name, c.width)
}

func (t *terminal) cell(c column, row int) string {
	cell := c.cells[row]
	if c.parts[1] == 0 {
		return padLeft(cell.Value, c.width)
	}
	parts := cell.parts()
	s := padLeft(parts[0], c.parts[0])
	rest, written := "", c.parts[0]
	for j := 1; j < len(parts); j++ {
		if c.parts[j] == 0 {
			continue
		}
		written += 2 + c.parts[j]
		if rest += "  "; j == 3 {
			rest += padRight(parts[j], c.parts[j])
		} else {
			rest += padLeft(parts[j], c.parts[j])
		}
	}
	bare := strings.TrimRight(rest, " ")
	filler := strings.Repeat(" ", columnsOf(rest)-columnsOf(bare)+max(0, c.width-written))
	return s + t.paint(bare, colorOf(cell.Tone)) + filler
}

// cut is the beginning of s in n columns.
func cut(s string, n int) string {
	if columnsOf(s) <= n {
		return s
	}
	kept, _ := split(s, n-1)
	return strings.TrimRight(kept, " ") + "…"
}

// split is as much of s as n columns hold, at least one character, and the rest.
func split(s string, n int) (head, rest string) {
	state, rest := -1, s
	for rest != "" {
		cluster, after, width, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if n -= width; n < 0 && head != "" {
			break
		}
		head, rest, state = head+cluster, after, next
	}
	return head, rest
}

// wrap breaks s into lines of n columns, 0 for no limit: where there may be a break,
// which in Chinese is nearly everywhere, and if need be inside a word.
func wrap(s string, n int) []string {
	if n <= 0 || columnsOf(s) <= n {
		return []string{s}
	}
	var lines []string
	now, s := "", unbroken.Replace(s)
	for state := -1; s != ""; {
		var segment string
		segment, s, _, state = uniseg.FirstLineSegmentInString(s, state)
		if columnsOf(strings.TrimRight(now+segment, " ")) <= n {
			now += segment
			continue
		}
		if now != "" {
			lines = append(lines, strings.TrimRight(now, " "))
		}
		for columnsOf(strings.TrimRight(segment, " ")) > n {
			var head string
			head, segment = split(segment, n)
			lines = append(lines, head)
		}
		now = segment
	}
	if now = strings.TrimRight(now, " "); now != "" {
		lines = append(lines, now)
	}
	for i := range lines {
		lines[i] = rebroken.Replace(lines[i])
	}
	return lines
}

// A number stays beside its sign, and req/s in one piece.
var (
	unbroken = strings.NewReplacer(" %", "\u00a0%", "/ ", "/ ", "/", "/\u2060")
	rebroken = strings.NewReplacer("\u00a0%", " %", "/\u2060", "/")
)
