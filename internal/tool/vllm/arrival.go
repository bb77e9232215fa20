package vllm

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Arrivals are the kinds of arrival that are the tool's.
func Arrivals() map[string]func() workload.Arrival {
	return map[string]func() workload.Arrival{"vllm": func() workload.Arrival { return &Arrival{Burstiness: 1} }}
}

// arriveStretched is how requests arrive, in the words of show/words.
const arriveStretched plan.Code = "arrival.stretched" // arrival

// An Arrival is when the tool sends requests: gaps of numpy's gamma distribution, summed
// up, and stretched so that the last is sent after n/rate seconds. Under a ramp the rate
// follows the position of the request, and nothing is stretched.
type Arrival struct {
	Rate       float64 `json:"rate,omitempty"` // requests per second; 0: all at once
	Burstiness float64 `json:"burstiness"`     // shape of the distribution; 0: no chance, as of an infinite one
	Ramp       string  `json:"ramp,omitempty"` // linear or exponential, from Start to End requests per second
	Start      int     `json:"start,omitempty"`
	End        int     `json:"end,omitempty"`
	OwnTimes   bool    `json:"own_times,omitempty"` // those of the dataset
}

// Check reports all problems.
func (a *Arrival) Check() (p plan.Problems) {
	p.If(!(a.Rate >= 0) || math.IsInf(a.Rate, 1), "rate", a.Rate, "must be positive, or 0 for all at once")
	p.Rate("rate", a.Rate)
	p.If(!(a.Burstiness >= 0) || math.IsInf(a.Burstiness, 1), "burstiness", a.Burstiness, "must be positive, or 0 for gaps that are all the same")
	p.OneOf("ramp", a.Ramp, "linear", "exponential")
	p.If(a.Ramp != "" && a.Rate != 0, "rate", a.Rate, "a ramp sets the rate")
	p.If(a.Ramp != "" && a.Start < 1, "start", a.Start, "must be at least 1")
	p.If(a.Ramp != "" && a.End < a.Start, "end", a.End, "must not be less than start")
	return p
}

func (*Arrival) Read(workload.Files) error { return nil }

// Arrange gives requests their adapters and their times. Python's and numpy's generators
// go on from where the dataset left them.
func (a *Arrival) Arrange(w *workload.Workload, with workload.Arranging) (workload.Arrangement, error) {
	adapt(w, with)
	numpy := w.Numpy
	if numpy == nil {
		numpy = pyrand.NewLegacy(uint32(with.Seed))
	}
	due := make([]time.Duration, w.All().N)
	for i, s := range a.offsets(w, numpy) {
		due[i] = arrival.Nanoseconds(s)
	}
	rate := a.Rate
	if a.OwnTimes {
		rate = 0
	}
	return workload.Arrangement{Schedule: slices.Values(due), Requests: len(due), Rate: rate, Ramp: a.Ramp != ""}, nil
}

// adapt gives each request its adapter: in turn, or each by random.choice.
func adapt(w *workload.Workload, with workload.Arranging) {
	n := len(with.Adapters.Names)
	if n == 0 {
		return
	}
	rng := w.Python
	if rng == nil {
		rng = pyrand.NewRandom(int64(with.Seed))
	}
	picks := make([]int32, w.All().N)
	for i := range picks {
		picks[i] = int32(i % n)
		if with.Adapters.Assign == "random" {
			picks[i] = int32(rng.Below(n))
		}
	}
	w.Amend(func(i int, r *workload.Request) { r.Model = with.Adapters.Names[picks[i]] })
}

// offsets are in seconds. Of a trace none is waited for that has gone by.
func (a *Arrival) offsets(w *workload.Workload, rng *pyrand.Legacy) []float64 {
	all := w.All()
	n := all.N
	out := make([]float64, n)
	sum := 0.0
	if a.OwnTimes {
		for i := range out {
			sum = max(sum, all.Brief(i).At.Seconds())
			out[i] = sum
		}
		return out
	}
	for i := range out {
		switch rate := a.rate(i, n); {
		case rate == 0:
		case a.Burstiness == 0:
			sum += 1 / rate
		default:
			sum += rng.Gamma(a.Burstiness, 1/float64(rate*a.Burstiness))
		}
		out[i] = sum
	}
	if a.Ramp == "" && sum != 0 {
		factor := float64(n) / a.Rate / sum
		for i := range out {
			out[i] *= factor
		}
	}
	return out
}

// rate is the request rate at position i of n, 0 if there is none.
func (a *Arrival) rate(i, n int) float64 {
	if a.Ramp == "" {
		return a.Rate
	}
	from, to := float64(a.Start), float64(a.End)
	progress := float64(i) / float64(max(n-1, 1))
	if a.Ramp == "linear" {
		return from + float64((to-from)*progress)
	}
	return from * math.Pow(to/from, progress)
}

// Describe says when requests are sent.
func (a *Arrival) Describe() plan.Message {
	switch {
	case a.OwnTimes:
		return plan.Msg(workload.ArriveRecorded)
	case a.Ramp != "":
		return workload.Ramped(a.Burstiness, fmt.Sprintf("%s:%d..%d", a.Ramp, a.Start, a.End), true)
	case a.Rate == 0:
		return plan.Msg(workload.ArriveAtOnce)
	}
	return plan.Msg(arriveStretched, "arrival", workload.Paced(a.Burstiness, a.Rate))
}

// An RPSChange is a ramp passing an integer number of requests per second.
type RPSChange struct {
	RPS int
	At  time.Time
}

// changes lists them for n requests of which the i-th is sent at(i).
func (a *Arrival) changes(n int, started time.Time, at func(i int) time.Time) []RPSChange {
	if a.Ramp == "" {
		return nil
	}
	last := a.Start
	changes := []RPSChange{{last, started}}
	for i := range n {
		for now := int(a.rate(i, n)); last < now; {
			last++
			changes = append(changes, RPSChange{last, at(i)})
		}
	}
	return changes
}
