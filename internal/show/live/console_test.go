package live

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// A terminal emulates the control sequences that Console writes, with scrollback.
type terminal struct {
	columns, height int
	rows            [][]string // cells; those above the screen come first
	row, column     int        // of the cursor
	behind          bool       // it is not in the foreground
	gone            bool
	resumed         chan struct{}
}

func newTerminal(columns, height int) *terminal {
	return &terminal{columns: columns, height: height, rows: [][]string{nil}, resumed: make(chan struct{}, 1)}
}

func (t *terminal) Size() (columns, rows int) { return t.columns, t.height }
func (t *terminal) Foreground() bool          { return !t.behind }
func (t *terminal) Resumed() <-chan struct{}  { return t.resumed }

var commands = regexp.MustCompile("^\x1b\\[([0-9;]*)([A-Za-z])")

func (t *terminal) Write(b []byte) (int, error) {
	if t.gone {
		return 0, errors.New("input/output error")
	}
	for s := string(b); s != ""; {
		if m := commands.FindStringSubmatch(s); m != nil {
			t.command(m[1], m[2])
			s = s[len(m[0]):]
			continue
		}
		cell, rest, width, _ := uniseg.FirstGraphemeClusterInString(s, -1)
		s = rest
		switch cell {
		case "\r\n":
			t.column = 0
			t.down()
		case "\n": // a line discipline adds the return
			t.column = 0
			t.down()
		case "\r":
			t.column = 0
		default:
			t.put(cell, width)
		}
	}
	return len(b), nil
}

func (t *terminal) put(cell string, width int) {
	if t.column+width > t.columns {
		t.column = 0
		t.down()
	}
	row := t.rows[t.row]
	for len(row) < t.column+width {
		row = append(row, " ")
	}
	row[t.column] = cell
	for i := 1; i < width; i++ {
		row[t.column+i] = ""
	}
	t.rows[t.row], t.column = row, t.column+width
}

func (t *terminal) down() {
	if t.row++; t.row == len(t.rows) {
		t.rows = append(t.rows, nil)
	}
}

func (t *terminal) command(arg, name string) {
	switch name {
	case "A":
		n, _ := strconv.Atoi(arg)
		t.row = max(t.row-n, len(t.rows)-t.height, 0)
	case "K":
		t.rows[t.row] = t.rows[t.row][:min(t.column, len(t.rows[t.row]))]
	case "J":
		t.command("", "K")
		t.rows = t.rows[:t.row+1]
	case "m":
	default:
		panic("unknown command " + name)
	}
}

// narrow rewraps all rows above the cursor to a new width.
func (t *terminal) narrow(columns int) {
	old, row := t.rows, t.row
	t.columns, t.rows, t.row, t.column = columns, [][]string{nil}, 0, 0
	for i, cells := range old {
		if i == row {
			break
		}
		_, _ = t.Write([]byte(strings.Join(cells, "") + "\n"))
	}
}

func (t *terminal) lines() (all []string) {
	for _, row := range t.rows {
		all = append(all, strings.TrimRight(strings.Join(row, ""), " "))
	}
	return all
}

func on(t *terminal) *Console {
	return NewConsole(t, &Terminal{Screen: t, Rewraps: true}, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
}

func block(n int, text string) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s %d", text, i))
	}
	return lines
}

func (t *terminal) want(test *testing.T, when string, want ...string) {
	test.Helper()
	if got := t.lines(); !slices.Equal(got, want) {
		test.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Notes stay above the block in order, and the block stays whole, even after it has scrolled.
func TestNotesStandAboveTheBlock(t *testing.T) {
	for _, height := range []int{5, 24} {
		term := newTerminal(20, height)
		c := on(term)
		c.Print("first")
		c.drawBlock(block(3, "a"))
		term.want(t, "drawn", "first", "a 0", "a 1", "a 2", "")
		c.Print("a secret that is wider than it")
		term.want(t, "note", "first", "a *** that is wider", "than it", "a 0", "a 1", "a 2", "")
		c.drawBlock(block(4, "b"))
		term.want(t, "higher", "first", "a *** that is wider", "than it", "b 0", "b 1", "b 2", "b 3", "")
		c.drawBlock(block(2, "c"))
		term.want(t, "lower", "first", "a *** that is wider", "than it", "c 0", "c 1", "")
		c.drawLine("a line", "and more than fits")
		term.want(t, "line", "first", "a *** that is wider", "than it", "a line")
		c.Print("second")
		c.drawBlock(block(2, "d"))
		c.Clear()
		c.Print("third")
		term.want(t, "cleared", "first", "a *** that is wider", "than it", "second", "third", "")
	}
}

// All rows of a block are erased after a narrower terminal has wrapped its lines.
func TestANarrowerTerminal(t *testing.T) {
	term := newTerminal(40, 24)
	c := on(term)
	c.Print("first")
	c.drawBlock([]string{strings.Repeat("x", 39), "short", "\x1b[31m" + strings.Repeat("名", 18) + "\x1b[0m"})
	term.narrow(15)
	c.drawBlock(block(2, "a"))
	term.want(t, "narrower", "first", "a 0", "a 1", "")
}

// Text of other programs below the block is not overwritten, and a background job draws nothing.
func TestOthersWriteToo(t *testing.T) {
	term := newTerminal(40, 24)
	c := on(term)
	c.drawBlock(block(2, "a"))
	_, _ = term.Write([]byte("[1]+ Stopped\n$ fg\n"))
	c.forget()
	c.drawBlock(block(2, "b"))
	term.want(t, "resumed", "a 0", "a 1", "[1]+ Stopped", "$ fg", "b 0", "b 1", "")
	term.behind = true
	_, _ = term.Write([]byte("$ bg\n"))
	c.drawBlock(block(2, "c"))
	c.drawLine("line")
	c.Clear()
	c.Print("note")
	term.behind = false
	c.drawBlock(block(1, "d"))
	term.want(t, "background", "a 0", "a 1", "[1]+ Stopped", "$ fg", "b 0", "b 1", "$ bg", "note", "d 0", "")
}

// Nothing is drawn after a write has failed.
func TestATerminalThatIsGone(t *testing.T) {
	term := newTerminal(40, 24)
	c := on(term)
	term.gone = true
	c.drawBlock(block(2, "a"))
	term.gone = false
	c.drawBlock(block(2, "b"))
	c.drawLine("c")
	c.Clear()
	term.want(t, "gone", "")
}
