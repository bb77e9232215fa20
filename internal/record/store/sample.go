package store

import (
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// sampleEvery is the time between two commits of samples: a block of them takes less space than
// as many smaller ones.
const sampleEvery = 2 * time.Second

// samples are the telemetry of a run that is being written.
type samples struct {
	mu      sync.Mutex // guards set and points
	set     telemetry.Set
	points  int
	changed bool // since the last commit began

	// Used by one goroutine at a time, as those of Writer.
	rows   map[*telemetry.Series]sampled // of the series that are stored
	last   int                           // number of the last block
	small  int                           // blocks that were not merged
	commit time.Time                     // of the last commit
}

// sampled says of a series where it is stored, and how many of its points.
type sampled struct{ idx, points int }

// Sample takes the samples since the last call, with instants since the start of the run, and the
// current state of all sources. Values no later than the last one of their series are dropped,
// and so are those beyond telemetry.MostPoints, with a note on the run.
//
// It may be called from any goroutine, before Finish is called for the last time, and never waits for
// the disk: samples are committed every 2 s, after the records, and rescued with them.
func (w *Writer) Sample(sources []telemetry.Source, values []telemetry.Value) {
	if w.reopened { // blocks of the dead process have these numbers
		return
	}
	s := &w.samples
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set.Sources, s.changed = slices.Clone(sources), true
	for _, v := range values {
		if s.points == telemetry.MostPoints {
			return
		}
		if s.set.Add(v) {
			s.points++
		}
	}
}

// telemetry is what was sampled so far, nil if nothing was. It is not changed afterwards.
func (s *samples) telemetry() *telemetry.Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set.Empty() {
		return nil
	}
	out := &telemetry.Set{Sources: s.set.Sources}
	for _, one := range s.set.Series {
		by := *one
		by.Points = slices.Clip(by.Points)
		out.Join(&by)
	}
	return out
}

// overfull is noted of a run with more samples than a store keeps.
const overfull plan.Code = "store.samples-full" // most

// notes are for the run.
func (s *samples) notes() []plan.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.points < telemetry.MostPoints {
		return nil
	}
	return []plan.Message{plan.Msg(overfull, "most", telemetry.MostPoints)}
}

// A sampleBatch is what one commit has.
type sampleBatch struct {
	sources []telemetry.Source
	series  []*telemetry.Series           // that are new; their points are not read
	fresh   map[string][]telemetry.Column // by source
	rows    map[*telemetry.Series]sampled // of the series in fresh, once it is committed
}

// pending returns the samples that are not stored yet.
func (s *samples) pending() (b sampleBatch, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, s.changed = s.changed, false
	b = sampleBatch{sources: s.set.Sources, fresh: map[string][]telemetry.Column{}, rows: map[*telemetry.Series]sampled{}}
	for _, one := range s.set.Series {
		row, stored := s.rows[one]
		n := len(one.Points)
		if n == row.points {
			continue
		}
		if !stored {
			row.idx = len(s.rows) + len(b.series)
			b.series = append(b.series, one)
		}
		b.fresh[one.Source] = append(b.fresh[one.Source], telemetry.Column{Series: row.idx, Points: one.Points[row.points:n:n]})
		b.rows[one] = sampled{row.idx, n}
	}
	return b, changed
}

// flushSamples commits the samples that are not, unless some were a moment ago and more may come.
func (w *Writer) flushSamples(wait time.Duration, last bool) error {
	s := &w.samples
	if !last && time.Since(s.commit) < sampleEvery {
		return nil
	}
	b, changed := s.pending()
	if !changed {
		return nil
	}
	s.commit = time.Now()
	blocks := encode(b.fresh)
	err := w.store.change(wait, func(tx *sql.Tx) error {
		if err := addSources(tx, w.id, b.sources); err != nil {
			return err
		}
		for i, one := range b.series {
			if err := addSeries(tx, w.id, len(s.rows)+i, one); err != nil {
				return err
			}
		}
		return addBlocks(tx, w.id, s.last+1, blocks)
	})
	if err != nil {
		s.again()
		return err
	}
	s.last, s.small = s.last+len(blocks), s.small+len(blocks)
	maps.Copy(s.rows, b.rows)
	return nil
}

// again has the next flush commit what this one could not.
func (s *samples) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed, s.commit = true, time.Time{}
}

// merge replaces the blocks of the run by larger ones. Where that is not possible they stay.
func (w *Writer) merge(wait time.Duration) {
	s := &w.samples
	if s.small < 2 {
		return
	}
	blocks := encode(s.stored())
	err := w.store.change(wait, func(tx *sql.Tx) error {
		if _, err := tx.Exec("DELETE FROM telemetry_block WHERE run_id = ?", w.id); err != nil {
			return err
		}
		return addBlocks(tx, w.id, s.last+1, blocks)
	})
	if err == nil {
		s.last, s.small = s.last+len(blocks), 0
	}
}

// stored are the columns of all points that are stored, by source.
func (s *samples) stored() map[string][]telemetry.Column {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]telemetry.Column{}
	for one, row := range s.rows {
		all[one.Source] = append(all[one.Source], telemetry.Column{Series: row.idx, Points: one.Points[:row.points]})
	}
	return all
}

// A block is samples of one source.
type block struct {
	source string
	telemetry.Block
}

// encode makes blocks of columns, by source.
func encode(columns map[string][]telemetry.Column) (out []block) {
	for _, source := range slices.Sorted(maps.Keys(columns)) {
		for _, b := range telemetry.Blocks(columns[source]) {
			out = append(out, block{source, b})
		}
	}
	return out
}

func addSources(tx *sql.Tx, id string, sources []telemetry.Source) error {
	for i, one := range sources {
		body, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT OR REPLACE INTO telemetry_source (run_id, idx, body) VALUES (?, ?, ?)", id, i, string(body)); err != nil {
			return err
		}
	}
	return nil
}

func addSeries(tx *sql.Tx, id string, idx int, one *telemetry.Series) error {
	labels := ""
	if len(one.Labels) > 0 {
		b, _ := json.Marshal(one.Labels) // strings: cannot fail
		labels = string(b)
	}
	_, err := tx.Exec("INSERT INTO telemetry_series (run_id, idx, source, name, labels, unit, kind) VALUES (?, ?, ?, ?, ?, ?, ?)",
		id, idx, one.Source, one.Name, labels, one.Unit, string(one.Kind))
	return err
}

// addBlocks inserts blocks with numbers from first on.
func addBlocks(tx *sql.Tx, id string, first int, blocks []block) error {
	for i, b := range blocks {
		_, err := tx.Exec("INSERT INTO telemetry_block (run_id, seq, source, from_ns, to_ns, points, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
			id, first+i, b.source, int64(b.From), int64(b.To), b.Points, b.Data)
		if err != nil {
			return err
		}
	}
	return nil
}

// storeTelemetry stores the telemetry of a run that has none in the store; nil is none.
func (s *Store) storeTelemetry(id string, set *telemetry.Set) error {
	if set.Empty() {
		return nil
	}
	w := Writer{store: s, id: id, samples: samples{set: *set, changed: true, rows: map[*telemetry.Series]sampled{}}}
	return w.flushSamples(patient, true)
}
