package comparing

import (
	"runtime/debug"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Observe keeps of a stored run what a comparison by those rules needs. What takes long to find out is stored with the run.
// read is shown the run, without its records, if these had to be read.
func Observe(s *store.Store, run trace.Run, by []compare.RuleSource, rules metrics.Rules, read func(*trace.Trace) *trace.Trace) (compare.ComparedRun, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // little more memory than what is held
	seen, err := observeFigures(s, run, by, rules, read)
	if err == nil && (run.MarkedBy != "" || seen.Graded()) {
		err = seen.ObserveAnswers(metrics.Records(s.EachMarked(run.ID)))
	}
	return seen, err
}

// observeFigures is Observe without answers.
func observeFigures(s *store.Store, run trace.Run, by []compare.RuleSource, rules metrics.Rules, read func(*trace.Trace) *trace.Trace) (compare.ComparedRun, error) {
	definition, version := compare.Definition(by)
	if seen, ok := compare.Restore(run, s.Observation(run.ID, definition, version), rules); ok {
		return seen, nil
	}
	t, records, err := s.Stream(run.ID)
	if err != nil {
		return compare.ComparedRun{}, err
	}
	n := 0
	seen, err := compare.ObserveRecords(t, func(yield func([]*trace.Record, error) bool) {
		n = 0
		for some, err := range records {
			if n += len(some); !yield(some, err) {
				return
			}
		}
	}, by, rules)
	if read(t); err != nil || definition == "" || t.Run.Status == trace.Running || len(store.LeftOut(t)) > 0 {
		return seen, err
	}
	if parts := seen.Parts(); parts != nil {
		_ = s.StoreObservation(t.Run, n, definition, version, parts) // else it is read again
		if stored, ok := compare.Restore(t.Run, s.Observation(run.ID, definition, version), rules); ok {
			return stored, nil // less in memory
		}
	}
	return seen, nil
}
