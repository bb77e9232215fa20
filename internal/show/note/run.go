package note

import (
	"fmt"
	"io"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/table"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// A Run is what a note keeps of a run.
type Run struct {
	trace.Run // without probes
	Table     string
	Digest    report.Digest
}

// NewRun keeps of a trace what a note needs; the trace is not held on to. dialect is
// whose report stands for a run of Pitot's: vllm, sglang or pitot. An imported run
// has its own tool's.
func NewRun(t *trace.Trace, dialect string) (Run, error) {
	r := Run{Run: t.Run, Digest: report.NewDigest(t)}
	r.Probes = nil
	text, err := render(func(w io.Writer) error { return writeTable(w, t, dialect) })
	if err != nil {
		return Run{}, fmt.Errorf("write the table of run %s: %w", t.Run.ID, err)
	}
	r.Table = strings.Trim(string(text), "\n")
	return r, nil
}

func writeTable(w io.Writer, t *trace.Trace, dialect string) error {
	if o := t.Run.Origin; o != nil {
		if o.Tool == "vllm" || o.Tool == "sglang" {
			return table.WriteReported(w, t.Run, vllm.Table(), sglang.Table())
		}
		return writeFigures(w, o)
	}
	switch dialect {
	case "sglang":
		r, err := sglang.NewReport(t, "")
		if err != nil {
			return err
		}
		return r.WriteTable(w)
	case "pitot":
		return report.Text(w, metrics.Summarize(t, metrics.Options{}))
	}
	r, err := vllm.NewReport(t, "")
	if err != nil {
		return err
	}
	return r.WriteTable(w)
}

// writeFigures lists what a tool reported whose tables nobody pastes.
func writeFigures(w io.Writer, o *trace.Origin) error {
	for _, f := range o.Figures {
		q := metrics.QuantityOf(f.Name)
		value, unit := f.Value, string(q.Unit)
		if q.Unit == metrics.Seconds && f.Name != "duration" {
			value, unit = 1000*value, "ms"
		}
		if _, err := fmt.Fprintf(w, "%-32s %14.2f %s\n", q.Title, value, unit); err != nil {
			return err
		}
	}
	return nil
}
