package report

import (
	"cmp"
	"io"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/compare"
)

// CompareMarkdown writes a comparison as Markdown: for each workload a heading,
// what was compared, and a table in which every variant but the baseline has a
// column for its values and one for its changes.
func CompareMarkdown(w io.Writer, c compare.Comparison, o CompareOptions) error {
	v := newComparisonView(c, o)
	m := markdown{heading: strings.Repeat("#", cmp.Or(o.Heading, 2))}
	m.bullets(v.notes)
	for _, s := range v.workloads {
		m.title(s.name)
		m.bullets(s.head)
		m.table(v.words, s)
		m.bullets(s.tail)
	}
	for _, block := range []struct {
		title string
		lines []line
	}{{v.words.gates, v.gates}, {v.words.marks, v.marks}} {
		if len(block.lines) > 0 {
			m.title(block.title)
			m.bullets(block.lines)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

// A markdown is a document in the making.
type markdown struct {
	strings.Builder
	heading string
}

func (m *markdown) title(s string) { m.WriteString(m.heading + " " + escapeMarkdown(s) + "\n\n") }

func (m *markdown) bullets(lines []line) {
	for _, l := range lines {
		m.WriteString("- **" + escapeMarkdown(l.label) + "**: " + escapeMarkdown(l.text) + "\n")
	}
	if len(lines) > 0 {
		m.WriteString("\n")
	}
}

// table is padded, so that it can be read as it stands.
func (m *markdown) table(w words, s section) {
	if len(s.rows) == 0 || len(s.heads) == 0 {
		return
	}
	head := []string{w.rule}
	for i, h := range s.heads {
		if head = append(head, h); i > 0 {
			head = append(head, w.changeHead)
		}
	}
	rows := [][]string{head}
	for _, r := range s.rows {
		row := []string{r.title}
		for i, c := range r.cells {
			if row = append(row, c.value); i > 0 {
				row = append(row, c.changed())
			}
		}
		rows = append(rows, row)
	}
	m.rows(rows)
}

// changed is all that is said of a change.
func (c viewCell) changed() string {
	return strings.Join(strings.Fields(strings.Join([]string{c.change, c.interval, c.verdict}, " ")), " ")
}

func (m *markdown) rows(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = escapeMarkdown(row[i])
			widths[i] = max(widths[i], columnsOf(row[i]), 3)
		}
	}
	for i, row := range rows {
		for j, cell := range row {
			switch {
			case j == 0 || i > 0 && j%2 == 0 || i == 0 && j > 1:
				cell = padRight(cell, widths[j])
			default:
				cell = padLeft(cell, widths[j])
			}
			m.WriteString("| " + cell + " ")
		}
		m.WriteString("|\n")
		if i == 0 {
			m.rule(widths)
		}
	}
	m.WriteString("\n")
}

// rule is the line under the head. Titles and changes begin where their columns
// begin, values end where they end.
func (m *markdown) rule(widths []int) {
	for i, n := range widths {
		dashes := strings.Repeat("-", n)
		if i%2 == 1 {
			dashes = dashes[1:] + ":"
		}
		m.WriteString("| " + dashes + " ")
	}
	m.WriteString("|\n")
}

// escapeMarkdown keeps text from being anything but text, and looks like it wherever
// it can: an underscore inside a word, as in cu_seqlens, stays as it is.
func escapeMarkdown(s string) string {
	var b strings.Builder
	runes := []rune(s)
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '>' && i == 0, r == '&' && i+1 < len(runes) && (inWord(i+1) || runes[i+1] == '#'),
			r == '_' && !(inWord(i-1) && inWord(i+1)), strings.ContainsRune("\\`*|", r),
			r == '~' && i+1 < len(runes) && runes[i+1] == '~', r == ']' && i+1 < len(runes) && strings.ContainsRune("([:", runes[i+1]):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
