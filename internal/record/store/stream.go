package store

import (
	"fmt"
	"iter"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Stream is Load with records that are read some at a time, in workload order and several times if need be, in place of
// those of the trace. Notes on damaged ones are added to the run as soon as all have been read. A run that is still being
// written is read at once.
func (s *Store) Stream(ref string) (*trace.Trace, iter.Seq2[[]*trace.Record, error], error) {
	t, err := s.Telemetry(ref)
	if err == nil && t.Run.Status == trace.Running {
		t, err = s.Load(t.Run.ID)
	}
	if err != nil {
		return nil, nil, err
	}
	if all := t.Records; all != nil {
		t.Records = nil
		return t, func(yield func([]*trace.Record, error) bool) { yield(all, nil) }, nil
	}
	noted := false
	return t, func(yield func([]*trace.Record, error) bool) {
		var lost []*Damage
		for some, err := range s.eachRecord(t.Run.ID, &lost) {
			if !yield(some, err) || err != nil {
				return
			}
		}
		if !noted {
			noted = true
			s.noteLost(&t.Run, lost)
		}
	}, nil
}

// noteLost notes which records of a run could not be read, and what else is not as it was stored.
func (s *Store) noteLost(run *trace.Run, lost []*Damage) {
	missing, changed := s.lost(run.ID)
	if len(lost) > 0 {
		changed = nil // that says why
	}
	run.Notes = append(run.Notes, notesOf(append(lost, missing...), nil)...)
	for _, d := range changed {
		run.Notes = append(run.Notes, alteredRun(d.Run, d.Why))
	}
}

// eachRecord is EachRecord, and adds what it leaves out to lost.
func (s *Store) eachRecord(id string, lost *[]*Damage) iter.Seq2[[]*trace.Record, error] {
	return func(yield func([]*trace.Record, error) bool) {
		m, err := s.merge(id)
		for err == nil {
			var some []*trace.Record
			some, err = m.batch()
			if err == nil && len(some) == 0 {
				*lost = append(*lost, m.lost...)
				return
			}
			if err == nil && !yield(some, nil) {
				return
			}
		}
		yield(nil, fmt.Errorf("read run %s: %w", id, err))
	}
}
