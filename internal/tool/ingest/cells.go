package ingest

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// An htmlCells follows the cells of an HTML table, in which authors put result tables side by side: the first row
// names the columns, and the first cell of a row may name the row.
type htmlCells struct {
	inside  bool
	row     int // from 1
	column  int // from 1
	columns []string
	first   string // cell of the row
	text    *string
}

var cellTag = lazy.Regexp(`(?i)<(/?)(table|tr|t[hd])\b[^>]*>`)

// Cells that are looked at, and how much of one.
const (
	mostColumns = 16
	longestCell = 120 // bytes
)

func (c *htmlCells) read(text string) {
	if !c.inside && !strings.Contains(text, "<t") && !strings.Contains(text, "<T") {
		return
	}
	from := 0
	for _, m := range cellTag.FindAllStringSubmatchIndex(text, -1) {
		c.add(text[from:m[0]])
		from = m[1]
		c.tag(strings.ToLower(text[m[4]:m[5]]), m[2] < m[3])
	}
	c.add(text[from:])
}

func (c *htmlCells) tag(name string, end bool) {
	switch {
	case name == "table" && end:
		*c = htmlCells{}
	case name == "table":
		*c = htmlCells{inside: true}
	case !c.inside:
	case end:
		c.text = nil
	case name == "tr":
		c.row, c.column, c.first, c.text = c.row+1, 0, "", nil
	default:
		c.column++
		c.text = c.place()
	}
}

// place is where the text of the cell goes that begins, nil if it names nothing.
func (c *htmlCells) place() *string {
	switch {
	case c.row <= 1 && c.column <= mostColumns:
		c.columns = append(c.columns, "")
		return &c.columns[len(c.columns)-1]
	case c.column == 1:
		return &c.first
	}
	return nil
}

func (c *htmlCells) add(text string) {
	if fenceLine.MatchString(text) || titles.Find(text) != nil {
		c.text = nil // a result, and no name
	}
	if text = strings.TrimSpace(text); c.text != nil && text != "" && len(*c.text)+len(text) < longestCell {
		*c.text = strings.TrimSpace(*c.text + " " + cleanHeading(htmlTag.ReplaceAllString(text, "")))
	}
}

// heads are the names of the row and of the column in which a result table stands, "" where there is none.
func (c *htmlCells) heads() (row, column string) {
	if !c.inside || c.row < 2 {
		return "", ""
	}
	if c.column > 1 {
		row = c.first
	}
	if c.column >= 1 && c.column <= len(c.columns) {
		column = c.columns[c.column-1]
	}
	return row, column
}
