package calibrate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
)

// plan draws the requests and arrivals of a run: draw number n of e.
func plan(e *profile.Evidence, n uint64) sim.SimulationPlan {
	dice := arrival.Dice(n, "reproduce", 0)
	r := rand.New(&dice)
	w := &e.Workload
	texts := lengths(r, w.Text, e.Requests, w.InputTokens)
	outputs := lengths(r, w.Output, e.Requests, w.OutputTokens)
	drawn := images(r, w.Image, e.Requests)
	requests := make([]sim.Request, e.Requests)
	for i := range requests {
		job := engine.Job{PromptTokens: texts[i], OutputTokens: outputs[i]}
		if drawn != nil {
			job.Images = []engine.Image{{Tokens: drawn[i]}}
			job.PromptTokens += drawn[i]
		}
		requests[i] = sim.Request{PromptTokens: texts[i], WantTokens: outputs[i], Job: job, Finish: "length"}
	}
	return sim.SimulationPlan{
		Requests: requests, Schedule: schedule(r, e.Rate, e.Requests), Concurrency: e.Concurrency, Stream: true, Chat: e.Chat,
	}
}

// schedule is Poisson arrivals with gaps scaled so that the last of n is at n/rate,
// like vLLM's benchmark; all at once without a rate.
func schedule(r *rand.Rand, rate float64, n int) arrival.Schedule {
	if rate == 0 {
		return arrival.Burst()
	}
	times := make([]float64, n)
	sum := 0.0
	for i := range times {
		sum += r.ExpFloat64()
		times[i] = sum
	}
	scale := arrival.Constant(rate * sum / float64(n))
	return arrival.New(slices.Values(times), scale)
}

// lengths draws n lengths of at least 1 with the sum total.
func lengths(r *rand.Rand, l profile.Lengths, n, total int) []int {
	switch l.Law {
	case profile.Lognormal:
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = math.Exp(l.Sigma * r.NormFloat64())
		}
		return divide(weights, total, l.Max)
	case profile.Capped:
		return capped(r, l, n, total)
	}
	return divide(slices.Repeat([]float64{1}, n), total, 0)
}

// divide splits total into integers of at least 1, at most limit if it is not 0, in
// proportion to the weights.
func divide(weights []float64, total, limit int) []int {
	parts := make([]int, len(weights))
	limit = cmp.Or(limit, math.MaxInt)
	scale := bisect(func(scale float64) float64 {
		sum := 0.0
		for _, w := range weights {
			sum += min(max(scale*w, 1), float64(limit))
		}
		return sum - float64(total)
	}, 0, float64(total))
	left, carry := total, 0.0
	for i, w := range weights { // the rounding error goes to the next
		x := min(max(scale*w, 1), float64(limit)) + carry
		parts[i] = int(min(max(math.Round(x), 1), float64(limit)))
		carry = x - float64(parts[i])
		left -= parts[i]
	}
	for i := 0; left != 0; i = (i + 1) % len(parts) {
		switch {
		case left > 0 && parts[i] < limit:
			parts[i]++
			left--
		case left < 0 && parts[i] > 1:
			parts[i]--
			left++
		}
	}
	return parts
}

// bisect finds the zero of f, which does not decrease, between low and high.
func bisect(f func(float64) float64, low, high float64) float64 {
	for range 100 {
		middle := (low + high) / 2
		if f(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// capped draws lengths with a share at the cap and the others from a power law.
func capped(r *rand.Rand, l profile.Lengths, n, total int) []int {
	full := int(math.Round(l.AtCap * float64(n)))
	short := make([]float64, n-full)
	for i := range short {
		short[i] = math.Log(1 - r.Float64())
	}
	rest := total - full*l.Max
	power := bisect(func(a float64) float64 { // a larger a makes them shorter
		sum := 0.0
		for _, u := range short {
			sum += max(float64(l.Max)*math.Exp(a*u), 1)
		}
		return float64(rest) - sum
	}, 0, 1000)
	for i, u := range short {
		short[i] = math.Exp(power * u)
	}
	parts := slices.Repeat([]int{l.Max}, n)
	if len(short) > 0 {
		copy(parts, divide(short, rest, l.Max))
	}
	r.Shuffle(n, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return parts
}

// images draws the tokens of n images; nil without any.
func images(r *rand.Rand, m *profile.Images, n int) []int {
	if m == nil {
		return nil
	}
	tokens := make([]int, n)
	for i := range tokens {
		x := m.Mean * math.Exp(m.Sigma*r.NormFloat64()-m.Sigma*m.Sigma/2)
		tokens[i] = int(math.Round(min(max(x, 1), engine.MaxContext)))
	}
	giants := int(m.GiantShare*float64(n) + r.Float64())
	for _, i := range r.Perm(n)[:min(giants, n)] {
		tokens[i] = m.GiantTokens
	}
	return tokens
}
