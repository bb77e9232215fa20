package doc

import (
	"cmp"
	"html"
	"io"
	"net/url"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/show/words"
)

// Markdown writes a document as Markdown, its headings from a level on.
func Markdown(w io.Writer, d Document, level int) error {
	m := markdown{lang: cmp.Or(d.Lang, words.In(words.Default))}
	for s := range d.sections() {
		if s.Title != "" {
			m.block(strings.Repeat("#", level+s.Depth) + " " + line(s.Title))
		}
		m.items(s.Items)
	}
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

// A markdown is a document in the making.
type markdown struct {
	strings.Builder
	lang *words.Language
}

func (m *markdown) block(lines ...string) { m.WriteString(strings.Join(lines, "\n") + "\n\n") }

func (m *markdown) items(items []Item) {
	for _, i := range full(items) {
		switch i := i.(type) {
		case Lines:
			var bullets []string
			for _, l := range i {
				label, text := "**"+line(l.Label)+"**", inline(l.Text, "|")
				bullets = append(bullets, "- "+m.lang.Word("comparison.of", "what", label, "said", text))
			}
			m.block(bullets...)
		case Table:
			m.grid(i.grid())
		case Grid:
			m.grid(i)
		case Prose:
			m.block(paragraph(string(i)))
		case List:
			var bullets []string
			for _, said := range i {
				bullets = append(bullets, "- "+paragraph(said))
			}
			m.block(bullets...)
		case Pre:
			marks := fence(3, i.Text)
			m.block(marks+i.Language, strings.TrimRight(i.Text, "\n"), marks)
		case Image:
			m.block("![" + line(i.Title) + "](" + link(i.Path) + ")")
			m.block(paragraph(i.Caption))
		case Folded: // the content is Markdown because of the blank lines
			m.block("<details>", "<summary>"+html.EscapeString(Clean(Plain(i.Title)))+"</summary>")
			m.items(i.Items)
			m.block("</details>")
		}
	}
}

// grid gives each variant but the baseline a column for its values and one for its changes.
func (t Table) grid() Grid {
	g := Grid{Align: "lr" + strings.Repeat("rl", len(t.Heads)), Padded: true, Rows: [][]string{{t.Rule}}}
	for i, h := range t.Heads {
		if g.Rows[0] = append(g.Rows[0], h); i > 0 {
			g.Rows[0] = append(g.Rows[0], t.Change)
		}
	}
	for _, r := range t.Rows {
		row := []string{r.Title}
		for i, c := range r.Cells {
			if row = append(row, c.Value); i > 0 {
				row = append(row, Join(" ", c.Change, c.Interval, c.Judged()))
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// Judged is the verdict of a cell, in bold if it is certain.
func (c Cell) Judged() string {
	if c.Tone == Good || c.Tone == Bad {
		return Strong(c.Verdict)
	}
	return c.Verdict
}

func (m *markdown) grid(g Grid) {
	rule := make([]string, len(g.Rows[0]))
	for i := range rule {
		if rule[i] = "---"; g.right(i) {
			rule[i] = "--:"
		}
	}
	rows := [][]string{nil, rule}
	for i, row := range g.Rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, inline(cell, `\|`))
		}
		if i == 0 {
			rows[0] = cells
			continue
		}
		rows = append(rows, cells)
	}
	if g.Padded {
		align(rows, nil, g.right)
		for i, cell := range rule {
			rule[i] = strings.ReplaceAll(cell, " ", "-")
		}
	}
	for i, row := range rows {
		if i == 1 && !g.Padded {
			m.WriteString("|" + strings.Join(row, "|") + "|\n")
			continue
		}
		m.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	m.WriteString("\n")
}

// inline is text with marks as Markdown, in one line. pipe stands for one in code, which would end
// a cell.
func inline(s, pipe string) string {
	var b strings.Builder
	for mark, text := range spans(Clean(s)) {
		switch mark {
		case strong:
			b.WriteString("**" + escape(text) + "**")
		case code:
			b.WriteString(strings.ReplaceAll(ticked(text), "|", pipe))
		case 0:
			b.WriteString(escape(text))
		default:
			b.WriteString("<br>")
		}
	}
	return b.String()
}

// line is text without marks, in one line.
func line(s string) string { return escape(Clean(Plain(s))) }

// paragraph is inline text that nothing at its start makes a list, a heading or a rule.
func paragraph(s string) string {
	s = inline(s, "|")
	if n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }); n > 0 && (s[n] == '.' || s[n] == ')') {
		return s[:n] + "\\" + s[n:]
	}
	if s != "" && strings.ContainsRune("#-+=", rune(s[0])) {
		return "\\" + s
	}
	return s
}

// escape keeps text from being anything but text, and looks like it wherever it can: an underscore
// inside a word, as in cu_seqlens, stays as it is.
func escape(s string) string {
	var b strings.Builder
	runes := []rune(s)
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		next := func(chars string) bool { return i+1 < len(runes) && strings.ContainsRune(chars, runes[i+1]) }
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '>' && i == 0, r == '&' && (inWord(i+1) || next("#")), r == '_' && (!inWord(i-1) || !inWord(i+1)),
			strings.ContainsRune("\\`*|", r), r == '~' && next("~"), r == ']' && next("([:"):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fence is at least so many backticks that the text does not hold as many.
func fence(n int, text string) string {
	marks := strings.Repeat("`", n)
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks
}

// ticked is text as it is within a line.
func ticked(s string) string {
	marks := fence(1, s)
	if len(marks) > 1 {
		return marks + " " + s + " " + marks
	}
	return marks + s + marks
}

// link is a path as the target of a link.
func link(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
