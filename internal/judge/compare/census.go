package compare

import (
	"cmp"
	"encoding/binary"
	"hash"
	"hash/fnv"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A census counts the requests of a run.
type census struct {
	run         trace.Run
	done        bool
	fingerprint hash.Hash64 // tells one sequence of requests from another: their places and lengths
	toll        failureCount
	limit       float64 // of the time of a request, in seconds; 0: none
	lost        float64 // seconds that failures took, at least the limit each

	n                int
	behind           bool // some request failed, or was a later turn
	first, last, end trace.Instant
	packed           []byte
}

func newCensus(run trace.Run) *census {
	return &census{run: run, fingerprint: fnv.New64a(), limit: limitOf(run), first: math.MaxInt64}
}

// count counts the records as they are read for the first time.
func (c *census) count(records metrics.Records) metrics.Records {
	return func(yield func([]*trace.Record, error) bool) {
		for some, err := range records {
			if !c.done {
				for _, r := range some {
					c.add(r)
				}
			}
			if !yield(some, err) {
				return
			}
		}
		c.done = true
	}
}

func (c *census) add(r *trace.Record) {
	c.packed = binary.AppendVarint(c.packed[:0], int64(r.Index))
	c.packed = binary.AppendVarint(c.packed, int64(r.PromptTokens))
	c.packed = binary.AppendVarint(c.packed, int64(r.WantTokens))
	_, _ = c.fingerprint.Write(c.packed)
	c.n++
	c.behind = c.behind || r.Class != "" || r.Turn > 0 || !r.Done.Happened()
	c.first, c.last, c.end = min(c.first, r.Due), max(c.last, r.Due), max(c.end, r.Done)
	if slices.Contains(ofClient, r.Class) {
		return
	}
	if c.toll.sent++; !r.OK() {
		c.toll.failed++
		c.lost += max(c.limit, metrics.Between(max(0, r.Sent), max(0, r.Done)))
	}
}

// keepsUp reports whether a run answered all requests of an open loop as they came, so that
// its duration and throughput are those of the arrivals: little of its time is left after
// the last of them.
func (c *census) keepsUp() bool {
	p := c.run.Plan
	return p.Rate > 0 && p.Concurrency == 0 && c.n > 0 && !c.behind && float64(c.end-c.last) <= tail*float64(c.end-c.first)
}

// tail is the share of a run after its last arrival from which on the server is behind.
const tail = 0.05

// A requests is the answered ones of a run by a tool's rules.
type requests struct {
	n     int
	all   func(yield func(metrics.Sample) bool) // in any order
	index []int32                               // in the workload, in the order of sending
}

// An observation is the figures of a run by a tool's rules, and the requests that they are of.
type observation struct {
	figures  []trace.ReportedFigure
	void     []string // figures that were not measured
	requests requests
	pools    pools
}

// observe reads a run by the rules of a tool.
func observe(t *trace.Trace, records metrics.Records, by RuleSource, rules metrics.Rules) (o observation, err error) {
	if r := t.Run.Origin; (by.Tool == metrics.Pitot || by.Tool == "") && (r == nil || r.Detail == trace.Recorded) {
		err = o.measure(t, records)
		return o, err
	}
	whole := *t
	whole.Records = nil
	for some, err := range records {
		if err != nil {
			return o, err
		}
		whole.Records = append(whole.Records, some...)
	}
	if o.figures, o.void = rules.Measured(&whole, by.Tool, by.Form); !HasRecords(t.Run) {
		return o, nil
	}
	samples := rules.Samples(&whole, by.Tool, by.Form)
	o.requests.n, o.requests.all = len(samples), slices.Values(samples)
	for _, s := range samples {
		o.requests.index = append(o.requests.index, int32(s.Index))
	}
	o.pools = pools{}
	for metric, of := range valuesOf {
		values := make([][]float64, len(samples))
		for i, s := range samples {
			if values[i] = s.ITL; of != nil {
				values[i] = []float64{of(s)}
			}
		}
		o.add(metric, poolOf(values))
	}
	return o, nil
}

func (o *observation) add(metric figure.Metric, p *pool) {
	p.metric, p.index, o.pools[metric] = metric, o.requests.index, p
}

// measure reads a run by Pitot's rules.
func (o *observation) measure(t *trace.Trace, records metrics.Records) error {
	figures, answers, err := metrics.Measure(t, records)
	if err != nil {
		return err
	}
	o.figures, o.pools = figures, pools{}
	place := o.order(answers)
	for metric, of := range valuesOf {
		if of == nil {
			continue
		}
		o.add(metric, poolOfAnswers(answers, place, of))
	}
	if gaps := answers.Gaps(); gaps != nil {
		f := gaps.Figures(nil, 1e9)
		o.add(figure.ITL, &pool{
			requests: o.requests.n, n: f.N, mean: f.Mean, std: f.Std,
			percentiles: func(p ...float64) (out []float64, err error) {
				err = answers.Percentiles(p)
				for i := 0; err == nil && i < len(p); i++ {
					out = append(out, gaps.Percentile(p[i], 1e9))
				}
				return out, err
			},
			walk: func(do func(int, []float64)) error {
				return answers.EachGaps(func(i int, gaps []float64) { do(int(place[i]), gaps) })
			},
		})
	}
	return nil
}

// poolOfAnswers is the pool of one value an answer, NaN for none. The values are made of the answers whenever they are
// wanted: those of all metrics would take more memory than the answers.
func poolOfAnswers(answers metrics.Answers, place []int32, of func(metrics.Sample) float64) *pool {
	n := answers.N()
	fresh := func() *pool {
		values := make([]float64, 0, n)
		for s := range answers.All {
			if v := of(s); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		return newPool(n, values)
	}
	p := fresh()
	p.percentiles = func(percents ...float64) ([]float64, error) { return fresh().percentiles(percents...) }
	p.walk = func(do func(int, []float64)) error {
		i, one := 0, [1]float64{}
		for s := range answers.All {
			if one[0] = of(s); math.IsNaN(one[0]) {
				do(int(place[i]), nil)
			} else {
				do(int(place[i]), one[:])
			}
			i++
		}
		return nil
	}
	return p
}

// order puts the answers in the order of sending, and returns the place of each there.
func (o *observation) order(answers metrics.Answers) (place []int32) {
	n := answers.N()
	o.requests.n, o.requests.all = n, answers.All
	sent, index, order := make([]float64, 0, n), make([]int32, 0, n), make([]int32, n)
	for s := range answers.All {
		sent, index = append(sent, s.Start), append(index, int32(s.Index))
	}
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(sent[a], sent[b]) })
	place = make([]int32, n)
	for i, k := range order {
		place[k] = int32(i)
		o.requests.index = append(o.requests.index, index[k])
	}
	return place
}
