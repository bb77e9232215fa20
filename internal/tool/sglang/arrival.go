package sglang

import (
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Arrivals are the kinds of arrival that are the tool's.
func Arrivals() map[string]func() workload.Arrival {
	return map[string]func() workload.Arrival{"sglang": func() workload.Arrival { return new(Arrival) }}
}

// An Arrival is when the tool sends requests: it draws, in turn, the adapter of a request
// and the gap after it, of numpy's exponential distribution. Of a conversation only the
// first request is drawn for; the others follow it.
type Arrival struct {
	Rate     float64 `json:"rate,omitempty"`      // requests per second; 0: all at once
	OwnTimes bool    `json:"own_times,omitempty"` // those of the dataset
	// AdapterFields are the fields of the body that get the name of an adapter.
	AdapterFields []string `json:"adapter_fields,omitempty"`
}

// Check reports all problems.
func (a *Arrival) Check() (p plan.Problems) {
	p.If(!(a.Rate >= 0) || math.IsInf(a.Rate, 1), "rate", a.Rate, "must be positive, or 0 for all at once")
	p.Rate("rate", a.Rate)
	return p
}

func (*Arrival) Read(workload.Files) error { return nil }

// Arrange gives requests their adapters and their times, from where the dataset left the
// generators.
func (a *Arrival) Arrange(w *workload.Workload, with workload.Arranging) (workload.Arrangement, error) {
	d := drawing{numpy: w.Numpy, python: w.Python, names: with.Adapters.Names, assign: with.Adapters.Assign}
	if d.numpy == nil {
		d.numpy = pyrand.NewLegacy(uint32(with.Seed))
	}
	if d.python == nil {
		d.python = pyrand.NewRandom(int64(with.Seed))
	}
	if d.assign == "skewed" {
		d.shares = shares(len(d.names), with.Adapters.Alpha)
	}
	due, end := a.draw(w, &d)
	for i := range w.Warmup {
		if len(d.names) > 0 {
			a.adapt(&w.Warmup[i], d.names[0])
		}
	}
	out := workload.Arrangement{Schedule: slices.Values(due), Requests: w.All().N, End: end}
	if !a.OwnTimes {
		out.Rate = a.Rate
	}
	return out, nil
}

// draw gives requests their adapters, and says when they are due. It draws a gap after
// every request, also after the last: that is the end.
func (a *Arrival) draw(w *workload.Workload, d *drawing) (due []time.Duration, end time.Duration) {
	at, all := 0.0, w.All()
	adapter := make([]int32, all.N)
	for i := range adapter {
		r := all.Brief(i)
		if r.After > 0 {
			adapter[i] = adapter[r.After-1]
			continue
		}
		adapter[i] = d.adapter(len(due))
		if a.OwnTimes {
			due = append(due, r.At)
			continue
		}
		due = append(due, arrival.Nanoseconds(at))
		if a.Rate > 0 {
			at += d.numpy.Exponential(1 / a.Rate)
		}
	}
	if len(d.names) > 0 {
		w.Amend(func(i int, r *workload.Request) { a.adapt(r, d.names[adapter[i]]) })
	}
	return due, arrival.Nanoseconds(at)
}

// A drawing is what adapters and gaps are drawn from.
type drawing struct {
	numpy  *pyrand.Legacy
	python *pyrand.Random
	names  []string
	assign string
	shares []float64 // of adapters, cumulative
}

// adapter is the position of that of the i-th request; 0 where there is none.
func (d *drawing) adapter(i int) int32 {
	n := len(d.names)
	switch {
	case n == 0:
		return 0
	case d.assign == "distinct":
		return int32(i % n)
	case d.assign == "skewed":
		return int32(weighted(d.shares, d.numpy.Float64()))
	}
	return int32(d.python.Below(n))
}

// shares are the cumulative shares of n adapters, each 1/alpha of the one before.
func shares(n int, alpha float64) []float64 {
	weights := make([]float64, n)
	sum := 0.0
	for i := range weights {
		weights[i] = math.Pow(alpha, -float64(i))
		sum += weights[i]
	}
	total := 0.0
	for i := range weights {
		total += weights[i] / sum
		weights[i] = total
	}
	for i := range weights {
		weights[i] /= total
	}
	return weights
}

// weighted is where x falls among cumulative shares.
func weighted(shares []float64, x float64) int {
	i, equal := slices.BinarySearch(shares, x)
	if equal {
		i++
	}
	return min(i, len(shares)-1)
}

func (a *Arrival) adapt(r *workload.Request, name string) {
	for _, field := range a.AdapterFields {
		if name != "" {
			r.Set(field, python.AppendString(nil, name))
		}
	}
}

// Describe says when requests are sent.
func (a *Arrival) Describe() plan.Message {
	switch {
	case a.OwnTimes:
		return plan.Msg(workload.ArriveRecorded)
	case a.Rate == 0:
		return plan.Msg(workload.ArriveAtOnce)
	}
	return workload.Paced(1, a.Rate)
}
