package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// An experimentRunner carries out an experiment with this process and a store.
type experimentRunner struct {
	*experimentFlags
	sess     *session.Session
	store    *store.Store
	plan     *experiment.CheckedExperiment
	journal  *experiment.Journal
	options  compare.Options
	view     *session.View
	observed map[string]*compare.ComparedRun // by id
	changed  time.Time                       // when the journal was stored
}

// carryOut makes the legs that a journal lacks, and reports the outcome.
func (c *experimentFlags) carryOut(sess *session.Session, s *store.Store, made *experiment.CheckedExperiment, j *experiment.Journal, changed time.Time) error {
	view := sess.NewView(session.ViewOptions{Quiet: c.Quiet, Progress: live.Mode(c.Progress), Brief: true})
	say := &comparing.View{Print: view.Print, Draw: view.Draw, Lang: sess.Words()}
	view.Whole = say.Whole
	x := &experimentRunner{experimentFlags: c, sess: sess, store: s, plan: made, journal: j, view: view, observed: map[string]*compare.ComparedRun{}, changed: changed}
	var err error
	if x.options, err = optionsOf(made.Experiment); err != nil {
		return err
	}
	defer ui.ServePage(sess, c.UI, c.Store)()
	if !c.Quiet && c.Fleet.Words() == nil && comparing.Measures(made) {
		comparing.WarnBusy(sess)
		comparing.WarnDrawn(sess, made)
	}
	ctx, stop, release := watchTwice(sess, func() {
		view.Print(sess.Word("stage.interrupted-server"))
	})
	out, err := experiment.Run(ctx, stop, made, j, x.deps(say.Handle))
	release() // there is no server any more
	view.End()
	if err != nil {
		return x.unfinished(err)
	}
	return x.report(out)
}

func optionsOf(e *design.Experiment) (o compare.Options, err error) {
	o = compare.Options{Level: float64(e.Level), Margin: float64(e.Margin), Baseline: e.Baseline, Rules: rules(), Same: e.Same(), Order: comparing.OrderOf(e), NoAnswers: e.Answers == design.NoAnswers, NotWorse: float64(e.NotWorse)}
	o.Gates, err = comparing.Gates(e.FailIf, compare.ParseGate)
	return o, err
}

// watchTwice calls say and closes the channel at the first interrupt; the second cancels the context.
func watchTwice(sess *session.Session, say func()) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	go func() {
		for _, next := range []func(){func() { say(); close(stop) }, cancel} {
			select {
			case <-sess.Signals:
				next()
			case <-ctx.Done():
				return
			}
		}
		for { // further ones must not end the process before its servers
			select {
			case <-sess.Signals:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, stop, cancel
}

func (x *experimentRunner) deps(handle func(experiment.Event)) experiment.Deps {
	return experiment.Deps{
		Measure: x.measure, Start: x.start, Keep: x.keep, Observed: x.observe, Void: x.void, OnEvent: handle, Now: time.Now, Space: x.space, Log: func(l *experiment.Leg) string { return comparing.LogFile(x.journal, l) }, Port: x.freePort, Options: x.options,
	}
}

func (x *experimentRunner) measure(ctx context.Context, stop <-chan struct{}, l experiment.VariantLoad, leg trace.Leg) (*run.Result, error) {
	preparing, release := context.WithCancelCause(ctx)
	defer release(nil)
	go func() {
		select {
		case <-stop:
			release(errInterrupted)
		case <-preparing.Done():
		}
	}()
	made, err := x.sess.Make(l, session.Options{Store: x.Store, View: x.view, Leg: &leg, Ends: &session.Ends{Run: ctx, Preparing: preparing, Stop: stop}})
	return made.Result, err
}

// keep stores the journal, unless another process has changed the stored one.
func (x *experimentRunner) keep(j *experiment.Journal) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	changed, err := x.store.UpdateExperiment(store.Experiment{Name: j.Name, Status: string(j.Status), Body: x.sess.Secrets.HideJSON(body), Changed: x.changed})
	if err == nil {
		x.changed = changed
	}
	return err
}

// void marks the runs of a leg as no evidence, one among them that a process which was killed
// has left.
func (x *experimentRunner) void(l *experiment.Leg) error {
	all, err := x.store.List(store.Filter{Experiment: x.journal.Name, Since: x.journal.Started})
	errs := []error{err}
	for _, listed := range all {
		if listed.Leg == nil || listed.Leg.Position != l.Position {
			continue
		}
		made, err := x.store.Run(listed.ID)
		if err != nil || made.Leg == nil || !made.Leg.Void.IsZero() { // a run that cannot be read is judged by nobody
			continue
		}
		if made.Leg.Void = l.Why; made.Status != trace.Complete {
			made.Status = trace.Interrupted
		}
		errs = append(errs, x.store.Update(made))
	}
	return errors.Join(errs...)
}

// observe are the runs of legs, to be judged.
func (x *experimentRunner) observe(legs []*experiment.Leg) (out []compare.ComparedRun, err error) {
	for _, l := range legs {
		for _, made := range l.Runs {
			if x.observed[made.ID] == nil {
				t, err := x.store.Load(made.ID)
				if err != nil {
					return nil, err
				}
				r := compare.Observe(x.sess.ReportSkipped(t), compare.Needed([]trace.Run{t.Run}, x.options), x.options.Rules)
				x.observed[made.ID] = &r
			}
			out = append(out, *x.observed[made.ID])
		}
	}
	return out, nil
}

// space is an error if there is too little of it for another leg, in the folder of the experiment or where the
// store is. An unknown amount is no reason to stop.
func (x *experimentRunner) space() error {
	path, err := x.sess.StorePath(x.Store)
	if err != nil {
		return err
	}
	for _, folder := range []string{x.journal.Folder, filepath.Dir(path)} {
		if free, err := files.Free(folder); err == nil && free < experiment.LegSpace {
			return &experiment.SpaceError{Folder: folder, Free: free}
		}
	}
	return nil
}

// unfinished says how to go on with an experiment that did not end.
func (x *experimentRunner) unfinished(err error) error {
	if errors.Is(err, store.ErrExperimentChanged) {
		return fmt.Errorf("experiment %s: %w; see `pitot experiment status %s`", x.journal.Name, store.ErrExperimentChanged, shell.Quote(x.journal.Name))
	}
	again := x.sess.Word("experiment.kept", "name", x.journal.Name, "command", "pitot experiment resume "+shell.Quote(x.journal.Name)+x.storeFlag()+x.fleetFlags())
	var lost *experiment.LostError
	if !errors.As(err, &lost) {
		x.view.Print(again)
		if errors.Is(err, experiment.ErrInterrupted) {
			return errInterrupted
		}
		return err
	}
	errs := []error{comparing.Ending(x.sess.Stdout, x.journal, x.sess.Words(), x.All)}
	x.view.Print(again)
	e := comparing.NoVerdict(x.plan.Missing(x.journal), x.journal, lost)
	return errors.Join(append(errs, x.WriteNone(e, x.sess.Words()), comparing.NoVerdictError(e, x.sess.Words()))...)
}

func (x *experimentRunner) storeFlag() string {
	if x.Store == "" {
		return ""
	}
	return " --store " + shell.Quote(x.Store)
}

func (x *experimentRunner) fleetFlags() string {
	words := x.Fleet.Words()
	if words == nil {
		return ""
	}
	return " " + shell.Join(words)
}

// join has a fleet send the requests of all runs, if one is named.
func (c *experimentFlags) join(sess *session.Session, made *experiment.CheckedExperiment) (end func(), err error) {
	simulated := slices.ContainsFunc(slices.Concat(made.Loads...), func(l experiment.VariantLoad) bool { return l.Spec.Target.Simulated })
	return sess.JoinFleet(c.Fleet, simulated)
}

// report writes the lab note, and the outcome of the experiment: the last line is the verdict.
func (x *experimentRunner) report(out *experiment.Outcome) error {
	lang := x.sess.Words()
	note := noteCmd{
		Output: filepath.Join(x.journal.Folder, "note.md"), Force: true, Title: x.plan.Name, Table: "vllm",
		variants: variants{Runs: []string{x.plan.Name}, Level: "95%", Margin: "2%", StoreFlag: x.StoreFlag},
	}
	plots, err := note.write(x.sess)
	errs := []error{err}
	errs = append(errs, comparing.PrintOutcome(x.sess, x.journal, out, x.plan.Same(), x.All))
	if err == nil {
		fmt.Fprintln(x.sess.Stdout, lang.Word("experiment.next-note", "note", plain.Line(session.FromHere(note.Output)), "plots", plots))
	}
	fmt.Fprintln(x.sess.Stdout, lang.Word("experiment.next-all", "notes", comparison.Further(out.Whole()), "command", "pitot compare "+shell.Quote(x.plan.Name)+x.storeFlag()))
	fmt.Fprintln(x.sess.Stdout, comparison.Closing(out.Whole(), lang))
	x.Made, _ = comparing.ExperimentOf(comparison.Note{Comparison: out.Comparison, Lang: lang}, x.journal) // a summary does without
	return errors.Join(append(errs, x.Write(out.Comparison, lang), verdictOf(out.Comparison.Gates))...)
}
