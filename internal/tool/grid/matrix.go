package grid

import (
	"slices"
	"strings"
)

// matrix is the table as heads and rows of as many cells.
func (d *draft) matrix() (heads []string, rows []row) {
	switch {
	case d.form == boxes || d.form == pipes && d.heads > 0 && len(d.rules) > 1:
		d.unwrap()
	case d.form == markup:
		d.heads = 0
		for d.heads < len(d.rows) && d.rows[d.heads].head {
			d.heads++
		}
	}
	if len(d.rows) < 2 {
		return nil, nil
	}
	d.heads = min(max(d.heads, 1), len(d.rows)-1)
	d.secondHead()
	columns := 0
	for _, r := range d.rows {
		columns = max(columns, len(r.cells))
	}
	heads = make([]string, columns)
	for k := range d.rows[:d.heads] {
		for i, text := range d.spanned(k, columns) {
			if !strings.HasSuffix(heads[i], text) {
				heads[i] = strings.TrimSpace(heads[i] + " " + text)
			}
		}
	}
	rows = d.rows[d.heads:]
	for i, r := range rows {
		for len(rows[i].cells) < columns {
			rows[i].cells = append(rows[i].cells, "")
		}
		for k, c := range r.cells {
			rows[i].cells[k] = strings.TrimSpace(c)
		}
	}
	return heads, rows
}

// spanned are the cells of a row of the head. Where there are several rows, an empty cell belongs to the cell to its
// left: in GuideLLM's consoles one without even a blank, in others one with a text below it.
func (d *draft) spanned(k, columns int) []string {
	all := make([]string, columns)
	cells := d.rows[k].cells
	several := d.heads > 1 && d.form == pipes
	narrow := slices.Contains(cells[1:], "")
	for i := range all {
		text, below := at(cells, i), ""
		if k+1 < d.heads {
			below = at(d.rows[k+1].cells, i)
		}
		switch {
		case strings.TrimSpace(text) != "":
			all[i] = strings.TrimSpace(text)
		case several && i > 1 && (narrow && text == "" || !narrow && strings.TrimSpace(below) != ""):
			all[i] = all[i-1]
		}
	}
	return all
}

func at(cells []string, i int) string {
	if i < len(cells) {
		return cells[i]
	}
	return ""
}

// secondHead finds a head that continues in the first row: none of its cells is a number, and it has only names of
// metrics, statistics and units.
func (d *draft) secondHead() {
	if len(d.rows) < d.heads+2 || d.form == separated {
		return
	}
	named := 0
	for _, c := range d.rows[d.heads].cells[min(1, len(d.rows[d.heads].cells)):] {
		l := parse(c)
		switch {
		case strings.TrimSpace(c) == "":
		case (l.metric != "" || l.statOnly() || l.unit.told() || l.change) && !startsWithNumber(c):
			named++
		default:
			return
		}
	}
	if named >= 2 {
		d.heads++
	}
}

// unwrap joins the lines that a box or a console broke a row into: those between two rules where rules separate the
// rows, else those that continue only the first cell.
func (d *draft) unwrap() {
	ends := map[int]bool{}
	for _, r := range d.rules {
		ends[r] = true
	}
	ruled := len(d.rules) > 1
	var rows []row
	for i, r := range d.rows {
		continues := i > d.heads && (ruled && !ends[i] || !ruled && onlyFirst(r.cells))
		if !continues || hasNumbers(r.cells) && hasNumbers(rows[len(rows)-1].cells) {
			rows = append(rows, r)
			continue
		}
		whole := rows[len(rows)-1].cells
		for k, c := range r.cells[:min(len(r.cells), len(whole))] {
			whole[k] = clip(strings.TrimSpace(whole[k] + " " + c))
		}
	}
	d.rows = rows
}

func hasNumbers(cells []string) bool { return hasNumber(cells[min(1, len(cells)):]) }

// onlyFirst reports whether only the first cell has a text.
func onlyFirst(cells []string) bool {
	return strings.TrimSpace(cells[0]) != "" && strings.TrimSpace(strings.Join(cells[1:], "")) == ""
}
