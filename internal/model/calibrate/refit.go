package calibrate

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Refit is how a run comes out that the engine was found from: its own requests are
// simulated, so this is misfit and not a prediction.
type Refit struct {
	Name    string
	Figures []ComparedFigure

	Requests int     // that it sent
	Rate     float64 // at which, per second; 0: by its limit or its schedule
	Limit    int     // in flight; 0: none
}

// Error is the mean of the sizes of the relative errors of all figures.
func (r Refit) Error() float64 {
	sum := 0.0
	for _, f := range r.Figures {
		sum += math.Abs(f.Error())
	}
	return sum / float64(max(1, len(r.Figures)))
}

// refitDraws is how often the requests of a run are simulated, each time with other jitter.
const refitDraws = 6

var refitted = []string{figure.OutputThroughput, figure.TTFT.Mean(), figure.TTFT.P(99), figure.TPOT.Mean(), figure.TPOT.P(99), figure.ITL.Mean(), figure.ITL.P(99), figure.E2EL.Mean(), figure.E2EL.P(99)}

// A rerun is a run that can be simulated: its own requests, as they were sent.
type rerun struct {
	run      *trace.Run
	plan     sim.SimulationPlan
	measured map[string]float64
	shape    shape
	memory   trace.Arena
}

// rerunOf takes the requests of a run that were answered. They were streamed, whatever an
// imported run says of itself, or it would not be suitable.
func rerunOf(t *trace.Trace) *rerun {
	r := &rerun{run: &t.Run, plan: sim.Replay(t), measured: byName(metrics.Rules{}.Figures(t, "pitot", ""))}
	r.plan.Stream = true
	return r
}

// simulated are the figures of the run on an engine.
func (r *rerun) simulated(c engine.Config, seed uint64) (map[string]float64, error) {
	made, _, err := r.made(c, seed)
	if err != nil {
		return nil, err
	}
	return byName(metrics.Rules{}.Figures(made, "pitot", "")), nil
}

// refit simulates the run some times.
func (r *rerun) refit(c engine.Config) (Refit, error) {
	out := Refit{Name: nameOf(r.run), Requests: len(r.plan.Requests), Rate: r.run.Plan.Rate, Limit: r.run.Plan.Concurrency}
	drawn := map[string][]float64{}
	for seed := range refitDraws {
		figures, err := r.simulated(c, uint64(seed)+1)
		if err != nil {
			return out, err
		}
		for name, v := range figures {
			drawn[name] = append(drawn[name], v)
		}
	}
	for _, name := range refitted {
		if m := r.measured[name]; m > 0 && len(drawn[name]) == refitDraws {
			values := drawn[name]
			out.Figures = append(out.Figures, ComparedFigure{Name: name, Measured: m, Median: stats.Sort(values).Median(), Spread: stats.Std(values) / stats.Mean(values)})
		}
	}
	return out, nil
}

// frontend finds which share of the delay is work, and whether one worker does that and sends
// output, by what brings the runs nearest to themselves. What c has is the first guess.
func frontend(c engine.Config, runs []*rerun) (engine.Frontend, error) {
	whole := c.Frontend.Delay + c.Frontend.Request
	best, least := c.Frontend, math.Inf(1)
	for _, work := range []engine.Seconds{c.Frontend.Request, 0, whole / 2, whole} {
		for _, blocking := range []bool{false, true} {
			with := c
			with.Frontend.Blocking, with.Frontend.Request, with.Frontend.Delay = blocking, work, whole-work
			off, err := misfit(with, runs)
			if err != nil {
				return best, err
			}
			if off < 0.98*least {
				best, least = with.Frontend, off
			}
		}
	}
	return best, nil
}

// misfit is the mean size of the errors of runs on an engine, in logarithms.
func misfit(c engine.Config, runs []*rerun) (float64, error) {
	sum, n := 0.0, 0
	for _, r := range runs {
		figures, err := r.simulated(c, 1)
		if err != nil {
			return 0, err
		}
		for _, name := range refitted {
			if a, b := figures[name], r.measured[name]; a > 0 && b > 0 {
				sum += math.Abs(math.Log(a / b))
				n++
			}
		}
	}
	return sum / float64(max(1, n)), nil
}
