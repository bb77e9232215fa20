// Package capacity is `pitot capacity`: the highest load that meets objectives, found by runs
// that it makes, of a server or of the simulated engine.
package capacity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// Cmd is `pitot capacity`.
type Cmd struct {
	Behind    []string      `arg:"" optional:"" name:"load" help:"After --: further flags of bench for all loads, or of sim without --url."`
	SLO       string        `name:"slo" needed:"" placeholder:"LIMITS" help:"Objectives, such as ttft.p99=500ms,tpot.p95=50ms: shares of the requests that must be within a limit; ttft=500ms is of 99 %."`
	By        string        `enum:"rate,concurrency" default:"rate" placeholder:"WHAT" help:"What a load is: rate, in requests per second, or concurrency, requests in flight (${default})."`
	NoModel   bool          `name:"no-model" help:"Count only: look for no model of the server in the runs of the search."`
	Budget    time.Duration `default:"10m" placeholder:"TIME" help:"Time for all runs together (${default})."`
	Precision share         `default:"5%" placeholder:"SHARE" help:"How well to know the load (${default})."`
	Name      string        `placeholder:"TEXT" help:"Name of the search: of its runs, and of the experiment that they are. Default: capacity and the time."`
	Resume    string        `placeholder:"NAME" help:"Go on with the search of this name. The other flags must be the same."`
	Format    string        `short:"f" enum:"text,json" default:"text" placeholder:"FORM" help:"text or json (${default})."`
	Folder    string        `short:"o" placeholder:"DIR" help:"Folder to write capacity.csv, capacity.json and the plots to. Default: none."`
	Quiet     bool          `short:"q" help:"Say nothing on the way."`
	flags.Prices
	flags.Page
	flags.StoreFlag
	Fleet session.Fleet `embed:"" group:"Fleet:"`

	flags.Target    `embed:"" group:"Target:"`
	flags.Requests  `embed:"" group:"Requests:"`
	flags.Load      `embed:"" group:"Load:"`
	flags.BeforeRun `embed:"" group:"Before the run:"`
	flags.Profile   `embed:"" group:"Embedded engine, used without --url:"`
	Engine          flags.Engine `embed:"" prefix:"engine-" group:"Embedded engine, used without --url:"`

	words []string // the load, as flags of bench
	taken []string // objectives of each request, which are taken as those of 99 %
}

// Flags hides the flags of bench that each run of a search has of its own, and says what others mean here.
func Flags(k *kong.Kong) error {
	node := flags.Command(k.Model.Node, "capacity")
	if node == nil {
		return nil
	}
	for _, f := range node.Flags {
		switch path := f.Tag.Get("path"); path {
		case "seed":
			f.Help = "Seed of the search. Default: 1."
		case "target.engine.profile":
			f.Help = "Profile that guides the search of a server, as pitot calibrate writes it. Without --url: of the simulated engine."
		case "target.url":
			f.Help = "Server to measure. Default: the simulated engine, in virtual time."
		default:
			f.Hidden = f.Hidden || slices.Contains(pitot.OfLegs, path)
		}
	}
	return nil
}

// load takes the load from the command line: the flags of bench, and those behind --.
func (c *Cmd) load(k *kong.Context) {
	c.URL = c.Address()
	own := []string{"", "seed", "target.url", "target.host", "target.port", "target.engine.profile"}
	given := slices.DeleteFunc(pitot.Given(k), func(s pitot.Setting) bool { return slices.Contains(own, s.Path) })
	c.words = append(pitot.Words(given...), c.Behind...)
}

// A share is written 5% or 0.05.
type share float64

func (s *share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || v < 0.01 || v > 0.5 {
		return fmt.Errorf("%q: must be from 1%% to 50%%", text)
	}
	*s = share(v)
	return nil
}

// shortest is the least time for a search: legs are parts of it.
const shortest = time.Minute

// settings are those of the search, checked.
func (c *Cmd) settings() (s search.Settings, err error) {
	s = search.Settings{By: search.LoadUnit(c.By), Budget: c.Budget, Precision: float64(c.Precision), Seed: uint64(max(1, c.Seed))}
	if c.SLO == "" {
		return s, errors.New("--slo: is missing: objectives, such as ttft.p99=500ms,tpot.p95=50ms")
	}
	s.Objectives, c.taken, err = metrics.Parse(c.SLO)
	if err != nil {
		return s, fmt.Errorf("--slo: %w", err)
	}
	for _, o := range s.Objectives {
		if o.P == 0 || o.P == 100 {
			return s, fmt.Errorf("--slo: %s: a search needs a percentile below 100: the share of requests within the limit is what it follows, as in %s.p99=%v", o.Name(), o.Metric, o.Limit)
		}
	}
	if err := c.Check(); err != nil {
		return s, err
	}
	if c.Budget < shortest || c.Budget > 24*time.Hour {
		return s, fmt.Errorf("--budget %v: must be from %v to 24h", c.Budget, shortest)
	}
	if c.Name != "" && c.Resume != "" && c.Name != c.Resume {
		return s, fmt.Errorf("--name %s: does not go with --resume %s, which names the search", c.Name, c.Resume)
	}
	if name := cmp.Or(c.Name, c.Resume); strings.ContainsAny(name, "*?[") {
		return s, fmt.Errorf("name %q: * ? and [ are for patterns", name)
	}
	return s, nil
}

// Run searches, and prints the answer.
func (c Cmd) Run(sess *session.Session, k *kong.Context) error {
	c.load(k)
	s, err := c.settings()
	if c.SLO == "" {
		if _, load := c.newLegs(sess, s); load != nil {
			return load
		}
	}
	if err != nil {
		return session.Usage(err)
	}
	legs, err := c.newLegs(sess, s)
	if err != nil {
		return err
	}
	defer legs.close()
	if err := session.TryFolder(c.Folder, "capacity.csv"); err != nil {
		return err
	}
	if s.Twin, err = legs.profileModel(); err != nil {
		return err
	}
	if s.Twin == nil && !c.NoModel {
		s.Learn = legs.fitModel
	}
	end, err := sess.JoinFleet(c.Fleet, c.URL == "")
	if err != nil {
		return err
	}
	defer end()
	defer ui.ServePage(sess, c.UI, c.Store)()
	if !c.Quiet {
		sess.SayTaken(c.taken)
		fmt.Fprintln(sess.Stderr, sess.Word("capacity.looking", "objectives", names(s.Objectives), "name", legs.name))
	}
	a, err := legs.search(s, k.Args)
	if err != nil {
		return errors.Join(err, legs.resumeHint())
	}
	write := writeText
	if c.Format == "json" {
		write = writeJSON
	}
	a.CostLoad, a.Cost = legs.cost(a)
	if err := errors.Join(write(sess.Stdout, a, sess.Words()), legs.write(a)); err != nil || a.Known() {
		return err
	}
	if a.End == search.Client {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("capacity.elsewhere", "name", legs.name))
	}
	return session.GateError{Inconclusive: 1, Why: "the capacity is not known"}
}

func (c *Cmd) flags(sess *session.Session, s search.Settings) []search.Flag {
	return []search.Flag{
		{Name: "--url", Value: sess.Masked([]string{c.URL})[0]},
		{Name: "--slo", Value: strings.Join(names(s.Objectives), ",")},
		{Name: "--by", Value: c.By},
		{Name: "--profile", Value: string(c.Profile.Profile)},
		{Name: "--no-model", Value: strconv.FormatBool(c.NoModel)},
		{Name: "--budget", Value: c.Budget.String()},
		{Name: "--precision", Value: percent(float64(c.Precision))},
		{Name: "--seed", Value: strconv.FormatUint(s.Seed, 10)},
		{Name: "the load", Value: shell.Join(sess.Masked(c.words))},
	}
}

func names(all []metrics.Objective) (out []string) {
	for _, o := range all {
		out = append(out, o.String())
	}
	return out
}

// search searches, and stores the answer so far when a leg begins and at the end.
func (g *legs) search(s search.Settings, args []string) (a *search.Answer, err error) {
	runs, err := g.sess.OpenStore(g.Store)
	if err != nil {
		return nil, err
	}
	defer runs.Close()
	begin := store.Search{Name: g.name, Kind: store.Capacity, Started: time.Now(), Command: g.sess.Masked(args)}
	answer := func(r *search.Result, legs []search.AnswerLeg) *search.Answer {
		a := search.NewAnswer(g.name, r, s, legs)
		a.Flags = g.flags(g.sess, s)
		return a
	}
	begin.Body = body(answer(new(search.Result), nil))
	record, err := runs.BeginSearch(begin)
	if err != nil {
		return nil, err
	}
	status := trace.Interrupted
	defer func() { err = errors.Join(err, record.End(status)) }()
	s.Begins = func(l search.Leg, r *search.Result) {
		_ = record.Write(body(answer(r, append(slices.Clone(g.finished), search.Begun(l))))) // the next one may succeed
	}
	r, err := search.RunCapacity(context.Background(), s, g.measure, func(l search.MeasuredLeg) {
		g.finished = append(g.finished, search.NewAnswerLeg(l, g.limited, s.Objectives))
		if !g.Quiet {
			fmt.Fprintln(g.sess.Stderr, line(l, s, g.sess.Words()))
		}
	})
	if err != nil {
		return nil, err
	}
	status = trace.Complete
	a = answer(r, g.finished)
	return a, record.Write(body(a))
}

func body(a *search.Answer) json.RawMessage {
	b, _ := json.Marshal(a) // its numbers are finite
	return b
}
