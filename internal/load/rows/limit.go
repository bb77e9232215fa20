package rows

import (
	"bytes"
	"fmt"
	"io"
	"iter"
)

// Limits of a row of a CSV file, of which a reader holds several copies: bytes, and commas.
const (
	maxTableRow = maxLine / 2
	maxCells    = 1 << 20
)

// A rowLimit ends a file that has a longer row than is read, before all of it is in memory.
type rowLimit struct {
	file          io.Reader
	table         bool // with commas that count
	most          int
	bytes, commas int // that are left for the row
}

func newRowLimit(file io.Reader, format Format) *rowLimit {
	l := &rowLimit{file: file, most: maxLine}
	if format == CSV {
		l.table, l.most = true, maxTableRow
	}
	l.begin()
	return l
}

func (l *rowLimit) begin() { l.bytes, l.commas = l.most, maxCells }

func (l *rowLimit) Read(p []byte) (int, error) {
	switch {
	case l.bytes <= 0:
		return 0, fmt.Errorf("a row of more than %d MiB", l.most>>20)
	case l.commas <= 0:
		return 0, fmt.Errorf("a row of more than %d cells", maxCells)
	}
	n, err := l.file.Read(p[:min(len(p), l.bytes)])
	l.bytes -= n
	if l.table {
		l.commas -= bytes.Count(p[:n], []byte(","))
	}
	return n, err
}

func (l *rowLimit) each(all iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		l.begin()
		all(func(row Row, err error) bool {
			l.begin()
			return yield(row, err)
		})
	}
}
