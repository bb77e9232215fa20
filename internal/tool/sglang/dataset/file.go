package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A File is a file as the command line names it.
type File struct {
	Name    string // as the user wrote it; its ending tells Parquet from JSON Lines
	Content Content
	Size    int64 // bytes
}

// Content is an open file, which is kept open until Build is done.
type Content interface {
	io.Reader
	io.ReaderAt
}

// errNoFile is what a dataset without its file is told.
func errNoFile(dataset, what string) error {
	return fmt.Errorf("%s needs a file with --dataset-path, %s", dataset, what)
}

// in says which file an error is about.
func (f *File) in(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--dataset-path %s: %w", f.Name, err)
}

// table is the file as rows: what its name says, else JSON Lines.
func (f *File) table() (*rows.Table, error) {
	if _, _, err := rows.FormatOf(f.Name); err != nil {
		return rows.ReadAs(rows.JSONLines, f.Content)
	}
	return rows.Open(f.Name, f.Content, f.Size)
}

// maxLine is the longest line read, in bytes.
const maxLine = 1 << 30

// lines calls each for every line that is not empty, numbered from 1, until it says
// stop. The line is only valid during the call.
func (f *File) lines(each func(line []byte) (more bool, err error)) error {
	lines := bufio.NewScanner(f.Content)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	number := 0
	for lines.Scan() {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		more, err := each(lines.Bytes())
		if err != nil {
			return f.in(fmt.Errorf("line %d: %w", number, err))
		}
		if !more {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return f.in(fmt.Errorf("line %d: %w", number+1, err))
	}
	return nil
}

// A badLines counts lines that are no JSON, which some of the tool's datasets leave
// out.
type badLines struct{ n int }

// skip reports whether a line is no JSON at all.
func (b *badLines) skip(line []byte) bool {
	if json.Valid(line) {
		return false
	}
	b.n++
	return true
}

func (b *badLines) note(f *File) []string {
	switch b.n {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("1 line of %s is no JSON and was left out, as the tool does", f.Name)}
	}
	return []string{fmt.Sprintf("%d lines of %s are no JSON and were left out, as the tool does", b.n, f.Name)}
}

// decode reads a JSON value into v.
func decode(b []byte, v any) error { return workload.WrongType(json.Unmarshal(b, v)) }
