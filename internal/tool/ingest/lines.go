package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"io"
	"iter"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A line of a text as its author saw it.
type line struct {
	n    int // from 1
	text string
	mark byte // of a diff: + or -, 0 if none
}

// longestLine is how much of a line is kept, in bytes: a Namespace takes some
// thousand, a progress bar that was drawn a hundred thousand times in place only
// its last.
const longestLine = 1 << 20

// lineCost is how many bytes more could be read in the time that a line takes.
const lineCost = 100

// A progressReader reader reads as long as results are found.
type progressReader struct {
	io.Reader
	found func() int

	seen int   // results
	bare int64 // bytes since the last
}

func (p *progressReader) Read(b []byte) (int, error) {
	if n := p.found(); n > p.seen {
		p.seen, p.bare = n, 0
	}
	if p.bare > result.MaxBarren {
		return 0, result.ErrBarren
	}
	n, err := p.Reader.Read(b)
	p.bare += int64(n + lineCost*bytes.Count(b[:n], []byte("\n")))
	return n, err
}

// lines yields the lines of a text; an error of reading ends them.
func lines(text io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(text, 64<<10)
		for n := 1; ; n++ {
			raw, err := readLine(in)
			if len(raw) > 0 || err == nil {
				text := strings.ToValidUTF8(string(raw), "\uFFFD")
				if !yield(line{n: n, text: shown(unescaped(unwrapped(text)))}, nil) {
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(line{n: n}, err)
				}
				return
			}
		}
	}
}

// readLine reads up to a line feed, which it drops. Of a line that is too long it
// keeps the beginning, or what follows the last carriage return.
func readLine(in *bufio.Reader) (raw []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(raw)+len(part) > longestLine {
			if i := bytes.LastIndexByte(raw, '\r'); i >= 0 {
				raw = append(raw[:0], raw[i:]...)
			}
		}
		raw = append(raw, part[:max(0, min(len(part), longestLine-len(raw)))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(raw, []byte("\n")), err
		}
	}
}

// unwrapped is a line that a container's log keeps in an object of its own.
func unwrapped(text string) string {
	var wrapped struct{ Log string }
	if !strings.HasPrefix(text, wrapping) || json.Unmarshal([]byte(text), &wrapped) != nil {
		return text
	}
	return strings.TrimSuffix(wrapped.Log, "\n")
}

// wrapping is how each line of such a log begins.
const wrapping = `{"log":"`

// unescaped is a line that was taken from HTML.
func unescaped(text string) string {
	if i := strings.IndexByte(text, '&'); i >= 0 && strings.Contains(text[i:], ";") {
		text = html.UnescapeString(text)
	}
	return strings.ReplaceAll(text, "\u00a0", " ")
}

// widest is how many characters of a line are shown.
const widest = 64 << 10

// shown is what a terminal shows of a line: a carriage return goes back to its
// beginning, and what follows overwrites; colours and other commands are not seen.
func shown(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == 0x9b }) {
		return text
	}
	var s screen
	for text != "" {
		switch text[0] {
		case '\r':
			s.column, text = 0, text[1:]
		case '\b':
			s.column, text = max(0, s.column-1), text[1:]
		case 0x1b:
			text = s.command(text[1:])
		default:
			text = s.print(text)
		}
	}
	return string(s.cells)
}

// A screen is one line of a terminal.
type screen struct {
	cells  []rune
	column int
}

// print prints up to the next control character, and drops those that nobody
// sees.
func (s *screen) print(text string) (rest string) {
	for i, r := range text {
		if i > 0 && r < ' ' && r != '\t' {
			return text[i:]
		}
		if r < ' ' && r != '\t' || r == 0x7f || s.column >= widest {
			continue
		}
		if s.column < len(s.cells) {
			s.cells[s.column] = r
		} else {
			s.cells = append(s.cells, r)
		}
		s.column++
	}
	return ""
}

// command carries out what stands behind an escape character, as far as it
// changes what is seen of the line.
func (s *screen) command(text string) (rest string) {
	switch {
	case text == "":
		return ""
	case text[0] == ']': // a title or a link, up to a bell or an escape
		if i := strings.IndexAny(text, "\a\x1b"); i >= 0 {
			return strings.TrimPrefix(text[i:], "\a")
		}
		return ""
	case text[0] == '\\': // the end of that
		return text[1:]
	case text[0] != '[':
		return strings.TrimLeft(text, "()#%")[min(1, len(strings.TrimLeft(text, "()#%"))):]
	}
	end := strings.IndexFunc(text[1:], func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return ""
	}
	arguments, final := text[1:1+end], text[1+end]
	if final == 'K' {
		s.erase(arguments)
	}
	return text[2+end:]
}

func (s *screen) erase(what string) {
	switch what {
	case "", "0":
		s.cells = s.cells[:min(s.column, len(s.cells))]
	case "1":
		for i := range min(s.column, len(s.cells)) {
			s.cells[i] = ' '
		}
	case "2":
		for i := range s.cells {
			s.cells[i] = ' '
		}
		s.cells = s.cells[:min(s.column, len(s.cells))]
	}
}
