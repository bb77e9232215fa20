package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// benchCmd is `pitot bench`.
type benchCmd struct{ flags.Bench }

func (c *benchCmd) compile(sess *session.Session, k *kong.Context) (*compiled, error) {
	made, err := ownCompiled(sess, c.draft(sess, k))
	if err == nil {
		made.fleet = c.Fleet
	}
	return made, err
}

func (c *benchCmd) draft(sess *session.Session, k *kong.Context) *pitot.Draft {
	return draftOf(sess, k, c.Config, false)
}

func (c *benchCmd) Run(sess *session.Session, k *kong.Context) error {
	release := func() {}
	defer func() { release() }()
	listeners := []listener{func(*session.View) run.Sink { // once the command line is known to be right
		release = ui.ServePage(sess, c.UI, c.Store)
		return nil
	}}
	if c.MetricsAddr == "" {
		return makeAndReport(sess, k, c, &c.Results, listeners...)
	}
	x, err := listenMetrics(c.MetricsAddr, sess.Listen)
	if err != nil {
		return usagef("--metrics-addr: %w; give an address such as 127.0.0.1:9464", err)
	}
	listeners = append(listeners, func(*session.View) run.Sink { return x })
	return errors.Join(makeAndReport(sess, k, c, &c.Results, listeners...), x.Close())
}

// A listener makes a sink for runs with a view; nil: none.
type listener func(*session.View) run.Sink

// simCmd is `pitot sim`: `pitot bench` with its embedded engine, in virtual time and without HTTP.
type simCmd struct{ flags.Sim }

func (c *simCmd) compile(sess *session.Session, k *kong.Context) (*compiled, error) {
	return ownCompiled(sess, c.draft(sess, k))
}

func (c *simCmd) draft(sess *session.Session, k *kong.Context) *pitot.Draft {
	return draftOf(sess, k, c.Config, true)
}

func (c *simCmd) Run(sess *session.Session, k *kong.Context) error {
	return makeAndReport(sess, k, c, &c.Results)
}

// bareEngineFlags gives the engine's flags of `pitot sim` the names that they have in
// `pitot serve`, where those are not taken; the names of `pitot bench` go on working.
// Those that have no meaning in virtual time are not shown.
func bareEngineFlags(k *kong.Kong) error {
	node := flags.Command(k.Model.Node, "sim")
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

// replayTakesRuns sets the help of --replay for `pitot predict`.
func replayTakesRuns(k *kong.Kong) error {
	node := flags.Command(k.Model.Node, "predict")
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
	compile(*session.Session, *kong.Context) (*compiled, error)
}

// A compiled command line is a load, and the fleet that sends it.
type compiled struct {
	tool.Compiled
	fleet session.Fleet
}

// draftOf is the draft of a command line of Pitot's own.
func draftOf(sess *session.Session, k *kong.Context, config string, simulated bool) *pitot.Draft {
	check := func(s plan.Spec) plan.Problems { return run.Check(s, session.Kinds()) }
	return pitot.NewDraft(k, pitot.Options{Config: config, Simulated: simulated, Read: sess.ReadSettings, Check: check})
}

// ownCompiled compiles a command line of Pitot's own.
func ownCompiled(sess *session.Session, d *pitot.Draft) (*compiled, error) {
	c, err := d.Compile()
	if err != nil {
		return nil, usage(err)
	}
	return &compiled{Compiled: tool.Compiled{Spec: c.Spec, Front: c, Given: c.Given, Args: pitot.MaskedArgs(sess.Args)}}, nil
}

// makeAndReport makes runs of Pitot's own command line, and prints their reports. The sinks of listeners receive the
// events, besides the store and the view.
func makeAndReport(sess *session.Session, k *kong.Context, own maker, o *flags.Results, listeners ...listener) error {
	c, err := own.compile(sess, k)
	limits, wrongLimits := comparing.Gates(o.FailIf, compare.ParseThreshold)
	wrong := errors.Join(checkReports(o), wrongLimits, usage(o.Check()))
	if err == nil { // all in one go
		err = usage(c.Front.Explain(run.Check(c.Spec, session.Kinds())))
	}
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	b := batch{sess: sess, o: o, view: sess.NewView(session.ViewOptions{Quiet: o.Quiet, Progress: live.Mode(o.Progress)}), limits: limits}
	line, err := c.Front.(*pitot.Compiled).Begin(&c.Spec)
	if err != nil {
		return usage(err)
	}
	b.view.Opening = sync.OnceFunc(func() {
		if text := sess.Say(line); text != "" && !o.Quiet {
			b.view.Console.Print(text)
		}
	})
	end, err := sess.JoinFleet(c.fleet, c.Spec.Target.Simulated)
	if err != nil {
		return err
	}
	defer end()
	for _, of := range listeners {
		if sink := of(b.view); sink != nil {
			b.sinks = append(b.sinks, sink)
		}
	}
	specs := repeatSpecs(c.Spec, o.Repeat, o.SameSeed)
	for i := 0; i < len(specs) && err == nil; i++ {
		one := *c
		one.Spec = specs[i]
		if len(specs) > 1 {
			b.view.Print(sess.Word("stage.run-seed", "run", i+1, "of", len(specs), "seed", strconv.FormatUint(one.Spec.Seed, 10)))
		}
		err = b.make(&one)
	}
	return errors.Join(err, b.invalid, verdictOf(b.judged))
}

// A batch is the runs of one command line.
type batch struct {
	sess   *session.Session
	o      *flags.Results
	view   *session.View
	limits []compare.Gate
	sinks  []run.Sink

	made    int
	invalid error // of the first that is not as --require-valid wants it
	judged  []compare.GateResult
}

// make makes one run, reports it, and holds it to its thresholds.
func (b *batch) make(c *compiled) error {
	sess, o, tools := b.sess, b.o, slices.ContainsFunc(b.o.Report, func(n string) bool { return n != "pitot" && n != "json" })
	made, err := sess.Make(experiment.VariantLoad{Compiled: c.Compiled}, session.Options{Store: o.Store, View: b.view, Sinks: b.sinks, Apart: !tools})
	if made.Result == nil {
		return err
	}
	result := made.Result
	result.Summary.Cost = metrics.CostOf(result.Summary, o.PerHour(), o.Devices)
	if b.made++; b.made > 1 {
		fmt.Fprintln(sess.Stdout)
	}
	printed := printReports(sess, result.Trace, result.Summary, o.Report, o.Form, o.All)
	if !slices.Contains(o.Report, "pitot") {
		printHealth(sess, result.Summary.Health)
	}
	judged := compare.JudgeRun(b.limits, result.Trace.Run, result.Summary.Figures())
	for _, g := range judged {
		fmt.Fprintln(sess.Stderr, comparison.GateLine(g, sess.Words()))
	}
	b.judged = append(b.judged, judged...)
	if b.invalid == nil {
		b.invalid = checkValid(o.RequireValid, result.Summary.Health)
	}
	return ended(b.view, made, err, errors.Join(printed, inWords(c.Front, result.Unanswered())), false)
}

// ended says where a run is stored, and sums up what went wrong: in the run, in printing its report, or in what the
// run was required to be.
func ended(view *session.View, made session.Made, err, reported error, requireValid bool) error {
	view.Print(made.StoredHint)
	var interrupted error
	if made.Trace.Run.Status == trace.Interrupted {
		interrupted = errInterrupted
	}
	return errors.Join(reported, err, interrupted, checkValid(requireValid, made.Summary.Health))
}
