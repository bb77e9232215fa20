// Package rows reads tables from files, row by row: Parquet, JSON, JSON Lines and
// CSV, the text formats also compressed with gzip or zstd.
//
//	t, err := rows.Open("train.parquet", file, size)
//	for row, err := range t.All() {
//		prompt, err := row.String("prompt")
//	}
//
// A row is read, returned and dropped, so memory holds one row, and for a Parquet
// file a page of each column, however long the table is. Values have the types of
// the format and are decoded on demand: an unused column of JSON costs nothing.
//
// Errors have a position: the line in a line-based file, else the number of the
// row, and the column. The caller adds the name of the file, since only the caller
// knows how the user named it.
package rows

import (
	"fmt"
	"iter"
	"strings"
)

// A Table is a file of rows.
type Table struct {
	columns []string
	all     iter.Seq2[Row, error]
}

// Columns are the names of the columns in file order; nil for JSON, where each row
// has its own.
func (t *Table) Columns() []string { return t.columns }

// All yields the rows in order, once. An error comes with a Row that has its
// position, and is the last.
func (t *Table) All() iter.Seq2[Row, error] { return t.all }

// A Format is a file format.
type Format string

// The formats.
const (
	Parquet   Format = "parquet"
	JSON      Format = "json" // an array of objects, or consecutive objects
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
)

var suffixes = []struct {
	suffix string
	format Format
}{
	{".parquet", Parquet},
	{".json", JSON},
	{".jsonl", JSONLines},
	{".ndjson", JSONLines},
	{".csv", CSV},
}

// FormatOf returns the format and the compression of a file from its name.
func FormatOf(name string) (Format, Compression, error) {
	lower, packed := strings.ToLower(name), Plain
	for _, c := range []Compression{Gzip, Zstd} {
		if bare, ok := strings.CutSuffix(lower, string(c)); ok {
			lower, packed = bare, c
		}
	}
	for _, s := range suffixes {
		if strings.HasSuffix(lower, s.suffix) {
			if s.format == Parquet && packed != Plain {
				return "", "", fmt.Errorf("%q: a Parquet file is compressed inside; unpack it", name)
			}
			return s.format, packed, nil
		}
	}
	return "", "", fmt.Errorf("%q: the name must end in .parquet, .json, .jsonl or .csv, the last three optionally "+
		"with .gz or .zst", name)
}
