package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/text"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// english is the language of what has no flag for another one.
var english = words.In(words.Default)

// printReports writes the reports that were asked for, one after the other; s is t
// in figures, form that of another tool's.
func (p *Process) printReports(t *trace.Trace, s metrics.Summary, names []string, form string) error {
	var errs []error
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(p.Stdout)
		}
		errs = append(errs, p.printReport(t, s, name, form))
	}
	return errors.Join(errs...)
}

// printReport writes one report: pitot, vllm, sglang, or json, the figures of
// pitot's.
func (p *Process) printReport(t *trace.Trace, s metrics.Summary, name, version string) error {
	if t.Run.Kind == trace.Simulated && (name == "vllm" || name == "sglang") { // their tables have no place for it
		fmt.Fprintf(p.Stderr, "pitot: run %s is simulated: no server was measured\n", t.Run.ID)
	}
	switch name {
	case "vllm":
		r, err := vllm.NewReport(t, version)
		if err != nil {
			return err
		}
		if f := r.Figures; f.MaxOutputPerSecond < f.OutputThroughput && f.Completed > 0 && len(f.Requests) > 1 && s.Chunks.PerChunk > 1.005 {
			fmt.Fprintln(p.Stderr, "note: the peak of the vllm report counts chunks, some of which carry several tokens: it is below the mean, which counts tokens")
		}
		return r.WriteTable(p.Stdout)
	case "sglang":
		return p.printSGLang(t, version)
	case "json":
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	return text.Report(p.Stdout, s, english)
}

// printSGLang writes the table, and what a reader has to know of it on stderr, so
// that stdout is that tool's alone.
func (p *Process) printSGLang(t *trace.Trace, version string) error {
	r, err := sglang.NewReport(t, version)
	if err != nil {
		return err
	}
	err = r.WriteTable(p.Stdout)
	for _, n := range r.Notes() {
		fmt.Fprintln(p.Stderr, "note: "+n)
	}
	return err
}

// warn says on stderr, also when all else is quiet, that a run's figures are not
// to be trusted, or not all of them. Pitot's own report says it in its head.
func (p *Process) warn(h metrics.Health) {
	v := h.Verdict
	switch v.Validity {
	case trace.Invalid:
		fmt.Fprintln(p.Stderr, "pitot: INVALID run, the load generator was in the way: "+english.SayAll("stop", v.Reasons))
	case trace.Doubtful:
		fmt.Fprintln(p.Stderr, "pitot: DOUBTFUL run, some figures are less sure than they look: "+english.SayAll("stop", v.Reasons))
	}
}

// required is the error for a run that is not valid where --require-valid asked for
// one that is.
func required(asked bool, h metrics.Health) error {
	if !asked || h.Verdict.Validity == trace.Valid {
		return nil
	}
	return notValidError{h.Verdict.Validity}
}
