package progress

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

// A paper tube is a terminal of the kind that Console knows: what is written appears in its rows,
// and leaves at the top.
type tube struct {
	columns, height int
	rows            [][]string // cells; those above the screen come first
	row, column     int        // of the cursor
	behind          bool       // it is not in the foreground
	gone            bool
	resumed         chan struct{}
}

func newTube(columns, height int) *tube {
	return &tube{columns: columns, height: height, rows: [][]string{nil}, resumed: make(chan struct{}, 1)}
}

func (t *tube) Size() (columns, rows int) { return t.columns, t.height }
func (t *tube) Foreground() bool          { return !t.behind }
func (t *tube) Resumed() <-chan struct{}  { return t.resumed }

var commands = regexp.MustCompile("^\x1b\\[([0-9;]*)([A-Za-z])")

func (t *tube) Write(b []byte) (int, error) {
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

func (t *tube) put(cell string, width int) {
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

func (t *tube) down() {
	if t.row++; t.row == len(t.rows) {
		t.rows = append(t.rows, nil)
	}
}

func (t *tube) command(arg, name string) {
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

// narrow rewraps all rows, as a terminal does whose width changes; its lines all ended by themselves.
func (t *tube) narrow(columns int) {
	old, row := t.rows, t.row
	t.columns, t.rows, t.row, t.column = columns, [][]string{nil}, 0, 0
	for i, cells := range old {
		if i == row {
			break
		}
		_, _ = t.Write([]byte(strings.Join(cells, "") + "\n"))
	}
}

func (t *tube) lines() (all []string) {
	for _, row := range t.rows {
		all = append(all, strings.TrimRight(strings.Join(row, ""), " "))
	}
	return all
}

func on(t *tube) *Console {
	return NewConsole(t, &Terminal{Screen: t, Rewraps: true}, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
}

func block(n int, text string) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s %d", text, i))
	}
	return lines
}

func (t *tube) want(test *testing.T, when string, want ...string) {
	test.Helper()
	if got := t.lines(); !slices.Equal(got, want) {
		test.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Notes stand above the block in their order, and it is whole at all times, also where it has
// scrolled.
func TestNotesStandAboveTheBlock(t *testing.T) {
	for _, height := range []int{5, 24} {
		tube := newTube(20, height)
		c := on(tube)
		c.Say("first")
		c.drawBlock(block(3, "a"))
		tube.want(t, "drawn", "first", "a 0", "a 1", "a 2", "")
		c.Say("a secret that is wider than it")
		tube.want(t, "note", "first", "a *** that is wider", "than it", "a 0", "a 1", "a 2", "")
		c.drawBlock(block(4, "b"))
		tube.want(t, "higher", "first", "a *** that is wider", "than it", "b 0", "b 1", "b 2", "b 3", "")
		c.drawBlock(block(2, "c"))
		tube.want(t, "lower", "first", "a *** that is wider", "than it", "c 0", "c 1", "")
		c.drawLine("a line", "and more than fits")
		tube.want(t, "line", "first", "a *** that is wider", "than it", "a line")
		c.Say("second")
		c.drawBlock(block(2, "d"))
		c.clear()
		c.Say("third")
		tube.want(t, "cleared", "first", "a *** that is wider", "than it", "second", "third", "")
	}
}

// A terminal that is made narrower breaks the lines of the block anew: they are all found.
func TestANarrowerTerminal(t *testing.T) {
	tube := newTube(40, 24)
	c := on(tube)
	c.Say("first")
	c.drawBlock([]string{strings.Repeat("x", 39), "short", "\x1b[31m" + strings.Repeat("名", 18) + "\x1b[0m"})
	tube.narrow(15)
	c.drawBlock(block(2, "a"))
	tube.want(t, "narrower", "first", "a 0", "a 1", "")
}

// Who has written below the block is not drawn over, and a job in the background draws nothing.
func TestOthersWriteToo(t *testing.T) {
	tube := newTube(40, 24)
	c := on(tube)
	c.drawBlock(block(2, "a"))
	_, _ = tube.Write([]byte("[1]+ Stopped\n$ fg\n"))
	c.forget()
	c.drawBlock(block(2, "b"))
	tube.want(t, "resumed", "a 0", "a 1", "[1]+ Stopped", "$ fg", "b 0", "b 1", "")
	tube.behind = true
	_, _ = tube.Write([]byte("$ bg\n"))
	c.drawBlock(block(2, "c"))
	c.drawLine("line")
	c.clear()
	c.Say("note")
	tube.behind = false
	c.drawBlock(block(1, "d"))
	tube.want(t, "background", "a 0", "a 1", "[1]+ Stopped", "$ fg", "b 0", "b 1", "$ bg", "note", "d 0", "")
}

// A terminal that is gone is written to no more.
func TestATerminalThatIsGone(t *testing.T) {
	tube := newTube(40, 24)
	c := on(tube)
	tube.gone = true
	c.drawBlock(block(2, "a"))
	tube.gone = false
	c.drawBlock(block(2, "b"))
	c.drawLine("c")
	c.clear()
	tube.want(t, "gone", "")
}
