// Package tool defines a foreign tool as a value, for the rest of Pitot.
//
// Each tool is a folder next to this file, with a function that gives its Tool.
// Package known lists them in one slice: a further tool is a folder and an item of that slice.
package tool

import (
	"io"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A Report is what a tool prints of a run.
type Report interface {
	WriteTable(w io.Writer) error
	// Notes say where a figure is far from what its label promises.
	Notes() []plan.Message
}

// A Tool is a load generator that is not Pitot.
type Tool struct {
	Name    string // in plans, origins and definitions: vllm
	Program string // as its users know it: vllm bench serve
	// Definitions make its figures of a trace, and explain those that it reports.
	Definitions metrics.Definitions
	// Report is that of a run, in one of the forms, or where form is empty in the run's
	// own or else the first of them; nil: there is none.
	Report func(t *trace.Trace, form string) (Report, error)
	Forms  []string
	// Refuses is the error for objectives and percentiles other than the run's that a report cannot have; nil: it
	// takes all.
	Refuses func(run trace.Run, objectives []plan.Objective, percentiles []float64) error
	// Datasets and Arrivals are the kinds that are the tool's.
	Datasets map[string]workload.Kind
	Arrivals map[string]func() workload.Arrival
	Result   result.Format // of its files
	Log      *Printout     // nil: it prints no table that people paste
	// Plan is the load that the reported arguments of a run ask for, as far as they go.
	Plan func(ReportedArgs) trace.Load
}

// A Printout is what a tool prints where it runs.
type Printout struct {
	Table result.Tool
	// Settings are the arguments that a table reports.
	Settings func(*trace.Origin) ReportedArgs
	// Lines are the beginnings of lines that it prints ahead of a run. Load reads arguments from
	// one of them, nil if there are none.
	Lines []string
	Load  func(line string, into ReportedArgs)
	// Commands is a regular expression of command lines of the tool and of its server.
	Commands string
}

// CheckReport is the error for a report of a run with other objectives and percentiles than the run's. The zero run
// is one that is not known yet.
func (t Tool) CheckReport(run trace.Run, objectives []plan.Objective, percentiles []float64) error {
	if t.Refuses == nil || len(objectives)+len(percentiles) == 0 {
		return nil
	}
	return t.Refuses(run, objectives, percentiles)
}

// Rules are the definitions of tools.
func Rules(tools []Tool) (all metrics.Rules) {
	for _, t := range tools {
		all = append(all, t.Definitions)
	}
	return all
}

// Tables are those of tools.
func Tables(tools []Tool) (all []result.Tool) {
	for _, t := range tools {
		if t.Log != nil {
			all = append(all, t.Log.Table)
		}
	}
	return all
}
