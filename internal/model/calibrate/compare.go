package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// FitDraws is the number of the first draw used for fitting; Compare uses those
// below it, and with a seed those from a million times the seed on.
const FitDraws = 1000

// MostSeed is the largest seed that gives distinct draws.
const MostSeed = 1<<44 - 1

// A Comparison is a measured run with its draws.
type Comparison struct {
	Evidence *profile.Evidence
	Draws    int
	Figures  []ComparedFigure
	// Error is the mean absolute relative error of the figures' medians; Single is
	// that of one draw, the median over the draws; Floor is the value of Single if
	// the medians equalled the measurements: the error of the draws alone.
	Error, Single, Floor float64
	// Within is how far Error may be off since other draws have other medians: two standard
	// deviations over resampled draws.
	Within float64
	// Low and High enclose nine of ten draws' errors.
	Low, High float64
}

// A ComparedFigure is one measured figure, in seconds or per second, with the results of
// the draws.
type ComparedFigure struct {
	Name     string
	Measured float64
	Median   float64 // over the draws
	Spread   float64 // standard deviation over the draws, relative to their mean
}

// Error is the relative error of the median.
func (f ComparedFigure) Error() float64 { return f.Median/f.Measured - 1 }

// Compare runs draws draws of each piece of p's evidence, concurrently, and
// computes figures by the rules of the tool that measured it. Every seed has draws of its
// own. The end of ctx ends it, with its cause.
func Compare(ctx context.Context, p *profile.Profile, seed uint64, draws int, rules metrics.Rules) ([]Comparison, error) {
	var out []Comparison
	for i := range p.Evidence {
		e := &p.Evidence[i]
		runs, err := simulate(ctx, p, e, seed<<20, draws, rules)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", p.Name, e.Name, err)
		}
		out = append(out, compare(e, runs))
	}
	return out, nil
}

func compare(e *profile.Evidence, runs []map[string]float64) Comparison {
	c := Comparison{Evidence: e, Draws: len(runs)}
	single, floor := make([]float64, len(runs)), make([]float64, len(runs))
	measured := e.Measured.Figures()
	for _, m := range measured {
		values := make([]float64, len(runs))
		for i, run := range runs {
			values[i] = run[m.Name]
			single[i] += math.Abs(values[i]/m.Value-1) / float64(len(measured))
		}
		f := ComparedFigure{Name: m.Name, Measured: m.Value, Median: stats.Sort(values).Median()}
		if mean := stats.Mean(values); mean > 0 {
			f.Spread = stats.Std(values) / mean
		}
		for i, v := range values {
			if f.Median != 0 {
				floor[i] += math.Abs(v/f.Median-1) / float64(len(measured))
			}
		}
		c.Figures = append(c.Figures, f)
		c.Error += math.Abs(f.Error()) / float64(len(measured))
	}
	sorted := stats.Sort(single)
	c.Single, c.Floor = sorted.Median(), stats.Sort(floor).Median()
	c.Low, c.High = sorted.Percentile(5), sorted.Percentile(95)
	c.Within = 2 * resampled(measured, runs)
	return c
}

// resamples are so many that a deviation over them is known to 5 %.
const resamples = 200

// resampled is the standard deviation of the error of the medians over draws drawn from the
// draws: the bootstrap (Efron 1979).
func resampled(measured []profile.MeasuredFigure, runs []map[string]float64) float64 {
	dice := rand.New(rand.NewPCG(uint64(len(runs)), uint64(len(measured))))
	errs := make([]float64, resamples)
	values := make([]float64, len(runs))
	for i := range errs {
		chosen := make([]int, len(runs))
		for k := range chosen {
			chosen[k] = dice.IntN(len(runs))
		}
		for _, m := range measured {
			for k, at := range chosen {
				values[k] = runs[at][m.Name]
			}
			errs[i] += math.Abs(stats.Sort(values).Median()/m.Value-1) / float64(len(measured))
		}
	}
	return stats.Std(errs)
}

// mostWorkers is the largest number of concurrent draws: each has the chunks of a run in memory.
const mostWorkers = 4

// simulate runs draws first, first+1, ... of e and returns their figures by name.
func simulate(ctx context.Context, p *profile.Profile, e *profile.Evidence, first uint64, draws int, rules metrics.Rules) ([]map[string]float64, error) {
	by, ok := rules.Lookup(cmp.Or(e.Dialect, profile.DefaultDialect))
	if !ok {
		return nil, fmt.Errorf("unknown dialect %s", e.Dialect)
	}
	runs := make([]map[string]float64, draws)
	errs := make([]error, draws)
	workers := min(mostWorkers, runtime.GOMAXPROCS(0))
	memory := make(chan *trace.Arena, workers) // one for each of those at once
	for range workers {
		memory <- new(trace.Arena)
	}
	var all sync.WaitGroup
	for i := range runs {
		chunks := <-memory
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { memory <- chunks }()
			chunks.Reset()
			runs[i], errs[i] = once(p.Engine, e, first+uint64(i), by, chunks)
		})
	}
	all.Wait()
	for _, err := range append(errs, context.Cause(ctx)) {
		if err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// once runs draw number n of e on c and returns its figures by name. chunks, if not
// nil, is the memory for the chunks of the run.
func once(c engine.Config, e *profile.Evidence, n uint64, by metrics.Definitions, chunks *trace.Arena) (map[string]float64, error) {
	c.Seed = n
	if e.Warm {
		c.Cost.Cold = 0
	}
	model, err := engine.New(c)
	if err != nil {
		return nil, err
	}
	p := plan(e, n)
	if c.KV.PrefixCache {
		identify(p.Requests)
	}
	for i, r := range p.Requests {
		if tokens := r.Job.PromptTokens + r.Job.OutputTokens; tokens > c.Context() {
			return nil, fmt.Errorf("draw %d: request %d has %d tokens, but max_model_len is %d", n, i, tokens, c.Context())
		}
	}
	p.Chunks = chunks
	out := sim.Run(model, p)
	return byName(by.Figures(measured(e, by, out), e.DialectVersion)), nil
}

// identify gives every request a unique prompt, as a prefix cache needs: a
// preempted request finds its own prefix again.
func identify(requests []sim.Request) {
	for i := range requests {
		job := &requests[i].Job
		job.Prompt = slices.Repeat([]int32{int32(i)}, requests[i].PromptTokens)
		for k := range job.Images {
			job.Images[k].Hash = uint64(i)
		}
	}
}

// measured is the trace of a simulated run, with the percentiles that evidence can
// have.
func measured(e *profile.Evidence, by metrics.Definitions, out sim.Outcome) *trace.Trace {
	p := trace.Load{Stream: true, Requests: len(out.Records), Protocol: by.Native, Percentiles: []float64{95, 99}}
	if e.Chat {
		p.Protocol = "chat"
	}
	return &trace.Trace{Run: trace.Run{Kind: trace.Simulated, End: out.End, Plan: p}, Records: out.Records}
}

func byName(figures []trace.ReportedFigure) map[string]float64 {
	out := map[string]float64{}
	for _, f := range figures {
		out[f.Name] = f.Value
	}
	return out
}
