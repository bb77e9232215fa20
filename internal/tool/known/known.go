// Package known lists the foreign tools that Pitot knows, and joins their parts: a reader of all
// their results, the definitions of their figures, and the command lines that send the load of a run again. Each of the other packages in this area
// knows only itself.
package known

import (
	"fmt"
	"math"
	"sync"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/ingest"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// Tools are the foreign load generators that Pitot knows.
func Tools() []tool.Tool {
	return []tool.Tool{vllm.Tool(), sglang.Tool(), ingest.GuideLLM(), ingest.AIPerf(), ingest.InferencePerf()}
}

// Reader reads what they leave behind.
var Reader = sync.OnceValue(func() *ingest.Reader { return ingest.NewReader(Tools()...) })

// Rules are the definitions of those tools that compute figures from a trace.
func Rules() metrics.Rules { return tool.Rules(Tools()) }

// Figures are those of a run by Pitot's definitions, or, of a run without records, as reported by
// its tool. The store has them under metrics.Pitot.
func Figures(t *trace.Trace) []trace.ReportedFigure {
	tool := metrics.Pitot
	if o := t.Run.Origin; o != nil && !compare.HasRecords(t.Run) {
		tool = o.Tool
	}
	return Rules().Figures(t, tool, "")
}

// StoredFigures are the Figures of a stored run, which are computed once, of one that has ended.
func StoredFigures(s *store.Store, id string) ([]trace.ReportedFigure, error) {
	all, stored, err := s.Figures(id, metrics.Pitot, metrics.Version)
	if err != nil || stored {
		return all, err
	}
	t, records, err := s.Stream(id)
	if err != nil {
		return nil, err
	}
	n := 0
	all, err = figuresOf(t, func(yield func([]*trace.Record, error) bool) {
		n = 0
		for some, err := range records {
			if n += len(some); !yield(some, err) {
				return
			}
		}
	})
	if err != nil || t.Run.Status == trace.Running {
		return all, err
	}
	return all, s.StoreFiguresOf(t.Run, n, metrics.Pitot, metrics.Version, all)
}

// figuresOf are the Figures of a run with records that are read some at a time in place of those of t.
func figuresOf(t *trace.Trace, records metrics.Records) ([]trace.ReportedFigure, error) {
	if o := t.Run.Origin; o == nil || o.Detail == trace.Recorded {
		s, err := metrics.SummarizeRecords(t, records, metrics.Brief())
		return s.Figures(), err
	}
	all := *t
	for some, err := range records {
		if err != nil {
			return nil, err
		}
		all.Records = append(all.Records, some...)
	}
	return Figures(&all), nil
}

// Named is one of them, none if it is not known.
func Named(name string) tool.Tool {
	for _, t := range Tools() {
		if t.Name == name {
			return t
		}
	}
	return tool.Tool{}
}

// VerifyFigures returns an error if the stored figures of a run differ from those of its records.
// Figures of telemetry are left out: they were computed from more exact instants than those stored.
func VerifyFigures(s *store.Store, t *trace.Trace) error {
	stored, _, err := s.Figures(t.Run.ID, metrics.Pitot, metrics.Version)
	if err != nil || len(stored) == 0 {
		return err
	}
	made := map[string]float64{}
	recorded := *t
	recorded.Telemetry = nil
	for _, f := range Figures(&recorded) {
		made[f.Name] = f.Value
	}
	for _, f := range stored {
		if v, has := made[f.Name]; has && math.Abs(v-f.Value) > 1e-9*math.Abs(v) {
			return fmt.Errorf("its %s is stored as %v, and is %v by its records", f.Name, f.Value, v)
		}
	}
	return nil
}
