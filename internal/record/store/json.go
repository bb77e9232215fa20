package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WriteJSON writes a run as it can be imported again: {"run": ..., "records": [...], "telemetry":
// {"sources": [...], "series": [...]}}, one record or series per line. A trace without telemetry
// has no such member.
func WriteJSON(w io.Writer, t *trace.Trace) error {
	b := bufio.NewWriterSize(w, 1<<16)
	return errors.Join(writeJSON(b, t), b.Flush())
}

func writeJSON(w io.Writer, t *trace.Trace) error {
	run, err := json.MarshalIndent(t.Run, "", " ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"run\": %s,\n\"records\": ", run); err != nil {
		return err
	}
	if err := writeList(w, t.Records); err != nil {
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
	for i, one := range all {
		b, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if i > 0 {
			b = append([]byte(",\n"), b...)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]")
	return err
}
