package live

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A Screen reports the state of a terminal.
type Screen interface {
	Size() (columns, rows int)
	// Foreground reports whether the process may draw: a background job shares the terminal with a
	// shell.
	Foreground() bool
	// Resumed gets a value each time the process continues after a stop.
	Resumed() <-chan struct{}
}

// A Terminal is a terminal to draw on.
type Terminal struct {
	Screen
	Colors, ASCII bool
	// Rewraps means that the terminal wraps its lines anew when it becomes narrower, so that they
	// take more rows. Other terminals cut them.
	Rewraps bool
}

// A Console writes permanent lines, and on a terminal below them one line or a block of lines that
// is redrawn in place.
//
// It does not hide the cursor, change a mode of the terminal or use the alternate screen, so
// nothing has to be restored, whatever ends the process. Between two drawings the cursor is at the
// end of the line, or below the block.
type Console struct {
	mu      sync.Mutex
	w       io.Writer
	term    *Terminal // nil: none
	hide    func(string) string
	drawn   []string // the line or block below the permanent lines
	block   bool     // drawn is a block
	columns int      // of the terminal when drawn was written
	lost    bool     // a write failed
	mark    string   // of a warning, shown in the line and the block
}

// Control sequences.
const (
	wipeLine   = "\r\x1b[K" // goes back to the start of the line and erases it
	restOfLine = "\x1b[K"
	restOfPage = "\x1b[J"
)

// NewConsole makes a Console that writes to w, which is the terminal on, if that is not nil; hide
// masks secrets.
func NewConsole(w io.Writer, on *Terminal, hide func(string) string) *Console {
	return &Console{w: w, term: on, hide: hide}
}

// Print writes a permanent line.
func (c *Console) Print(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawable()
	line = plain.Text(c.hide(line)) + "\n"
	if c.block {
		c.write(c.toTop() + restOfPage + line + asRows(c.drawn))
		return
	}
	c.write(c.toTop() + line)
	c.drawn = nil
}

// Warn writes a permanent line and sets the mark; an empty one removes it.
func (c *Console) Warn(line, mark string) {
	c.Print(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = mark
}

func (c *Console) marked() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mark
}

// drawLine draws as many parts as fit into one line. Without a terminal it writes all of them as a
// permanent line.
func (c *Console) drawLine(parts ...string) {
	if mark := c.marked(); mark != "" {
		parts = append([]string{mark}, parts...)
	}
	if c.term == nil {
		c.Print(strings.Join(parts, "  "))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.drawable() {
		return
	}
	columns, _ := c.term.Size()
	line := plain.Line(fit(parts, columns-1))
	before := wipeLine
	if c.block {
		before = c.toTop() + restOfPage
	}
	c.write(before + line)
	c.drawn, c.block, c.columns = []string{line}, false, columns
}

// drawBlock draws lines, each at least one column narrower than the terminal.
func (c *Console) drawBlock(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.drawable() {
		return
	}
	c.write(c.toTop() + asRows(lines) + restOfPage)
	c.drawn, c.block = lines, true
	c.columns, _ = c.term.Size()
}

// Draw shows as many parts as fit into a line until the next line is written; without a terminal it does nothing.
func (c *Console) Draw(parts ...string) {
	if c.term != nil {
		c.drawLine(parts...)
	}
}

// Clear erases the line or block.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.drawable() || c.drawn == nil {
		return
	}
	wiped := c.toTop()
	if c.block {
		wiped += restOfPage
	}
	c.write(wiped)
	c.drawn, c.block = nil, false
}

// forget leaves the line or block on the screen, because something else was written below it.
func (c *Console) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn, c.block = nil, false
}

// drawable reports whether to draw. If not, the position of the cursor becomes unknown.
func (c *Console) drawable() bool {
	ok := !c.lost && c.term != nil && c.term.Foreground()
	if !ok {
		c.drawn, c.block = nil, false
	}
	return ok
}

// write stops all drawing after an error: the terminal was closed.
func (c *Console) write(s string) {
	if _, err := io.WriteString(c.w, s); err != nil {
		c.lost = true
	}
}

// toTop moves the cursor to the first row of the block, or erases the line.
func (c *Console) toTop() string {
	switch {
	case len(c.drawn) == 0:
		return ""
	case !c.block:
		return wipeLine
	}
	rows := len(c.drawn)
	if columns, _ := c.term.Size(); c.term.Rewraps && columns < c.columns {
		rows = 0
		for _, line := range c.drawn {
			rows += doc.Rows(painted.ReplaceAllString(line, ""), columns)
		}
	}
	return fmt.Sprintf("\r\x1b[%dA", rows)
}

// painted matches colours, which have no width.
var painted = lazy.Regexp("\x1b\\[[0-9;]*m")

// asRows are lines that overwrite older ones: the rest of each row is erased.
func asRows(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + restOfLine + "\r\n")
	}
	return b.String()
}

// fit joins parts as long as they take no more than width columns.
func fit(parts []string, width int) string {
	line := parts[0]
	for _, p := range parts[1:] {
		if utf8.RuneCountInString(line)+2+utf8.RuneCountInString(p) > width {
			break
		}
		line += "  " + p
	}
	if cut := []rune(line); len(cut) > max(width, 0) {
		return string(cut[:max(width, 0)])
	}
	return line
}
