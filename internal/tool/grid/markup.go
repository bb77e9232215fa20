package grid

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// tags are the state of reading an HTML table.
type tags struct {
	cell    strings.Builder
	inCell  bool
	head    bool
	columns int // that the cell spans
	lines   int
	down    map[int]held // cells that reach into the next rows, by column
	closed  bool
	inRow   bool
	spans   int // rows that the cell spans
	row     row
}

// A held cell reaches down into so many rows more.
type held struct {
	text string
	rows int
}

var (
	tag      = lazy.Regexp(`(?i)<(/?)(table|tr|th|td|br)\b([^<>]*)>`)
	spanning = lazy.Regexp(`(?i)(col|row)span\s*=\s*["']?(\d{1,3})`)
)

func (d *draft) addHTML(n int, text string) bool {
	h := d.html
	h.lines++
	if h.closed || h.lines > mostHTML || strings.HasPrefix(strings.TrimSpace(text), "```") {
		return false
	}
	from := 0
	for _, m := range tag.FindAllStringSubmatchIndex(text, -1) {
		h.write(text[from:m[0]])
		from = m[1]
		d.tag(n, strings.ToLower(text[m[4]:m[5]]), text[m[2]:m[3]] == "/", text[m[6]:m[7]])
		if h.closed {
			break
		}
	}
	h.write(text[min(from, len(text)):] + " ")
	t := strings.TrimSpace(text)
	d.sure = strings.HasPrefix(t, "<") || strings.Contains(t, "</t")
	return true
}

func (h *tags) write(text string) {
	if h.inCell && h.cell.Len() <= longestCell {
		h.cell.WriteString(text)
	}
}

func (d *draft) tag(n int, name string, closing bool, attributes string) {
	h := d.html
	switch name {
	case "br":
		h.write(" ")
		return
	case "table":
		h.closed = closing
		if closing {
			d.endCell()
			d.endRow()
		}
		return
	case "tr":
		d.endCell()
		d.endRow()
		if !closing {
			h.inRow, h.row = true, row{n: n, head: true}
		}
		return
	}
	d.endCell()
	if closing || len(h.row.cells) >= mostColumns {
		return
	}
	h.inCell, h.head, h.columns, h.spans = true, name == "th", 1, 1
	for _, m := range spanning.FindAllStringSubmatch(attributes, 2) {
		v, _ := strconv.Atoi(m[2])
		if strings.EqualFold(m[1], "col") {
			h.columns = min(max(v, 1), mostColumns)
		} else {
			h.spans = min(max(v, 1), mostRows)
		}
	}
}

func (d *draft) endCell() {
	h := d.html
	if !h.inCell {
		return
	}
	text := trimCell(clean(h.cell.String()))
	h.cell.Reset()
	h.inCell = false
	h.fill()
	for range h.columns {
		if len(h.row.cells) >= mostColumns {
			break
		}
		if h.spans > 1 {
			if h.down == nil {
				h.down = map[int]held{}
			}
			h.down[len(h.row.cells)] = held{text, h.spans - 1}
		}
		h.row.cells = append(h.row.cells, text)
	}
	h.row.head = h.row.head && h.head
}

// fill adds the cells that reach down from the rows above.
func (h *tags) fill() {
	for len(h.row.cells) < mostColumns {
		above, ok := h.down[len(h.row.cells)]
		if !ok {
			return
		}
		if above.rows--; above.rows > 0 {
			h.down[len(h.row.cells)] = above
		} else {
			delete(h.down, len(h.row.cells))
		}
		h.row.cells = append(h.row.cells, above.text)
	}
}

func (d *draft) endRow() {
	h := d.html
	if h.inRow && len(h.row.cells) > 0 && len(d.rows) < mostRows {
		h.fill()
		d.rows = append(d.rows, h.row)
	}
	h.inRow, h.row = false, row{}
}
