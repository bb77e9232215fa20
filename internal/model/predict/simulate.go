package predict

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An outcome is what a prediction needs of a simulation.
type outcome struct {
	order    []string // names of figures, as a report has them
	figures  map[string]float64
	attained []metrics.Attainment // of each objective
	shaken   []metrics.Attainment // of its limit, changed by a draw of the misfit
	extent   extent

	requests, failed int
	example          string       // of a failure
	unsettled        plan.Message // why the load does not show what its rate does
}

// run makes simulation i, with the costs of the profile or, if drawn, with draw i of them. Both
// have the same requests and the same jitter, so that they differ by the costs.
func (c *Case) run(ctx context.Context, load sim.SimulationPlan, i int, drawn bool) (*outcome, error) {
	cfg := c.Profile.Engine
	cfg.Seed = uint64(i) + 1
	if drawn {
		c.vary(&cfg, i)
	}
	model, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	out := &outcome{figures: map[string]float64{}, extent: extent{bounds: c.bounds()}}
	model.Watch(out.extent.add)
	out.extent.read(load)
	load.Stop = func() bool { return ctx.Err() != nil }
	load.Chunks.Reset() // nothing of the simulation before is needed any more
	made := sim.Run(model, load)
	run := c.Run
	run.Kind, run.End = trace.Simulated, made.End
	out.read(c, i, &trace.Trace{Run: run, Records: made.Records})
	return out, nil
}

// vary gives an engine the costs of draw i, at a pace of its own. The speed of the host is drawn by
// the engine.
func (c *Case) vary(cfg *engine.Config, i int) {
	k := c.Profile.Calibration
	if n := len(k.Draws); n > 0 {
		host := cfg.Cost.Host
		cfg.Cost = k.Draws[i%n]
		cfg.Cost.Host = host
	}
	factor := math.Exp(float64(k.Drift) * scores(paceScores)[i])
	cfg.Slower = engine.Relative(min(max((1+float64(cfg.Slower))*factor-1, slowest), fastest))
}

// slowest and fastest are the limits of what engine.Config takes.
const slowest, fastest = -0.9, 10

func (o *outcome) read(c *Case, i int, t *trace.Trace) {
	t.Run.Plan.Percentiles = c.percentiles()
	figures, counted := metrics.PitotDefinitions().Figures(t, ""), t
	if settled, why := metrics.Settle(t); c.Settled {
		figures, counted, o.unsettled = metrics.SettledFigures(t), settled, why
	} else {
		o.unsettled = why
	}
	for _, f := range figures {
		o.order = append(o.order, f.Name)
		o.figures[f.Name] = f.Value
	}
	for _, goal := range c.Objectives {
		o.attained = append(o.attained, goal.Evaluate(counted))
		misfit := c.misfit(goal.Name()) * scores(misfitScores)[i]
		goal.Limit = time.Duration(float64(goal.Limit) * math.Exp(-misfit))
		o.shaken = append(o.shaken, goal.Evaluate(counted))
	}
	o.requests = len(t.Records)
	for _, r := range t.Records {
		if r.OK() {
			continue
		}
		if o.failed++; o.example == "" {
			o.example = r.Error
		}
	}
}

// percentiles are those that figures have: the wanted ones, and those of the objectives.
func (c *Case) percentiles() []float64 {
	all := slices.Clone(c.Percentiles)
	for _, o := range c.Objectives {
		if o.P > 0 {
			all = append(all, o.P)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A scale is where values have their spread: logarithms, or, where one of them is 0, relative
// differences to their mean.
type scale struct{ mean float64 }

func scaleOf(values ...[]float64) scale {
	all := slices.Concat(values...)
	if slices.Min(all) > 0 {
		return scale{}
	}
	return scale{mean: max(stats.Mean(all), math.SmallestNonzeroFloat64)}
}

func (s scale) all(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if s.mean > 0 {
			out[i] = v/s.mean - 1
		} else {
			out[i] = math.Log(v)
		}
	}
	return out
}

// back is the value of a place on the scale. No figure is below 0.
func (s scale) back(x float64) float64 {
	if s.mean > 0 {
		return max(0, s.mean*(1+x))
	}
	return math.Exp(min(x, maxLog))
}

// maxLog keeps printed values finite.
const maxLog = 700

// deviation is the standard deviation of the distribution that x was drawn from.
func deviation(x []float64) float64 {
	n := float64(len(x))
	return stats.Std(x) * math.Sqrt(n/(n-1))
}

// What scores are drawn for.
const (
	paceScores   = "pace"
	misfitScores = "misfit"
)

// scores are Draws values of a normal distribution, evenly spread over it and in an order of
// their own for each purpose. Their mean is 0 and their variance 1, so that few of them
// spread a prediction as many would.
func scores(purpose string) []float64 {
	z := make([]float64, Draws)
	for i := range z {
		z[i] = math.Sqrt2 * math.Erfinv((2*float64(i)+1)/Draws-1)
	}
	sd := deviation(z)
	for i := range z {
		z[i] /= sd
	}
	dice := arrival.Dice(0, purpose, 0)
	rand.New(&dice).Shuffle(Draws, func(i, j int) { z[i], z[j] = z[j], z[i] })
	return z
}
