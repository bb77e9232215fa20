package plan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A Document is a YAML or JSON file as a tree, with the place of every value.
// Decoders give it a meaning.
type Document struct {
	File     string
	Root     *Node
	lines    []string
	places   map[string]Place // of values, by path
	mistakes []Mistake        // of form, not of meaning
}

// A Place is a position in a file, counted from 1; the column in characters.
type Place struct{ Line, Column int }

// A Mistake is something wrong at a place in a file.
type Mistake struct {
	File string
	Place
	Text    string // of the line
	Problem string

	hidden bool // the line is no text to show
}

// Error gives the place and the problem, and below them the line with a caret.
func (m Mistake) Error() string {
	what := fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, secret.Mask(m.Problem))
	if m.hidden {
		return what
	}
	number := fmt.Sprint(m.Line)
	gutter := strings.Repeat(" ", len(number))
	text, column := masked(m.Text, m.Column)
	text, column = excerpt(text, column)
	return fmt.Sprintf("%s\n  %s | %s\n  %s | %s^", what, number, text, gutter, strings.Repeat(" ", max(0, column-1)))
}

// masked is a line without its secrets, and where a column is in it.
func masked(line string, column int) (string, int) {
	out := secret.MaskLine(line)
	if out != line {
		same := 0
		for same < min(len(out), len(line)) && out[same] == line[same] {
			same++
		}
		column = min(column, utf8.RuneCountInString(out[:same])+1)
	}
	return out, column
}

// most is how many characters of a line are shown.
const most = 160

// excerpt returns the part of a line to display, and the position of a column in it.
func excerpt(line string, column int) (string, int) {
	text := []rune(line)
	if len(text) <= most {
		return line, column
	}
	from := max(0, min(column-most/2, len(text)-most))
	return string(text[from : from+most]), column - from
}

// Mistakes are those of a file in order of place.
type Mistakes []Mistake

func (m Mistakes) Error() string { return listed(m) }

// Parse reads a file that holds one document. The error is Mistakes.
func Parse(file string, data []byte) (*Document, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	d := &Document{File: file, Root: new(Node), lines: strings.Split(string(data), "\n"), places: map[string]Place{}}
	if at, why := outOfBounds(data); why != "" {
		m := d.At(at, why)
		m.hidden = true
		return nil, Mistakes{m}
	}
	parsed, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if bad := yaml.Error(nil); errors.As(err, &bad) {
		return nil, Mistakes{d.At(placeOf(bad.GetToken()), bad.GetMessage())}
	}
	if err != nil {
		return nil, Mistakes{d.At(Place{}, err.Error())}
	}
	var bodies []ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) > 1 {
		return nil, Mistakes{d.At(placeOf(bodies[1].GetToken()), "a second document begins; a file must contain one")}
	}
	if len(bodies) == 1 {
		d.Root = d.node("", bodies[0])
	}
	return d, nil
}

// placeOf returns the place of a token, the top for nil.
func placeOf(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{1, 1}
	}
	return Place{t.Position.Line, t.Position.Column}
}

// At returns a mistake at a place, at the top if it is zero.
func (d *Document) At(at Place, problem string) Mistake {
	if at.Line == 0 {
		at = Place{1, 1}
	}
	m := Mistake{File: d.File, Place: at, Problem: problem}
	if at.Line <= len(d.lines) {
		m.Text = strings.TrimRight(d.lines[at.Line-1], "\r")
	}
	return m
}

// node makes a Node from a node of the YAML library.
func (d *Document) node(path string, n ast.Node) *Node {
	out := &Node{At: placeOf(n.GetToken())}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.Kind = Map
		d.members(path, out, n.Values)
	case *ast.MappingValueNode:
		out.Kind = Map
		d.members(path, out, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.Kind = List
		for i, item := range n.Values {
			child := d.node(Item(path, i), item)
			d.places[Item(path, i)] = child.begin()
			out.Items = append(out.Items, child)
		}
	case *ast.StringNode:
		out.Kind, out.Text, out.Quoted = String, n.Value, n.Token.Type != token.StringType
		if _, err := finite(n.Value); err == nil && !out.Quoted { // such as 1e3, which the library does not know
			out.Kind = Number
		}
	case *ast.LiteralNode:
		out.Kind, out.Text, out.Quoted = String, n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Number, n.GetToken().Value
	case *ast.BoolNode:
		out.Kind, out.Text = Bool, n.GetToken().Value
	case *ast.NullNode, *ast.CommentGroupNode:
	default:
		d.mistakes = append(d.mistakes, d.At(out.At, "anchors, aliases and tags are not supported"))
	}
	return out
}

func (d *Document) members(path string, out *Node, pairs []*ast.MappingValueNode) {
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		at := Join(path, key.Value)
		if _, twice := d.places[at]; twice {
			d.mistakes = append(d.mistakes, d.At(placeOf(key), fmt.Sprintf("%s: is given twice, first in line %d", at, d.places[at].Line)))
			continue
		}
		d.places[at] = placeOf(key)
		m := Member{Key: key.Value, At: placeOf(key), Value: d.node(at, pair.Value)}
		if m.Value.scalar() && pair.Value.Type() != ast.LiteralType {
			d.places[at] = m.Value.At // the best place to point at, if it is on the key's line
		}
		out.Members = append(out.Members, m)
	}
}

// Place returns the place of the setting at a path, or of the nearest setting that
// would contain it.
func (d *Document) Place(path string) Place {
	for ; path != ""; path = Parent(path) {
		if at, ok := d.places[path]; ok {
			return at
		}
	}
	return Place{}
}

// Explain adds the places in the file to problems, together with mistakes of form.
// It drops problems of values that were misread.
func (d *Document) Explain(problems ...Problems) error {
	all := slices.Clone(d.mistakes)
	for _, p := range Merge(problems...) {
		at := d.Place(p.Path)
		if p.at != (Place{}) {
			at = p.at
		}
		all = append(all, d.At(at, p.Under(itemless.ReplaceAllString(p.Path, ""))))
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Mistakes(all)
}

// itemless matches an item number at the beginning of a path; the place gives it
// already.
var itemless = lazy.Regexp(`^\[\d+\]\.?`)

// misread reports whether a path, or a setting that contains it, is wrong.
func misread(wrong map[string]bool, path string) bool {
	for ; path != ""; path = Parent(path) {
		if wrong[path] {
			return true
		}
	}
	return false
}
