package runs

import (
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

	"github.com/parquet-go/parquet-go"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Run is a stored run with figures of it.
type Run struct {
	store.Listing
	Figures []trace.ReportedFigure
}

// A field is a named value: a text, an integer, a float, or nil for unknown.
type field struct {
	name  string
	value any
}

// fields are what a row tells of a run, its figures last.
func (r Run) fields(l *words.Language) []field {
	records, failed := r.counts()
	out := []field{
		{"run", r.ID},
		{"name", r.Name},
		{"kind", string(r.Kind)},
		{"status", string(r.Status)},
		{"validity", string(r.Validity)},
		{"started", moment(r.Started)},
		{"dialect", r.Dialect},
		{"model", r.Model},
		{"url", r.URL},
		{"load", report.Load(r.Plan(), l)},
		{"rate", r.Rate},
		{"max_concurrency", int64(r.Concurrency)},
		{"requests", records},
		{"failed", failed},
		{"tags", strings.Join(r.Tags, ", ")},
		{"remark", r.Remark},
	}
	for _, f := range r.Figures {
		if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) {
			out = append(out, field{f.Name, nil})
		} else {
			out = append(out, field{f.Name, f.Value})
		}
	}
	return out
}

func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// counts are the requests of a run and the failed ones among them, by its records, or else by
// what its tool reported.
func (r Run) counts() (records, failed any) {
	if r.Records > 0 || r.Kind != trace.Imported {
		return int64(r.Records), int64(r.Failed)
	}
	if r.Requests > 0 {
		records = int64(r.Requests)
	}
	if r.Failed >= 0 {
		failed = int64(r.Failed)
	}
	return records, failed
}

// Summary writes a row for each run.
func Summary(w io.Writer, all []Run, f Format, l *words.Language) error {
	rows := make([][]field, len(all))
	for i, r := range all {
		rows[i] = r.fields(l)
	}
	switch f {
	case JSON, JSONL:
		return summaryJSON(w, rows, f)
	case CSV:
		return summaryCSV(w, rows)
	case Parquet:
		return summaryParquet(w, rows)
	}
	return fmt.Errorf("unknown format %q", f)
}

// summaryJSON writes objects: a line each, or an array of them.
func summaryJSON(w io.Writer, rows [][]field, f Format) error {
	var b bytes.Buffer
	for i, row := range rows {
		if f == JSON {
			b.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		}
		for j, c := range row {
			value, err := json.Marshal(c.value)
			if err != nil {
				return err
			}
			name, _ := json.Marshal(c.name) // a text
			fmt.Fprintf(&b, "%s%s:%s", map[bool]string{true: "{", false: ","}[j == 0], name, value)
		}
		b.WriteString("}")
		if f == JSONL {
			b.WriteString("\n")
		}
	}
	switch {
	case f == JSON && len(rows) == 0:
		b.WriteString("[]\n")
	case f == JSON:
		b.WriteString("\n]\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// columns are the names in rows, in the order in which they come, with a value of each.
func columns(rows [][]field) (all []field) {
	for _, row := range rows {
		for _, c := range row {
			i := slices.IndexFunc(all, func(k field) bool { return k.name == c.name })
			if i < 0 {
				all = append(all, c)
			} else if all[i].value == nil {
				all[i].value = c.value
			}
		}
	}
	return all
}

// in is the value of a column in a row, nil if it has none.
func (c field) in(row []field) any {
	i := slices.IndexFunc(row, func(k field) bool { return k.name == c.name })
	if i < 0 {
		return nil
	}
	return row[i].value
}

func summaryCSV(w io.Writer, rows [][]field) error {
	c, all := csv.NewWriter(w), columns(rows)
	head := make([]string, len(all))
	for i, name := range all {
		head[i] = name.name
	}
	err := c.Write(head)
	for _, row := range rows {
		cells := make([]string, len(all))
		for i, name := range all {
			cells[i] = cell(name.in(row))
		}
		err = errors.Join(err, c.Write(cells))
	}
	c.Flush()
	return errors.Join(err, c.Error())
}

func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// summaryParquet writes columns in alphabetical order, as groups of Parquet are.
func summaryParquet(w io.Writer, rows [][]field) error {
	all, group := columns(rows), parquet.Group{}
	slices.SortFunc(all, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	for _, c := range all {
		switch c.value.(type) {
		case float64, nil:
			group[c.name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		case int64:
			group[c.name] = parquet.Optional(parquet.Int(64))
		default:
			group[c.name] = parquet.Optional(parquet.String())
		}
	}
	p := parquet.NewGenericWriter[any](w, parquet.NewSchema("run", group))
	for _, row := range rows {
		values := make(parquet.Row, len(all))
		for i, c := range all {
			values[i] = parquet.NullValue().Level(0, 0, i)
			if v := c.in(row); v != nil {
				values[i] = parquet.ValueOf(v).Level(0, 1, i)
			}
		}
		if _, err := p.WriteRows([]parquet.Row{values}); err != nil {
			return err
		}
	}
	return p.Close()
}
