package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"
)

// abCmd is `pitot ab`.
type abCmd struct {
	Before string `required:"" placeholder:"SERVER" help:"The baseline: a command that starts a server, the URL of one that is up, profile:NAME for the embedded engine, or flags:FLAGS for another setting of the load."`
	After  string `placeholder:"SERVER" help:"What is compared with it, in the same forms."`
	Same   bool   `help:"Compare the baseline with itself (A/A): how much do runs and starts of the server vary?"`
	URL    string `placeholder:"URL" help:"Where the servers answer. Default: as the command behind -- says."`

	Blocks    int           `placeholder:"N" help:"Blocks of four legs: before, after, after, before, or the reverse. Default: 3; with --until, --precision or --budget as many as it takes."`
	Restart   string        `enum:",leg,block,never" default:"" placeholder:"WHEN" help:"When servers are started anew: leg, block or never. Default: leg."`
	Runs      int           `placeholder:"N" help:"Runs in each leg. Default: 1."`
	Seed      uint64        `placeholder:"N" help:"Seed of the order and of the loads. Default: drawn, and kept."`
	Until     string        `enum:",verdict" default:"" placeholder:"WHAT" help:"verdict: end as soon as the main figures are better, worse or the same."`
	Precision design.Share  `placeholder:"P" help:"End as soon as the main changes are known to within this, such as 2%."`
	MaxBlocks int           `placeholder:"N" help:"Blocks at most, with --until, --precision or --budget. Default: 8."`
	Budget    time.Duration `placeholder:"TIME" help:"Begin no block that would end later than this, such as 2h."`
	Cache     string        `enum:",cold,primed,warm" default:"" placeholder:"STATE" help:"State of the server's prompt cache at the start of each run, which is made and proved: cold, primed or warm."`
	WarmUp    string        `name:"warm-up" enum:",steady,own" default:"" placeholder:"HOW" help:"steady: waves before each run until two agree; own: as the command says. Default: steady."`
	Level     design.Share  `placeholder:"P" help:"Confidence level of the verdicts together. Default: 95%."`
	Margin    design.Share  `placeholder:"P" help:"Differences below this do not matter. Default: 2%."`
	Answers   string        `enum:",on,off" default:"" placeholder:"WHETHER" help:"Whether answers changed is judged, too: on or off. Default: on."`
	NotWorse  design.Points `placeholder:"POINTS" help:"Loss of accuracy that is accepted, in points, such as 1pt: accuracy is then shown to be not worse, or that is not known."`
	FailIf    []string      `name:"fail-if" sep:"none" placeholder:"GATE" help:"Exit with 3 if this holds for the change, such as 'ttft.mean > +2%'; with 4 if the data cannot tell. May be repeated."`
	Name      string        `placeholder:"NAME" help:"Name of the experiment. Default: ab- and the time."`

	Command []string `arg:"" optional:"" placeholder:"-- COMMAND" help:"The load: vllm bench serve ..., python -m sglang.bench_serving ..., bench ... or sim ..."`
	experimentFlags
}

func (abCmd) Help() string {
	return "Makes an experiment of a command that measures: legs in blocks of before, after, after, before, each with a server of its own, warmed until it is steady. " +
		"It ends with the verdict, with drift and noise, and with a lab note. The experiment is kept as a file, which `pitot experiment run` takes."
}

func (c *abCmd) experiment(sess *session.Session) (*design.Experiment, func(plan.Problems) error, error) {
	if !slices.Contains(sess.Args, "--") || len(c.Command) == 0 {
		return nil, nil, usagef("no load given: name the command that measures behind --, as in pitot ab ... -- bench --rate 10")
	}
	name := cmp.Or(c.Name, "ab-"+time.Now().Format("20060102-150405"))
	o := design.ABOptions{
		Before: c.Before, After: c.After, Same: c.Same, URL: c.URL, Restart: design.Restart(c.Restart), Blocks: c.Blocks, Runs: c.Runs, MaxBlocks: c.MaxBlocks,
		Seed: c.Seed, Until: design.Until(c.Until), Precision: c.Precision, Budget: plan.Duration(c.Budget), Margin: c.Margin, Level: c.Level,
		FailIf: c.FailIf, Answers: design.Answers(c.Answers), NotWorse: c.NotWorse, Cache: plan.Cache(c.Cache), WarmUp: design.WarmUp(c.WarmUp), Name: name, Command: c.Command,
	}
	e, problems := design.AB(o)
	if problems != nil {
		return nil, nil, usage(byFlags(problems))
	}
	return e, byFlags, nil
}

// byFlags words problems of `pitot ab`: their paths are names of flags or places in the experiment that the flags
// make.
func byFlags(all plan.Problems) error {
	var errs []error
	for _, p := range all {
		name := "--" + p.Path
		switch {
		case p.Path == "command" || strings.HasPrefix(p.Path, "workloads"):
			name = "the load behind --"
		case strings.HasPrefix(p.Path, "variants[0]"):
			name = "--" + design.Before
		case strings.HasPrefix(p.Path, "variants"):
			name = "--" + design.After
		}
		errs = append(errs, errors.New(p.Under(name)))
	}
	return errors.Join(errs...)
}

func (c *abCmd) Run(sess *session.Session) (err error) {
	c.Asked = c.FailIf
	defer func() { err = c.Settle(sess, err, otherErrors) }()
	e, explain, err := c.experiment(sess)
	if err != nil {
		return err
	}
	return c.begin(sess, e, explain)
}
