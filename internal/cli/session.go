package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// A session is one run, resolved from whichever command line: everything is
// known but what the server will do.
type session struct {
	*Process
	console  console
	run      trace.Run // plan and environment
	target   *target
	client   *endpoint.Client
	front    driver.Sender // sends in place of client; nil: client does
	requests []workload.Request
	spool    *workload.Spool // of their prompts
	schedule arrival.Schedule
	hold     bool // conversations keep their places in the gate
	keepText bool // of answers
	probe    *driver.Probe

	summary metrics.Summary // of the run, when it is over

	patience     time.Duration     // how long to wait for a server that is not there yet
	patienceFlag string            // what to write on the command line for more of it
	ready        *workload.Request // sent until it is answered; nil skips the check
	readyLimit   time.Duration
	stubborn     bool // the ready check goes on whatever the server says
	warmup       []workload.Request
	profile      bool
	profiling    bool // it has been started
	scrape       bool // keep the differences of the server's counters
	beforeRun    func()
	// begin stands for warm-up and profiler, where a command line has an order of its
	// own for what precedes a run; end is called when all requests are done.
	begin      func(context.Context) error
	end        func(context.Context)
	store      *store.Store
	storeFile  string // as the command line named it
	quiet      bool   // nothing is said
	noProgress bool   // how the run goes is not
	procs      int    // processors to use at once, 0 = as many as is good
}

// newSession is a session about which nothing is known yet but where its run
// will be kept: that is tried before anything is sent.
func (p *Process) newSession(storeFile string) (*session, error) {
	runs, err := p.openStore(storeFile)
	if err != nil && storeFile == "" && p.getenv("PITOT_STORE") == "" && !errors.Is(err, store.ErrForeign) {
		storeFile = filepath.Join(os.TempDir(), fmt.Sprintf("pitot-%d.db", os.Getuid())) // better there than not at all
		fmt.Fprintf(p.Stderr, "note: %v; runs are kept in %s\n", err, storeFile)
		runs, err = p.openStore(storeFile)
	}
	if err != nil {
		return nil, err
	}
	s := &session{Process: p, console: console{w: p.Stderr, width: p.Width}, store: runs, storeFile: storeFile, scrape: true}
	s.run.Env = p.environment()
	path, err := p.storePath(storeFile)
	s.spool = newSpool(path)
	return s, err
}

// close stops a profiler that an early end left running, and lets go of the
// connections and the store.
func (s *session) close() {
	if s.target != nil && s.target.transport != nil {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
		defer cancel()
		s.stopProfiler(ctx)
		s.target.close()
	}
	_ = s.store.Close()
}

// execute goes through the order of a run and returns its trace. An interrupt
// before the run ends it with errInterrupted; during the run it ends sending,
// and a second one ends what is in flight.
func (s *session) execute(ctx context.Context) (*trace.Trace, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	before, err := s.counters(ctx)
	if err != nil {
		return nil, err
	}
	if s.beforeRun != nil {
		s.beforeRun()
	}
	return s.measure(ctx, before)
}

// untilInterrupt is a context that an interrupt cancels, with errInterrupted as
// the cause.
func (p *Process) untilInterrupt(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.Signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// resolving asks what has to be known before the workload; an interrupt ends it,
// whatever it made of the answers.
func (s *session) resolving(ctx context.Context, ask func(context.Context) error) error {
	ctx, release := s.untilInterrupt(ctx)
	defer release()
	err := ask(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// take makes a workload the one to send, and its notes the run's.
func (s *session) take(w workload.Workload) {
	s.requests = w.Requests
	for _, n := range w.Notes {
		s.notef("%s", n)
	}
}

// prepare is what comes before the run: ready check, warm-up, self-test,
// profiler.
func (s *session) prepare(ctx context.Context) error {
	ctx, release := s.untilInterrupt(ctx)
	defer release()
	err := s.awaitReady(ctx)
	switch {
	case err != nil:
	case s.begin != nil:
		s.tryStamps(ctx)
		err = s.begin(ctx)
	default:
		s.warmUp(ctx)
		s.tryStamps(ctx)
		s.startProfiler(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *session) awaitReady(ctx context.Context) error {
	if s.ready == nil {
		return nil
	}
	told := false
	err := driver.Ready(ctx, s.client, *s.ready, s.readyLimit, func(err error) bool {
		failed := (*driver.FailedError)(nil)
		goOn := s.stubborn || errors.As(err, &failed) && failed.MayPass()
		if goOn && !told {
			told = true
			s.sayf("waiting up to %v for %s to answer: %v", s.readyLimit, s.target.base, err)
		}
		return goOn
	})
	if err != nil {
		return fmt.Errorf("ready check at %s: %w", s.target.base, err)
	}
	return nil
}

func (s *session) warmUp(ctx context.Context) {
	if len(s.warmup) == 0 {
		return
	}
	s.sayf("warming up with %d requests", len(s.warmup))
	failed, err := driver.WarmUp(ctx, s.client, s.warmup, s.run.Plan.Concurrency)
	if failed > 0 && ctx.Err() == nil {
		s.notef("%d of %d warm-up requests failed: %v", failed, len(s.warmup), err)
	}
}

func (s *session) startProfiler(ctx context.Context) {
	if !s.profile || ctx.Err() != nil {
		return
	}
	err := s.target.server().Post(ctx, "/start_profile")
	if s.profiling = err == nil; err != nil {
		s.notef("the profiler was not started: %v", err)
	}
}

// measure makes the run, stores it, stops the profiler, reads the server's counters
// again and judges the run; before is what they were ahead of it. Once the run is
// stored, an interrupt ends what is left to do.
func (s *session) measure(ctx context.Context, before map[string]float64) (*trace.Trace, error) {
	s.run.ID, s.run.Kind, s.run.Started = newRunID(time.Now()), trace.Measured, time.Now()
	writer, err := s.store.Create(s.run)
	if err != nil {
		return nil, err
	}
	progress := s.startProgress()
	d := driver.Driver{Sender: s.sender(), Now: s.target.transport.Now, Progress: &progress.counts, OnRecord: func(r *trace.Record) {
		writer.Append(r)
		progress.record(r)
	}}
	if s.Alone {
		d.Timer = clock.NewPrecise()
		defer d.Timer.Close()
	}
	lone := s.undisturbed(s.procs, s.expectedChunks())
	s.target.transport.TakeHealth() // of what came before
	sending, stop, release := s.stopOnInterrupt(ctx, func() { progress.ending.Store(true) })
	out := d.Run(sending, stop, driver.Plan{Requests: s.requests, Schedule: s.schedule, Concurrency: s.run.Plan.Concurrency, Hold: s.hold, KeepText: s.keepText, Probe: s.probe})
	release()
	progress.stop()
	s.run.Started, s.run.End, s.run.Client, s.run.Probes = out.Started, out.End, out.Client, out.Probes
	s.health(lone.end())
	s.run.Status = trace.Complete
	if out.Stopped {
		s.run.Status = trace.Interrupted
	}
	s.ending(ctx)
	err = writer.Finish(s.run)
	s.after(ctx, before)
	t := s.judged(out.Records)
	if err == nil {
		err = s.store.Update(s.run)
	}
	return t, err
}

// sender is the client, or what a command line put in front of it.
func (s *session) sender() driver.Sender {
	if s.front != nil {
		return s.front
	}
	return s.client
}

// ending does what follows the last answer at once.
func (s *session) ending(ctx context.Context) {
	if s.end == nil {
		return
	}
	ctx, release := s.untilInterrupt(ctx)
	defer release()
	s.end(ctx)
}

// judged is the trace of the run, which gets its verdict.
func (s *session) judged(records []*trace.Record) *trace.Trace {
	t := &trace.Trace{Run: s.run, Records: records}
	s.summary = metrics.Summarize(t, metrics.Options{})
	s.run.Verdict = &s.summary.Health.Verdict
	t.Run, s.summary.Run = s.run, s.run
	return t
}

// health adds to the run what its connections and its clock noticed.
func (s *session) health(procs int) {
	c, h, steps := &s.run.Client, s.target.transport.TakeHealth(), s.target.clock.Steps()
	c.Engine, c.Procs = s.target.transport.Engine(s.run.Plan.URL), procs
	c.Lag = trace.Lag{Reads: h.Reads, P50: h.P50, P99: h.P99, Max: h.Max}
	c.Unstamped, c.ClockSteps, c.ClockStep = h.Unstamped, steps.Count, steps.Largest
}

// expectedChunks is how many chunks the answers may have in all.
func (s *session) expectedChunks() int {
	n := 0
	for i := range s.requests {
		n += s.requests[i].OutputTokens + 2
	}
	return n
}

// after is what follows the run: the profiler is stopped, the server's counters
// are read.
func (s *session) after(ctx context.Context, before map[string]float64) {
	ctx, release := s.untilInterrupt(ctx)
	defer release()
	s.stopProfiler(ctx)
	after, _ := s.counters(ctx) // an interrupt leaves them out
	s.run.ServerCounters = difference(before, after)
}

func (s *session) stopProfiler(ctx context.Context) {
	if !s.profiling {
		return
	}
	s.profiling = false
	if err := s.target.server().Post(ctx, "/stop_profile"); err != nil {
		s.notef("the profiler was not stopped: %v", err)
	}
}

// kept says where the run is.
func (s *session) kept() {
	where := ""
	if s.storeFile != "" {
		where = " --store " + shellWord(s.storeFile)
	}
	s.sayf("run %s is kept: pitot runs report %s%s", s.run.ID, s.run.ID, where)
}

// shellWord is text as a word of a shell's command line.
func shellWord(text string) string {
	if strings.ContainsAny(text, " \t\n'\"\\$&;|<>()*?[]{}~#`!") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// stopOnInterrupt watches the run: the first interrupt closes stop and calls first,
// the second cancels the context.
func (s *session) stopOnInterrupt(ctx context.Context, first func()) (_ context.Context, stop chan struct{}, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop = make(chan struct{})
	go func() {
		select {
		case <-s.Signals:
			close(stop)
			first()
			s.sayf("interrupted: waiting for what is in flight; interrupt again to end that too")
		case <-ctx.Done():
			return
		}
		select {
		case <-s.Signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, stop, cancel
}

// sayf writes a line of progress, unless it is unwanted.
func (s *session) sayf(format string, a ...any) {
	if !s.quiet {
		s.console.say(fmt.Sprintf(format, a...))
	}
}

// notef keeps a sentence with the run and says it.
func (s *session) notef(format string, a ...any) { s.note(plan.Text(fmt.Sprintf(format, a...))) }

// note keeps a message with the run and says it.
func (s *session) note(m plan.Message) {
	m = m.Map(func(text string) string { return endpoint.Redact(text, s.target.secrets) })
	s.run.Notes = append(s.run.Notes, m)
	s.sayf("%s", english.Word("report.note", "note", m))
}

// scrapeLimit is how long the server may take to tell its counters.
const scrapeLimit = 10 * time.Second

// counters are the server's counters, nil if it shows none; the error is an
// interrupt.
func (s *session) counters(ctx context.Context) (map[string]float64, error) {
	if !s.scrape {
		return nil, nil
	}
	ctx, release := s.untilInterrupt(ctx)
	defer release()
	call, cancel := context.WithTimeout(ctx, scrapeLimit)
	defer cancel()
	samples, err := s.target.server().Metrics(call)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	return countersAmong(samples), nil
}

// countersAmong are the counters among samples, by series.
func countersAmong(samples []endpoint.Sample) map[string]float64 {
	m := map[string]float64{}
	for _, sample := range samples {
		if sample.Counter && !math.IsNaN(sample.Value) && !math.IsInf(sample.Value, 0) {
			m[sample.Series()] += sample.Value
		}
	}
	return m
}

// difference is after - before; nil unless both are there.
func difference(before, after map[string]float64) map[string]float64 {
	if before == nil || after == nil {
		return nil
	}
	d := map[string]float64{}
	for name, v := range after {
		d[name] = v - before[name]
	}
	return d
}
