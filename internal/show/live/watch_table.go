package live

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// A table has rows of as many cells as columns.
type table struct {
	columns []column
	rows    [][]cell
}

// A column with a smaller keep goes first where there is no room; the first column stays.
type column struct {
	title string
	left  bool // cells begin at the left
	keep  int
}

type cell struct{ text, color string }

const gap = 2

// table draws one, with as many columns as there is room for.
func (d *drawing) table(t table) {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = doc.Width(c.title)
		for _, row := range t.rows {
			row[i].text = plain.Line(row[i].text)
			widths[i] = max(widths[i], doc.Width(row[i].text))
		}
	}
	shown := d.fitting(t.columns, widths)
	header := make([]cell, len(t.columns))
	for i, c := range t.columns {
		header[i] = cell{c.title, plain.Dim}
	}
	for _, row := range append([][]cell{header}, t.rows...) {
		var pieces []Piece
		for at, i := range shown {
			s := doc.PadLeft(row[i].text, widths[i])
			if t.columns[i].left {
				s = doc.PadRight(row[i].text, widths[i])
			}
			if at > 0 {
				pieces = append(pieces, In("", "  "))
			}
			pieces = append(pieces, In(row[i].color, s))
		}
		d.Line(pieces...)
	}
}

// fitting are the columns that have room, by index.
func (d *drawing) fitting(columns []column, widths []int) (shown []int) {
	room := d.Columns
	for i := range columns {
		shown = append(shown, i)
		room -= widths[i] + gap
	}
	for room += gap; room < 0 && len(shown) > 1; {
		least := slices.MinFunc(shown[1:], func(a, b int) int { return columns[a].keep - columns[b].keep })
		room += widths[least] + gap
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == least })
	}
	return shown
}
