package ingest

import (
	"strings"
	"unicode/utf8"
)

// An rightText is what stands to the right of a table, cut off for when that is read: a
// terminal was split, or files were pasted side by side.
type rightText struct {
	column int // where it begins, in characters
	lines  []line
}

// mostSides is how many tables are read beside a first one.
const mostSides = 8

// split leaves of a line what is to the left, if two tables stand in it, and reports
// whether it did.
func (r *textReader) split(l *line) bool {
	if r.aside == nil {
		column := secondTitle(l.text)
		if column == 0 || r.sides == mostSides {
			return false
		}
		r.sides++
		r.aside = &rightText{column: column}
		if r.side == "right" {
			r.side = "middle"
		} else {
			r.side = "left"
		}
	}
	left, right, ok := cutColumn(l.text, r.aside.column)
	if !ok && r.table == nil && r.side == "" {
		r.turn()
		return false
	}
	r.aside.lines = append(r.aside.lines, line{l.n, right, l.mark})
	l.text = left
	if between := strings.TrimRight(left, " \t"); strings.HasSuffix(between, "|") || strings.HasSuffix(between, "│") {
		l.text = strings.TrimRight(between, "|│")
	}
	return true
}

func (r *textReader) turn() {
	if r.aside == nil {
		return
	}
	lines := r.aside.lines
	r.aside, r.side = nil, "right"
	for i, l := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1].text
		}
		r.line(l, next)
	}
	r.closeTable()
	r.turn()
	r.sides = 0
}

// secondTitle is the column of the second title in a line, 0 if there is none.
func secondTitle(text string) int {
	if titles.Find(text) == nil {
		return 0
	}
	all := titles.FindAllStringIndex(text, 2)
	if len(all) < 2 {
		return 0
	}
	return utf8.RuneCountInString(text[:all[1][0]])
}

// cutColumn cuts a line ahead of a column, in characters; ok means that it reaches
// there.
func cutColumn(text string, column int) (left, right string, ok bool) {
	n := 0
	for i := range text {
		if n == column {
			return text[:i], text[i:], true
		}
		n++
	}
	return text, "", false
}
