// Package sweep is `pitot sweep`: one server, or the simulated engine, under every combination
// of lists of settings.
package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/sweeps"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Cmd is `pitot sweep`. Its flags with a path are those of `pitot bench`.
type Cmd struct {
	Set     []string `sep:"none" placeholder:"PATH=VALUES" group:"Sweep:" help:"Values of a setting of the plan that has no flag, such as request.sampling.temperature=0,1; without --url also of a field of the profile, such as replicas.count=1..4 or kv.tokens=1x,2x. May be repeated."`
	Link    []string `sep:"none" placeholder:"A,B" group:"Sweep:" help:"Settings whose lists go together, first with first, in place of all combinations. May be repeated."`
	Repeats int      `default:"1" placeholder:"N" group:"Sweep:" help:"Runs of each point, each with seeds of its own; each repetition visits the points in another order (${default})."`
	Devices int      `placeholder:"N" group:"Sweep:" help:"Devices behind the server: its throughput is divided by them, and --cost is of each. Default: 1, but --cost wants them given."`
	Resume  string   `placeholder:"NAME" group:"Sweep:" help:"Make what a sweep of this name lacks; the other flags are those that it began with."`
	Level   float64  `default:"90" placeholder:"PERCENT" group:"Sweep:" help:"Level of the intervals of simulated points, of a profile that pitot calibrate wrote (${default})."`

	Extrapolate bool `group:"Sweep:" help:"Predict loads beyond those that the profile was calibrated from."`

	Format string `short:"f" enum:"text,csv,json" default:"text" placeholder:"FORMAT" group:"Sweep:" help:"What is printed: ${enum} (${default})."`
	Folder string `short:"o" placeholder:"DIR" group:"Sweep:" help:"Folder to write sweep.csv, sweep.json and the plots to. Default: none."`
	Name   string `placeholder:"NAME" group:"Sweep:" help:"Name of the sweep. Default: sweep- and the time."`
	Quiet  bool   `short:"q" group:"Sweep:" help:"Say nothing on the way."`

	flags.Price        `embed:"" group:"Sweep:"`
	flags.Page         `embed:"" group:"Sweep:"`
	flags.ProgressFlag `embed:"" group:"Sweep:"`
	flags.StoreFlag
	Fleet session.Fleet `embed:"" group:"Fleet:"`

	Config          string   `placeholder:"FILE" help:"YAML file of settings, or of a plan; flags override it."`
	SLO             []string `path:"objectives" often:"" name:"slo" placeholder:"LIMITS" help:"Objectives: ttft=200ms,tpot=50ms of each request, which make goodput, ttft.p99=200ms or tpot.mean=40ms of the run; <= goes too, in quotes. Of ttft, tpot, itl, e2el."`
	flags.Target    `embed:"" group:"Target:"`
	flags.Requests  `embed:"" group:"Requests:"`
	flags.Load      `embed:"" group:"Load:"`
	flags.BeforeRun `embed:"" group:"Before the run:"`
	flags.Profile   `embed:"" group:"Embedded engine, used without --url:"`
	Engine          flags.Engine `embed:"" prefix:"engine-" group:"Embedded engine, used without --url:"`

	lists lists
}

// Help explains it.
func (Cmd) Help() string {
	return "Numbers, lengths and times may be lists: 1,2,5, or 1..64x2 for 1, 2, 4 ... 64, or 1..10+3 for 1, 4, 7, 10. " +
		"Each combination is a point, which is measured in turn; without --url the runs are simulated. " +
		"The runs are kept under the name of the sweep.\n\n" +
		"A PATH of --set begins with a setting of the plan, as pitot plan prints it (request, target, load, ...), or with a field of the profile, as pitot profiles show prints it " +
		"(kv, scheduler, replicas, cost, speculative, ...): no name is both. Fields are for simulations, and take factors such as 2x. " +
		"Where the profile has a calibration, points have intervals that hold one new run."
}

// Run measures all points, and shows the curve.
func (c *Cmd) Run(sess *session.Session, k *kong.Context) error {
	p, axes, err := c.plan(sess, k)
	if err == nil {
		err = session.TryFolder(c.Folder, "sweep.csv")
	}
	if err != nil {
		return err
	}
	if simulated(p) && !c.Quiet {
		fmt.Fprintln(sess.Stderr, sess.Word("sweep.simulating"))
	}
	stored, err := c.resumeState(sess, p)
	if err != nil {
		return err
	}
	end, err := sess.JoinFleet(c.Fleet, simulated(p))
	if err != nil {
		return err
	}
	defer end()
	defer ui.ServePage(sess, c.UI, c.Store)()
	ctx, predicted := context.Background(), &prediction{}
	if simulated(p) {
		var release func()
		ctx, release = sess.UntilInterrupt(ctx)
		defer release()
	}
	if err := c.lengthen(ctx, sess, p, stored.durations); err != nil {
		return err
	}
	had, err := c.had(sess, p, stored.runs)
	if err == nil && simulated(p) {
		predicted, err = c.predict(ctx, sess, p)
	}
	if err != nil {
		return err
	}
	d := c.design(p, axes, predicted)
	seen, err := c.run(ctx, sess, k.Args, p, d, had)
	if err != nil && !slices.ContainsFunc(seen, func(o curve.Observation) bool { return o.Run != "" }) {
		if errors.Is(err, search.ErrInterrupted) {
			return session.ErrInterrupted
		}
		return err
	}
	return errors.Join(c.show(sess, d.Sweep(p.Name, seen)), c.unfinished(sess, k, p, err))
}

// design describes the sweep before its runs.
func (c *Cmd) design(p *search.PointLoads, axes []search.Axis, predicted *prediction) curve.Design {
	d := curve.Design{
		Points: p.Points, Repeats: p.Repeats, Devices: c.Devices, Price: c.PerHour(), Objectives: p.Loads[0].Spec.Objectives, Simulated: simulated(p), Lasting: p.Lasting,
		Predicted: predicted.points, Uncalibrated: predicted.uncalibrated, WhatIf: whatIf(axes),
	}
	if d.Load, d.Moves = c.load(axes); d.Predicted != nil {
		d.Level = c.Level / 100
	}
	return d
}

// run makes the runs, and stores their design. The context ends simulations.
func (c *Cmd) run(ctx context.Context, sess *session.Session, args []string, p *search.PointLoads, d curve.Design, had map[search.PointRun]curve.Observation) (seen []curve.Observation, err error) {
	runs, err := sess.OpenStore(c.Store)
	if err != nil {
		return nil, err
	}
	defer runs.Close()
	body, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	record, err := runs.BeginSearch(store.Search{Name: p.Name, Kind: store.Sweep, Started: time.Now(), Command: sess.Masked(args), Body: sess.Secrets.HideJSON(body)})
	if err != nil {
		return nil, err
	}
	seen, err = search.RunSweep(p, had, c.deps(ctx, sess, p), func(err error) bool { return errors.Is(err, session.ErrInterrupted) })
	status := trace.Complete
	if err != nil {
		status = trace.Interrupted
	}
	for _, r := range d.Sweep(p.Name, seen).Rows {
		d.Unsettled = append(d.Unsettled, r.Unsettled)
	}
	if body, wrong := json.Marshal(d); wrong == nil {
		err = errors.Join(err, record.Write(sess.Secrets.HideJSON(body)))
	}
	return seen, errors.Join(err, record.End(status))
}

func whatIf(axes []search.Axis) (fields []string) {
	for _, a := range axes {
		if profile.IsField(a.Name) {
			fields = append(fields, a.Name)
		}
	}
	return fields
}

// simulated reports whether no server is measured.
func simulated(p *search.PointLoads) bool {
	return slices.ContainsFunc(p.Loads, func(l experiment.VariantLoad) bool { return l.Spec.Target.Simulated })
}

// deps make runs of this process. The context ends simulations.
func (c *Cmd) deps(ctx context.Context, sess *session.Session, p *search.PointLoads) search.Deps {
	all, quiet := len(p.Points)*p.Repeats, c.Quiet || simulated(p)
	sayf := func(format string, a ...any) {
		if !quiet {
			fmt.Fprintf(sess.Stderr, format+"\n", a...)
		}
	}
	make := func(l experiment.VariantLoad, leg trace.Leg) (*run.Result, error) {
		made, err := sess.Make(l, session.Options{Store: c.Store, Quiet: quiet, Leg: &leg, Progress: live.Mode(c.Progress)})
		return made.Result, err
	}
	atOnce := 1
	if simulated(p) { // while one writes to the store, another computes
		make, atOnce = c.makeSimulations(ctx, sess), 2*runtime.GOMAXPROCS(0)
	}
	return search.Deps{
		Make: make, AtOnce: atOnce,
		Begins: func(n int, t search.PointRun) {
			sayf("%s", sess.Word("stage.run", "run", n, "of", all, "what", p.Points[t.Point].String()))
		},
		Ended: func(t search.PointRun, o curve.Observation) {
			if !o.Failed.IsZero() {
				sayf("pitot: %s: %s", p.Points[t.Point], sess.Say(o.Failed))
			}
		},
	}
}

// makeSimulations makes simulations, several at a time, until the context ends.
func (c *Cmd) makeSimulations(ctx context.Context, sess *session.Session) func(experiment.VariantLoad, trace.Leg) (*run.Result, error) {
	return func(l experiment.VariantLoad, leg trace.Leg) (*run.Result, error) {
		ends := &session.Ends{Run: context.Background(), Preparing: ctx, Stop: ctx.Done()}
		made, err := sess.Make(l, session.Options{Store: c.Store, Quiet: true, Leg: &leg, Ends: ends})
		return made.Result, err
	}
}

// unfinished says how to go on with a sweep that did not come to its end.
func (c *Cmd) unfinished(sess *session.Session, k *kong.Context, p *search.PointLoads, err error) error {
	if err == nil {
		return nil
	}
	args := slices.Clone(k.Args)
	if c.Resume == "" {
		args = append(args, "--resume", p.Name)
	}
	fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("stage.kept-all", "command", "pitot "+sess.Secrets.Hide(shell.Join(args))))
	if errors.Is(err, search.ErrInterrupted) {
		return session.ErrInterrupted
	}
	return err
}

// show prints the sweep, and writes its files.
func (c *Cmd) show(sess *session.Session, s curve.Sweep) error {
	forms := map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return sweeps.Text(w, s, sess.Words()) },
		"csv":  func(w io.Writer) error { return sweeps.CSV(w, s) },
		"json": func(w io.Writer) error { return sweeps.JSON(w, s, words.In(words.Default)) },
	}
	err := forms[c.Format](sess.Stdout)
	if c.Folder == "" {
		return err
	}
	all := []sweeps.Plot{{File: "sweep.csv", Draw: forms["csv"]}, {File: "sweep.json", Draw: forms["json"]}}
	under := c.subtitle(sess, s)
	for _, p := range sweeps.Plots(s, sess.Words()) {
		all = append(all, sweeps.Plot{File: p.File, Draw: func(w io.Writer) error { return p.Draw(plot.Subtitled{Writer: w, Text: under}) }})
	}
	return errors.Join(err, sweeps.WriteFiles(all, func(name string, write func(io.Writer) error) error {
		return session.WriteFile("--folder", filepath.Join(c.Folder, name), write)
	}))
}

// subtitle is that of the plots; a run that cannot be read has no part in it.
func (c *Cmd) subtitle(sess *session.Session, s curve.Sweep) string {
	var all []trace.Run
	_ = sess.With(c.Store, func(runs *store.Store) error {
		for _, row := range s.Rows {
			if len(row.Runs) == 0 {
				continue
			}
			if r, err := runs.Run(row.Runs[0]); err == nil {
				all = append(all, trace.Run{Started: r.Started, Plan: r.Plan})
			}
		}
		return nil
	})
	return sweeps.Subtitle(all, sess.Words())
}

func (c *Cmd) name() (string, error) {
	switch {
	case c.Resume != "" && c.Name != "" && c.Name != c.Resume:
		return "", session.Usagef("--name: does not go with --resume, which names the sweep")
	case c.Resume != "":
		return c.Resume, nil
	case c.Name != "":
		return c.Name, nil
	}
	return "sweep-" + time.Now().Format("20060102-150405.000"), nil
}

// load is the setting that orders the points of a curve: a limit on concurrency, else a rate.
// moves are those that are linked with it.
func (c *Cmd) load(axes []search.Axis) (load string, moves []string) {
	for _, name := range search.Loads() {
		if slices.ContainsFunc(axes, func(a search.Axis) bool { return a.Name == name }) {
			load = name
			break
		}
	}
	if load == "" {
		return "", nil
	}
	for _, link := range c.links() {
		if slices.Contains(link, load) {
			moves = append(moves, link...)
		}
	}
	return load, moves
}

func (c *Cmd) links() (all [][]string) {
	for _, text := range c.Link {
		var names []string
		for name := range strings.SplitSeq(text, ",") {
			names = append(names, strings.TrimPrefix(strings.TrimSpace(name), "--"))
		}
		all = append(all, names)
	}
	return all
}
