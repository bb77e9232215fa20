package rows

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// openCSV reads a table with the names of the columns in its first line. Cells may
// be quoted; a row may be shorter than the first, never longer.
func openCSV(r *bufio.Reader) (*Table, error) {
	c := csv.NewReader(r)
	c.LazyQuotes, c.FieldsPerRecord = true, -1
	names, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: its first line must name the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", bare(err))
	}
	return &Table{columns: names, all: csvRows(c, names)}, nil
}

func csvRows(c *csv.Reader, names []string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for number := 1; ; number++ {
			cells, err := c.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			row := Row{Number: number}
			row.Line = csvLine(c, cells, err)
			if err == nil && len(cells) > len(names) {
				err = fmt.Errorf("%d cells, but the first line names %d columns", len(cells), len(names))
			}
			if err != nil {
				yield(row, fmt.Errorf("%s: %w", row.Place(), bare(err)))
				return
			}
			row.names = slices.Clip(names[:len(cells)])
			row.values = make([]any, len(cells))
			for i, cell := range cells {
				row.values[i] = cell
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func csvLine(c *csv.Reader, cells []string, err error) int {
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return wrong.StartLine
	}
	if len(cells) == 0 {
		return 0
	}
	line, _ := c.FieldPos(0)
	return line
}

// bare returns err without the position, which the caller adds.
func bare(err error) error {
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return wrong.Err
	}
	return err
}
