// Package rows reads tables from files, row by row: Parquet, JSON, JSON Lines
// and CSV, the text forms also compressed with gzip or zstd.
//
//	t, err := rows.Open("train.parquet", file, size)
//	for row, err := range t.All() {
//		prompt, err := row.String("prompt")
//	}
//
// A row is read, handed out and let go, so that memory holds one row, and of a
// Parquet file a page of each column, however long the table is. Values are what
// the format says they are and stay undecoded until they are asked for: a column
// that nobody reads costs nothing of JSON.
//
// What is wrong is told with its place: the line of a line-based file, else the
// number of the row, and the column. The name of the file is the caller's to add,
// since only the caller knows how the user named it.
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

// Columns are the names of the columns in the order of the file; nil for JSON,
// where each row has its own.
func (t *Table) Columns() []string { return t.columns }

// All yields the rows in order, once: what it reads from need not go back. An
// error comes with a Row that tells its place, and is the last.
func (t *Table) All() iter.Seq2[Row, error] { return t.all }

// A Format is a form of file.
type Format string

// The formats.
const (
	Parquet   Format = "parquet"
	JSON      Format = "json" // an array of objects, or objects one after the other
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

// FormatOf tells the format and the compression of a file from its name.
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
	return "", "", fmt.Errorf("%q: the name must end in .parquet, .json, .jsonl or .csv, the last three perhaps with .gz or .zst after it", name)
}
