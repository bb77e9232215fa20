// Package doc lays out what Pitot shows. A Document is sections of items; Text writes it for a
// terminal, Markdown for a pull request, HTML as a page and Fragment as a part of one.
//
//	result ──> Document ──┬──> Text       columns, wrapped to a width, coloured
//	                      ├──> Markdown
//	                      └──> HTML, Fragment
//
// A document has words and no numbers: CSV, JSON and JUnit are made from results. Its strings are
// text, which every writer escapes; Strong, Code and Break are the only marks in it. Text of others
// may hold those marks too: all they can do is be bold, monospaced or broken.
//
// The rest of the package is what layouts for a terminal share: columns by the width of characters,
// and lines broken where a language breaks them.
package doc

import (
	"iter"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Document is what a reader gets of a result.
type Document struct {
	Lang     *words.Language
	Title    string // of a page
	Sections []Section
}

// Tag is that of the language in HTML.
func (d Document) Tag() string { return d.Lang.Word("language.tag") }

// A Section is items under a heading.
type Section struct {
	Title string // may be empty
	Depth int    // of the heading, 0 for the first level
	Group int    // sections of a group have their labels in one column; 0: on its own
	Items []Item
}

// An Item is Lines, a Table, a Grid, Prose, a List, Pre, an Image or Folded. Empty items are left
// out.
type Item interface{ empty() bool }

// Lines are facts with labels.
type Lines []Line

// A Line has a label, such as note, and text.
type Line struct {
	Label, Text string
	Tone        Tone
}

// WithoutRepeatedLabels returns the lines without labels that repeat the one before.
func (l Lines) WithoutRepeatedLabels() Lines {
	out := slices.Clone(l)
	for i := range out {
		if i > 0 && l[i].Label == l[i-1].Label {
			out[i].Label = ""
		}
	}
	return out
}

// A Tone is how a reader should take a phrase.
type Tone string

// The tones.
const (
	Neutral Tone = ""
	Good    Tone = "better"
	Bad     Tone = "worse"
	Unclear Tone = "unclear"
)

// A Table holds variants against a baseline, which is its first column.
type Table struct {
	Rule   string // heading of the titles
	Change string // heading of changes, where those have a column of their own
	Heads  []string
	Rows   []Row
	Band   float64 // changes up to this are of no interest
}

// A Row of a table has a cell for each head.
type Row struct {
	Title string
	Cells []Cell
}

// A Cell is a figure of a variant, and how it differs from the baseline.
type Cell struct {
	Value      string
	ValueRange string // the interval of the value
	Change     string
	Interval   string // of the change
	Verdict    string
	Tone       Tone
	Why        string // what the verdict rests on
	Reach      *Reach // of the change as a share; nil: it is not drawn
}

// A Reach is where a change lies.
type Reach struct{ Low, High float64 }

// A Grid is a plain table, of which the first row is the heads.
type Grid struct {
	Align  string // l or r for each column, the last one for all further ones
	Padded bool   // in Markdown, so that it can be read as it stands
	Widths []int  // in Text, at least, with one blank between columns; nil: as their cells, with two
	Rows   [][]string
}

func (g Grid) right(column int) bool {
	return g.Align != "" && g.Align[min(column, len(g.Align)-1)] == 'r'
}

// Prose is a paragraph.
type Prose string

// List is sentences in a list.
type List []string

// Pre is text that is shown as it is.
type Pre struct{ Language, Text string }

// An Image has its file at Path.
type Image struct{ Title, Path, Caption string }

// Folded items are shown on request.
type Folded struct {
	Title string
	Items []Item
}

func (l Lines) empty() bool  { return len(l) == 0 }
func (t Table) empty() bool  { return len(t.Rows) == 0 }
func (g Grid) empty() bool   { return len(g.Rows) < 2 }
func (p Prose) empty() bool  { return p == "" }
func (l List) empty() bool   { return len(l) == 0 }
func (Pre) empty() bool      { return false }
func (Image) empty() bool    { return false }
func (f Folded) empty() bool { return len(f.Items) == 0 }

func full(items []Item) []Item { return slices.DeleteFunc(slices.Clone(items), Item.empty) }

// WithImages is the document with its images at other paths.
func (d Document) WithImages(at func(path string) string) Document {
	var moved func(items []Item) []Item
	moved = func(items []Item) []Item {
		items = slices.Clone(items)
		for i, item := range items {
			switch item := item.(type) {
			case Image:
				item.Path = at(item.Path)
				items[i] = item
			case Folded:
				item.Items = moved(item.Items)
				items[i] = item
			}
		}
		return items
	}
	d.Sections = slices.Clone(d.Sections)
	for i := range d.Sections {
		d.Sections[i].Items = moved(d.Sections[i].Items)
	}
	return d
}

func (d Document) sections() iter.Seq[Section] {
	return func(yield func(Section) bool) {
		for _, s := range d.Sections {
			if s.Items = full(s.Items); (s.Title != "" || len(s.Items) > 0) && !yield(s) {
				return
			}
		}
	}
}

// Marks are noncharacters, which no text has.
const (
	strong = '\uFDD0'
	code   = '\uFDD1'
	end    = '\uFDD2'
	Break  = "\uFDD3" // Break begins a new line
)

// Strong is text in bold.
func Strong(s string) string { return string(strong) + s + string(end) }

// Code is text in monospace.
func Code(s string) string { return string(code) + Clean(s) + string(end) }

// Plain is text without its marks.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case strong, code, end:
			return -1
		case []rune(Break)[0]:
			return ' '
		}
		return r
	}, s)
}

// spans yields the parts of a text with the mark that each has, 0 for none; a break is a part of
// its own.
func spans(s string) iter.Seq2[rune, string] {
	return func(yield func(rune, string) bool) {
		mark := rune(0)
		for s != "" {
			n := strings.IndexFunc(s, func(r rune) bool { return r >= strong && r <= '\uFDD3' })
			if n < 0 {
				n = len(s)
			}
			if n > 0 && !yield(mark, s[:n]) {
				return
			}
			if s = s[n:]; s == "" {
				return
			}
			switch r := []rune(s)[0]; r {
			case strong, code:
				mark = r
			case end:
				mark = 0
			default:
				if !yield(r, "") {
					return
				}
			}
			s = s[len(Break):]
		}
	}
}
