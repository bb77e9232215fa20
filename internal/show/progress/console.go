package progress

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/text"
)

// A Screen is what a terminal tells of itself.
type Screen interface {
	Size() (columns, rows int)
	// Foreground reports whether the terminal is the process's to draw on: a job in the background
	// shares it with whoever types.
	Foreground() bool
	// Resumed gets a value each time that the process goes on after it was stopped.
	Resumed() <-chan struct{}
}

// A Terminal is what is drawn on.
type Terminal struct {
	Screen
	Colors, ASCII bool
	// Rewraps means that lines which are wider than a terminal that was made narrower take more
	// rows then. Elsewhere they are cut.
	Rewraps bool
}

// A Console writes lines that stay, and on a terminal below them one line or a block of lines that
// is drawn again and again.
//
// It neither hides the cursor nor changes how the terminal takes keys, and uses no other page of
// it: whatever ends the process, there is nothing to restore. Between two drawings the cursor is at
// the end of the line, or below the block.
type Console struct {
	mu      sync.Mutex
	w       io.Writer
	term    *Terminal // nil: none
	hide    func(string) string
	drawn   []string // what is below the lines that stay
	block   bool     // it is one
	columns int      // of the terminal, when that was drawn
	lost    bool     // the terminal takes nothing any more
	mark    string   // of a warning, in all that is drawn
}

// What is written besides text.
const (
	wipeLine   = "\r\x1b[K" // goes back to the start of the line and erases it
	restOfLine = "\x1b[K"
	restOfPage = "\x1b[J"
)

// NewConsole makes one, on a terminal or, if that is nil, elsewhere. It moves the cursor itself,
// and lets nobody else; hide takes secrets out of a line.
func NewConsole(w io.Writer, on *Terminal, hide func(string) string) *Console {
	return &Console{w: w, term: on, hide: hide}
}

// Say writes a line that stays.
func (c *Console) Say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known()
	line = plain.Text(c.hide(line)) + "\n"
	if c.block {
		c.write(c.above() + restOfPage + line + belowEachOther(c.drawn))
		return
	}
	c.write(c.above() + line)
	c.drawn = nil
}

// Warn writes a line that stays, and puts a mark into all that is drawn from now on; none if it is
// empty.
func (c *Console) Warn(line, mark string) {
	c.Say(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = mark
}

// marked is the mark.
func (c *Console) marked() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mark
}

// drawLine draws a line, with as many of its parts as fit; where there is no terminal all of it
// stays.
func (c *Console) drawLine(parts ...string) {
	if mark := c.marked(); mark != "" {
		parts = append([]string{mark}, parts...)
	}
	if c.term == nil {
		c.Say(strings.Join(parts, "  "))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known() {
		return
	}
	columns, _ := c.term.Size()
	line := plain.Line(fit(parts, columns-1))
	before := wipeLine
	if c.block {
		before = c.above() + restOfPage
	}
	c.write(before + line)
	c.drawn, c.block, c.columns = []string{line}, false, columns
}

// drawBlock draws lines, none wider than the terminal less one.
func (c *Console) drawBlock(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known() {
		return
	}
	c.write(c.above() + belowEachOther(lines) + restOfPage)
	c.drawn, c.block = lines, true
	c.columns, _ = c.term.Size()
}

// clear erases what is drawn.
func (c *Console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known() || c.drawn == nil {
		return
	}
	wiped := c.above()
	if c.block {
		wiped += restOfPage
	}
	c.write(wiped)
	c.drawn, c.block = nil, false
}

// forget leaves what is drawn where it is: others have written below it.
func (c *Console) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn, c.block = nil, false
}

// known reports whether it can be drawn. Where it cannot, it is not known where the cursor will be.
func (c *Console) known() bool {
	ok := !c.lost && c.term != nil && c.term.Foreground()
	if !ok {
		c.drawn, c.block = nil, false
	}
	return ok
}

// write gives up a terminal that is gone.
func (c *Console) write(s string) {
	if _, err := io.WriteString(c.w, s); err != nil {
		c.lost = true
	}
}

// above goes to where what is drawn begins. Of a line it erases all.
func (c *Console) above() string {
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
			rows += text.Rows(painted.ReplaceAllString(line, ""), columns)
		}
	}
	return fmt.Sprintf("\r\x1b[%dA", rows)
}

// painted are the colours of a line, which take no room.
var painted = regexp.MustCompile("\x1b\\[[0-9;]*m")

// belowEachOther are whole lines over others: each is erased behind its end.
func belowEachOther(lines []string) string {
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
