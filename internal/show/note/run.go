package note

import (
	"fmt"
	"io"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// A Run is what a note keeps of a run.
type Run struct {
	trace.Run // without probes
	Table     string
	Digest    plot.Digest
}

// NewRun keeps of a trace what a note needs; the trace is not held on to. table is
// whose report stands for a run of Pitot's: vllm, sglang or pitot. An imported run
// has its own tool's.
func NewRun(t *trace.Trace, table string) (Run, error) {
	r := Run{Run: t.Run, Digest: plot.NewDigest(t)}
	r.Probes = nil
	text, err := render(func(w io.Writer) error { return writeTable(w, t, table) })
	if err != nil {
		return Run{}, fmt.Errorf("write the table of run %s: %w", t.Run.ID, err)
	}
	r.Table = strings.Trim(string(text), "\n")
	return r, nil
}

func writeTable(w io.Writer, t *trace.Trace, table string) error {
	if o := t.Run.Origin; o != nil {
		if o.Tool == "vllm" || o.Tool == "sglang" {
			return dialect.WriteReported(w, t.Run)
		}
		return writeFigures(w, o)
	}
	switch table {
	case "sglang":
		r, err := dialect.NewSGLangReport(t, "")
		if err != nil {
			return err
		}
		return r.WriteTable(w)
	case "pitot":
		return report.Text(w, metrics.Summarize(t, metrics.Options{}))
	}
	r, err := dialect.NewVLLMReport(t, "")
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
