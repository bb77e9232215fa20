// Package predict says what a deployment would measure under a load: figures with intervals
// that hold one new run of that load.
//
// The engine of a profile is simulated several times. What may be otherwise in a new run is
// drawn anew each time, and together it makes the width of an interval:
//
//	requests     other prompts, answers and arrivals, and the jitter of steps
//	parameters   the costs, one of the draws of the profile's calibration each time
//	drift        the pace of the server, a common factor on all steps
//	misfit       how far off the engine was for the runs that it was found from
//
// The first three come out of the simulations. The last is of the calibration, and is added:
// sd² = (1+1/n)·var + misfit², of logarithms. A prediction is the mean of the logarithms over
// the simulations with the costs of the profile.
//
// A Hull is what the calibration saw. Where a load leaves it nothing is known of the error. A
// profile without a calibration has intervals for the requests alone.
package predict

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Draws is how often a load is simulated with the costs of the profile, and how often with
// costs that may be as well.
const Draws = 12

// A Case is a load on a deployment.
type Case struct {
	Profile *profile.Profile // the server to simulate
	// Base is the profile as it was calibrated, of which Profile may be a variation; nil: it
	// is Profile.
	Base *profile.Profile
	// Load is draw i of the requests, of Draws. It is called once for each, by AtOnce goroutines
	// at a time, as many as there are processors if 0.
	Load        func(ctx context.Context, i int) (sim.SimulationPlan, error)
	AtOnce      int
	Known       bool      // the requests are those of a new run, all draws are the same
	Settled     bool      // the steady state of each run counts
	Run         trace.Run // plan and environment of a run that simulates one of them
	Level       float64   // of the intervals, such as 0.9
	Percentiles []float64 // of latencies, in percent
	Objectives  []metrics.Objective
}

// A Prediction is what a load would give.
type Prediction struct {
	Calibrated bool              `json:"calibrated"`
	Known      bool              `json:"requests_known"` // the requests are the same in a new run
	Level      float64           `json:"level"`
	Requests   int               `json:"requests"`         // of a run
	Failed     float64           `json:"failed,omitempty"` // share of requests that the engine refuses or never ends
	Example    string            `json:"example,omitempty"`
	Figures    []PredictedFigure `json:"figures"`
	Goals      []Goal            `json:"goals,omitempty"`
	// Unsettled says why at least half of the runs do not show the effect of the rate on the
	// server: the queue only grows, and nothing is met; or the load is too short for a queue to
	// build up, and a goal that seems met is open.
	Unsettled plan.Message `json:"unsettled,omitzero"`
	Hull      Hull         `json:"hull"`
}

// A PredictedFigure is one number of a run.
type PredictedFigure struct {
	Name  string  `json:"name"` // ttft.p99
	Point float64 `json:"predicted"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Sources are what the interval is made of.
	Sources Sources `json:"sources"`
	// Measured are the values of runs of the same load.
	Measured []float64 `json:"measured,omitempty"`
}

// Sources are relative standard deviations: by how much each source alone spreads a figure.
type Sources struct {
	Requests   float64 `json:"requests"`
	Parameters float64 `json:"parameters"`
	Drift      float64 `json:"drift"`
	Misfit     float64 `json:"misfit"`
}

// Inside is how many of the measured values are in the interval.
func (f PredictedFigure) Inside() (n int) {
	for _, v := range f.Measured {
		if v >= f.Low && v <= f.High {
			n++
		}
	}
	return n
}

// Width is half of the interval, in shares of the prediction; 0 of a figure that is 0.
func (f PredictedFigure) Width() float64 {
	if f.Point <= 0 {
		return 0
	}
	return (f.High - f.Low) / 2 / f.Point
}

// Simulate predicts. An end of ctx ends it with its cause.
func Simulate(ctx context.Context, c Case) (*Prediction, error) {
	if c.Base == nil {
		c.Base = c.Profile
	}
	nominal, drawn, err := c.simulate(ctx)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Calibrated: c.Base.Calibration != nil, Known: c.Known, Level: c.Level, Requests: nominal[0].requests}
	p.fail(nominal)
	var whys []plan.Message
	for _, o := range nominal {
		whys = append(whys, o.unsettled)
	}
	p.Unsettled = metrics.MostUnsettled(whys)
	for _, name := range c.names(nominal[0]) {
		if f, ok := c.figure(name, nominal, drawn); ok {
			p.Figures = append(p.Figures, f)
		}
	}
	for i, o := range c.Objectives {
		p.Goals = append(p.Goals, c.goal(i, o, p.figure(o.Name()), nominal, drawn).judged(p.Unsettled))
	}
	p.Hull = c.hull(nominal)
	return p, nil
}

// simulate makes all simulations: with the costs of the profile, and with draws of them. The
// latter are the former where nothing is drawn.
func (c *Case) simulate(ctx context.Context) (nominal, drawn []*outcome, err error) {
	nominal = make([]*outcome, Draws)
	drawn = nominal
	if c.varies() {
		drawn = make([]*outcome, Draws)
	}
	atOnce := cmp.Or(c.AtOnce, runtime.GOMAXPROCS(0))
	memory := make(chan *trace.Arena, atOnce) // one for each of those at once
	for range atOnce {
		memory <- new(trace.Arena)
	}
	var all errgroup.Group
	all.SetLimit(atOnce)
	for i := range Draws {
		all.Go(func() error {
			load, err := c.Load(ctx, i)
			load.Chunks = <-memory
			defer func() { memory <- load.Chunks }()
			if err == nil {
				nominal[i], err = c.run(ctx, load, i, false)
			}
			if err == nil && c.varies() {
				drawn[i], err = c.run(ctx, load, i, true)
			}
			return err
		})
	}
	err = all.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nominal, drawn, err
}

// varies reports whether costs or pace may be otherwise than the profile says.
func (c *Case) varies() bool {
	k := c.Profile.Calibration
	return k != nil && (len(k.Draws) > 0 || k.Drift > 0)
}

// fail says which requests have no answer.
func (p *Prediction) fail(nominal []*outcome) {
	failed, all := 0, 0
	for _, o := range nominal {
		failed, all = failed+o.failed, all+o.requests
		if p.Example == "" {
			p.Example = o.example
		}
	}
	p.Failed = float64(failed) / float64(max(1, all))
}

// names are those of the figures that a prediction has, of those of an outcome.
func (c *Case) names(o *outcome) (names []string) {
	for _, f := range o.order {
		if Predicts(f) || f == figure.Duration {
			names = append(names, f)
		}
	}
	return names
}

// Predicts reports whether a simulation predicts a figure.
func Predicts(name string) bool {
	switch figure.MetricOf(name) {
	case figure.Throughput, figure.Concurrency, figure.TTFT, figure.TPOT, figure.ITL, figure.E2EL:
		return name != figure.InputThroughput
	}
	return false
}

func (p *Prediction) figure(name string) PredictedFigure {
	i := slices.IndexFunc(p.Figures, func(f PredictedFigure) bool { return f.Name == name })
	if i < 0 {
		return PredictedFigure{}
	}
	return p.Figures[i]
}

// figure is the prediction of one figure; false if not every simulation has it.
func (c *Case) figure(name string, nominal, drawn []*outcome) (PredictedFigure, bool) {
	at, ok := valuesOf(name, nominal)
	as, also := valuesOf(name, drawn)
	if !ok || !also {
		return PredictedFigure{}, false
	}
	s := scaleOf(at, as)
	n, d := s.all(at), s.all(as)
	out := PredictedFigure{Name: name, Point: s.back(stats.Mean(n)), Sources: Sources{Requests: deviation(n), Misfit: c.misfit(name)}}
	if c.varies() {
		out.Sources.Parameters, out.Sources.Drift = c.split(n, d)
	}
	variance := deviation(d) * deviation(d) * (1 + 1/float64(Draws))
	sd := math.Sqrt(variance + out.Sources.Misfit*out.Sources.Misfit)
	if sd == 0 { // every simulation says the same, and nothing is added
		out.Low, out.High = out.Point, out.Point
		return out, true
	}
	reach := stats.Estimate{Value: stats.Mean(n), Error: sd, DF: Draws - 1}.Interval(c.Level)
	out.Low, out.High = s.back(reach.Low), s.back(reach.High)
	return out, true
}

// valuesOf are those of a figure; false if an outcome has it not.
func valuesOf(name string, of []*outcome) (values []float64, ok bool) {
	for _, o := range of {
		v, ok := o.figures[name]
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// split tells drift from parameters in the differences that both make together: what follows
// the factor of the pace is drift.
func (c *Case) split(nominal, drawn []float64) (parameters, drift float64) {
	difference, pace := make([]float64, Draws), make([]float64, Draws)
	for i := range difference {
		difference[i], pace[i] = drawn[i]-nominal[i], scores(paceScores)[i]
	}
	slope := 0.0
	for i, z := range pace {
		slope += z * difference[i] / float64(Draws-1) // their variance is 1
	}
	if c.Profile.Calibration.Drift == 0 {
		slope = 0
	}
	for i, z := range pace {
		difference[i] -= slope * z
	}
	return deviation(difference), math.Abs(slope)
}

// leastMisfit is what an engine is off at least, whatever its calibration says.
const leastMisfit = 0.01

// misfit is the relative error of the engine in a figure. One that the calibration does not
// name has the largest of its metric, else the largest of all; without a calibration it is not
// known, and 0.
func (c *Case) misfit(name string) float64 {
	k := c.Base.Calibration
	if k == nil {
		return 0
	}
	if m, ok := k.Misfit[name]; ok {
		return max(leastMisfit, float64(m))
	}
	metric := figure.MetricOf(name)
	if metric == figure.Duration { // requests over throughput
		metric = figure.Throughput
	}
	most, alike := leastMisfit, 0.0
	for other, m := range k.Misfit {
		most = max(most, float64(m))
		if figure.MetricOf(other) == metric {
			alike = max(alike, float64(m), leastMisfit)
		}
	}
	if alike > 0 {
		return alike
	}
	return most
}

// Fixed is a Case.Load of draws that there are, taken in turn.
func Fixed(loads ...sim.SimulationPlan) func(context.Context, int) (sim.SimulationPlan, error) {
	return func(_ context.Context, i int) (sim.SimulationPlan, error) { return loads[i%len(loads)], nil }
}
