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

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

// The formats of trace files, by the publisher of traces in them.
const (
	// azure is a CSV of Azure's LLM inference traces of 2023 and 2024:
	//	TIMESTAMP,ContextTokens,GeneratedTokens
	//	2023-11-20 09:00:01.2500000,480,21
	azure = "azure"
	// burstGPT is a CSV of the traces of that name, old or with sessions:
	//	Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
	//	10,ChatGPT,300,25,325,Conversation log
	burstGPT = "burstgpt"
	// mooncake is JSON Lines, times in milliseconds; equal ids stand for equal blocks
	// of tokens:
	//	{"timestamp": 0, "input_length": 1200, "output_length": 52, "hash_ids": [0, 1, 2]}
	mooncake = "mooncake"
	// bailian is the same with the chats of Alibaba's traces of Qwen, times in seconds, and
	// blocks of 16 tokens:
	//	{"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 521, "output_length": 132,
	//	 "type": "text", "turn": 2, "hash_ids": [1089, 1090]}
	bailian = "bailian"
)

// units are those of the times in a format, unless another one is asked for; azure's are dates.
var units = map[string]string{burstGPT: "s", mooncake: "ms", bailian: "s"}

var lengths = map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond}

type traceRow struct {
	line          int           // in the file, from 1
	at            time.Duration // since the first row
	input, output int           // tokens
	blocks        []int64       // equal numbers stand for equal blocks of the prompt, from its beginning
	model, kind   string        // the model, and the type of the log; empty where the trace has none
}

// A trace is the log of a service's requests, in order of time.
type trace struct {
	format string
	unit   string // of its times, of lengths
	rows   []traceRow
	notes  []plan.Message

	fractions bool // some time is no integer of the unit
}

// length is the time from the first row to the last.
func (t *trace) length() time.Duration { return t.rows[len(t.rows)-1].at }

// readTrace reads a trace of this format, or of the format that its first line shows, with times in
// this unit, or in the format's.
func readTrace(file io.Reader, format, unit string) (*trace, error) {
	in, err := rows.SkipMark(file)
	if err != nil {
		return nil, err
	}
	found, err := recognize(in)
	switch {
	case err != nil && format == "":
		return nil, err
	case inLines(found) && inLines(format):
		found = format
	case format != "" && found != format:
		return nil, fmt.Errorf("line 1: this is no trace of the format %s, which %s", format, beginning(format))
	}
	if unit != "" && found == azure {
		return nil, errors.New("the times of a trace of the format azure are dates, which have no --time-unit")
	}
	t := &trace{format: found, unit: cmp.Or(unit, units[found])}
	if inLines(found) {
		err = rows.Lines(in, t.readLine)
	} else {
		err = t.readTable(in)
	}
	if err == nil && len(t.rows) == 0 {
		err = errors.New("no requests in it")
	}
	if err == nil {
		t.order()
		t.noteUnit(format == "" && unit == "")
	}
	return t, err
}

// inLines reports whether a format is of JSON Lines.
func inLines(format string) bool { return format == mooncake || format == bailian }

// noteUnit says in which unit the times of lines were taken, which no line says, and which people
// use in other ways: if that was guessed, or if milliseconds have fractions or are over in a second.
func (t *trace) noteUnit(guessed bool) {
	short := len(t.rows) > 1 && t.length() < time.Second
	switch odd := t.unit == "ms" && (t.fractions || short); {
	case !inLines(t.format):
	case odd && t.format == mooncake:
		t.notes = append(t.notes, plan.Msg(traceUnitOdd, "fractions", t.fractions, "length", t.length()))
	case guessed:
		t.notes = append(t.notes, plan.Msg(traceUnit, "unit", t.unit, "length", t.length()))
	}
}

// beginning says how a file of a format begins.
func beginning(format string) string {
	if inLines(format) {
		return "has a JSON object a line with timestamp, input_length and output_length"
	}
	return "begins with the columns " + strings.Join(columns[format], ",")
}

// columns are those that a table must have, in the order: time, prompt, answer.
var columns = map[string][]string{
	azure:    {"TIMESTAMP", "ContextTokens", "GeneratedTokens"},
	burstGPT: {"Timestamp", "Request tokens", "Response tokens"},
}

// recognize finds the format from the first line, which it does not consume.
func recognize(in *bufio.Reader) (format string, err error) {
	head, _ := in.Peek(1 << 14)
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n\t "), []byte("\n"))
	if bytes.HasPrefix(line, []byte("{")) {
		var keys map[string]json.RawMessage
		err := json.Unmarshal(line, &keys)
		switch {
		case err == nil && keys["input_length"] == nil:
			return "", errors.New("line 1: an object without input_length: a trace " + beginning(mooncake))
		case keys["chat_id"] != nil && keys["parent_chat_id"] != nil:
			return bailian, nil
		}
		return mooncake, nil
	}
	if len(line) == 0 {
		return "", errors.New("no requests: the file is empty")
	}
	names, _ := columnNames(csv.NewReader(bytes.NewReader(line)))
	var known []string
	for _, f := range []string{azure, burstGPT, mooncake} {
		if f != mooncake && !slices.ContainsFunc(columns[f], func(c string) bool { return !slices.Contains(names, c) }) {
			return f, nil
		}
		known = append(known, f+" "+beginning(f))
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

func (t *trace) readTable(in io.Reader) error {
	table := csv.NewReader(in)
	table.ReuseRecord = true
	names, err := columnNames(table)
	if err != nil {
		return err
	}
	c := columns[t.format]
	for _, name := range c {
		if !slices.Contains(names, name) {
			return fmt.Errorf("line 1: column %s is missing", name)
		}
	}
	parse := func(text string) (time.Duration, error) { return timeIn(text, lengths[t.unit]) }
	if t.format == azure {
		parse = date
	}
	var bad rows.Mistakes
	var record []string
	cell := func(name string) string {
		if i := slices.Index(names, name); i >= 0 {
			return strings.TrimSpace(record[i])
		}
		return ""
	}
	for {
		if record, err = table.Read(); errors.Is(err, io.EOF) {
			return bad.Err()
		} else if err != nil {
			return errors.Join(bad.Err(), err)
		}
		line, _ := table.FieldPos(0)
		row := traceRow{line: line, model: strings.Clone(cell("Model")), kind: strings.Clone(cell("Log Type"))}
		row.at, err = parse(cell(c[0]))
		err = column(c[0], err)
		for i, to := range []*int{&row.input, &row.output} {
			var wrong error
			*to, wrong = tokens(cell(c[i+1]))
			err = errors.Join(err, column(c[i+1], wrong))
		}
		t.rows = append(t.rows, row)
		if !bad.Add("line", line, err) {
			return bad.Err()
		}
	}
}

func column(name string, err error) error {
	if err != nil {
		return fmt.Errorf("column %s: %w", name, err)
	}
	return nil
}

// furthest is the limit of a time in a file, 146 years: the difference of two is a
// time.Duration too.
const furthest = math.MaxInt64 / 2

func seconds(text string) (time.Duration, error) { return timeIn(text, time.Second) }

func timeIn(text string, unit time.Duration) (time.Duration, error) {
	if len(text) > longestNumber {
		return 0, fmt.Errorf("%d characters are not a number of %s", len(text), unitNames[unit])
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < furthest/float64(unit)) {
		return 0, fmt.Errorf("%q is not a number of %s", text, unitNames[unit])
	}
	return time.Duration(math.Round(v * float64(unit))), nil
}

// unitNames are the units of times in errors.
var unitNames = map[time.Duration]string{
	time.Second: "seconds", time.Millisecond: "milliseconds", time.Microsecond: "microseconds",
}

// longestNumber is longer than any number in a real file, in bytes.
const longestNumber = 400

// date parses a date and time, with or without a zone.
func date(text string) (time.Duration, error) {
	for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return time.Duration(t.UnixNano()), nil
		}
	}
	return 0, fmt.Errorf("%q is not a time such as 2023-11-20 09:00:01.25", text)
}

// readLine reads a line of Mooncake's, or of Bailian's.
func (t *trace) readLine(number int, line []byte) (err error) {
	var l struct {
		Timestamp *float64 `json:"timestamp"`
		Input     *float64 `json:"input_length"`
		Output    *float64 `json:"output_length"`
		Blocks    []int64  `json:"hash_ids"`
		Type      string   `json:"type"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return fmt.Errorf("not a JSON object of a request: %w", rows.WrongType(err))
	}
	row := traceRow{line: number, blocks: l.Blocks, kind: l.Type}
	row.at, err = duration("timestamp", l.Timestamp, lengths[t.unit])
	t.fractions = t.fractions || err == nil && *l.Timestamp != math.Trunc(*l.Timestamp)
	t.rows = append(t.rows, row)
	last := &t.rows[len(t.rows)-1]
	return errors.Join(wholeNumber("input_length", l.Input, &last.input),
		wholeNumber("output_length", l.Output, &last.output), err)
}

func wholeNumber(field string, v *float64, to *int) error {
	switch {
	case v == nil:
		return fmt.Errorf("field %q is missing", field)
	case *v < 0 || *v != math.Trunc(*v) || *v > plan.MaxTokens:
		return fmt.Errorf("field %q is %v: must be a number of tokens", field, *v)
	}
	*to = int(*v)
	return nil
}

// duration is the time in a field, in a unit.
func duration(field string, v *float64, unit time.Duration) (time.Duration, error) {
	switch {
	case v == nil:
		return 0, fmt.Errorf("field %q is missing", field)
	case !(math.Abs(*v) < furthest/float64(unit)):
		return 0, fmt.Errorf("field %q is %v: must be a number of %s", field, *v, unitNames[unit])
	}
	return time.Duration(math.Round(*v * float64(unit))), nil
}

// order sorts the rows by their times, which then count from the first.
func (t *trace) order() {
	byTime := func(a, b traceRow) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(t.rows, byTime) {
		slices.SortStableFunc(t.rows, byTime)
		t.notes = append(t.notes, plan.Msg(traceSorted))
	}
	first := t.rows[0].at
	for i := range t.rows {
		t.rows[i].at -= first
	}
}
