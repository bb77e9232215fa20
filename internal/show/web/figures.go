package web

import (
	"math"
	"slices"
	"sync"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Bounds of computations in the background.
const (
	fewRecords    = 20_000 // of a run, to compute its figures
	manyFigures   = 200    // runs that wait
	cachedFigures = 10_000 // runs with cached figures, if the store cannot be written
)

// How many bytes of chunks and texts are read at once: 10 MiB are 9000 requests with 64
// chunks each, and take half a second and 160 MB; a page waits for half of that.
const (
	mostWeight  = 10 << 20
	quickWeight = 5 << 20
)

// small reports whether all records of a run may be read at once.
func small(runs *store.Store, l store.Listing, most int64) bool {
	if l.Records > fewRecords {
		return false
	}
	weight, err := runs.Weight(l.ID)
	return err == nil && weight <= most
}

// A reckoner computes figures of listed runs that have none stored, one run after the other, and
// stores them unless a run is being measured, or the store cannot be written: then it remembers
// them. It works only while runs wait.
type reckoner struct {
	runs    *store.Store
	compute func(*trace.Trace) []trace.ReportedFigure
	changed func(id string)

	mu      sync.Mutex
	waiting []store.Listing
	working bool
	closed  bool
	work    sync.WaitGroup
	known   map[string]map[string]float64 // by id; nil of a run that has none
}

// want puts runs without figures into the queue.
func (k *reckoner) want(some []store.Listing) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range some {
		_, done := k.known[l.ID]
		if done || k.compute == nil || l.Status == trace.Running || l.Records > fewRecords || len(k.waiting) >= manyFigures {
			continue
		}
		if k.known == nil || len(k.known) >= cachedFigures {
			k.known = map[string]map[string]float64{}
		}
		k.known[l.ID] = nil
		k.waiting = append(k.waiting, l)
	}
	if len(k.waiting) > 0 && !k.working && !k.closed {
		k.working = true
		k.work.Go(k.reckon)
	}
}

// close ends the work after the run that is being computed.
func (k *reckoner) close() {
	k.mu.Lock()
	k.closed, k.waiting = true, nil
	k.mu.Unlock()
	k.work.Wait()
}

// of are the figures of a run that are remembered.
func (k *reckoner) of(id string) map[string]float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[id]
}

// reckon computes until no run waits.
func (k *reckoner) reckon() {
	for {
		l, ok := k.next()
		if !ok {
			return
		}
		figures := k.figures(l)
		if len(figures) == 0 {
			continue
		}
		k.mu.Lock()
		k.known[l.ID] = figures
		k.mu.Unlock()
		k.changed(l.ID)
	}
}

// next takes a run that waits; false: there is none, and the work is over.
func (k *reckoner) next() (l store.Listing, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.waiting) == 0 {
		k.working = false
		return l, false
	}
	l, k.waiting = k.waiting[0], k.waiting[1:]
	return l, true
}

// figures computes those of a run. A damaged run has none.
func (k *reckoner) figures(l store.Listing) map[string]float64 {
	if !small(k.runs, l, mostWeight) {
		return nil
	}
	t, err := k.runs.Load(l.ID)
	if err != nil {
		return nil
	}
	all := k.compute(t)
	if live, err := k.runs.Count(store.Filter{Status: trace.Running}); err == nil && live == 0 {
		_ = k.runs.StoreFigures(t, metrics.Pitot, metrics.Version, all) // they are remembered too
	}
	found := map[string]float64{}
	for _, f := range all {
		if slices.Contains(store.Listed(), f.Name) && !math.IsNaN(f.Value) {
			found[f.Name] = f.Value
		}
	}
	return found
}
