package flags

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// translations has a file for each language: an English text, and its translation indented below it.
//
//go:embed help/*.txt
var translations embed.FS

// Translation has the texts of help in a language, by the English ones: none in English.
func Translation(language string) map[string]string {
	file, err := translations.ReadFile("help/" + language + ".txt")
	if err != nil {
		return nil
	}
	texts, english := map[string]string{}, ""
	for line := range strings.Lines(string(file)) {
		line = strings.TrimRight(line, "\n")
		if text, below := strings.CutPrefix(line, "  "); below {
			texts[english] = text
		} else {
			english = line
		}
	}
	return texts
}

// Translate puts the help of flags and arguments into the language of a command line that asks for it.
func Translate(sess *session.Session) func(*kong.Kong) error {
	return func(k *kong.Kong) error {
		if !helpAsked(sess.Args) {
			return nil
		}
		texts := Translation(language(sess))
		return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
			if v, ok := at.(*kong.Value); ok {
				if v.Help == strings.ReplaceAll(v.OrigHelp, "${default}", v.Default) { // as in the flags of a sweep
					v.Help = v.OrigHelp
				}
				v.Help = cmp.Or(texts[v.Help], v.Help)
			}
			return next(nil)
		})
	}
}

// language is that of a command line, by its --lang, or of the session.
func language(sess *session.Session) string {
	own := *sess
	for i, arg := range own.Args {
		value, joined := strings.CutPrefix(arg, "--lang=")
		if arg == "--lang" && i+1 < len(own.Args) {
			value, joined = own.Args[i+1], true
		}
		if joined {
			own.Speak(session.Language(value))
		}
	}
	return own.Words().Name
}

// A manual writes the help of commands, in a language.
type manual struct {
	strings.Builder
	texts map[string]string // by the English ones
	width int               // columns
}

// newManual is as wide as COLUMNS, the terminal, or 80 columns.
func newManual(sess *session.Session) *manual {
	m := &manual{texts: Translation(language(sess)), width: 80}
	if sess.Columns != nil {
		m.width = sess.Columns()
	}
	if n, err := strconv.Atoi(sess.Getenv("COLUMNS")); err == nil && n > 0 {
		m.width = n
	}
	return m
}

func (m *manual) in(text string) string { return cmp.Or(m.texts[text], text) }

// print writes the help of a command, of which some flags are left out: examples, usage, what it does, and the tables of
// its arguments, commands and flags.
func (m *manual) print(w io.Writer, node *kong.Node, left int) error {
	if node.Parent == nil {
		m.paragraph(node.Help)
	}
	m.examples(Path(node))
	m.paragraph(m.usage(node))
	if node.Parent != nil {
		m.paragraph(node.Help)
	}
	for text := range strings.SplitSeq(node.Detail, "\n\n") {
		m.paragraph(text)
	}
	var rows [][2]string
	for _, p := range node.Positional {
		rows = append(rows, [2]string{p.Summary(), p.Help})
	}
	m.table("Arguments:", rows, m.leftMost())
	m.commands(node)
	m.flags(node)
	switch {
	case left > 0:
		m.paragraph(fmt.Sprintf(m.in("%d more flags: pitot %s --help-all"), left, Path(node)))
	case node.Parent == nil:
		m.paragraph("pitot help COMMAND shows the examples and flags of a command.")
	}
	_, err := io.WriteString(w, m.text())
	return err
}

// text is what was written, without the blank line ahead of the first part.
func (m *manual) text() string { return strings.TrimPrefix(m.String(), "\n") }

// usage is how a command is called.
func (m *manual) usage(node *kong.Node) string {
	for _, f := range node.Flags {
		f.Required = f.Required || f.Tag.Has("needed")
	}
	words := strings.Fields("Usage: pitot " + node.Summary())
	for i, word := range words {
		words[i] = m.in(word)
	}
	return strings.Replace(strings.Join(words, " "), "： ", "：", 1)
}

func (m *manual) commands(node *kong.Node) {
	var rows [][2]string
	for _, c := range node.Leaves(true) {
		rows = append(rows, [2]string{c.Path(), m.in(c.Help)})
	}
	m.table("Commands:", rows, m.leftMost())
}

// flags writes those of a command, by their groups, and those of every command.
func (m *manual) flags(node *kong.Node) {
	titles, rows := []string{"Flags:"}, map[string][][2]string{}
	for at := node; at != nil; at = at.Parent {
		shown := visible(at)
		short := slices.ContainsFunc(shown, func(f *kong.Flag) bool { return f.Short != 0 })
		for _, f := range shown {
			title := "Flags:"
			if f.Group != nil {
				title = f.Group.Title
			}
			if at.Parent == nil {
				title = "Flags of every command:"
			}
			if !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
			rows[title] = append(rows[title], [2]string{flagHead(f, short), f.Help})
		}
	}
	for _, title := range titles {
		m.table(title, rows[title], m.leftMost())
	}
}

// flagHead is a flag as a table has it: -n, --requests=N; short leaves room for a letter.
func flagHead(f *kong.Flag, short bool) string {
	head := f.String()
	if f.IsBool() && f.Tag.Negatable != "" {
		head = strings.Replace(head, "--", "--[no-]", 1)
	}
	if short && f.Short == 0 {
		head = "    " + head
	}
	return head
}

// leftMost is how wide the left column of a table may be.
func (m *manual) leftMost() int { return m.width * 3 / 8 }

// paragraph writes a text below a blank line. Of a list with a title, as in "Faults: a, b", the title is translated.
func (m *manual) paragraph(text string) {
	if text == "" {
		return
	}
	title, list, _ := strings.Cut(text, ": ")
	if known := m.texts[title+":"]; known != "" {
		text = known + list
	}
	m.WriteString("\n" + strings.Join(wrap(m.in(text), m.width), "\n") + "\n")
}

// table writes rows of two columns below a title. Of a row with more than most columns at the left, the right ones begin
// on the next line.
func (m *manual) table(title string, rows [][2]string, most int) {
	if len(rows) == 0 {
		return
	}
	m.paragraph(title)
	left := min(most/2, 24)
	for _, row := range rows {
		if n := doc.Width(row[0]); n <= most {
			left = max(left, n)
		}
	}
	margin := strings.Repeat(" ", 2+left+gap)
	for _, row := range rows {
		head := "  " + doc.PadRight(row[0], left+gap)
		if row[1] != "" && doc.Width(row[0]) > left {
			m.WriteString(strings.TrimRight(head, " ") + "\n")
			head = margin
		}
		for _, line := range wrap(row[1], m.width-len(margin)) {
			m.WriteString(strings.TrimRight(head+line, " ") + "\n")
			head = margin
		}
	}
}

// gap is between the columns of a table.
const gap = 3

// wrap breaks a text into lines, but no flag, path or list without blanks, and so that the last one is no single character.
func wrap(text string, width int) []string {
	width, text = max(width, 24), whole.Replace(text)
	lines := doc.Wrap(text, width)
	for n := width - 1; n > width-6 && doc.Width(lines[len(lines)-1]) < 5; n-- {
		lines = doc.Wrap(text, n)
	}
	for i, line := range lines {
		lines[i] = broken.Replace(line)
	}
	return lines
}

// whole writes characters at which a line might be broken as letters, and broken brings them back.
var (
	whole  = strings.NewReplacer("-", "\ue000", "/", "\ue001", ", ", ", ", ",", "\ue002")
	broken = strings.NewReplacer("\ue000", "-", "\ue001", "/", "\ue002", ",")
)

//go:embed examples.txt
var examplesFile string

// An Example is a command line, and a word on what it is for.
type Example struct{ Line, Text string }

// Examples are those of a command, such as "runs list", and of no command those of the program. Those of a command that
// has none itself are of the commands below it in turn: the first of each, then the second.
func Examples(path string) (all []Example) {
	sections, order := map[string][]Example{}, []string{}
	under := ""
	for line := range strings.Lines(examplesFile) {
		line = strings.TrimRight(line, "\n")
		if text, indented := strings.CutPrefix(line, "  "); indented {
			line, why, _ := strings.Cut(text, "   ")
			sections[under] = append(sections[under], Example{line, strings.TrimSpace(why)})
		} else {
			under, order = line, append(order, line)
		}
	}
	if own := sections[cmp.Or(path, "pitot")]; own != nil {
		return own
	}
	order = slices.DeleteFunc(order, func(name string) bool { return !strings.HasPrefix(name, path+" ") })
	for i := 0; len(order) > 0; i++ {
		order = slices.DeleteFunc(order, func(name string) bool { return len(sections[name]) <= i })
		for _, name := range order {
			all = append(all, sections[name][i])
		}
	}
	return all
}

// mostExamples are those that the help of a command begins with.
const mostExamples = 5

// examples writes those of a command. Each stands on one line, its text below it if they do not fit on one.
func (m *manual) examples(path string) {
	var rows [][2]string
	for _, e := range Examples(path) {
		if path == "" || len(rows) < mostExamples {
			rows = append(rows, [2]string{e.Line, m.in(e.Text)})
		}
	}
	m.table("Examples:", rows, max(m.width/2, m.width-52))
}

// Outline is a grammar without the flags of its commands, for what lists these alone.
func Outline(grammar any) any {
	return reflect.New(outlined(reflect.TypeOf(grammar).Elem(), true)).Interface()
}

// outlined is the type of a command with its commands, and with its flags if it has them.
func outlined(command reflect.Type, flags bool) reflect.Type {
	var fields []reflect.StructField
	for f := range command.Fields() {
		_, nested := f.Tag.Lookup("cmd")
		if _, whole := f.Tag.Lookup("passthrough"); nested && !whole { // else it has to have its argument
			f.Type = outlined(f.Type, false)
		}
		if nested || flags {
			fields = append(fields, f)
		}
	}
	return reflect.StructOf(fields)
}
