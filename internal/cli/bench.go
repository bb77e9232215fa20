package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/collector"
	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/exposed"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/live"
	"github.com/pitot-bench/pitot/internal/cli/repeat"
	"github.com/pitot-bench/pitot/internal/cli/syntax"
	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/run/inspect"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/progress"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// benchCmd is `pitot bench`.
type benchCmd struct{ flags.Bench }

func (c *benchCmd) compile(p *Process, k *kong.Context) (*compiled, error) {
	made, err := ownCompiled(p, k, c.Config, false)
	if err == nil {
		made.fleet = c.Fleet
	}
	return made, err
}

// Run measures.
func (c *benchCmd) Run(p *Process, k *kong.Context) error {
	release := func() {}
	defer func() { release() }()
	told := []listener{func(*live.View) run.Sink { // once the command line is known to be right
		release = ui.Beside(p.console(), c.UI, c.Store)
		return nil
	}}
	if c.OTLP != "" {
		to, err := collector.New(p.console(), c.OTLP)
		if err != nil {
			return err
		}
		sent := to.Live()
		defer sent.Close()
		told = append(told, func(v *live.View) run.Sink {
			sent.Say = func(line string) { v.Console.Say("pitot: " + line) }
			return sent
		})
	}
	if c.MetricsAddr == "" {
		return p.makeAndReport(k, c, &c.Results, told...)
	}
	x, err := exposed.Listen(c.MetricsAddr, p.Listen)
	if err != nil {
		return usagef("--metrics-addr: %w; give an address such as 127.0.0.1:9464", err)
	}
	told = append(told, func(*live.View) run.Sink { return x })
	return errors.Join(p.makeAndReport(k, c, &c.Results, told...), x.Close())
}

// A listener makes a sink for runs that are told in a view; nil: none.
type listener func(*live.View) run.Sink

// simCmd is `pitot sim`: what `pitot bench` does with its embedded engine, without the
// server and the wait.
type simCmd struct{ flags.Sim }

func (c *simCmd) compile(p *Process, k *kong.Context) (*compiled, error) {
	return ownCompiled(p, k, c.Config, true)
}

// Run simulates.
func (c *simCmd) Run(p *Process, k *kong.Context) error { return p.makeAndReport(k, c, &c.Results) }

// bareEngineFlags gives the engine's flags of `pitot sim` the names that they have in
// `pitot serve`, where those are not taken; the names of `pitot bench` go on working.
// Those that have no meaning in virtual time are not shown.
func bareEngineFlags(k *kong.Kong) error {
	node := syntax.Command(k.Model.Node, "sim")
	if node == nil {
		return nil
	}
	all := node.Flags
	for _, f := range all {
		f.Hidden = f.Hidden || f.Name == "engine-fault" || f.Name == "keep-text" || f.Name == "require-valid" || f.Name == "progress"
		if f.Name == "protocol" {
			f.Help = "completions, chat or generate (SGLang's own). Default: completions, or chat for images and conversations."
		}
		bare, ours := strings.CutPrefix(f.Name, "engine-")
		if ours && !slices.ContainsFunc(all, func(other *kong.Flag) bool { return other.Name == bare }) {
			f.Name, f.Aliases = bare, append(f.Aliases, f.Name)
		}
	}
	return nil
}

// replayTakesRuns says of --replay what it is for `pitot predict`.
func replayTakesRuns(k *kong.Kong) error {
	node := syntax.Command(k.Model.Node, "predict")
	if node == nil {
		return nil
	}
	for _, f := range node.Flags {
		if f.Name == "replay" {
			f.Help = "A run whose requests are predicted, beside its figures: a stored one or a result file with records. Or, as for bench, a file of send times, one number of seconds per line; data uses the timestamps of --data."
			f.PlaceHolder = "RUN|FILE"
		}
	}
	return nil
}

// A maker is a command that makes a run: its command line is a Spec.
type maker interface {
	compile(*Process, *kong.Context) (*compiled, error)
}

// A compiled command line is a Spec, with what the Spec does not hold.
type compiled struct {
	spec  plan.Spec
	front namer
	given map[string]string // secrets, by path
	notes []plan.Message    // that the run is to have
	args  []string          // the command line, without secrets
	fleet flags.Fleet       // that sends the requests
}

// ownCompiled compiles a command line of Pitot's own.
func ownCompiled(p *Process, k *kong.Context, config string, simulated bool) (*compiled, error) {
	check := func(s plan.Spec) plan.Problems { return run.Check(s, kinds()) }
	c, err := pitot.Compile(k, pitot.Options{Config: config, Simulated: simulated, Read: p.readSettings, Check: check})
	if err != nil {
		return nil, usage(err)
	}
	return &compiled{spec: c.Spec, front: c, given: c.Given, args: pitot.MaskedArgs(p.Args)}, nil
}

// makeAndReport makes runs of Pitot's own command line, and prints their reports. The sinks of
// told receive what happens, besides the store and the view.
func (p *Process) makeAndReport(k *kong.Context, own maker, o *flags.Results, told ...listener) error {
	c, err := own.compile(p, k)
	limits, wrongLimits := comparing.Gates(o.FailIf, compare.ParseThreshold)
	wrong := errors.Join(checkReports(o), wrongLimits)
	if err == nil && wrong != nil { // all in one go
		err = usage(c.front.Explain(run.Check(c.spec, kinds())))
	}
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	b := batch{p: p, o: o, view: p.view(live.Options{Quiet: o.Quiet, Progress: progress.Mode(o.Progress)}), limits: limits}
	line, err := c.front.(*pitot.Compiled).Begin(&c.spec)
	if err != nil {
		return usage(err)
	}
	b.view.Say(line)
	end, err := p.joinFleet(c.fleet, c.spec.Target.Simulated)
	if err != nil {
		return err
	}
	defer end()
	for _, of := range told {
		if sink := of(b.view); sink != nil {
			b.sinks = append(b.sinks, sink)
		}
	}
	specs := repeat.Specs(c.spec, o.Repeat, o.SameSeed)
	for i := 0; i < len(specs) && err == nil; i++ {
		one := *c
		one.spec = specs[i]
		if len(specs) > 1 {
			b.view.Sayf("run %d of %d, seed %d", i+1, len(specs), one.spec.Seed)
		}
		err = b.make(&one)
	}
	return errors.Join(err, b.invalid, verdictOf(b.judged))
}

// A batch is the runs of one command line.
type batch struct {
	p      *Process
	o      *flags.Results
	view   *live.View
	limits []compare.Gate
	sinks  []run.Sink

	made    int
	invalid error // of the first that is not as --require-valid wants it
	judged  []compare.GateResult
}

// make makes one run, reports it, and holds it to its thresholds.
func (b *batch) make(c *compiled) error {
	p, o := b.p, b.o
	m, err := p.newMaking(c, o.Store, b.view)
	if err != nil {
		return err
	}
	defer m.close()
	m.sinks = b.sinks
	result, err := m.make()
	if result == nil {
		return err
	}
	if b.made++; b.made > 1 {
		fmt.Fprintln(p.Stdout)
	}
	printed := p.printReports(result.Trace, result.Summary, o.Report, o.Form)
	if !slices.Contains(o.Report, "pitot") {
		p.warn(result.Summary.Health)
	}
	judged := compare.JudgeRun(b.limits, result.Trace.Run, result.Summary.Figures())
	for _, g := range judged {
		fmt.Fprintln(p.Stderr, comparison.GateLine(g, english))
	}
	b.judged = append(b.judged, judged...)
	if b.invalid == nil {
		b.invalid = required(o.RequireValid, result.Summary.Health)
	}
	return m.end(result, err, errors.Join(printed, inWords(m.front, result.Unanswered())), false)
}

// A making is a run on its way from a Spec to the store, whatever command line it was.
type making struct {
	*compiled
	p       *Process
	keep    *keeper
	live    *live.View
	sinks   []run.Sink      // beside those two
	leg     *trace.Leg      // of an experiment
	serving inspect.Subject // where its server is
}

func (p *Process) newMaking(c *compiled, storeFile string, l *live.View) (*making, error) {
	keep, err := p.newKeeper(storeFile, l.Unsaved)
	return &making{compiled: c, p: p, keep: keep, live: l}, err
}

// view is where a run is told while it goes on.
func (p *Process) view(o live.Options) *live.View {
	return live.New(p.console(), p.terminal, p.Drawn, o)
}

func (m *making) close() { m.keep.close() }

// make prepares and executes the run. An interrupt before the run ends it with
// errInterrupted; during the run it ends sending, and a second one ends what is in
// flight.
func (m *making) make() (*run.Result, error) {
	s := m.p.console().WatchSignals()
	defer s.Release()
	return m.makeUntil(s.Run, s.Preparing, s.Executing)
}

// makeUntil is make with other ends than signals: of the execution, of what precedes it, and
// a channel that ends sending, which is asked for once the run is prepared.
func (m *making) makeUntil(ctx, preparing context.Context, stop func() <-chan struct{}) (*run.Result, error) {
	deps := m.p.deps(m.given, m.keep.path)
	deps.Before = func(r *trace.Run, same func(*plan.Spec) bool) string { return m.keep.store.Before(*r, same) }
	deps.Notes, deps.Machine.Invocation, deps.Leg, deps.Serving = m.notes, m.args, m.leg, m.serving
	sinks := append([]run.Sink{m.keep, m.live}, m.sinks...)
	deps.Tell = func(e run.Event) {
		for _, s := range sinks {
			_ = s.Handle(e)
		}
	}
	deps, err := m.p.fleet.Into(deps, m.spec.Target.Simulated, func(line string) { m.live.Sayf("%s", line) })
	if err != nil {
		return nil, err
	}
	prepared, err := prepare(preparing, m.spec, deps)
	if err != nil {
		return nil, inWords(m.front, err)
	}
	defer prepared.Close()
	defer m.live.End()
	result, err := prepared.Execute(ctx, stop(), sinks...)
	if errors.Is(err, run.ErrStopped) || result == nil && errors.Is(err, context.Canceled) { // one interrupt, or two
		return nil, errInterrupted
	}
	return result, inWords(m.front, err)
}

// prepare is run.Prepare, but leaves it behind where an interrupt does not reach it: a file
// may be a pipe that nobody writes to.
func prepare(ctx context.Context, spec plan.Spec, deps run.Deps) (*run.Prepared, error) {
	type outcome struct {
		*run.Prepared
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		p, err := run.Prepare(ctx, spec, deps)
		done <- outcome{p, err}
	}()
	var left <-chan time.Time
	for interrupted := ctx.Done(); ; {
		select {
		case o := <-done:
			return o.Prepared, o.err
		case <-interrupted:
			interrupted, left = nil, time.After(heed)
		case <-left:
			return nil, context.Cause(ctx)
		}
	}
}

// end says where the run is kept, and sums up what went wrong: in the run, in printing its
// report, or in what the run was required to be.
func (m *making) end(r *run.Result, err, reported error, requireValid bool) error {
	if where := m.keep.where(r.Trace.Run.ID, err); where != "" {
		m.live.Sayf("%s", where)
	}
	var ended error
	if r.Trace.Run.Status == trace.Interrupted {
		ended = errInterrupted
	}
	return errors.Join(reported, err, ended, required(requireValid, r.Summary.Health))
}
