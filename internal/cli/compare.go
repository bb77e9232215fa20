package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
)

// compareCmd is `pitot compare`.
type compareCmd struct {
	FailIf []string `name:"fail-if" sep:"none" placeholder:"GATE" help:"Exit with 3 if this holds for a change, such as 'ttft.mean > +2%', or for a value, such as 'itl.p99 > 80ms'; with 4 if the data cannot tell. May be repeated."`
	Format string   `short:"f" enum:"text,markdown,json,csv,html" default:"text" placeholder:"FORMAT" help:"text, markdown, json, csv or html (${default})."`
	Output string   `short:"o" placeholder:"FILE" help:"File to write. Default: standard output."`
	All    bool     `help:"Also show settings that all runs share, and percentiles below the P99."`
	comparing.Outputs
	variants

	advice []string // what comparison is worth making, after an A/A experiment
}

// variants are the flags for the runs to compare, and how.
type variants struct {
	Runs       []string      `arg:"" optional:"" help:"${picks}"`
	Baseline   string        `placeholder:"NAME" help:"Variant to compare the others with. Default: the one named like baseline, before or w/o …, else the first."`
	Variant    []string      `sep:"," placeholder:"NAME=LINE" help:"Name of the variant of a note's table, by the line where it begins: before=3,after=30. Default: by headings and labels."`
	Load       []string      `sep:"," placeholder:"NAME=LINE" help:"Name of the load of a note's table, in the same form."`
	Level      string        `default:"95%" placeholder:"P" help:"Confidence level of intervals and tests (${default})."`
	Margin     string        `default:"2%" placeholder:"P" help:"Differences below this do not matter (${default})."`
	Paired     bool          `help:"Compare runs in pairs, in the order of their start. This removes the variance between requests if both runs of a pair sent the same ones."`
	SingleRuns bool          `help:"Base verdicts and gates on the variance within single runs, which does not include the variance between runs."`
	Predicted  bool          `help:"Compare simulated runs with measured ones. The report says which were never measured."`
	Ignore     []string      `placeholder:"SETTING" help:"Setting of the load that may differ within a table, such as concurrency; may be repeated."`
	Answers    string        `enum:"on,off" default:"on" placeholder:"WHETHER" help:"Whether answers changed is judged, too: on or off (${default})."`
	NotWorse   design.Points `placeholder:"POINTS" help:"Loss of accuracy that is accepted, in points, such as 1pt: accuracy is then shown to be not worse, or that is not known."`
	By         string        `placeholder:"TOOL" help:"Tool whose definitions to use: pitot, vllm or sglang. Default: pitot, or the tool of imported tables."`
	flags.StoreFlag

	notes map[string]*trace.Note // the texts that runs stand in; nil: they are not read
}

func (c compareCmd) Run(sess *session.Session) (err error) {
	c.Asked = c.FailIf
	defer func() { err = c.Settle(sess, err, otherErrors) }()
	o, err := c.options("compare")
	if err != nil {
		return err
	}
	if o.Gates, err = comparing.Gates(c.FailIf, compare.ParseGate); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	if c.Format == "html" {
		c.notes = map[string]*trace.Note{}
	}
	result, err := c.compare(sess, o, nil)
	if errors.Is(err, compare.ErrAllVoid) {
		return comparing.NoVerdictError(metrics.Explanation{Causes: []plan.Message{plan.Text(err.Error())}}, sess.Words())
	}
	if err != nil {
		return err
	}
	if why := result.WhyNothingCompared(); !why.IsZero() {
		return usage(errors.New(sess.Say(why)))
	}
	if result.SameVariants() {
		c.advice = c.adviceOn(sess, result, sess.Words())
	}
	if c.Output == "" {
		err = c.write(map[bool]io.Writer{true: sess.Stdout, false: sess.RawStdout}[c.Format == "text" || c.Format == "json"], result, sess, false)
	} else {
		err = session.WriteFile("--output", c.Output, func(w io.Writer) error { return c.write(w, result, sess, true) })
	}
	return errors.Join(err, c.Write(result, sess.Words()), verdictOf(result.Gates))
}

// write gives the comparison its form, for the terminal of a session or for a file.
func (c compareCmd) write(w io.Writer, result compare.Comparison, sess *session.Session, file bool) error {
	o := comparison.Options{All: c.All, Lang: sess.Words(), Advice: c.advice}
	switch c.Format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(result)
	case "csv":
		return comparison.CSV(w, result)
	case "html":
		o.Note = func(id string) *trace.Note { return c.notes[id] }
		return comparison.HTML(w, result, o)
	case "markdown":
		return comparison.Markdown(w, result, o)
	}
	if !file && sess.Columns != nil {
		o.Width, o.Color = sess.Columns(), sess.Colors()
	}
	return comparison.Text(w, result, o)
}

func (v variants) options(command string) (compare.Options, error) {
	level, errLevel := comparing.Percent("--level", v.Level)
	margin, errMargin := comparing.Percent("--margin", v.Margin)
	o := compare.Options{
		Level: level, Margin: margin, Baseline: v.Baseline, Paired: v.Paired, SingleRuns: v.SingleRuns, Predicted: v.Predicted, Ignore: v.Ignore, Tool: v.By, Rules: rules(), NoAnswers: v.Answers == "off", NotWorse: float64(v.NotWorse),
	}
	if err := errors.Join(session.RequireArgs("run", command, v.Runs), errLevel, errMargin); err != nil {
		return o, err
	}
	if v.By != "" && v.By != "pitot" && toolNamed(v.By).Definitions.Figures == nil {
		return o, usagef("--by %q: must be pitot, vllm or sglang", v.By)
	}
	if level < 0.5 || level > 0.999 {
		return o, usagef("--level %s: must be from 50%% to 99.9%%", v.Level)
	}
	return o, nil
}

// compare finds the runs and compares them. Traces are read one at a time; see, if
// there is one, is shown each.
func (v variants) compare(sess *session.Session, o compare.Options, see func(*trace.Trace)) (c compare.Comparison, err error) {
	k := sess.NewPicker(v.Store)
	k.Notes = v.notes
	defer func() { err = errors.Join(err, k.Close()) }()
	picks, err := k.Pick(v.Runs)
	if err != nil {
		return c, err
	}
	if err := comparing.NameTables(picks, v.Variant, v.Load); err != nil {
		return c, err
	}
	o.Baseline = session.LabelOf(picks, o.Baseline)
	if runs := k.Runs(); runs != nil {
		o.Past = comparing.Past(runs)
	}
	if len(k.Journals()) == 1 && len(v.Runs) == 1 {
		if o, err = comparing.AsExperiment(o, k.Journals()[0]); err != nil {
			return c, err
		}
		if why := comparing.NoEvidence(k.Journals()[0], o.Order, o.Baseline); !why.IsZero() {
			return c, errors.New(sess.Say(why))
		}
	}
	c, err = comparing.Compare(picks, o, func(one session.Pick, by []compare.RuleSource) (seen compare.ComparedRun, err error) {
		if one.Store != nil && see == nil {
			return comparing.Observe(one.Store, one.Run, by, o.Rules, sess.ReportSkipped)
		}
		_, err = one.Observed(func(t *trace.Trace) {
			if see != nil {
				see(t)
			}
			seen = compare.Observe(t, by, o.Rules)
		})
		return seen, err
	})
	return c, usage(comparing.ByFlag(err))
}

// verdictOf is the error for gates that did not pass.
func verdictOf(results []compare.GateResult) error {
	var e session.GateError
	for _, r := range results {
		switch r.Outcome {
		case compare.Fail:
			e.Failed++
		case compare.Inconclusive:
			e.Inconclusive++
		case compare.Pass:
		}
	}
	if e.Failed+e.Inconclusive == 0 {
		return nil
	}
	return e
}

// experimentNamed is the experiment of that name; nil if there is none.
func experimentNamed(sess *session.Session, name, file string) (j *experiment.Journal) {
	_ = sess.With(file, func(s *store.Store) (err error) { // finding a run reports the error
		row, err := s.Experiment(name)
		if err == nil {
			j, err = session.ReadJournal(row)
		}
		return err
	})
	return j
}

// reportExperiment writes the state of an experiment and, where it has legs to judge, its outcome.
func reportExperiment(sess *session.Session, j *experiment.Journal, dialect string, in flags.StoreFlag) error {
	if dialect == "json" {
		enc := json.NewEncoder(sess.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(j)
	}
	if cmp.Or(dialect, "pitot") != "pitot" {
		return usagef("%s is an experiment; --dialect %s reports a run, such as %s", j.Name, dialect, "`pitot runs list '"+j.Name+"*'`")
	}
	if err := comparing.Status(sess.Stdout, j, sess.Words()); err != nil || len(j.With(experiment.Done)) == 0 {
		return err
	}
	fmt.Fprintln(sess.Stdout)
	v := variants{Runs: []string{j.Name}, Level: "95%", Margin: "2%", StoreFlag: in}
	o, err := v.options("runs report")
	if err != nil {
		return err
	}
	out := new(experiment.Outcome)
	if out.Comparison, err = v.compare(sess, o, nil); err != nil {
		return err
	}
	e, _, err := design.Read("", []byte(j.File))
	if err != nil {
		return err
	}
	err = comparing.PrintOutcome(sess, j, out, e.Same(), true)
	fmt.Fprintln(sess.Stdout, comparison.Closing(out.Whole(), sess.Words()))
	return err
}
