package control

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/run"
)

// newID is the id of a run among workers: that of the run itself is not known before it is made.
func newID() string { return "fleet-" + strings.ToLower(rand.Text()[:12]) }

// askFor is how long workers are given to say that they are there, and askAgainFor if some are missed.
const (
	askFor      = 500 * time.Millisecond
	askAgainFor = 4 * askFor
)

// fill brings the crew to its strength: workers that are there are asked to prepare, and those
// that fail to are named.
func (f *Fleet) fill(ctx context.Context) error {
	deadline := time.Now().Add(f.o.Wait)
	for asked, wait := 1, askFor; ; asked, wait = asked+1, askAgainFor {
		since, err := f.awaitUp(ctx)
		if err != nil {
			return err
		}
		found, err := f.idle(ctx, wait)
		if up, now := f.o.Bus.Up(); err != nil && (!up || now != since) {
			continue
		}
		if err != nil {
			return err
		}
		want := f.wanted(len(found))
		if len(found) > want-len(f.crew) {
			found = found[:max(0, want-len(f.crew))]
		}
		if err := f.prepareWorkers(ctx, found); err != nil {
			return err
		}
		switch {
		case len(f.crew) > 0 && len(f.crew) >= want:
			if want < f.o.Workers {
				f.logf("using %d of %d workers: the load has no more conversations, or places in flight, for others", want, f.o.Workers)
			}
			return nil
		case time.Now().After(deadline) && f.o.Fewer && len(f.crew) > 0:
			f.logf("starting with %d of %d workers", len(f.crew), want)
			return nil
		case time.Now().After(deadline):
			return f.tooFew(ctx, want)
		case asked == noticeAfter:
			f.logf("waiting up to %v for workers: %d of %d are there", f.o.Wait, len(f.crew), max(1, want))
		}
		if err := run.Pause(ctx, askFor); err != nil {
			return err
		}
	}
}

// noticeAfter is how often workers are asked before the controller reports that it waits for them.
const noticeAfter = 2

// wanted is how many workers the run is to have: no more than it has conversations, or places.
func (f *Fleet) wanted(idle int) int {
	f.want = max(f.want, len(f.crew)+idle)
	want := cmp.Or(f.o.Workers, f.want)
	if places := f.job.Spec.Gate.Concurrency; places > 0 {
		want = min(want, places)
	}
	return min(want, f.roots)
}

func (f *Fleet) tooFew(ctx context.Context, want int) error {
	all, err := pollWorkers(ctx, f.o.Bus, f.o.Pitot, askFor)
	if err != nil {
		return err
	}
	var busy []string
	for _, w := range all {
		if w.State != fleet.Idle && w.Run != f.run {
			busy = append(busy, fmt.Sprintf("%s is %s run %s", w.Name, w.State, w.Run))
		}
	}
	switch {
	case len(all) == 0 && len(f.crew) == 0: // a crew that is slow to answer is there
		return errors.New("no worker is there; start some with `pitot fleet worker --join URL`, or wait for them with --fleet-wait")
	case len(busy) > 0:
		return fmt.Errorf("%d of %d workers are free (%s); wait longer with --fleet-wait, or start with fewer: --fleet-fewer", len(f.crew), max(1, want), strings.Join(busy, ", "))
	}
	return fmt.Errorf("%d of %d workers are there; wait longer with --fleet-wait, or start with fewer: --fleet-fewer", len(f.crew), want)
}

// idle are the workers that could join the crew, by name. One of another version is refused.
func (f *Fleet) idle(ctx context.Context, wait time.Duration) (found []fleet.Worker, err error) {
	all, err := pollWorkers(ctx, f.o.Bus, f.o.Pitot, wait)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.Pitot != f.o.Pitot || w.Protocol != fleet.Protocol {
			return nil, fmt.Errorf("worker %s on %s is pitot %s (protocol %d) and this is pitot %s (protocol %d); use one version for all", w.Name, w.Host, w.Pitot, w.Protocol, f.o.Pitot, fleet.Protocol)
		}
		hired := slices.ContainsFunc(f.crew, func(m *member) bool { return m.ID == w.ID })
		if w.State == fleet.Idle && !hired {
			found = append(found, w)
		}
	}
	return found, nil
}

func pollWorkers(ctx context.Context, b *bus.Bus, pitot string, wait time.Duration) (all []fleet.Worker, err error) {
	byID := map[string]bool{}
	err = bus.RequestAll(ctx, b, bus.Everybody, fleet.Question{Protocol: fleet.Protocol, Pitot: pitot}, wait, func(w fleet.Worker) bool {
		if fleet.IsWorker(w.ID) && !byID[w.ID] {
			byID[w.ID] = true
			all = append(all, tidy(w))
		}
		return len(all) == maxWorkers
	})
	if errors.Is(err, bus.ErrGone) {
		err = nil // no worker
	}
	disambiguate(all)
	slices.SortFunc(all, func(a, b fleet.Worker) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// longAfter is when the controller reports that workers still prepare.
const longAfter = 10 * time.Second

// prepareWorkers has workers prepare the run. One that cannot refuses the run; one that is gone is left out.
func (f *Fleet) prepareWorkers(ctx context.Context, found []fleet.Worker) error {
	if err := f.checkEngine(found); err != nil {
		return err
	}
	private := f.o.Bus.Private() && !slices.ContainsFunc(found, func(w fleet.Worker) bool { return !w.Private })
	o, err := f.newOrder(private)
	if err != nil {
		return err
	}
	outcomes := make([]error, len(found))
	joined := make([]*member, len(found))
	var offered offers
	var each sync.WaitGroup
	var preparing atomic.Int64
	for i, w := range found {
		preparing.Add(1)
		each.Go(func() {
			joined[i], outcomes[i] = f.prepare(ctx, w, o, &offered)
			preparing.Add(-1)
		})
	}
	long := time.AfterFunc(longAfter, func() { f.logf("waiting for %d workers that prepare the run", preparing.Load()) })
	each.Wait()
	long.Stop()
	var failed []error
	yield := ""
	for i, m := range joined {
		var lost *lostError
		var busy *busyError
		switch err := outcomes[i]; {
		case err == nil:
			f.crew = append(f.crew, m)
		case errors.As(err, &lost):
			f.logf("%v", err)
		case errors.As(err, &busy):
			yield = max(yield, busy.run)
		default:
			failed = append(failed, err)
		}
	}
	if yield > f.run { // of two that have some workers each, one lets its own go
		f.each(func(_ int, m *member) { m.release() })
		f.crew = nil
		return cmp.Or(inOneLine(failed), run.Pause(ctx, yieldFor))
	}
	return inOneLine(failed)
}

// yieldFor is long enough for the other run to ask the workers that were let go.
const yieldFor = 2 * time.Second

// inOneLine is the first of several errors, and how many more there are.
func inOneLine(all []error) error {
	if len(all) < 2 {
		return errors.Join(all...)
	}
	return fmt.Errorf("%w (and %d more could not prepare it)", all[0], len(all)-1)
}

// checkEngine refuses to have the engine inside this process measured from other machines.
func (f *Fleet) checkEngine(found []fleet.Worker) error {
	for _, w := range found {
		if f.job.Embedded && w.Host != f.job.Host {
			return fmt.Errorf("worker %s on %s cannot reach the engine inside this process: name a server with --url, such as one of `pitot serve --addr`", w.Name, w.Host)
		}
	}
	return nil
}

// newOrder is the Order for all workers. Where others could read it, it has no keys: each worker needs the
// variables itself.
func (f *Fleet) newOrder(private bool) (o fleet.Order, err error) {
	files, vars := inputs.Secrets(f.job.Spec)
	o = fleet.Order{
		Run: f.run, Protocol: fleet.Protocol, Pitot: f.o.Pitot, Spec: fleet.ForWorkers(f.job.Spec), Given: f.job.Given, Inputs: f.inputs, Digest: f.digest, MarkKey: f.job.MarkKey,
	}
	for _, name := range vars {
		if v, ok := f.job.Env(name); ok && v != "" {
			o.Env = with(o.Env, name, v)
		}
	}
	for _, name := range files {
		if b, err := f.job.Read(name); err == nil { // it was read already: else the run is refused
			o.Files = with(o.Files, name, string(b))
		}
	}
	if private {
		return o, nil
	}
	if len(o.Given)+len(o.Files) > 0 || holdsSecret(o.Spec) {
		return o, errors.New("the run has a key for its server, which would travel to the workers in the clear: use tls:// for the fleet, or name the key by a variable that is set here and on each worker")
	}
	had := o.Env
	o.Env = nil
	o.Spec, err = inputs.WithSources(o.Spec, func(from *plan.Source) {
		from.Optional = from.Optional && had[from.Env] == ""
	})
	return o, err
}

// holdsSecret reports whether a Spec has a key in it, as a header or in the body of requests.
func holdsSecret(s plan.Spec) bool {
	b, err := json.Marshal(s)
	found := new(secret.Set)
	found.AddJSON(b)
	return err != nil || found.Hide(string(b)) != string(b)
}

func with(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}

// A lostError is a worker that went away before the start.
type lostError struct {
	worker fleet.Worker
	why    error
}

func (e *lostError) Error() string {
	why := e.why.Error()
	switch { // errors of the bus name subjects
	case errors.Is(e.why, bus.ErrGone):
		why = "it is not connected any more"
	case errors.Is(e.why, bus.ErrSilent):
		why = "it did not answer in time"
	}
	return fmt.Sprintf("worker %s on %s was lost before the start: %s", e.worker.Name, e.worker.Host, why)
}

// A busyError is a worker that another run took after it answered as idle.
type busyError struct{ run string }

func (e *busyError) Error() string { return "it works on run " + e.run }

// pollEvery is how often a worker that prepares is asked how far it is.
const pollEvery = 200 * time.Millisecond

// prepare has one worker prepare the run, and waits for it. One that does not join the crew is let go.
func (f *Fleet) prepare(ctx context.Context, w fleet.Worker, o fleet.Order, offered *offers) (*member, error) {
	if err := f.order(ctx, w, o, offered); err != nil {
		letGo(f.o.Bus, w, f.run)
		return nil, err
	}
	return join(f.o.Bus, w, f.run), nil
}

// order has one worker prepare the run, and waits until it has.
func (f *Fleet) order(ctx context.Context, w fleet.Worker, o fleet.Order, offered *offers) error {
	r, err := ready(ctx, f, w, bus.Order, o)
	for err == nil && r.State == fleet.Preparing {
		if err = offered.offer(ctx, f, r.Needs); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		_ = run.Pause(ctx, pollEvery)
		r, err = ready(ctx, f, w, bus.Poll, fleet.Poll{Run: f.run})
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &lostError{w, err}
	case r.Leaving:
		return &lostError{w, errors.New(r.Why)}
	case r.Busy != "":
		return &busyError{r.Busy}
	case r.State == fleet.Failed:
		return fmt.Errorf("worker %s on %s: %s", w.Name, w.Host, r.Why)
	case r.Digest != f.digest:
		return fmt.Errorf("worker %s on %s made other requests of the same plan (%d with digest %.12s…, here %d with %.12s…): its tokenizer or its data is another one; name them by path",
			w.Name, w.Host, r.Requests, r.Digest, f.job.Requests.N, f.digest)
	}
	return nil
}

// leastTries is how often a worker is asked at least that does not answer.
const leastTries = 3

// ready asks one worker, and asks again until it has been silent for too long.
func ready[Q any](ctx context.Context, f *Fleet, w fleet.Worker, verb bus.Verb, q Q) (r fleet.Readiness, err error) {
	for begin, tries := time.Now(), 1; ; tries++ {
		call, cancel := context.WithTimeout(ctx, beatLimit)
		r, err = bus.Request[fleet.Readiness](call, f.o.Bus, bus.SubjectOf(w.ID, verb), q)
		cancel()
		r.State, r.Digest, r.Why = fleet.State(words(string(r.State))), words(r.Digest), words(r.Why)
		given := time.Since(begin) > f.o.Grace && tries > leastTries // this process may have been suspended
		if err == nil || ctx.Err() != nil || given && f.upFor() > f.o.Grace {
			return r, err
		}
		_ = run.Pause(ctx, pollEvery)
	}
}

// offers are the inputs that workers lacked, and that were put where they find them.
type offers struct {
	mu   sync.Mutex
	done map[int]bool
}

func (o *offers) offer(ctx context.Context, f *Fleet, needs []int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var fresh []int
	for _, i := range needs {
		if i < 0 || i >= len(f.inputs) {
			return fmt.Errorf("a worker asks for input %d of %d", i, len(f.inputs))
		}
		if !o.done[i] {
			fresh = append(fresh, i)
		}
	}
	if fresh == nil {
		return nil
	}
	f.logf("sending files that workers do not have: %d", len(fresh))
	if err := f.o.Ledger.Offer(ctx, f.o.Bus.Stream(), f.run, fresh); err != nil {
		return err
	}
	if o.done == nil {
		o.done = map[int]bool{}
	}
	for _, i := range fresh {
		o.done[i] = true
	}
	return nil
}
