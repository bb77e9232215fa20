package runs

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A sampleRow is one sample of the telemetry of a run.
type sampleRow struct {
	Run    string            `parquet:"run,dict" json:"run"`
	Source string            `parquet:"source,dict" json:"source"`
	Name   string            `parquet:"name,dict" json:"name"`
	Labels map[string]string `parquet:"labels" json:"labels"`
	Unit   string            `parquet:"unit,dict" json:"unit"`
	Kind   string            `parquet:"kind,dict" json:"kind"`
	At     float64           `parquet:"at_s" json:"at_s"`                             // since the start of the run
	Time   int64             `parquet:"time,optional,timestamp(nanosecond)" json:"-"` // Unix time; 0: unknown
	Value  float64           `parquet:"value" json:"-"`
}

// ExportTelemetry writes the telemetry of runs to w, a row for each sample: series by series, each
// in the order of its instants.
func ExportTelemetry(w io.Writer, all Streams, f Format) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch f {
	case JSON, JSONL:
		err = samplesJSON(b, all, f)
	case CSV:
		err = samplesCSV(b, all)
	case Parquet:
		err = samplesParquet(b, all)
	default:
		err = fmt.Errorf("unknown format %q", f)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// samples calls do with each sample of runs.
func samples(all Streams, do func(*telemetry.Series, sampleRow) error) error {
	return each(all, func(t Stream) error {
		if t.Telemetry == nil {
			return nil
		}
		for _, s := range t.Telemetry.Series {
			x := sampleRow{Run: t.Run.ID, Source: s.Source, Name: s.Name, Labels: s.Labels, Unit: s.Unit, Kind: string(s.Kind)}
			for _, p := range s.Points {
				x.At, x.Value = p.At.Seconds(), p.Value
				if !t.Run.Started.IsZero() {
					x.Time = t.Run.Started.Add(p.At).UnixNano()
				}
				if err := do(s, x); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// when is the wall clock in RFC 3339, empty if unknown.
func (x sampleRow) when() string {
	if x.Time == 0 {
		return ""
	}
	return time.Unix(0, x.Time).UTC().Format(time.RFC3339Nano)
}

// samplesJSON writes objects: a line each, or an array of them. Values without a JSON number are
// strings, NaN, +Inf or -Inf, as in the export of runs.
func samplesJSON(w io.Writer, all Streams, f Format) error {
	type line struct {
		sampleRow
		Time  *string `json:"time"` // null: unknown
		Value any     `json:"value"`
	}
	before, end := "", ""
	if f == JSON {
		before, end = "[\n", "[]\n"
	}
	err := samples(all, func(_ *telemetry.Series, x sampleRow) error {
		l := line{sampleRow: x, Value: x.Value}
		if at := x.when(); at != "" {
			l.Time = &at
		}
		if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
			l.Value = cell(x.Value)
		}
		if l.Labels == nil {
			l.Labels = map[string]string{}
		}
		b, err := json.Marshal(l)
		if err != nil {
			return err
		}
		out := append([]byte(before), b...)
		if f == JSON {
			before, end = ",\n", "\n]\n"
		} else {
			out = append(out, '\n')
		}
		_, err = w.Write(out)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, end)
	return err
}

// samplesCSV writes labels as name="value" with commas between.
func samplesCSV(w io.Writer, all Streams) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"run", "source", "name", "labels", "unit", "kind", "at_s", "time", "value"}); err != nil {
		return err
	}
	var last *telemetry.Series
	labels := ""
	err := samples(all, func(s *telemetry.Series, x sampleRow) error {
		if s != last {
			last, labels = s, s.Labels.String()
		}
		return c.Write([]string{x.Run, x.Source, x.Name, labels, x.Unit, x.Kind, strconv.FormatFloat(x.At, 'f', -1, 64), x.when(), cell(x.Value)})
	})
	c.Flush()
	return errors.Join(err, c.Error())
}

func samplesParquet(w io.Writer, all Streams) error {
	p := parquet.NewGenericWriter[sampleRow](w, parquet.Compression(&parquet.Zstd))
	rows := make([]sampleRow, 0, 1024)
	flush := func() error {
		_, err := p.Write(rows)
		rows = rows[:0]
		return err
	}
	err := samples(all, func(_ *telemetry.Series, x sampleRow) error {
		if rows = append(rows, x); len(rows) < cap(rows) {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush(), p.Close())
}
