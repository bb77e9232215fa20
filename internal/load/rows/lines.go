package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// maxLine is the longest line that Lines reads, in bytes: a prompt of a million tokens,
// or a page with its pictures, several times over.
const maxLine = 64 << 20

// Lines has read look at each line that is not blank, without white space around it. It
// joins the first few errors, with their lines. fs.SkipAll ends the reading.
func Lines(file io.Reader, read func(number int, line []byte) error) error {
	text, err := SkipMark(file)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine)
	var m Mistakes
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := read(n, line); errors.Is(err, fs.SkipAll) || !m.Add("line", n, err) {
			return m.Err()
		}
	}
	m.Add("line", n, lines.Err())
	return m.Err()
}

// Mistakes are the first errors of a file.
type Mistakes []error

// How many mistakes are reported, and in how many bytes.
const (
	most       = 5
	mostQuoted = 600
)

// Add adds err, if it is one, with its place in the file. It reports whether there is
// room for more.
func (m *Mistakes) Add(place string, number int, err error) bool {
	if err != nil {
		err = brief{fmt.Errorf("%s %d: %w", place, number, err)}
	}
	return m.Placed(err)
}

// A brief error quotes no more of a file than a person reads.
type brief struct{ error }

func (b brief) Error() string {
	text := b.error.Error()
	if len(text) > mostQuoted {
		text = strings.ToValidUTF8(text[:mostQuoted/2], "") + " ... " + strings.ToValidUTF8(text[len(text)-mostQuoted/2:], "")
	}
	return text
}

func (b brief) Unwrap() error { return b.error }

// Placed adds an error that says where it is.
func (m *Mistakes) Placed(err error) bool {
	if err != nil {
		*m = append(*m, err)
	}
	return len(*m) < most
}

// Err joins the mistakes.
func (m Mistakes) Err() error {
	if len(m) >= most {
		m = append(m, errors.New("the lines after that were not looked at"))
	}
	return errors.Join(m...)
}
