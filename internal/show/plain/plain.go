// Package plain makes text of others harmless where it meets a terminal.
//
// A name, a message of a server, a file can hold characters that move a cursor, change
// colors, turn the direction of what follows, or begin a line that Pitot did not write.
// Line makes a field of one line of it. A Writer is the last gate: everything that a
// command prints goes through one, and the bytes that leave it are printable text, line
// feeds and tabs, whatever was written. What only Pitot composes, the progress of a run that
// is drawn again, is written past it.
package plain

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// unsafe reports whether a character may do more on a terminal than be seen: a control
// character, those of C1 included, a separator of lines, or one that turns the direction of
// text.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// Line is text as a part of one line: unsafe characters become blanks, and those that change the
// direction are removed.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unsafe(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Text is text of several lines: unsafe characters are shown as JSON escapes, so that JSON keeps
// its meaning.
func Text(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return unsafe(r) && r != '\n' && r != '\t' }) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	for _, r := range s {
		if unsafe(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A Writer passes text on as Text has it, each write by itself but for a character that is
// cut between two. Hide, if it is set, takes secrets out first.
type Writer struct {
	To     io.Writer
	Hide   func(string) string
	Colors bool // those of Paint pass

	mu   sync.Mutex
	rest []byte // the beginning of a character
}

// Write writes all of p, or gives the error of To.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.rest, p...)
	end := len(all) - cut(all)
	w.rest = append([]byte(nil), all[end:]...)
	text := string(all[:end])
	if w.Hide != nil {
		text = w.Hide(text)
	}
	_, err := io.WriteString(w.To, w.clean(text))
	return len(p), err
}

func (w *Writer) clean(text string) string {
	if !w.Colors {
		return Text(text)
	}
	var b strings.Builder
	for {
		at := painted.FindStringIndex(text)
		if at == nil {
			return b.String() + Text(text)
		}
		b.WriteString(Text(text[:at[0]]) + text[at[0]:at[1]])
		text = text[at[1]:]
	}
}

// The colours of a terminal, and its bold and dim letters.
const (
	Bold  = "1"
	Red   = "31"
	Green = "32"
	Dim   = "2"
)

// painted is what Paint writes around a text.
var painted = lazy.Regexp("\x1b\\[(?:0|1|2|31|32)m")

// Paint is a text of one's own in a colour.
func Paint(s, color string) string {
	if color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// cut is the length of a character at the end of which the rest is still to come.
func cut(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}
