package machine

import (
	"os"

	"golang.org/x/term"
)

// TerminalWidth returns a function for the present width of the terminal behind a stream; nil if there is none.
func TerminalWidth(stream *os.File) func() int {
	fd := int(stream.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func() int {
		width, _ := size(fd)
		return width
	}
}

// size is how many columns and rows a terminal has; 80 and 24 if it does not say.
func size(fd int) (columns, rows int) {
	if columns, rows, err := term.GetSize(fd); err == nil && columns > 0 && rows > 0 {
		return columns, rows
	}
	return 80, 24
}

// A Terminal draws on a terminal, and reads the keys typed there.
type Terminal struct{ in, out *os.File }

// TerminalOf is the terminal behind out, nil if there is none. in is where keys come from, if
// that is a terminal as well.
func TerminalOf(in, out *os.File) *Terminal {
	if !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	return &Terminal{in, out}
}

// Write writes to it as it is.
func (t *Terminal) Write(b []byte) (int, error) { return t.out.Write(b) }

// Size is how many columns and rows it has.
func (t *Terminal) Size() (columns, rows int) { return size(int(t.out.Fd())) }

// Keys makes the terminal give each key at once, without showing it, interrupts among them;
// restore makes it as it was. Lines written meanwhile must end in a carriage return too. Who is no
// longer interested in keys need not receive them.
func (t *Terminal) Keys() (keys <-chan byte, restore func(), err error) {
	fd := int(t.in.Fd())
	if !term.IsTerminal(fd) {
		return nil, func() {}, nil
	}
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, nil, err
	}
	typed, over := make(chan byte), make(chan struct{})
	go func() { // a read without input blocks it until the process ends
		var b [1]byte
		for {
			if n, err := t.in.Read(b[:]); n == 0 || err != nil {
				return
			}
			select {
			case typed <- b[0]:
			case <-over:
				return
			}
		}
	}()
	return typed, func() {
		close(over)
		_ = term.Restore(fd, before)
	}, nil
}
