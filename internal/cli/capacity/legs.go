package capacity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

type legs struct {
	Cmd
	sess   *session.Session
	draft  *pitot.Draft // of all legs
	s      search.Settings
	name   string
	stored map[int]*trace.Trace // of the search that goes on, by number
	made   []*trace.Trace       // that a model is made of
	count  int
	alone  float64 // time of a request alone, in seconds; 0: unknown
	folder string  // for models of the runs; empty: there is none
	remove func()  // removes it
	models int

	picture  picture            // of the legs that were made
	finished []search.AnswerLeg // that were made
	limited  []float64          // the figures that the objectives limit, of the last one
	costs    []*metrics.Cost    // of each, nil without a price
}

func (c Cmd) newLegs(sess *session.Session, s search.Settings) (*legs, error) {
	g := &legs{Cmd: c, sess: sess, s: s, name: cmp.Or(c.Name, c.Resume, "capacity-"+time.Now().Format("20060102-150405")), stored: map[int]*trace.Trace{}}
	if err := g.begin(); err != nil {
		return nil, err
	}
	for _, by := range []search.LoadUnit{search.Concurrency, s.By} { // both forms, before any traffic
		if _, err := g.load(search.Leg{Number: 1, Load: 1, By: by, Count: time.Second}); err != nil {
			return nil, err
		}
	}
	if c.Resume == "" {
		return g, nil
	}
	return g, g.restore()
}

// restore finds the runs of the search that goes on.
func (g *legs) restore() error {
	all, err := g.sess.Traces([]string{g.name + "/*"}, g.Store)
	if err != nil {
		return session.Usagef("--resume: %w", err)
	}
	valid := func(t *trace.Trace) bool { return len(search.InTheWay(t.Run.Verdict)) == 0 }
	last := 0
	for _, t := range all {
		if leg := t.Run.Leg; leg != nil && leg.Experiment == g.name {
			if had := g.stored[leg.Position]; had == nil || !valid(had) { // one that was repeated later
				g.stored[leg.Position] = t
			}
			last = max(last, leg.Position)
		}
	}
	if len(g.stored) == 0 {
		return session.Usagef("--resume %s: no run in the store is of a search of this name", g.name)
	}
	for ; g.stored[last] != nil && !valid(g.stored[last]); last-- { // those that it stopped for are made again
		delete(g.stored, last)
	}
	return g.sameFlags()
}

// sameFlags refuses by name the flags that are not those that the search began with.
func (g *legs) sameFlags() error {
	runs, err := g.sess.OpenStore(g.Store)
	if err != nil {
		return err
	}
	defer runs.Close()
	var was search.Answer
	x, err := runs.Search(g.name)
	if err != nil || json.Unmarshal(x.Body, &was) != nil { // its legs tell
		return nil
	}
	var errs []error
	for _, now := range g.flags(g.sess, g.s) {
		i := slices.IndexFunc(was.Flags, func(f search.Flag) bool { return f.Name == now.Name })
		if i >= 0 && was.Flags[i].Value != now.Value {
			errs = append(errs, fmt.Errorf("--resume %s: %s was %q, and is %q now; give it as it was, or begin anew with another --name", g.name, now.Name, was.Flags[i].Value, now.Value))
		}
	}
	return session.Usage(errors.Join(errs...))
}

// begin makes the draft of all legs, of bench or of sim. Settings that each leg chooses are refused as flags of
// bench, some of which sim lacks.
func (g *legs) begin() error {
	bench, err := g.sess.Draft(append([]string{"bench"}, g.words...)...)
	if err == nil {
		if err := checkShared(bench); err != nil {
			return err
		}
	}
	if g.URL != "" {
		if err == nil {
			g.draft = bench.With(bench.Set("target.url", g.URL))
		}
		return err
	}
	known := err == nil
	if g.draft, err = g.sess.Draft(append([]string{"sim"}, g.words...)...); err != nil {
		if known {
			err = session.Usagef("%w: it only applies to a server, and none is given; add --url URL to measure one", err)
		}
		return err
	}
	if err = checkShared(g.draft); err == nil && g.Profile.Profile != "" {
		g.draft = g.draft.With(g.draft.Set("target.engine.profile", string(g.Profile.Profile)))
	}
	return err
}

// checkShared refuses settings that legs do not share.
func checkShared(d *pitot.Draft) error {
	if flag := d.Gives(append([]string{"target.engine.profile", "objectives"}, pitot.OfLegs...)...); flag != "" {
		return session.Usagef("%s: each run of the search has its own; leave it out", flag)
	}
	if flag := d.Gives(""); flag != "" {
		return session.Usagef("%s: is about the results of a single run; leave it out", flag)
	}
	return nil
}

func (g *legs) load(l search.Leg) (experiment.VariantLoad, error) {
	d := g.draft
	own := []pitot.Setting{
		d.Set(pitot.Duration, l.Length().Round(time.Millisecond)), d.Set("seed", l.Seed&0xffffffff), d.Set("name", g.name+"/"+strconv.Itoa(l.Number)),
	}
	if l.By == search.Rate {
		return g.sess.Load(d.With(append(own, d.Set(pitot.Rate, l.Load))...))
	}
	own = append(own, d.Set(pitot.InFlight, int(l.Load)))
	if g.alone > 0 { // as many as it can answer at most, not thousands
		own = append(own, d.Set(pitot.Requests, int(2*l.Load*l.Length().Seconds()/g.alone+l.Load)+20))
	}
	return g.sess.Load(d.With(own...))
}

// measure makes a leg, or returns the stored outcome of a resumed search.
func (g *legs) measure(_ context.Context, l search.Leg) (search.Outcome, error) {
	if t := g.stored[l.Number]; t != nil {
		o := search.Observe(t, l, g.s.Objectives)
		if !g.same(t, l) {
			return o, session.Usagef("--resume %s: its run %d is of another load than these flags ask for; give those that it began with", g.name, l.Number)
		}
		if !o.Cut || o.Growing {
			g.keep(t, l, o)
			return o, nil
		}
	}
	load, err := g.load(l)
	if err != nil {
		return search.Outcome{}, err
	}
	w := newWatch(l)
	r, err := g.sess.Make(load, session.Options{
		Store: g.Store, Quiet: true, Sinks: []run.Sink{w}, Enough: w.enough,
		Leg: &trace.Leg{Experiment: g.name, Workload: loadName(l), Block: l.Number, Slot: 1, Position: l.Number, Repeat: 1},
	})
	if err != nil {
		return search.Outcome{}, err
	}
	o := search.Observe(r.Trace, l, g.s.Objectives)
	o.Growing = o.Growing || w.grew()
	if o.Cut && !w.grew() {
		return o, session.ErrInterrupted
	}
	if unanswered := r.Unanswered(); unanswered != nil && l.Why == search.Light {
		return o, unanswered
	}
	g.keep(r.Trace, l, o)
	return o, nil
}

// same reports whether a stored run is that of a leg.
func (g *legs) same(t *trace.Trace, l search.Leg) bool {
	p := t.Run.Plan
	at := p.Rate
	if l.By == search.Concurrency {
		at = float64(p.Concurrency)
	}
	load, err := g.load(l)
	return err == nil && p.Seed == load.Spec.Seed && at == l.Load && p.Spec != nil &&
		p.Spec.Duration == load.Spec.Duration && p.Spec.Target.URL == load.Spec.Target.URL
}

// mostMade are the runs that a model is made of.
const mostMade = 12

// keep keeps the trace of a leg for learn, and its figures.
func (g *legs) keep(t *trace.Trace, l search.Leg, o search.Outcome) {
	g.limited = search.Limited(t, l, g.s.Objectives)
	if g.Folder != "" {
		g.picture.add(t, l, g.s.By)
	}
	var cost *metrics.Cost
	if g.PerHour() > 0 {
		cost = metrics.CostOf(metrics.Summarize(t, metrics.Options{}), g.PerHour(), g.Devices)
	}
	g.costs = append(g.costs, cost)
	if g.count++; g.count == 1 {
		g.alone = max(o.E2EL, 0.001)
	}
	if g.s.Twin == nil && len(g.made) < mostMade {
		g.made = append(g.made, t)
	}
}

// cost is that of tokens in the leg that passed nearest to the load of the answer, and the load of that leg; nil
// without a price, or such a leg.
func (g *legs) cost(a *search.Answer) (load float64, cost *metrics.Cost) {
	away := math.Inf(1)
	for i, l := range g.finished {
		if d := math.Abs(l.Load - a.Below.Load); i < len(g.costs) && l.By == a.By && l.Verdict == search.Met && a.Below.Met && d < away {
			load, cost, away = l.Load, g.costs[i], d
		}
	}
	return load, cost
}

func loadName(l search.Leg) string {
	if l.By == search.Concurrency {
		return fmt.Sprintf("%g in flight", l.Load)
	}
	return fmt.Sprintf("%g/s", l.Load)
}

func (g *legs) resumeHint() error {
	if g.count == 0 {
		return nil
	}
	return fmt.Errorf("what was measured is kept; to go on, give the same flags and --resume %s", g.name)
}

func (g *legs) close() {
	if g.folder != "" {
		g.remove()
	}
}

// profileModel is the model that the flags name; nil: none.
func (g *legs) profileModel() (search.Model, error) {
	if g.URL == "" || g.Profile.Profile == "" {
		return nil, nil
	}
	w := &twin{legs: g, profile: string(g.Profile.Profile)}
	_, err := w.Replay(context.Background(), search.Leg{Number: 1, Load: 1, By: search.Concurrency, Count: time.Second}, 1)
	if err != nil && !errors.Is(err, session.ErrInterrupted) {
		return nil, session.Usagef("--profile %s cannot guide the search: %w", g.Profile.Profile, err)
	}
	return w, err
}

// fitModel makes a model of the runs so far.
func (g *legs) fitModel(ctx context.Context, _ []search.MeasuredLeg) (search.Model, error) {
	ctx, release := g.sess.UntilInterrupt(ctx)
	defer release()
	found, err := calibrate.FromTraces(ctx, g.made)
	if err != nil {
		return nil, err
	}
	if g.folder == "" {
		if g.folder, g.remove, err = files.MakeTemporary("capacity"); err != nil {
			return nil, err
		}
	}
	g.models++
	name := filepath.Join(g.folder, fmt.Sprintf("model-%d.yaml", g.models))
	if err := files.WriteBytes(name, []byte(found.Profile("the server, by the runs of a search"))); err != nil {
		return nil, err
	}
	return &twin{legs: g, profile: name}, nil
}

// A watch sees whether the queue of a leg grows, which ends it.
type watch struct {
	leg    search.Leg
	enough chan struct{}

	mu     sync.Mutex
	begun  run.Starting
	before *trace.Snapshot // of the end of the ramp
	growth bool
}

func newWatch(l search.Leg) *watch { return &watch{leg: l, enough: make(chan struct{})} }

func (w *watch) Handle(e run.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case run.Starting:
		w.begun = e
	case run.Recorded:
		if w.begun.Progress != nil && w.leg.By == search.Rate && !w.growth {
			w.look(w.begun.Progress.Snapshot())
		}
	}
	return nil
}

// look ends the leg once a third of it shows a queue that grows.
func (w *watch) look(s trace.Snapshot) {
	switch at := time.Duration(s.At); {
	case at < w.leg.Ramp:
	case w.before == nil:
		w.before = &s
	case at > w.leg.Ramp+w.leg.Count/3 && at < w.leg.Ramp+w.leg.Count && search.Grows(w.before.InFlight(), s.InFlight(), 2*(s.Released-w.before.Released)):
		w.growth = true
		close(w.enough)
	}
}

func (w *watch) grew() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.growth
}
