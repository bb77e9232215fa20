package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// ErrStopped says that a run was stopped before it began.
var ErrStopped = errors.New("interrupted")

// An execution is a run under way.
type execution struct {
	*Prepared
	run       trace.Run
	sinks     []Sink
	stop      <-chan struct{}
	profiling bool   // profilers have been started
	emptied   string // the route that emptied the server's cache last
	block     int    // tokens of a block of its prefix cache, as it says; 0: it does not
	telemetry *sampling
	begun     firstBlocks // of the prompts that are made as they are due
}

// Execute makes the run. Closing stop ends it: before the first request with ErrStopped, later by sending no more
// and waiting for the requests in flight. Cancelling ctx ends that too. A run that has begun gives a Result even if
// it is stopped; an error with it is that of a sink.
func (p *Prepared) Execute(ctx context.Context, stop <-chan struct{}, sinks ...Sink) (*Result, error) {
	x := &execution{Prepared: p, run: p.run, sinks: sinks, stop: stop}
	x.run.Notes = slices.Clone(p.run.Notes)
	x.run.ID = newID(time.Now())
	if p.admission != nil {
		return x.simulate(ctx)
	}
	defer x.stopProfilers(context.WithoutCancel(ctx)) // of a run that did not come so far
	defer x.endSampling()
	before, release := x.untilStopped(ctx)
	defer release()
	err := x.before(before)
	var counters map[string]float64
	if err == nil {
		x.startProfilers(ctx, before)
		counters = x.counters(before)
	}
	if before.Err() != nil {
		err = context.Cause(before)
	}
	if err != nil {
		return nil, err
	}
	return x.measure(ctx, counters)
}

// Continue follows a run that another process began, and that the Fleet of p knows, to its end.
// begun is the run as that process prepared it. Nothing precedes the requests, and the server's
// counters are not known.
func (p *Prepared) Continue(ctx context.Context, stop <-chan struct{}, begun trace.Run, sinks ...Sink) (*Result, error) {
	x := &execution{Prepared: p, run: begun, sinks: sinks, stop: stop}
	return x.measure(ctx, nil)
}

// newID sorts by time and is unique enough to be typed.
func newID(now time.Time) string {
	return now.Local().Format("20060102-150405") + "-" + strings.ToLower(rand.Text()[:4])
}

// untilStopped is a context that stop cancels, with ErrStopped as the cause.
func (x *execution) untilStopped(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-x.stop:
			cancel(ErrStopped)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// handle gives an event to all sinks, without secrets.
func (x *execution) handle(e Event) error {
	e = x.clean(e)
	var errs []error
	for _, s := range x.sinks {
		errs = append(errs, s.Handle(e))
	}
	return errors.Join(errs...)
}

// note adds a note to the run, and sends it to the sinks.
func (x *execution) note(code plan.Code, args ...any) { x.add(plan.Msg(code, args...)) }

func (x *execution) add(n plan.Message) {
	n = x.hide(n)
	x.run.Notes = append(x.run.Notes, n)
	_ = x.handle(Noted{n})
}

// before does everything that precedes the run.
func (x *execution) before(ctx context.Context) error {
	if err := x.awaitReady(ctx); err != nil {
		return err
	}
	if err := x.sendWarmUp(ctx); err != nil {
		return err
	}
	if err := x.flush(ctx); err != nil {
		return err
	}
	if err := x.prepareCache(ctx); err != nil {
		return err
	}
	x.startSampling(ctx)
	began := time.Now()
	err := x.telemetry.idling(func() error {
		err := Pause(ctx, x.spec.Before.Settle.Std())
		x.awaitPower(ctx, began, longestBefore)
		return err
	})
	if err != nil {
		return err
	}
	x.tryStamps(ctx)
	return nil
}

func (x *execution) awaitReady(ctx context.Context) error {
	request := x.readyRequest()
	if request == nil {
		return nil
	}
	ready, reported := x.spec.Before.Ready, false
	err := driver.Ready(ctx, x.client, *request, ready.Timeout.Std(), func(err error) bool {
		failed := (*driver.FailedError)(nil)
		goOn := ready.Insist || errors.As(err, &failed) && failed.MayPass() && !x.routeMissing(failed)
		if goOn && !reported {
			reported = true
			_ = x.handle(Waiting{URL: x.target.base, Limit: ready.Timeout.Std(), Err: err, Answer: true})
		}
		return goOn
	})
	if err != nil {
		failed := (*driver.FailedError)(nil)
		errors.As(err, &failed)
		return x.refused(fmt.Errorf("ready check at %s: %w", x.target.base, err), failed)
	}
	return nil
}

// routeMissing reports that a server which has answered another question does not know the route.
func (x *execution) routeMissing(failed *driver.FailedError) bool {
	return failed.Record.Class == trace.HTTP && failed.Record.Status == http.StatusNotFound && x.listed != nil
}

// sendWarmUp sends the requests of the warm-up, behind the gate.
func (x *execution) sendWarmUp(ctx context.Context) error {
	if x.spec.Before.WarmUp.Steady {
		return x.warmUntilSteady(ctx)
	}
	_ = x.handle(WarmingUp{Requests: len(x.warmUp)})
	if len(x.warmUp) == 0 {
		_ = x.handle(WarmedUp{})
		return nil
	}
	requests := slices.Clone(x.warmUp)
	for i := range requests {
		requests[i].ID = ""
	}
	limit := x.spec.Gate.Concurrency
	if x.spec.Before.WarmUp.Ungated {
		limit = 0
	}
	d := driver.Driver{Sender: x.client, Now: x.target.transport.Now}
	out := d.Run(ctx, nil, driver.Plan{
		Requests: workload.Listed(requests), Schedule: arrival.Burst(), Concurrency: limit, Hold: x.hold(),
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return x.warmedUp(out.Records)
}

// warmedUp says how the warm-up ended. If all of it failed, and as one, so would the run.
func (x *execution) warmedUp(records []*trace.Record) error {
	cold := judgeWarmUp(records)
	if cold.none && (x.spec.Before.WarmUp.Required || cold.alike && !x.foreign()) {
		what := fmt.Sprintf("none of %d requests was answered", len(records))
		if len(records) == 1 {
			what = "its request was not answered"
		}
		err := fmt.Errorf("warm-up at %s: %s: %w", x.target.base, what, cold.why)
		return x.refused(err, cold.why, Way{"before.warm_up.requests", "0 goes on without a warm-up"})
	}
	if cold.failed > 0 {
		x.note(warmUpFailed, "failed", cold.failed, "of", len(records), "why", cold.why)
	}
	_ = x.handle(WarmedUp{Requests: len(records), Failed: cold.failed})
	return nil
}

// foreign reports a run by the rules of another tool, which sends requests as that tool would.
func (p *Prepared) foreign() bool { return p.spec.Dialect.Name != "" && p.spec.Dialect.Name != "pitot" }

// flush empties the server's cache, if the Spec has a route for that.
func (x *execution) flush(ctx context.Context) error {
	f := x.spec.Before.Flush
	if f.Route == "" {
		return nil
	}
	err := x.target.server().Post(ctx, f.Route, nil)
	switch {
	case err == nil:
		x.emptied = f.Route
		return nil
	case f.Required:
		return remedied(fmt.Errorf("flush the cache: %w", err), Way{"before.flush.route", "asks for it; leave it out"})
	}
	x.note(flushFailed, "why", err)
	return nil
}

// tryStamps is the self-test before a run. A note reports wrong stamps; the report mentions a system without any.
func (x *execution) tryStamps(ctx context.Context) {
	if x.Fleet != nil { // each machine has tested its stamps
		return
	}
	var notes []plan.Message
	x.run.Env.SelfTest, notes = x.TryStamps(ctx)
	for _, n := range notes {
		x.add(n)
	}
}

// measure sends the requests and finishes the run; before are the server's counters at
// the start.
func (x *execution) measure(ctx context.Context, before map[string]float64) (*Result, error) {
	x.run.Kind, x.run.Started, x.run.Status = trace.Measured, time.Now(), trace.Running
	if err := x.startFleet(ctx); err != nil {
		return nil, err
	}
	progress := new(driver.Progress)
	begun := x.run // as sinks may read it while the run goes on
	if err := x.handle(Starting{Run: &begun, Load: x.ahead(), Progress: progress}); err != nil {
		return nil, err
	}
	endStop, sampled := x.emitStop(), x.emitSamples(progress)
	out, sent := x.send(ctx, progress)
	endStop()
	sampled()
	x.run.Started, x.run.End, x.run.Client, x.run.Probes, x.run.Status = out.Started, out.End, out.Client, out.Probes, trace.Complete
	if out.Stopped {
		x.run.Status = trace.Interrupted
	}
	x.noteSpent(len(out.Records), time.Duration(out.End))
	r, err := x.finish(ctx, out.Records, before)
	return r, errors.Join(sent, err)
}

// startFleet agrees with the machines of a fleet on the start of the run, unless it is stopped.
func (x *execution) startFleet(ctx context.Context) error {
	if x.Fleet == nil {
		return nil
	}
	starting, release := x.untilStopped(ctx)
	defer release()
	begun := secret.Clean(x.Secrets, x.run)
	err := x.Fleet.Start(starting, &begun)
	if starting.Err() != nil {
		return context.Cause(starting)
	}
	return err
}

// send has the requests sent: by a fleet, or from here.
func (x *execution) send(ctx context.Context, progress *driver.Progress) (driver.Outcome, error) {
	record := func(r *trace.Record) { _ = x.handle(Recorded{r}) }
	if x.Fleet == nil {
		sender := sending{Prepared: x.Prepared, sender: x.sender(), progress: progress, record: record}
		out := sender.run(ctx, x.stop, x.driverPlan())
		x.run.Env.ServedBy = x.client.ServedBy()
		return out, nil
	}
	out, err := x.Fleet.Drive(ctx, x.stop, FleetSink{Progress: progress, Record: record, Note: x.add})
	x.run.Fleet, x.run.Env.ServedBy = out.Fleet, out.ServedBy
	return out.Outcome, err
}

// finish makes the steps after the last answer. A stop ends it, but not the storing of the run.
func (x *execution) finish(ctx context.Context, records []*trace.Record, before map[string]float64) (*Result, error) {
	after, release := x.unlessStopped(ctx)
	defer release()
	x.tail(after)
	x.collected(after)
	x.noteLate()
	err := x.handle(Ended{&x.run})
	x.noteConnections(records)
	x.noteRefused(records)
	x.stopProfilers(after)
	if before != nil {
		x.run.ServerCounters = difference(before, x.counters(after))
	}
	x.boundCache(records)
	x.countReuse(records)
	account := x.account(after)
	r, err := x.judge(records, nil, err)
	r.Account = account
	return r, err
}

// judge gives the run its verdict, and sends the sinks the last event. The records are in memory, or
// stored. Of a run with records that cannot be read there is no result.
func (x *execution) judge(records []*trace.Record, stored metrics.Records, err error) (*Result, error) {
	t := &trace.Trace{Run: secret.Clean(x.Secrets, x.run), Records: records, Telemetry: x.telemetry.result()}
	r, all := &Result{Trace: t, Stored: stored}, stored
	if all == nil {
		all = metrics.InMemory(records)
	}
	var unread error
	if r.Summary, unread = metrics.SummarizeRecords(t, all, metrics.Options{}); unread != nil {
		return nil, errors.Join(err, unread)
	}
	if t.Run.Verdict == nil {
		t.Run.Verdict = &r.Summary.Health.Verdict
	}
	r.Summary.Run = t.Run
	x.emitDoubts(r.Summary)
	return r, errors.Join(err, x.handle(Judged{r}))
}

// emitDoubts adds to another tool's report the doubts that Pitot's would have about its figures.
func (x *execution) emitDoubts(s metrics.Summary) {
	if !x.foreign() {
		return
	}
	if s.Server != nil && !s.Server.Dropped.IsZero() {
		_ = x.handle(Noted{plan.Msg(countersDoubtful, "why", s.Server.Dropped)})
	}
	if q := s.Requests; q.LastFailed > 0 {
		_ = x.handle(Noted{plan.Msg(failedWhen, "failed", q.Failed-q.Lost(), "from", q.FirstFailed, "to", q.LastFailed)})
	}
	if note := s.CacheNote(); !note.IsZero() {
		_ = x.handle(Noted{note})
	}
	for _, stall := range s.StallNotes() {
		_ = x.handle(Noted{stall})
	}
}

// unlessStopped is a context for the time after a run. stop cancels it, unless it has
// ended the run already.
func (x *execution) unlessStopped(ctx context.Context) (context.Context, func()) {
	if x.run.Status == trace.Interrupted {
		return ctx, func() {}
	}
	return x.untilStopped(ctx)
}

// emitStop sends the sinks Stopping when the run is stopped, until over is called.
func (x *execution) emitStop() (over func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-x.stop:
			_ = x.handle(Stopping{})
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// sender is the client, behind the sinks that watch each request.
func (x *execution) sender() driver.Sender {
	var watchers []Watcher
	for _, s := range x.sinks {
		if w, ok := s.(Watcher); ok {
			watchers = append(watchers, w)
		}
	}
	if watchers == nil {
		return x.client
	}
	return watched{x.client, watchers}
}

type watched struct {
	driver.Sender
	watchers []Watcher
}

// Send sends, and shows the record to the watchers.
func (w watched) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	var answered []func(*trace.Record)
	for _, other := range w.watchers {
		answered = append(answered, other.Watch(req))
	}
	w.Sender.Send(ctx, req, body, rec)
	for _, f := range answered {
		f(rec)
	}
}

func (x *execution) driverPlan() driver.Plan {
	p := x.planOf(x.Requests(), x.built.due.Schedule, x.spec.Gate.Concurrency, true)
	p.Made = x.begun.add
	return p
}

// planOf is the plan of some of the requests, with or without the probes.
func (p *Prepared) planOf(requests workload.List, due iter.Seq[time.Duration], places int, probe bool) driver.Plan {
	d := driver.Plan{
		Requests: requests, Schedule: due, Until: p.spec.Duration.Std(), Concurrency: places, Hold: p.hold(), KeepText: p.spec.KeepText,
		BackOff: !p.foreign() && closedLoop(&p.spec),
	}
	if rate := p.spec.Probe.Rate; rate > 0 && probe {
		d.Probe = &driver.Probe{Request: workload.Request{Text: "Hi", PromptTokens: 1, OutputTokens: 1}, Rate: rate}
	}
	return d
}

// closedLoop reports whether requests wait for others alone.
func closedLoop(s *plan.Spec) bool {
	return s.Gate.Concurrency > 0 && !slices.ContainsFunc(s.Load, func(s plan.Stream) bool { return s.Arrival.Kind != atOnce })
}

func (x *execution) ahead() PlannedWork {
	all := x.Requests()
	l := PlannedWork{Requests: all.N, Gate: x.spec.Gate.Concurrency, Until: x.spec.Duration.Std()}
	for i := range all.N {
		output := all.Brief(i).Output
		if l.Output += output; output == 0 { // it is open
			l.Output = 0
			break
		}
	}
	if all.Chained {
		return l
	}
	starts := all.N
	for due := range x.built.due.Schedule {
		if starts--; starts < 0 {
			break
		}
		l.LastDue = due
	}
	if l.LastDue > 0 {
		l.Due = x.built.due.Schedule
	}
	return l
}

// expectedChunks is the number of chunks that all answers may have.
func expectedChunks(requests workload.List) int {
	n := 0
	for i := range requests.N {
		n += requests.Brief(i).Output + 2
	}
	return n
}

// takeEngineLag is how late the embedded engine wrote tokens since the last call, nothing of
// another server.
func (p *Prepared) takeEngineLag() trace.Lag {
	if p.engineLag == nil {
		return trace.Lag{}
	}
	return p.engineLag()
}

// noteConnections notes requests that were sent again, or failed, because the server had closed a reused
// connection.
func (x *execution) noteConnections(records []*trace.Record) {
	again, failed := 0, 0
	for _, r := range records {
		switch {
		case r.Resent:
			again++
		case r.Unanswered():
			failed++
		}
	}
	if again > 0 {
		x.note(resent, "requests", again)
	}
	switch {
	case failed > 0 && x.spec.Client.KeepReusing:
		x.note(unansweredThere, "requests", failed, "tool", x.spec.Dialect.Name)
	case failed > 0 && x.spec.Client.NoResend:
		x.note(unanswered, "requests", failed)
	}
	if x.target.transport.ReuseStopped() {
		x.note(reuseStopped)
	}
	if to := x.client.Elsewhere(); to != "" {
		x.note(redirected, "to", to)
	}
}

// worker has the side routes of a worker, those of the target for one without an address.
func (x *execution) worker(w plan.Worker) endpoint.Server {
	if w.URL == "" {
		return x.target.server()
	}
	return endpoint.Server{Transport: x.target.transport, URL: w.URL, Secrets: x.target.secrets}
}
