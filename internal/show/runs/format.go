// Package runs writes stored runs: a list for people, and for programs a row for each run or
// for each of its requests.
//
// Units are those of storage, seconds and tokens, so that nobody has to guess them; latencies
// and figures are by Pitot's definitions.
package runs

import (
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Format is a form of file.
type Format string

// The formats.
const (
	JSON    Format = "json"
	JSONL   Format = "jsonl"
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// endings are those of the names of files.
var endings = map[string]Format{".json": JSON, ".jsonl": JSONL, ".ndjson": JSONL, ".csv": CSV, ".parquet": Parquet, ".pq": Parquet}

// FormatOf is the format that the name of a file tells, empty if it tells none.
func FormatOf(name string) Format { return endings[strings.ToLower(filepath.Ext(name))] }

// Holds reports whether the records of several runs can stand in one file.
func (f Format) Holds() bool { return f == CSV || f == Parquet }

// Text reports whether a terminal can show it.
func (f Format) Text() bool { return f == JSON || f == JSONL }

func validity(run trace.Run) string {
	if run.Verdict == nil {
		return ""
	}
	return string(run.Verdict.Validity)
}
