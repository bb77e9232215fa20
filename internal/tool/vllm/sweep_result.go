package vllm

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Updated is a result file with what the sweep adds to it: the number of the run, and the
// parameters of both commands.
func Updated(result string, run int, serve, bench Params) (json.RawMessage, error) {
	raw, err := python.Loads(result)
	if err != nil || !gjson.ParseBytes(raw).IsObject() {
		return nil, fmt.Errorf("is no result file")
	}
	var o python.Object
	gjson.ParseBytes(raw).ForEach(func(name, value gjson.Result) bool {
		o.Raw(name.String(), []byte(value.Raw))
		return true
	})
	o.Set("run_number", run)
	for _, p := range slices.Concat(serve, bench) {
		o.Raw(p.Name, p.Value)
	}
	return o.Bytes(), nil
}

// Indented is what json.dump writes of a value with an indent of some blanks. The value is as
// json.dumps writes it.
func Indented(value json.RawMessage, blanks int) []byte {
	var b bytes.Buffer
	indent(&b, gjson.ParseBytes(value), strings.Repeat(" ", blanks), "\n")
	return b.Bytes()
}

func indent(b *bytes.Buffer, v gjson.Result, step, line string) {
	begin, end := "[", "]"
	switch {
	case v.IsObject():
		begin, end = "{", "}"
	case !v.IsArray():
		b.WriteString(v.Raw)
		return
	}
	between := begin
	v.ForEach(func(key, item gjson.Result) bool {
		b.WriteString(between + line + step)
		if between = ","; v.IsObject() {
			b.WriteString(key.Raw + ": ")
		}
		indent(b, item, step, line+step)
		return true
	})
	if between == begin { // nothing is in it
		line = begin
	}
	b.WriteString(line + end)
}

// List is results as one list.
func List(results []json.RawMessage) json.RawMessage {
	return python.JSONList(len(results), func(b []byte, i int) []byte { return append(b, results[i]...) })
}

// SweepTable is results as pandas writes records as CSV: a row for each, a column for each name in
// the order in which names come.
func SweepTable(results []json.RawMessage) ([]byte, error) {
	var names []string
	rows := make([]map[string]gjson.Result, len(results))
	for i, r := range results {
		rows[i] = map[string]gjson.Result{}
		gjson.ParseBytes(r).ForEach(func(name, value gjson.Result) bool {
			if rows[i][name.String()] = value; !slices.Contains(names, name.String()) {
				names = append(names, name.String())
			}
			return true
		})
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := make([][]string, 1+len(rows))
	lines[0] = []string{""}
	for i := range rows {
		lines[i+1] = []string{fmt.Sprint(i)}
	}
	for _, name := range names {
		lines[0] = append(lines[0], name)
		float := isFloat(rows, name)
		for i, row := range rows {
			lines[i+1] = append(lines[i+1], cell(row[name], float))
		}
	}
	err := w.WriteAll(lines)
	return b.Bytes(), err
}

// isFloat reports whether a column is of floats: of numbers, some of them missing or no integers.
func isFloat(rows []map[string]gjson.Result, name string) bool {
	float := false
	for _, row := range rows {
		switch v := row[name]; {
		case !v.Exists() || v.Raw == "null":
			float = true
		case v.Type != gjson.Number && !python.Unreal(json.RawMessage(v.Raw)):
			return false
		case strings.ContainsAny(v.Raw, ".eENI"):
			float = true
		}
	}
	return float
}

// cell is a value in a column.
func cell(v gjson.Result, float bool) string {
	switch {
	case !v.Exists() || v.Raw == "null" || v.Raw == "NaN":
		return ""
	case float && !strings.ContainsAny(v.Raw, ".eENI"):
		return python.OfJSON(json.RawMessage(v.Raw + ".0"))
	}
	return str(json.RawMessage(v.Raw))
}
