package predict

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	// loads are draws of the requests as the engine of a profile takes them.
	loads(ctx context.Context, p *profile.Profile) ([]sim.Plan, trace.Run, error)
	// beside are runs of this load that were measured.
	beside(run trace.Run) ([]*trace.Trace, error)
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
	d := &drawn{maker: m, front: made, spec: simulated(made.Spec), store: c.Store, known: map[string][]sim.Plan{}}
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
	known map[string][]sim.Plan // by what requests depend on of a profile
	run   trace.Run
}

func (d *drawn) loads(ctx context.Context, p *profile.Profile) ([]sim.Plan, trace.Run, error) {
	key := intake(p)
	if d.known[key] != nil {
		return d.known[key], d.run, nil
	}
	for i := range uint64(predict.Draws) {
		s := d.spec
		s.Seed += i
		load, run, err := d.maker.Requests(ctx, s, p)
		if err != nil {
			return nil, run, console.InWords(d.front, err)
		}
		d.known[key], d.run = append(d.known[key], load), run
	}
	return d.known[key], d.run, nil
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

func (r replay) loads(context.Context, *profile.Profile) ([]sim.Plan, trace.Run, error) {
	return []sim.Plan{sim.Replay(r.of)}, r.of.Run, nil
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

// wordsOf says what a load is.
func wordsOf(n int, run trace.Run) string {
	return text.Join(", ", console.Counted(n, "request"), text.Load(run.Plan, console.English))
}
