package store

import (
	"iter"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Stream is Load with records that are read some at a time, in workload order and several times if need be, in place of
// those of the trace. Notes on damaged ones are added to the run as soon as all have been read. A run that is still being
// written is read at once.
func (s *Store) Stream(ref string) (*trace.Trace, iter.Seq2[[]*trace.Record, error], error) {
	return s.stream(ref, mostReread)
}

// mostReread is how many bytes of memory a run may take whose records stay there when they have been read.
const mostReread = 32 << 20

func (s *Store) stream(ref string, limit int) (*trace.Trace, iter.Seq2[[]*trace.Record, error], error) {
	t, err := s.Telemetry(ref)
	if err == nil && t.Run.Status == trace.Running {
		t, err = s.Load(t.Run.ID)
	}
	if err != nil {
		return nil, nil, err
	}
	if read := t.Records; read != nil {
		t.Records = nil
		return t, func(yield func([]*trace.Record, error) bool) { yield(read, nil) }, nil
	}
	var all []*trace.Record // of a small run that has been read
	noted := false
	return t, func(yield func([]*trace.Record, error) bool) {
		if all != nil {
			yield(all, nil)
			return
		}
		var read *merge
		var some []*trace.Record
		weight := 0
		for batch, err := range s.eachRecord(t.Run.ID, func(m *merge) { read = m }) {
			if !yield(batch, err) || err != nil {
				return
			}
			if weight += weigh(batch); weight <= limit {
				some = append(some, batch...)
			} else {
				some = nil
			}
		}
		if all = some; !noted {
			noted = true
			s.noteLost(&t.Run, read.lost, read.changed)
		}
	}, nil
}

// weigh is about how many bytes records take in memory.
func weigh(some []*trace.Record) (n int) {
	const record, chunk = 600, 16
	for _, r := range some {
		n += record + chunk*len(r.Chunks) + len(r.Text) + len(r.Marks)
	}
	return n
}

// NoteMissing notes which records of a run are not there, as far as that is known without reading the others.
func (s *Store) NoteMissing(run *trace.Run) { s.noteLost(run, nil, nil) }

// noteLost notes which records of a run could not be read, and what else is not as it was stored.
func (s *Store) noteLost(run *trace.Run, lost, changed []*Damage) {
	missing, altered := s.lost(run.ID)
	changed = append(changed, altered...)
	if len(lost) > 0 {
		changed = nil // that says why
	}
	note(run, append(lost, missing...), nil)
	for _, d := range changed {
		run.Notes = append(run.Notes, alteredRun(d.Run, d.Why))
	}
}
