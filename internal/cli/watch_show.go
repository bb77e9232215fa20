package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// lines are views in lines, one after the other.
type lines struct {
	to   io.Writer
	line func(live.View) (string, error)
}

func (l *lines) live() bool    { return false }
func (l *lines) resized() bool { return false }

func (l *lines) show(v live.View) error {
	line, err := l.line(v)
	if err == nil {
		_, err = fmt.Fprintln(l.to, line)
	}
	return err
}

func jsonOf(lang *words.Language) func(live.View) (string, error) {
	return func(v live.View) (string, error) {
		b, err := live.JSON(v, lang)
		return string(b), err
	}
}

func lineOf(lang *words.Language) func(live.View) (string, error) {
	return func(v live.View) (string, error) { return live.Line(v, lang), nil }
}

// A page draws each view over the one before, on the alternate screen of the terminal, which restores the previous
// content at the end.
type page struct {
	session.Terminal
	colors, ascii bool
	lang          *words.Language
	hide          func(string) string
	keys          <-chan byte
	restore       func()
	columns, rows int // when it was last drawn
}

// Control sequences.
const (
	ownPage    = "\x1b[?1049h\x1b[?25l" // without a cursor
	oldPage    = "\x1b[?25h\x1b[?1049l"
	home       = "\x1b[H"
	restOfLine = "\x1b[K"
	restOfPage = "\x1b[J"
)

func (s *page) open() (err error) {
	if s.keys, s.restore, err = s.Keys(); err != nil {
		return err
	}
	if _, err = io.WriteString(s, ownPage); err != nil {
		s.restore()
	}
	return err
}

// close gives it back, once.
func (s *page) close() {
	if s.restore == nil {
		return
	}
	_, _ = io.WriteString(s, oldPage)
	s.restore()
	s.restore = nil
}

func (s *page) live() bool { return true }

func (s *page) resized() bool {
	columns, rows := s.Size()
	return columns != s.columns || rows != s.rows
}

// show draws all lines in one write, each after what stood there is erased: behind a line as wide
// as the terminal some erase its last character. The last line has no end, lest the page move up.
func (s *page) show(v live.View) error {
	s.columns, s.rows = s.Size()
	lines := live.WatchLines(v, live.Paper{Columns: s.columns, Rows: s.rows, Colors: s.colors, ASCII: s.ascii, Lang: s.lang})
	_, err := io.WriteString(s, home+restOfLine+s.hide(strings.Join(lines, "\r\n"+restOfLine))+restOfPage)
	return err
}
