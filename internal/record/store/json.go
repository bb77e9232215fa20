package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WriteJSON writes a run as it can be imported again: {"run": ..., "records": [...]}, one
// record per line.
func WriteJSON(w io.Writer, t *trace.Trace) error {
	b := bufio.NewWriterSize(w, 1<<16)
	return errors.Join(writeJSON(b, t), b.Flush())
}

func writeJSON(w io.Writer, t *trace.Trace) error {
	run, err := json.MarshalIndent(t.Run, "", " ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"run\": %s,\n\"records\": [", run); err != nil {
		return err
	}
	for i, r := range t.Records {
		b, err := json.Marshal(r)
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
	_, err = io.WriteString(w, "]}\n")
	return err
}
