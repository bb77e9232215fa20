package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// ErrInterrupted says that an experiment was interrupted, and can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Messages of this package.
const (
	endedBlocks    plan.Code = "experiment.ended-blocks"
	endedBudget    plan.Code = "experiment.ended-budget"
	endedVerdict   plan.Code = "experiment.ended-verdict"
	endedPrecision plan.Code = "experiment.ended-precision"
	legInterrupted plan.Code = "experiment.leg-interrupted"
	legFailed      plan.Code = "experiment.leg-failed"
	legsFail       plan.Code = "experiment.legs-fail"
	legUnanswered  plan.Code = "experiment.leg-unanswered"
	serverFailed   plan.Code = "experiment.server-failed"
	serverDied     plan.Code = "experiment.server-died"
)

// An Outcome is the result of an experiment.
type Outcome struct {
	Comparison compare.Comparison
	// Confirmation compares the baseline with the best of several variants on extra legs; nil: there was none.
	Confirmation *compare.Comparison
}

// Whole is the comparison with that of the confirmation.
func (o *Outcome) Whole() compare.Comparison {
	c := o.Comparison
	if o.Confirmation != nil {
		c.Workloads = slices.Concat(c.Workloads, o.Confirmation.Workloads)
	}
	return c
}

// Run makes the legs of a plan that a journal lacks. Closing stop ends it: it ends the leg under way, servers are
// stopped, and the error is ErrInterrupted. Cancelling ctx does so without waiting for answers.
func Run(ctx context.Context, stop <-chan struct{}, p *CheckedExperiment, j *Journal, d Deps) (*Outcome, error) {
	x := &execution{CheckedExperiment: p, j: j, Deps: d, stop: stop, up: map[string]*started{}, failed: map[turn]int{}, since: d.Now(), spent: j.Spent}
	j.Status, j.Why, j.Ended = Running, plan.Message{}, plan.Message{}
	out, err := x.run(ctx)
	x.stopServers(ctx, "")
	if err == nil && x.stopped(ctx) { // while it was judged
		err = ErrInterrupted
	}
	switch {
	case err == nil:
		j.Status = Done
	case errors.Is(err, ErrInterrupted):
		j.Status = Interrupted
	default:
		j.Status, j.Why = Failed, plan.Msg(legFailed, "why", errorText(err))
	}
	return out, also(err, x.storeJournal())
}

// An execution is an experiment under way.
type execution struct {
	*CheckedExperiment
	Deps
	j    *Journal
	stop <-chan struct{}
	up   map[string]*started // servers, by variant
	// baseline is the state of devices before the first server.
	baseline *server.Baseline
	since    time.Time
	spent    time.Duration // of the processes before
	failed   map[turn]int  // attempts of this process
	lost     int           // turns in a row without a leg that is evidence
}

func (x *execution) emit(e Event) {
	if x.OnEvent != nil {
		x.OnEvent(e)
	}
}

func (x *execution) storeJournal() error {
	x.j.Spent = x.spent + x.Now().Sub(x.since)
	return x.Keep(x.j)
}

func (x *execution) run(ctx context.Context) (*Outcome, error) {
	if err := x.abandon(); err != nil {
		return nil, err
	}
	for block := 1; ; block++ {
		enough, err := x.enough(block)
		if err != nil {
			return nil, err
		}
		if x.j.Ended = enough; !enough.IsZero() {
			break
		}
		if err := x.block(ctx, block, design.Order(len(x.Variants), x.Design, block), false); err != nil {
			return nil, err
		}
	}
	if x.Missing(x.j) != nil {
		failed := x.j.With(Failed)
		return nil, &LostError{Leg: failed[len(failed)-1]}
	}
	out := new(Outcome)
	var err error
	if out.Comparison, err = x.judge(x.j.Looks, false); err != nil {
		return nil, err
	}
	x.j.Noise = x.j.noise(out.Comparison, x.Variants[0].Name)
	out.Confirmation, err = x.confirm(ctx, out.Comparison)
	return out, err
}

// abandon gives up the legs that were under way when the process before this one ended.
func (x *execution) abandon() error {
	x.j.Abandon()
	x.j.Status = Running // in this one
	for _, l := range x.j.With(Interrupted) {
		l.Handle = nil
		if err := x.Void(l); err != nil {
			return err
		}
	}
	return x.storeJournal()
}

// block makes the legs of a block that are not made yet.
func (x *execution) block(ctx context.Context, block int, order []int, confirms bool) error {
	ordinals := design.Ordinals(order)
	for slot, v := range order {
		t := turn{confirms, block, slot + 1}
		for !x.j.done(t) && !x.isAbandoned(t) {
			if err := x.leg(ctx, t, v, ordinals[slot]); err != nil {
				return err
			}
		}
		if x.j.done(t) {
			x.lost = 0
		} else if x.lost++; x.lost == mostLost {
			return &LostError{Leg: x.j.Legs[len(x.j.Legs)-1]}
		}
	}
	if x.Design.Restart != design.Never {
		x.stopServers(ctx, "")
	}
	return x.storeJournal()
}

// isAbandoned reports whether no further attempt is made at a turn: as many have failed in this
// process, or later turns were made since.
func (x *execution) isAbandoned(t turn) bool {
	if x.failed[t] == attempts {
		return true
	}
	return x.j.count(t, Failed) > 0 && slices.ContainsFunc(x.j.With(Done), func(l *Leg) bool { return t.before(l.turn()) })
}

// attempts at a turn that fail give it up, and mostLost turns in a row the experiment.
const (
	attempts = 2
	mostLost = 2
)

// Missing are the variants without a leg that is evidence.
func (p *CheckedExperiment) Missing(j *Journal) (names []string) {
	done := j.With(Done)
	for _, v := range p.Variants {
		if !slices.ContainsFunc(done, func(l *Leg) bool { return l.Variant == v.Name }) {
			names = append(names, v.Name)
		}
	}
	return names
}

// A LostError says that one leg after the other failed, the last of them last, or all of a variant.
type LostError struct{ Leg *Leg }

func (e *LostError) Error() string { return "the legs fail, one after the other" }

// Message is it as data.
func (e *LostError) Message() plan.Message { return plan.Msg(legsFail) }

func (x *execution) leg(ctx context.Context, t turn, variant, ordinal int) error {
	if x.stopped(ctx) {
		return ErrInterrupted
	}
	if err := x.hasSpace(); err != nil {
		return err
	}
	l := &Leg{
		Variant: x.Variants[variant].Name, Block: t.block, Slot: t.slot, Ordinal: ordinal, Position: len(x.j.Legs) + 1,
		Attempt: x.j.count(t, Failed) + x.j.count(t, Interrupted) + 1, Confirms: t.confirms, Status: Running, Began: x.Now(),
	}
	x.j.Legs = append(x.j.Legs, l)
	if err := x.storeJournal(); err != nil {
		return err
	}
	x.emit(x.begins(l))
	why, err := x.measure(ctx, l, variant)
	if x.restarts() || !why.IsZero() || err != nil {
		x.stopServers(ctx, l.Variant)
	}
	l.Took = x.Now().Sub(l.Began)
	switch {
	case err == nil && why.IsZero():
		l.Status = Done
	case x.stopped(ctx):
		l.Status, l.Why, err = Interrupted, plan.Msg(legInterrupted), cmp.Or(err, ErrInterrupted)
		if !errors.Is(err, ErrInterrupted) {
			err = errors.Join(ErrInterrupted, err)
		}
	case err != nil:
		l.Status, l.Why = Failed, plan.Msg(legFailed, "why", err)
	default:
		l.Status, l.Why = Failed, why
	}
	if l.Status != Done {
		err = also(err, x.Void(l))
	}
	if l.Status == Failed {
		x.failed[t]++
	}
	x.emit(LegEnded{l, err == nil && l.Status == Failed && !x.isAbandoned(t)})
	return also(err, x.storeJournal())
}

// also joins an error of the store to that of an experiment that it ends. After another one it
// is no news: there is one cause.
func also(err, stored error) error {
	if err == nil || errors.Is(err, ErrInterrupted) {
		return errors.Join(err, stored)
	}
	return err
}

// restarts reports whether servers are started anew in each leg.
func (x *execution) restarts() bool { return cmp.Or(x.Design.Restart, design.PerLeg) == design.PerLeg }

// stopped reports whether the experiment is to end.
func (x *execution) stopped(ctx context.Context) bool {
	select {
	case <-x.stop:
		return true
	default:
		return ctx.Err() != nil
	}
}

func (x *execution) begins(l *Leg) LegBegins {
	e := LegBegins{Leg: l, Number: x.j.Number(l), Gone: x.elapsed()}
	if x.j.Winner != "" {
		return e
	}
	confirming := len(design.Confirmation(x.Design, 0, 1, 1)) * x.Design.Confirmations(len(x.Variants))
	most := x.Design.Most() * len(design.Order(len(x.Variants), x.Design, 1))
	if !x.Design.Adaptive() {
		e.Of = most
	}
	e.Left, e.AtMost = x.j.TimeLeft(most+confirming), x.Design.Adaptive() || confirming > 0
	if budget := x.Design.Budget.Std(); budget > 0 {
		e.Left = min(e.Left, max(0, budget-e.Gone))
	}
	return e
}

// measure makes the runs of a leg. why says that they are no evidence; an error ends the
// experiment.
func (x *execution) measure(ctx context.Context, l *Leg, variant int) (why plan.Message, err error) {
	s, err := x.serverOf(ctx, l, variant)
	if err != nil {
		return plan.Msg(serverFailed, "why", errorText(err)), nil
	}
	l.Draw = x.draw(l, variant)
	for w := range x.Workloads {
		for repeat := 1; repeat <= max(1, x.Design.Runs); repeat++ {
			if why, err := x.measureOne(ctx, l, s, x.Loads[variant][w], w+1, repeat); !why.IsZero() || err != nil {
				return why, err
			}
		}
	}
	return why, nil
}

func (x *execution) measureOne(ctx context.Context, l *Leg, s *started, load VariantLoad, workload, repeat int) (why plan.Message, err error) {
	load.Spec = x.seeded(load.Spec, l, load.Spec.Target.URL == "" || s.Server != nil && x.restarts(), workload, repeat)
	load.Spec.Target.URL = cmp.Or(s.url, load.Spec.Target.URL)
	if s.Server != nil {
		load.Spec.Before.Ready = orSmall(load.Spec.Before.Ready)
	}
	if s.Server != nil && s.leg.Handle != nil {
		load.Serving.Site, load.Serving.Options = s.leg.Handle.Site()
	}
	load.Spec.Name = x.Name + " / " + l.Variant + " / " + load.Workload
	place := trace.Leg{
		Experiment: x.j.Name, Variant: l.Variant, Workload: load.Workload, Block: l.Block, Slot: l.Slot, Position: l.Position, Repeat: repeat,
		Number: x.j.Number(l), Attempt: l.Attempt, Confirms: l.Confirms, ServerStart: s.number,
	}
	if load.Spec.Target.URL == "" { // each run starts an engine
		place.ServerStart = (l.Position-1)*max(1, x.Design.Runs) + repeat
	}
	watched, release := s.watch(ctx)
	defer release()
	began := x.Now()
	r, err := x.Measure(watched, x.stop, load, place)
	if r != nil {
		l.Runs = append(l.Runs, legRunOf(r.Trace.Run, load.Workload, x.Now().Sub(began)))
		if s.died().IsZero() && !x.stopped(ctx) { // else its figures say nothing
			x.emit(RunMade{l, load.Workload, r})
		}
	}
	died := s.died()
	if failed := r == nil || r.Summary.Requests.Failed > 0; failed && !x.stopped(ctx) {
		died = s.ends(ctx)
	}
	var wrong plan.Problems
	switch {
	case x.stopped(ctx):
		return plan.Msg(legInterrupted), nil
	case !died.IsZero():
		return plan.Msg(serverDied, "why", died), nil
	case errors.As(err, &wrong) || err != nil && r != nil: // a setting, or the store
		return why, err
	case err != nil:
		return plan.Msg(legFailed, "why", err), nil
	case r.Unanswered() != nil:
		return plan.Msg(legUnanswered, "why", r.Unanswered()), nil
	case r.Summary.Health.Verdict.Validity == trace.Invalid:
		return metrics.Invalid(r.Summary.Health.Verdict), nil
	}
	return why, x.storeJournal()
}

// orSmall asks a server that answers one small request, where nothing else asks it for one: a
// route that answers does not tell that the model does.
func orSmall(r plan.Ready) plan.Ready {
	if r.Timeout == 0 {
		r.Timeout, r.Ask = plan.Duration(time.Minute), plan.AskSmall
	}
	return r
}

// errorText is an error as data, if it has that form.
func errorText(err error) any {
	var data interface{ Message() plan.Message }
	if errors.As(err, &data) {
		return data.Message()
	}
	return err
}

// seeded is a Spec with the seeds of a run: fresh ones in each block, which its legs share if each meets a fresh
// server, since its cache has not seen the prompts; else they are those of the leg's draw. The seed of an engine that
// each run starts is that of its turn: attempts that failed change no figure.
func (x *execution) seeded(s plan.Spec, l *Leg, fresh bool, workload, repeat int) plan.Spec {
	draw := 1
	if !fresh {
		draw = l.Draw
	}
	s.Seed = design.LoadSeed(x.Design.Seed, l.Block, x.Repeat(draw, workload, repeat))
	if s.Target.URL != "" {
		return s
	}
	all := map[string]json.RawMessage{}
	if s.Target.Engine != nil {
		_ = json.Unmarshal(s.Target.Engine, &all)
	}
	all["seed"], _ = json.Marshal(design.LoadSeed(x.Design.Seed+1, x.j.Number(l), x.Repeat(1, workload, repeat)))
	if drift := all["drift"]; s.Target.Simulated && drift != nil {
		all["drift"] = x.drifted(drift, l)
	}
	s.Target.Engine, _ = json.Marshal(all) // of raw messages
	return s
}

// drifted are the settings of a drift that goes on from leg to leg: each simulation's time begins at 0.
func (x *execution) drifted(settings json.RawMessage, l *Leg) json.RawMessage {
	var all map[string]any
	if json.Unmarshal(settings, &all) != nil || all == nil {
		return settings
	}
	text, _ := all["offset"].(string)
	own, _ := time.ParseDuration(text)
	all["offset"] = (own + x.j.simulated(l)).String()
	b, _ := json.Marshal(all) // of JSON
	return b
}

func (x *execution) judge(looks compare.Looks, confirms bool) (compare.Comparison, error) {
	var legs []*Leg
	for _, l := range x.j.With(Done) {
		if l.Confirms == confirms {
			legs = append(legs, l)
		}
	}
	runs, err := x.Observed(legs)
	if err != nil {
		return compare.Comparison{}, err
	}
	o := x.Options
	o.Looks, o.Baseline = looks, x.Variants[0].Name
	return compare.Compare(runs, o)
}

// confirm measures the best of several variants against the baseline on fresh legs.
func (x *execution) confirm(ctx context.Context, c compare.Comparison) (*compare.Comparison, error) {
	blocks := x.Design.Confirmations(len(x.Variants))
	best := Best(c)
	if blocks == 0 || best == "" {
		return nil, nil
	}
	v := slices.IndexFunc(x.Variants, func(v design.Variant) bool { return v.Name == best })
	x.j.Winner = best
	x.emit(Confirming{best, blocks})
	made := x.j.Blocks()
	for i := 1; i <= blocks; i++ {
		order := design.Confirmation(x.Design, 0, v, i)
		if err := x.block(ctx, made+i, order, true); err != nil {
			return nil, err
		}
	}
	confirmed, err := x.judge(compare.Looks{}, true)
	return &confirmed, err
}
