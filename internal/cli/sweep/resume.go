package sweep

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
)

// storedRuns is the stored part of a sweep that goes on.
type storedRuns struct {
	runs      []store.Listing
	durations map[string]time.Duration // how long requests are sent, by point, where that was not given
}

// resumeState is nothing of a new sweep, and something of one that goes on.
func (c *Cmd) resumeState(sess *session.Session, p *search.PointLoads) (k storedRuns, err error) {
	s, err := sess.OpenStore(c.Store)
	if err != nil {
		return k, err
	}
	defer s.Close()
	k.runs, err = s.List(store.Filter{Experiment: p.Name})
	switch {
	case err != nil:
		return k, err
	case c.Resume == "" && len(k.runs) > 0:
		return k, session.Usagef("--name %s: has runs already; --resume %s goes on with them, or use another name", p.Name, p.Name)
	case c.Resume == "":
		return k, nil
	case len(k.runs) == 0:
		return k, session.Usagef("--resume %s: no sweep of this name has a run", p.Name)
	}
	var d curve.Design
	if x, err := s.Search(p.Name); err == nil && json.Unmarshal(x.Body, &d) == nil { // else its runs will not fit
		k.durations = map[string]time.Duration{}
		for i, at := range d.Points {
			if d.Settled(i) {
				k.durations[at.String()] = d.Lasting[i]
			}
		}
	}
	return k, nil
}

// had are the turns that a stored run is evidence for.
func (c *Cmd) had(sess *session.Session, p *search.PointLoads, list []store.Listing) (map[search.PointRun]curve.Observation, error) {
	if len(list) == 0 {
		return nil, nil
	}
	s, err := sess.OpenStore(c.Store)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	had := map[search.PointRun]curve.Observation{}
	turns := map[string]search.PointRun{}
	for _, t := range p.Order() {
		turns[p.RunName(t)] = t
	}
	for _, l := range list { // the newest first
		t, ok := turns[l.Name]
		if _, again := had[t]; !ok || again || l.Status != trace.Complete {
			continue
		}
		o, err := observed(s, p, t, l.ID)
		if err != nil {
			return nil, err
		}
		if o.Failed.IsZero() {
			had[t] = o
		}
	}
	return had, nil
}

// observed is the observation of a stored run, which must have been made as the plan would make it.
func observed(s *store.Store, p *search.PointLoads, t search.PointRun, id string) (o curve.Observation, err error) {
	made, err := s.Load(id)
	if err != nil {
		return o, err
	}
	if made.Run.Plan.Spec == nil || !isContained(p.Load(t).Spec, *made.Run.Plan.Spec) {
		return o, session.Usagef("--resume %s: run %s was made with other settings; give the flags that the sweep began with, or another --name", p.Name, id)
	}
	if lost, _ := made.Run.Missing(); lost > 0 {
		return curve.Observation{Failed: made.Run.Notes[len(made.Run.Notes)-1]}, nil // it is made again
	}
	summary := metrics.Summarize(made, metrics.Options{})
	return p.Observe(t.Point, &run.Result{Trace: made, Summary: summary}), nil
}

// isContained reports whether the Spec of a run, with defaults and facts from the server, has all settings of
// another Spec.
func isContained(wanted, made any) bool { return holds(tree(made), tree(wanted)) }

func tree(v any) (out any) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return err // two of them differ
	}
	return out
}

// holds reports whether a tree has all nodes of another one.
func holds(made, wanted any) bool {
	switch w := wanted.(type) {
	case map[string]any:
		m, ok := made.(map[string]any)
		for key, value := range w {
			ok = ok && holds(m[key], value)
		}
		return ok
	case []any:
		m, ok := made.([]any)
		return ok && slices.EqualFunc(m, w, holds)
	}
	return made == wanted
}
