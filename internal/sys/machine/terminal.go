package machine

import (
	"os"

	"golang.org/x/term"
)

// TerminalWidth tells how wide the terminal behind a stream is, at any moment; nil
// if there is none.
func TerminalWidth(stream *os.File) func() int {
	fd := int(stream.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func() int {
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			return width
		}
		return 80
	}
}
