package calibrate

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The work of a frontend that is one event loop cannot be seen by itself. It is found by simulating the runs: one
// number after the other is changed as long as that brings the runs nearer to themselves.

// usualLoop is vLLM's API server where writing a chunk takes usualChunk: all of it is the work of one interpreter,
// so that a faster one makes all of it shorter.
var usualLoop = engine.Frontend{
	Flush: 1.2e-3, Token: 14e-6, Request: 0.9e-3, Head: 0.6e-3, Finish: 170e-6, Passes: 8, Delay: 1.75e-3, Host: 0.5,
}

const usualChunk = 40e-6

// loopHold is what it costs to change a number by a factor of e.
const loopHold = 0.01

// Factors are tried on each number, those of the second round closer.
var loopFactors = [][]float64{{0.5, 0.7, 1.4, 2}, {0.7, 0.85, 1.18, 1.4}, {0.85, 0.93, 1.08, 1.18}}

// loopKnobs are the numbers to find.
func loopKnobs(c *engine.Config) []func(factor float64) {
	var all []func(float64)
	f := &c.Frontend
	for _, s := range []*engine.Seconds{&c.Cost.PrefillToken, &f.Flush, &f.Head, &f.Request, &f.Delay, &f.Token, &f.Chunk} {
		all = append(all, func(factor float64) { *s *= engine.Seconds(factor) })
	}
	return append(all, func(factor float64) { f.Passes = max(1, int(math.Round(factor*float64(f.Passes)))) })
}

// loopOf finds the frontend of c as an event loop. Each run is simulated with the speed that its host had.
func (c *Calibration) loopOf(with engine.Config, runs []*rerun) (engine.Config, error) {
	chunk := max(with.Frontend.Chunk, 1e-6)
	pace := chunk / usualChunk
	f := usualLoop
	f.Chunk = chunk
	for _, s := range []*engine.Seconds{&f.Flush, &f.Token, &f.Request, &f.Head, &f.Finish} {
		*s *= pace
	}
	f.Tokenize = engine.Seconds(c.tokenize)
	with.Frontend = f
	start := with
	at := make([]float64, len(loopKnobs(&with))) // ln of the factor on each number
	least, err := c.loopLoss(start, at, runs)
	for _, factors := range loopFactors {
		for k := range at {
			was := at[k]
			for _, factor := range factors {
				tried := slices.Clone(at)
				tried[k] = was + math.Log(factor)
				off, failed := c.loopLoss(start, tried, runs)
				if err = errors.Join(err, failed); off < 0.995*least {
					at, least = tried, off
				}
			}
		}
		share, off, failed := c.launchShare(start, at, runs)
		if err = errors.Join(err, failed); off < 0.995*least {
			start.Cost.LaunchShare, least = share, off
		}
	}
	return changed(start, at), err
}

// changed is an engine with factors on its loop's numbers, as logarithms.
func changed(with engine.Config, factors []float64) engine.Config {
	for k, knob := range loopKnobs(&with) {
		knob(math.Exp(factors[k]))
	}
	return with
}

// loopLoss is the misfit of runs with factors on the numbers of an engine, and what it costs to change those.
func (c *Calibration) loopLoss(with engine.Config, factors []float64, runs []*rerun) (float64, error) {
	off, err := c.loopMisfit(changed(with, factors), runs)
	for _, f := range factors {
		off += loopHold * f * f
	}
	return off, err
}

// launchShare is the share of a step on the device, of some, that a launch waits for with which the runs come out
// nearest to themselves, and their misfit.
func (c *Calibration) launchShare(with engine.Config, at []float64, runs []*rerun) (best, least float64, err error) {
	least = math.Inf(1)
	for _, share := range []float64{0, 0.3, 0.6, 0.9} {
		with.Cost.LaunchShare = share
		off, failed := c.loopLoss(with, at, runs)
		if err = errors.Join(err, failed); off < 0.995*least {
			best, least = share, off
		}
	}
	return best, least, err
}

// loopMisfit is the mean size of the errors of runs in what shows a frontend, in logarithms.
func (c *Calibration) loopMisfit(with engine.Config, runs []*rerun) (float64, error) {
	sum, n, before := 0.0, 0, math.NaN()
	for i, r := range runs {
		for seed := range uint64(loopDraws) {
			made, steps, err := r.made(c.hosted(with, i), seed+1)
			if err != nil {
				return 0, err
			}
			got := shapeOf(made, steps)
			if math.IsNaN(before) { // time before the head that is no work of the loop, and in the delay behind it here
				before = min(max(0, r.shape[shapeHead]-got[shapeHead]), float64(with.Frontend.Delay))
			}
			got[shapeHead] += before
			for k, want := range r.shape {
				if got[k] > 0 && want > 0 {
					off := math.Abs(math.Log(got[k] / want))
					sum += off / (1 + off/farOff)
					n++
				}
			}
		}
	}
	return sum / float64(max(1, n)), nil
}

// farOff is the error from which on a figure pulls little: something else than the frontend makes it.
const farOff = 0.15

// loopDraws is how often each run is simulated for that.
const loopDraws = 2

// hosted is an engine with the speed that the host had in run i, where that is known.
func (c *Calibration) hosted(with engine.Config, i int) engine.Config {
	if h := with.Cost.Host; h != nil {
		own := engine.Host{Factors: h.Factors, Hold: legHold}
		if legs := c.clocks.legs; i < len(legs) && legs[i] != nil {
			own.Factors = legs[i]
		}
		with.Cost.Host = &own
	}
	return with
}

// legHold is the time at a level of the host in a run that is simulated with the levels it had: short, so that it
// has all of them.
const legHold = 0.25

// A shape is what a run shows of a frontend.
type shape [shapes]float64

const (
	shapeThroughput = iota // output tokens/s
	shapeTTFT              // mean, in s
	shapeTTFTMedian
	shapeTTFT90
	shapeTPOT
	shapeTPOTMedian
	shapeHead    // median time from a request to the head of its response, in s
	shapePrompts // steps with prompts
	shapeChunks  // tokens per chunk
	shapes
)

// shapeOf is that of a run with so many steps with prompts.
func shapeOf(t *trace.Trace, steps int) (out shape) {
	var heads, ttft, tpot []float64
	tokens, chunks, end := 0, 0, trace.Instant(0)
	for _, r := range t.Records {
		s := stream(r)
		if len(s.At) == 0 {
			continue
		}
		tokens, chunks, end = tokens+max(s.Output, len(s.At)), chunks+len(s.At), max(end, r.Done)
		heads = append(heads, (s.Head - s.Sent).Seconds())
		ttft = append(ttft, (s.At[0] - s.Sent).Seconds())
		if n := s.Output - 1; n > 0 {
			tpot = append(tpot, (s.At[len(s.At)-1]-s.At[0]).Seconds()/float64(n))
		}
	}
	if len(ttft) == 0 || len(tpot) == 0 || end <= 0 {
		return out
	}
	first, each := stats.Sort(ttft), stats.Sort(tpot)
	out[shapeThroughput] = float64(tokens) / time.Duration(end).Seconds()
	out[shapeTTFT], out[shapeTTFTMedian], out[shapeTTFT90] = stats.Mean(ttft), first.Median(), first.Percentile(90)
	out[shapeTPOT], out[shapeTPOTMedian] = stats.Mean(tpot), each.Median()
	out[shapeHead], out[shapePrompts] = median(heads), float64(steps)
	out[shapeChunks] = float64(tokens) / float64(max(1, chunks))
	return out
}

// made is the run on an engine, and how many steps had prompts.
func (r *rerun) made(c engine.Config, seed uint64) (*trace.Trace, int, error) {
	c.Seed = seed
	model, err := engine.New(c)
	if err != nil {
		return nil, 0, err
	}
	steps := 0
	model.Watch(func(s engine.Step) {
		if s.PrefillTokens > 0 {
			steps++
		}
	})
	p := r.plan
	p.Chunks = &r.memory
	r.memory.Reset()
	made := sim.Run(model, p)
	run := *r.run
	run.Kind, run.End = trace.Simulated, made.End
	return &trace.Trace{Run: run, Records: made.Records}, steps, nil
}

// tokenizing is the time for each prompt token before the head of a response, where few streams were under way.
func tokenizing(logs []*steplog) float64 {
	var x, y []float64
	for _, l := range logs {
		for i := range l.Streams {
			at := &l.steps[l.first[i]]
			if s := &l.Streams[i]; s.Head > 0 && at.active+len(at.firsts)+at.waiting <= fewActive {
				x, y = append(x, float64(s.Prompt)), append(y, (s.Head-s.Sent).Seconds())
			}
		}
	}
	return max(0, line(x, y))
}

const fewActive = 4
