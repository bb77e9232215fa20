package comparison

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// Markdown writes a comparison as Markdown: for each workload a heading, what was
// compared, and a table in which every variant but the baseline has a column for its
// values and one for its changes.
func Markdown(w io.Writer, c compare.Comparison, o Options) error {
	v := newShown(c, o)
	m := markdown{heading: strings.Repeat("#", cmp.Or(o.Heading, 2)), words: v.Words}
	m.bullets(v.Kinds)
	m.block(v.Verdict)
	m.bullets(v.Notes)
	for _, s := range v.Workloads {
		m.title(s.Name)
		m.bullets(s.Head)
		m.section(v.Rule, s)
		m.bullets(s.Tail)
	}
	for _, b := range v.Blocks {
		m.block(b)
	}
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

// A markdown is a document in the making.
type markdown struct {
	strings.Builder
	words   Words
	heading string
}

func (m *markdown) block(b block) {
	if len(b.Lines) > 0 {
		m.title(b.Name)
		m.bullets(b.Lines)
	}
}

func (m *markdown) bullets(lines lines) {
	for _, l := range lines {
		m.WriteString("- " + m.words.Of("**"+escapeMarkdown(l.Label)+"**", escapeMarkdown(l.Text)) + "\n")
	}
	if len(lines) > 0 {
		m.WriteString("\n")
	}
}

func (m *markdown) title(s string) { m.WriteString(m.heading + " " + escapeMarkdown(s) + "\n\n") }

// section is the table of a workload.
func (m *markdown) section(rule string, s section) {
	head, under := []string{rule}, []string{"---"}
	for i, h := range s.Heads {
		head, under = append(head, escapeMarkdown(h)), append(under, "--:")
		if i > 0 {
			head, under = append(head, m.words.Word("comparison.change")), append(under, "---")
		}
	}
	var rows [][]string
	for _, r := range s.Rows {
		row := []string{escapeMarkdown(r.Title)}
		for i, c := range r.Cells {
			if row = append(row, c.Value); i > 0 {
				row = append(row, c.changed())
			}
		}
		rows = append(rows, row)
	}
	m.table(head, under, rows)
}

// table is padded, so that it can be read as it stands. Cells are Markdown.
func (m *markdown) table(head, under []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	rows = append([][]string{head, slices.Clone(under)}, rows...)
	doc.Align(rows, func(column int) bool { return under[column] == "--:" })
	for i, cell := range rows[1] {
		rows[1][i] = strings.ReplaceAll(cell, " ", "-")
	}
	for _, row := range rows {
		m.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	m.WriteString("\n")
}

// changed is all that is said of a change; what is for sure is in bold.
func (c cell) changed() string {
	verdict := escapeMarkdown(c.Verdict)
	if c.Tone == good || c.Tone == bad {
		verdict = "**" + verdict + "**"
	}
	return doc.Join(" ", c.Change, c.Interval, verdict)
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
			r == '_' && (!inWord(i-1) || !inWord(i+1)), strings.ContainsRune("\\`*|", r),
			r == '~' && i+1 < len(runes) && runes[i+1] == '~', r == ']' && i+1 < len(runes) && strings.ContainsRune("([:", runes[i+1]):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
