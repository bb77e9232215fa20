// Package progress shows how a run goes while it goes on: on a terminal a line that is drawn
// again and again, elsewhere a line every few seconds.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/show/plain"
)

// A Console writes lines that stay, and on a terminal one line below them that is drawn
// again and again.
type Console struct {
	mu    sync.Mutex
	w     io.Writer
	width func() int // columns of the terminal, nil if it is none
	hide  func(string) string
	drawn bool   // a line is
	mark  string // of a warning, in each line that is drawn
}

// wipeLine goes back to the start of the line and erases it.
const wipeLine = "\r\x1b[K"

// NewConsole makes one; width tells the columns of the terminal, nil if it is none. It
// moves the cursor itself, and lets nobody else; hide takes secrets out of a line.
func NewConsole(w io.Writer, width func() int, hide func(string) string) *Console {
	return &Console{w: w, width: width, hide: hide}
}

// Say writes a line that stays.
func (c *Console) Say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprintln(c.w, plain.Text(c.hide(line)))
}

// Warn writes a line that stays, and puts a mark into each line that is drawn from now on;
// none if it is empty.
func (c *Console) Warn(line, mark string) {
	c.Say(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mark = mark
}

// marked puts the mark before the parts of a line.
func (c *Console) marked(parts []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mark == "" {
		return parts
	}
	return append([]string{c.mark}, parts...)
}

// draw replaces the line that is drawn, with as many of its parts as fit; where
// there is no terminal all of it stays.
func (c *Console) draw(parts ...string) {
	parts = c.marked(parts)
	if c.width == nil {
		c.Say(strings.Join(parts, "  "))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprint(c.w, wipeLine, plain.Line(fit(parts, c.width()-1)))
	c.drawn = true
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

// clear wipes the line that is drawn.
func (c *Console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
}

func (c *Console) wipe() {
	if c.drawn {
		fmt.Fprint(c.w, wipeLine)
		c.drawn = false
	}
}
