package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/dialect"
	"github.com/pitot-bench/pitot/internal/metrics"
	"github.com/pitot-bench/pitot/internal/report"
	"github.com/pitot-bench/pitot/internal/trace"
)

// printReports writes the reports that were asked for, one after the other.
func (p *Process) printReports(t *trace.Trace, names []string) error {
	var errs []error
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(p.Stdout)
		}
		errs = append(errs, p.printReport(t, name, ""))
	}
	return errors.Join(errs...)
}

// printReport writes one report: pitot, vllm, or json, the figures of pitot's.
func (p *Process) printReport(t *trace.Trace, name, version string) error {
	switch name {
	case "vllm":
		r, err := dialect.NewVLLMReport(t, version)
		if err != nil {
			return err
		}
		return r.WriteTable(p.Stdout)
	case "json":
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(metrics.Summarize(t, metrics.Options{}))
	}
	return report.Text(p.Stdout, metrics.Summarize(t, metrics.Options{}))
}
