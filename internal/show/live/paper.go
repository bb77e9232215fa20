package live

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Paper is what is drawn on.
type Paper struct {
	Columns, Rows int
	Colors        bool
	ASCII         bool // bars and cuts are drawn in ASCII
	Lang          *words.Language
}

// A Page is lines in the making. A line is empty between two sections.
type Page struct {
	Paper
	Lines []string
}

// A Piece is a part of a line in one colour.
type Piece struct{ Text, Color string }

// In is a piece in a colour of package plain.
func In(color, s string) Piece { return Piece{s, color} }

// Line adds a line of pieces, cut where the paper ends, and without blanks behind them.
func (p *Page) Line(pieces ...Piece) {
	for n := len(pieces); n > 0; n-- {
		if pieces[n-1].Text = strings.TrimRight(pieces[n-1].Text, " "); pieces[n-1].Text != "" {
			break
		}
		pieces = pieces[:n-1]
	}
	room, line := p.Columns, ""
	for _, one := range pieces {
		s := plain.Line(one.Text)
		if line != "" && room < 2 && doc.Width(s) > room { // nor is there any for a sign of the cut
			break
		}
		s = p.Cut(s, room)
		room -= doc.Width(s)
		line += p.paint(s, one.Color)
	}
	p.Lines = append(p.Lines, line)
}

// Cut is the beginning of s in n columns, with a sign of the cut.
func (p Paper) Cut(s string, n int) string {
	cut := doc.Cut(s, n)
	if p.ASCII && cut != s {
		return strings.TrimSuffix(cut, "…") + "~"
	}
	return cut
}

// paint colours a text, if the terminal has colours.
func (p Paper) paint(s, color string) string {
	if !p.Colors {
		return s
	}
	return plain.Paint(s, color)
}

// Section begins one.
func (p *Page) Section() { p.Lines = append(p.Lines, "") }

// Fitted are the lines that have room: where they are too many, empty ones go first, and those that
// are left out are counted in the last one.
func (p *Page) Fitted() []string {
	lines := p.Lines
	if len(lines) > p.Rows {
		lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
	}
	if n := len(lines); n > p.Rows && p.Rows > 0 {
		p.Lines = lines[:p.Rows-1]
		p.Line(In(plain.Dim, p.Lang.Word("watch.more", "lines", n-p.Rows+1)))
		lines = p.Lines
	}
	return lines
}
