package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WriteJSON writes a run as it can be imported again: {"run": ..., "records": [...], "telemetry":
// {"sources": [...], "series": [...]}}, one record or series per line. A trace without telemetry
// has no such member.
func WriteJSON(w io.Writer, t *trace.Trace) error {
	return WriteJSONOf(w, t, func(yield func([]*trace.Record, error) bool) { yield(t.Records, nil) })
}

// WriteJSONOf is WriteJSON with records that are read some at a time, in place of those of t.
func WriteJSONOf(w io.Writer, t *trace.Trace, records iter.Seq2[[]*trace.Record, error]) error {
	b := bufio.NewWriterSize(w, 1<<16)
	return errors.Join(writeJSON(b, t, records), b.Flush())
}

func writeJSON(w io.Writer, t *trace.Trace, records iter.Seq2[[]*trace.Record, error]) error {
	run, err := json.MarshalIndent(t.Run, "", " ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"run\": %s,\n\"records\": [", run); err != nil {
		return err
	}
	n := 0
	for some, err := range records {
		if err == nil {
			err = writeItems(w, some, n)
		}
		if err != nil {
			return err
		}
		n += len(some)
	}
	if _, err = io.WriteString(w, "]"); err != nil {
		return err
	}
	if t.Telemetry != nil {
		if err := writeTelemetry(w, t.Telemetry); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "}\n")
	return err
}

func writeTelemetry(w io.Writer, set *telemetry.Set) error {
	_, err := io.WriteString(w, ",\n\"telemetry\": {\"sources\": ")
	if err == nil {
		err = writeList(w, set.Sources)
	}
	if err == nil {
		_, err = io.WriteString(w, ",\n\"series\": ")
	}
	if err == nil {
		err = writeList(w, set.Series)
	}
	if err == nil {
		_, err = io.WriteString(w, "}")
	}
	return err
}

// writeList writes a list with an item per line.
func writeList[T any](w io.Writer, all []T) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	if err := writeItems(w, all, 0); err != nil {
		return err
	}
	_, err := io.WriteString(w, "]")
	return err
}

// writeItems writes items of a list behind those before.
func writeItems[T any](w io.Writer, some []T, before int) error {
	for i, one := range some {
		b, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if i+before > 0 {
			b = append([]byte(",\n"), b...)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
