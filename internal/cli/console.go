package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// A console writes what goes on to stderr: lines that stay, and on a terminal
// one line below them that is drawn again and again.
type console struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	drawn    int // width of the line that is drawn
}

// say writes a line that stays.
func (c *console) say(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
	fmt.Fprintln(c.w, line)
}

// draw replaces the line that is drawn; where there is no terminal it stays.
func (c *console) draw(line string) {
	if !c.terminal {
		c.say(line)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	width := utf8.RuneCountInString(line)
	fmt.Fprint(c.w, "\r", line, strings.Repeat(" ", max(0, c.drawn-width)))
	c.drawn = width
}

// clear wipes the line that is drawn.
func (c *console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wipe()
}

func (c *console) wipe() {
	if c.drawn > 0 {
		fmt.Fprint(c.w, "\r", strings.Repeat(" ", c.drawn), "\r")
		c.drawn = 0
	}
}
