package web

import (
	"fmt"
	"sync"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// Bounds of sparklines.
const (
	manySparks   = 200    // in one answer
	someOf       = 400    // requests that a run without snapshots is sketched from
	cachedSparks = 20_000 // of runs that have ended
)

// sparks answers GET /api/sparks?id=: the sparklines of runs, which may be repeated. Runs that are
// not stored have none.
func (s *Server) sparks(q asked) (any, error) {
	ids := q.values()["id"]
	if len(ids) > manySparks {
		return nil, mistakef("id: at most %d runs at once", manySparks)
	}
	listed, err := s.Runs.ListPage(store.Filter{IDs: append([]string{}, ids...)}, store.Page{})
	if err != nil {
		return nil, err
	}
	found := make([]view.Sparkline, 0, len(listed))
	for _, l := range listed {
		one, err := s.lines.of(s.Runs, l)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// Sparklines remembers those of runs that have ended.
type sparklines struct {
	mu     sync.Mutex
	cached map[string]view.Sparkline
}

func (k *sparklines) of(runs *store.Store, l store.Listing) (view.Sparkline, error) {
	key := fmt.Sprintf("%s %s %d", l.ID, l.Status, l.Records)
	k.mu.Lock()
	one, ok := k.cached[key]
	k.mu.Unlock()
	if ok {
		return one, nil
	}
	one, err := newSparkline(runs, l)
	if err != nil || l.Status == trace.Running {
		return one, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cached == nil || len(k.cached) >= cachedSparks {
		k.cached = map[string]view.Sparkline{}
	}
	k.cached[key] = one
	return one, nil
}

func newSparkline(runs *store.Store, l store.Listing) (view.Sparkline, error) {
	all, err := runs.Milestones(l.ID, view.SparklineValues)
	if err != nil || len(all) > 1 || l.Records == 0 {
		return view.NewSparkline(l.ID, all), err
	}
	some, err := runs.Outlines(l.ID, someOf)
	return view.SketchSparkline(l.ID, some, l.Records), err
}
