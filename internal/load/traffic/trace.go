package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Format is a form of a trace file.
type Format string

// The formats, by who published traces in them.
const (
	// Azure is a CSV of Azure's LLM inference traces of 2023 and 2024:
	//	TIMESTAMP,ContextTokens,GeneratedTokens
	//	2023-11-20 09:00:01.2500000,480,21
	Azure Format = "azure"
	// BurstGPT is a CSV of the traces of that name, old or with sessions:
	//	Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
	//	10,ChatGPT,300,25,325,Conversation log
	BurstGPT Format = "burstgpt"
	// Mooncake is JSON Lines, times in milliseconds; equal ids stand for equal blocks
	// of tokens:
	//	{"timestamp": 0, "input_length": 1200, "output_length": 52, "hash_ids": [0, 1, 2]}
	Mooncake Format = "mooncake"
)

// Formats are all of them.
func Formats() []Format { return []Format{Azure, BurstGPT, Mooncake} }

// A Row is one request of a trace.
type Row struct {
	Line          int           // in the file, from 1
	At            time.Duration // since the first row
	Input, Output int           // tokens
	Blocks        []int64       // equal numbers stand for equal blocks of the prompt, from its beginning
	Model, Kind   string        // where the trace tells them: the model, and the type of the log
}

// A Trace is what a service wrote down of its requests, in order of time.
type Trace struct {
	Format Format
	Rows   []Row
	Notes  []plan.Message // what was noticed
}

// Length is the time from the first row to the last.
func (t *Trace) Length() time.Duration { return t.Rows[len(t.Rows)-1].At }

// ReadTrace reads a trace of this format, or of whatever format its first line shows.
func ReadTrace(r io.Reader, format Format) (*Trace, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	found, err := recognize(in)
	switch {
	case err != nil && format == "":
		return nil, err
	case format != "" && found != format:
		return nil, fmt.Errorf("line 1: this is no trace of the format %s, which %s", format, beginning(format))
	}
	t := &Trace{Format: found}
	if found == Mooncake {
		err = t.readLines(in)
	} else {
		err = t.readTable(in)
	}
	if err != nil {
		return nil, err
	}
	if len(t.Rows) == 0 {
		return nil, errors.New("no requests in it")
	}
	t.order()
	return t, nil
}

// beginning says how a format can be told.
func beginning(f Format) string {
	if f == Mooncake {
		return "has a JSON object a line with timestamp, input_length and output_length"
	}
	return "begins with the columns " + strings.Join(columns[f], ",")
}

// columns are those that a table must have, in the order: time, prompt, answer.
var columns = map[Format][]string{
	Azure:    {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
	BurstGPT: {"Timestamp", "Request tokens", "Response tokens"},
}

// recognize tells the format from the first line, which it leaves there.
func recognize(in *bufio.Reader) (Format, error) {
	head, _ := in.Peek(1 << 14)
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n\t "), []byte("\n"))
	if bytes.HasPrefix(line, []byte("{")) {
		var keys map[string]json.RawMessage
		if json.Unmarshal(line, &keys) == nil && keys["input_length"] == nil {
			return "", errors.New("line 1: an object without input_length: a trace " + beginning(Mooncake))
		}
		return Mooncake, nil
	}
	if len(line) == 0 {
		return "", errors.New("no requests: the file is empty")
	}
	names, err := columnNames(csv.NewReader(bytes.NewReader(line)))
	if err != nil {
		names = nil
	}
	for _, f := range []Format{Azure, BurstGPT} {
		if !slices.ContainsFunc(columns[f], func(c string) bool { return !slices.Contains(names, c) }) {
			return f, nil
		}
	}
	var known []string
	for _, f := range Formats() {
		known = append(known, fmt.Sprintf("%s %s", f, beginning(f)))
	}
	return "", fmt.Errorf("line 1: %.80q is the beginning of no trace known here: %s", line, strings.Join(known, "; "))
}

// columnNames are those in the first line of a table.
func columnNames(table *csv.Reader) ([]string, error) {
	record, err := table.Read()
	names := make([]string, len(record))
	for i, name := range record {
		names[i] = strings.TrimSpace(name)
	}
	return names, err
}

// readTable reads a CSV with the columns of its format.
func (t *Trace) readTable(in io.Reader) error {
	table := csv.NewReader(in)
	table.ReuseRecord = true
	names, err := columnNames(table)
	if err != nil {
		return err
	}
	at := func(name string) int { return slices.Index(names, name) }
	c := columns[t.Format]
	for _, name := range c {
		if at(name) < 0 {
			return fmt.Errorf("line 1: column %s is missing", name)
		}
	}
	when, input, output, model, kind := at(c[0]), at(c[1]), at(c[2]), at("Model"), at("Log Type")
	parse := seconds
	if t.Format == Azure {
		parse = date
	}
	var bad mistakes
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			return bad.err()
		}
		if err != nil {
			bad = append(bad, err)
			return bad.err()
		}
		line, _ := table.FieldPos(0)
		row := Row{Line: line}
		row.At, err = parse(record[when])
		err = errors.Join(column(c[0], err), column(c[1], number(&row.Input, record[input])), column(c[2], number(&row.Output, record[output])))
		if model >= 0 {
			row.Model = strings.Clone(record[model])
		}
		if kind >= 0 {
			row.Kind = strings.Clone(record[kind])
		}
		t.Rows = append(t.Rows, row)
		if !bad.add(line, err) {
			return bad.err()
		}
	}
}

func number(n *int, text string) (err error) {
	*n, err = tokens(strings.TrimSpace(text))
	return err
}

func column(name string, err error) error {
	if err != nil {
		return fmt.Errorf("column %s: %w", name, err)
	}
	return nil
}

// furthest is how far from zero a time of a file may be, 146 years: the time between two
// of them is then one too.
const furthest = math.MaxInt64 / 2

// seconds reads a time in seconds.
func seconds(text string) (time.Duration, error) {
	s, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(math.Abs(s) < furthest/1e9) {
		return 0, fmt.Errorf("%q is not a number of seconds", text)
	}
	return time.Duration(math.Round(s * 1e9)), nil
}

// date reads a time of the day and the year, with or without its zone.
func date(text string) (time.Duration, error) {
	for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return time.Duration(t.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 2023-11-20 09:00:01.25", text)
}

// maxLine is the longest line read, in bytes.
const maxLine = 64 << 20

// readLines reads JSON Lines of Mooncake's.
func (t *Trace) readLines(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var bad mistakes
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		row, err := mooncakeRow(lines.Bytes())
		row.Line = n
		t.Rows = append(t.Rows, row)
		if !bad.add(n, err) {
			return bad.err()
		}
	}
	if err := lines.Err(); err != nil {
		bad = append(bad, err)
	}
	return bad.err()
}

func mooncakeRow(line []byte) (Row, error) {
	var l struct {
		Timestamp *float64 `json:"timestamp"`
		Input     *float64 `json:"input_length"`
		Output    *float64 `json:"output_length"`
		Blocks    []int64  `json:"hash_ids"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return Row{}, fmt.Errorf("not a JSON object of a request: %w", workload.WrongType(err))
	}
	row := Row{Blocks: l.Blocks}
	return row, errors.Join(wholeNumber("input_length", l.Input, &row.Input), wholeNumber("output_length", l.Output, &row.Output), millis("timestamp", l.Timestamp, &row.At))
}

func wholeNumber(field string, v *float64, to *int) error {
	switch {
	case v == nil:
		return fmt.Errorf("field %q is missing", field)
	case *v < 0 || *v != math.Trunc(*v) || *v > mostTokens:
		return fmt.Errorf("field %q is %v: must be a number of tokens", field, *v)
	}
	*to = int(*v)
	return nil
}

func millis(field string, v *float64, to *time.Duration) error {
	switch {
	case v == nil:
		return fmt.Errorf("field %q is missing", field)
	case !(math.Abs(*v) < furthest/1e6):
		return fmt.Errorf("field %q is %v: must be a number of milliseconds", field, *v)
	}
	*to = time.Duration(math.Round(*v * 1e6))
	return nil
}

// order puts rows in the order of their times, which then count from the first.
func (t *Trace) order() {
	byTime := func(a, b Row) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(t.Rows, byTime) {
		slices.SortStableFunc(t.Rows, byTime)
		t.Notes = append(t.Notes, plan.Say(traceSorted))
	}
	first := t.Rows[0].At
	for i := range t.Rows {
		t.Rows[i].At -= first
	}
}
