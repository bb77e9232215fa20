package predict

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/measuring"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/text"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// A workload is the load to predict: what a Spec draws, or the requests of a run.
type workload interface {
	// on is the case of the workload on a profile, and what the load is in words.
	on(ctx context.Context, p *profile.Profile) (c predict.Case, words string, err error)
	// beside are runs of this load that were measured.
	beside(run trace.Run) ([]*trace.Trace, error)
	// cached says what is not known of a cache of prompts; empty if it does not matter.
	cached(ctx context.Context, p *profile.Profile) (string, error)
}

// workload is what the command line names.
func (c *Cmd) workload(con *console.Console, m measuring.Maker, k *kong.Context) (workload, error) {
	if c.Replay != "" && c.Replay != "data" && !isTimes(c.Replay) {
		return c.replay(m, k)
	}
	made, err := pitot.Compile(k, pitot.Options{Config: c.Config, Simulated: true, Read: con.ReadSettings, Check: func(plan.Spec) plan.Problems { return nil }})
	if err != nil {
		return nil, console.Usage(err)
	}
	d := &drawn{maker: m, front: made, spec: simulated(made.Spec), store: c.Store, known: map[string]draw{}}
	d.spec.Request.Model = c.Model // that of a plan is the server's
	if len(d.spec.Percentiles) == 0 {
		d.spec.Percentiles = usual
	}
	return d, nil
}

// usual are the percentiles that are predicted unless others are asked for.
var usual = []float64{99}

// isTimes reports whether a file has send times, a number in a line, and is no result.
func isTimes(name string) bool {
	data, err := files.ReadSmall(name)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	_, err = strconv.ParseFloat(strings.TrimSpace(first), 64)
	return err == nil
}

// simulated is a Spec without all that is about a server and the client in front of it.
func simulated(s plan.Spec) plan.Spec {
	s.Target = plan.Target{Simulated: true}
	s.Request.Model, s.Request.Root, s.Request.IDs = "", "", ""
	s.Name, s.KeepText, s.Cache = "", false, ""
	s.Before, s.After, s.Probe, s.Client, s.Dialect, s.Objectives = plan.Before{}, plan.After{}, plan.Probe{}, plan.Client{}, plan.Dialect{}, nil
	return s
}

// drawn is a workload of a Spec: each draw has a seed of its own.
type drawn struct {
	maker measuring.Maker
	front console.Front
	spec  plan.Spec
	store string
	mu    sync.Mutex
	known map[string]draw // by what they depend on of a profile
}

// A draw is requests, and the run that simulates them.
type draw struct {
	sim.Plan
	run trace.Run
}

// kept is the largest number of requests in a load of which all draws are kept for the next
// profile, and simulated at once.
const kept = 10_000

func (d *drawn) on(ctx context.Context, p *profile.Profile) (c predict.Case, words string, err error) {
	first, err := d.draw(ctx, p, 0)
	if err != nil {
		return c, "", err
	}
	run := first.run
	c.Run, c.Load = run, func(ctx context.Context, i int) (sim.Plan, error) {
		l, err := d.draw(ctx, p, i)
		return l.Plan, err
	}
	if len(first.Requests) > kept {
		c.AtOnce = 1
	}
	count := ""
	if run.Plan.Requests > 0 { // else time decides, and draws differ
		count = console.Counted(len(first.Requests), "request")
	}
	return c, text.Join(", ", count, text.Load(run.Plan, console.English)), nil
}

// draw is draw i, kept or made.
func (d *drawn) draw(ctx context.Context, p *profile.Profile, i int) (l draw, err error) {
	d.mu.Lock()
	defer d.mu.Unlock() // drawing keeps all processors busy
	key := fmt.Sprint(i, intake(p))
	if l, ok := d.known[key]; ok {
		return l, nil
	}
	s := d.spec
	s.Seed = (s.Seed + uint64(i)) % (1 << 32)
	l.Plan, l.run, err = d.maker.Requests(ctx, s, p)
	if err == nil && len(l.Requests) <= kept {
		d.known[key] = l
	}
	return l, console.InWords(d.front, err)
}

// intake is what the requests depend on of a profile: what the model is called, how long its
// answers are and its context, and whether it matters what prompts say.
func intake(p *profile.Profile) string {
	e := p.Engine
	return fmt.Sprint(p.Model, e.Context(), e.KV.PrefixCache, e.Disaggregation != nil, e.Speculative != nil, e.Replicas.Router)
}

// mostBeside is the number of stored runs that a prediction is held against.
const mostBeside = 20

func (d *drawn) beside(run trace.Run) ([]*trace.Trace, error) {
	if run.Plan.Spec == nil {
		return nil, nil
	}
	own := identity(*run.Plan.Spec)
	return d.maker.Like(d.store, mostBeside, func(r *trace.Run) bool {
		invalid := r.Verdict != nil && r.Verdict.Validity == trace.Invalid
		return r.Plan.Spec != nil && !invalid && bytes.Equal(own, identity(*r.Plan.Spec))
	})
}

// identity is what makes a load: all of a Spec but its seed, and what is about the server and
// the client.
func identity(s plan.Spec) []byte {
	s = simulated(s)
	s.Seed, s.Tokens, s.Percentiles, s.Request.Usage = 0, plan.Tokenizer{}, nil, ""
	b, _ := json.Marshal(s) // it was read from JSON, or is about to be
	var tree any
	_ = json.Unmarshal(b, &tree)
	b, _ = json.Marshal(tree) // in one order
	return b
}

// A replay is a workload of the requests of a run.
type replay struct{ of *trace.Trace }

// replay is the run that --replay names.
func (c *Cmd) replay(m measuring.Maker, k *kong.Context) (workload, error) {
	for _, element := range k.Path {
		if f := element.Flag; f != nil && f.Name != "replay" && (f.Name == "config" || f.Tag.Get("path") != "" && f.Name != "percentiles") {
			return nil, console.Usagef("--%s: does not go with --replay of a run, which has a load of its own", f.Name)
		}
	}
	traces, err := m.Traces([]string{c.Replay}, c.Store)
	switch {
	case err != nil:
		return nil, err
	case len(traces) != 1:
		return nil, console.Usagef("--replay %s: names %d runs; name one", c.Replay, len(traces))
	}
	r := replay{of: traces[0]}
	if why := r.unfit(); why != "" {
		return nil, console.Usagef("--replay %s: %s", c.Replay, why)
	}
	if problems := plan.CheckPercentiles("--percentiles", c.Percentiles); problems != nil {
		return nil, console.Usage(problems)
	}
	if r.of.Run.Plan.Percentiles = c.Percentiles; c.Percentiles == nil {
		r.of.Run.Plan.Percentiles = usual
	}
	return r, nil
}

// unfit is why a run cannot be replayed, or empty.
func (r replay) unfit() string {
	o := r.of.Run.Origin
	switch {
	case len(r.of.Records) == 0:
		return "the run has no records of its requests"
	case o != nil && o.Detail == trace.Undated:
		return "the records of the run do not say when requests were sent"
	case !slices.ContainsFunc(r.of.Records, func(r *trace.Record) bool { return r.OK() }):
		return "no request of the run succeeded"
	}
	return ""
}

func (r replay) on(context.Context, *profile.Profile) (predict.Case, string, error) {
	load := sim.Replay(r.of)
	c := predict.Case{Load: predict.Fixed(load), Known: true, Run: r.of.Run}
	if len(load.Requests) > kept {
		c.AtOnce = 1
	}
	return c, text.Join(", ", console.Counted(len(load.Requests), "request"), text.Load(r.of.Run.Plan, console.English)), nil
}

func (r replay) beside(trace.Run) ([]*trace.Trace, error) { return []*trace.Trace{r.of}, nil }

// attach puts what was measured beside a prediction.
func attach(p *predict.Prediction, percentiles []float64, traces []*trace.Trace) {
	for _, t := range traces {
		own := *t
		own.Run.Plan.Percentiles = percentiles
		for _, f := range (metrics.Rules{}).Figures(&own, "pitot", "") {
			if i := slices.IndexFunc(p.Figures, func(g predict.Figure) bool { return g.Name == f.Name }); i >= 0 {
				p.Figures[i].Measured = append(p.Figures[i].Measured, f.Value)
			}
		}
	}
}
