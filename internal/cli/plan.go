package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/tool"
)

// planCmd is `pitot plan`.
type planCmd struct {
	What []string `arg:"" optional:"" placeholder:"RUN|FILE|-- COMMAND" help:"A stored run, a file of a plan or of settings, or -- and a command line."`
	flags.StoreFlag
}

// Help shows the three forms.
func (planCmd) Help() string {
	return "The plan of a run is all that it takes to make it again, secrets aside. It is printed as YAML, which `pitot bench --config` takes; what it would send stands above it in comments. Nothing is sent, and nothing is downloaded."
}

func (c *planCmd) Run(sess *session.Session) error {
	e, explain, err := c.experiment(sess)
	if err != nil {
		return err
	}
	if e != nil {
		return planExperiment(sess, e, explain, c.Store)
	}
	made, err := c.plan(sess)
	if err != nil {
		return err
	}
	home := sess.Offline()
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	f, err := run.Preview(ctx, made.Spec, home.Deps(made.Given, filepath.Join(os.TempDir(), "pitot")))
	if err != nil {
		return inWords(made.Front, err)
	}
	text, err := f.Spec.YAML()
	if err != nil {
		return err
	}
	writeForecast(sess.Stdout, f, sess.Words())
	_, err = sess.Stdout.Write(text)
	return err
}

// experiment is the experiment that the arguments name: a file of one, or the command line of
// `pitot ab`; nil if they name a run.
func (c *planCmd) experiment(sess *session.Session) (*design.Experiment, func(plan.Problems) error, error) {
	if slices.Contains(sess.Args, "--") {
		if len(c.What) > 0 && c.What[0] == "ab" {
			return planOfAB(sess, c.What)
		}
		return nil, nil, nil
	}
	if len(c.What) != 1 || !isExperiment(c.What[0]) {
		return nil, nil, nil
	}
	e, doc, err := readExperiment(sess, c.What[0])
	if err != nil {
		return nil, nil, err
	}
	return e, explainedBy(doc), nil
}

// isExperiment reports whether a file has an experiment. Anything else may be the name of a run, and planning the
// run reports mistakes.
func isExperiment(file string) bool {
	data, err := files.ReadSmall(file)
	if err != nil {
		return false
	}
	doc, err := plan.Parse(file, data)
	return err == nil && design.Is(doc)
}

// planOfAB is the experiment of a command line of `pitot ab`.
func planOfAB(sess *session.Session, args []string) (*design.Experiment, func(plan.Problems) error, error) {
	var g grammar
	parser, exited, err := newParser(sess, &g)
	if err != nil {
		return nil, nil, err
	}
	own := *sess
	own.Args = args
	if !slices.Contains(args, "--") { // the parser takes the first one away
		at := slices.Index(sess.Args, "--")
		own.Args = sess.Args[at+1:]
	}
	if _, _, err := parse(parser, own.Args); err != nil {
		return nil, nil, err
	}
	if *exited {
		return nil, nil, usagef("remove --help: pitot plan takes a command line that measures")
	}
	return g.AB.experiment(&own)
}

func (c *planCmd) plan(sess *session.Session) (*compiled, error) {
	if len(c.What) == 0 {
		return nil, usagef("name a run, a file, or a command behind --, as in pitot plan -- bench --rate 5")
	}
	one := c.What[0]
	if i := slices.Index(sess.Args, "--"); i >= 0 {
		return planOf(sess, c.What)
	}
	if len(c.What) > 1 {
		return nil, usagef("one run or file at a time; a command line stands behind --, as in pitot plan -- %s", strings.Join(c.What, " "))
	}
	if info, err := os.Stat(one); err == nil && !info.IsDir() {
		return planOf(sess, []string{"bench", "--config", one})
	}
	t, err := runArg{one, c.StoreFlag}.load(sess)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Run.Plan.Spec != nil:
		return &compiled{Compiled: tool.Compiled{Spec: *t.Run.Plan.Spec, Front: plan.ByPath{}, Given: map[string]string{}}}, nil
	case t.Run.Origin != nil:
		return nil, usagef("run %s was imported from %s: only runs of Pitot have a plan", t.Run.ID, t.Run.Origin.Tool)
	}
	return nil, usagef("run %s has no plan", t.Run.ID)
}

// planOf is the plan of a command line.
func planOf(sess *session.Session, args []string) (*compiled, error) {
	if args[0] == "pitot" {
		args = args[1:]
	}
	k, err := parseMeasuring(sess, args)
	if err != nil {
		return nil, err
	}
	m, ok := k.Selected().Target.Addr().Interface().(maker)
	if !ok {
		return nil, usagef("`%s` makes no run; use bench, sim, vllm, sglang or python", strings.Join(args, " "))
	}
	return m.compile(sess, k)
}

// parseMeasuring parses a command line within another one.
func parseMeasuring(sess *session.Session, args []string) (*kong.Context, error) {
	var g grammar
	parser, exited, err := newParser(sess, onlyCommand(&g, args))
	if err != nil {
		return nil, err
	}
	k, _, err := parse(parser, args)
	if err == nil && *exited {
		err = usagef("remove --help: pitot plan takes a command line that measures")
	}
	return k, err
}

// writeForecast describes the requests, in comments.
func writeForecast(w io.Writer, f *run.Forecast, l *words.Language) {
	line := func(name, text string) { fmt.Fprintf(w, "# %s %s\n", doc.PadRight(name, 9), text) }
	line(l.Word("shown.target"), targetOf(&f.Spec, l))
	if !f.Workload.IsZero() {
		line(l.Word("shown.load"), l.Say(f.Workload))
		line(l.Word("forecast.arrivals"), l.Say(f.Arrival))
		line(l.Word("forecast.requests"), l.Word("forecast.count", "requests", f.Requests, "conversations", f.Conversations, "most", f.Spec.Duration > 0 && f.Spec.Gate.Concurrency > 0))
		answers := l.Word("forecast.out", "tokens", f.Output, "most", !f.Spec.Request.IgnoreEOS)
		if f.Open > 0 {
			answers = l.Word("forecast.open", "answers", f.Open)
		}
		line(l.Word("forecast.tokens"), l.Word("forecast.in", "tokens", f.Input, "answers", answers))
		if d := f.Spec.Duration; d > 0 {
			line(l.Word("forecast.sending"), l.Word("forecast.sent-for", "time", d.Std()))
		}
		line(l.Word("forecast.duration"), l.Word("forecast.least", "time", f.Duration.Round(time.Millisecond)))
	}
	for _, name := range f.Files {
		line(l.Word("forecast.file"), plain.Line(name))
	}
	for _, n := range f.Notes {
		line(l.Word("shown.note"), l.Say(n))
	}
	for _, u := range f.Unknown {
		line(l.Word("forecast.unknown"), l.Say(u))
	}
}

func targetOf(s *plan.Spec, l *words.Language) string {
	switch {
	case s.Target.Simulated:
		return l.Word("forecast.simulated")
	case s.Target.URL == "":
		return l.Word("forecast.embedded")
	}
	return s.Target.URL + cmp.Or(s.Target.Route, "")
}

// planExperiment prints what an experiment would do, and which changes it could detect by the noise of stored
// experiments.
func planExperiment(sess *session.Session, e *design.Experiment, explain func(plan.Problems) error, file string) error {
	made, err := prepareExperiment(sess, e, explain)
	if err != nil {
		return err
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	runs, err := forecasts(ctx, sess, made)
	if err != nil {
		return err
	}
	before, err := allJournals(sess, file)
	if err != nil {
		return err
	}
	return comparing.Plan(sess.Stdout, made, experiment.Preview(made, machine.Here().Host, runs, before), sess.Words())
}

// forecasts looks into the workloads of the baseline, without a server.
func forecasts(
	ctx context.Context, sess *session.Session, made *experiment.CheckedExperiment,
) (all []*run.Forecast, err error) {
	home := sess.Offline()
	for i, l := range made.Loads[0] {
		f, err := run.Preview(ctx, l.Spec, home.Deps(l.Given, filepath.Join(os.TempDir(), "pitot")))
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", made.Workloads[i].Name, inWords(l.Front, err))
		}
		all = append(all, f)
	}
	return all, nil
}

// allJournals are those of the store, the newest first; none if there is no store yet.
func allJournals(sess *session.Session, file string) (all []*experiment.Journal, err error) {
	path, err := sess.StorePath(file)
	if err != nil || file == "" && !files.Exists(path) {
		return nil, err
	}
	err = sess.With(file, func(s *store.Store) error {
		rows, err := s.Experiments()
		for _, row := range rows {
			if j, err := session.ReadJournal(row); err == nil { // `pitot experiment status` reports damage
				all = append(all, j)
			}
		}
		return err
	})
	return all, err
}
