package result

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// A Request is a request as these tools see it. Its clock starts when the concurrency gate
// lets it go, before any connection is made.
type Request struct {
	OK                    bool
	Input, Output, Cached int     // tokens
	Start                 float64 // in seconds, as all times here, since the start of the run
	TTFT, Latency         float64
	Queue                 float64  // from due to released
	ServerQueue           *float64 // the server's own times; nil if it did not say
	ServerTTFT            *float64
	ITL                   []float64 // between token events
	Text, ErrorText       string
}

// TPOT is 0 for an answer of one token.
func (q *Request) TPOT() float64 {
	if q.Output <= 1 {
		return 0
	}
	return (q.Latency - q.TTFT) / float64(q.Output-1)
}

// Sample is the request of an index in figures.
func (q *Request) Sample(index int) metrics.Sample {
	s := metrics.Sample{
		Index: index, Prompt: q.Input, Tokens: q.Output, Start: q.Start, End: q.Start + q.Latency, TTFT: q.TTFT, TPOT: math.NaN(), E2EL: q.Latency, ITL: q.ITL,
	}
	if q.Output > 1 {
		s.TPOT = q.TPOT()
	}
	return s
}

// Figures are those that both tools have.
type Figures struct {
	Duration          float64 // seconds
	Completed, Failed int
	TotalInput        int // prompt tokens
	TotalOutput       int // tokens

	RequestThroughput    float64 // per second
	OutputThroughput     float64 // tokens/s
	TotalTokenThroughput float64 // tokens/s, input and output
	MaxOutputPerSecond   float64 // token events, in buckets of a second
	MaxConcurrent        int
	Refused              int // requests of which the server's counts cannot be, and are in the sums as these tools have them

	// Latencies are in seconds, over the successes.
	metrics.Latencies
}

// ReportSeconds is noted where requests that touch one second were not in flight at once, in
// the words of show/words.
const ReportSeconds plan.Code = "serving.report-seconds" // tool, peak, flight

// Refusals counts the requests of which the server's counts cannot be.
func Refusals(records []*trace.Record) (n int) {
	for _, r := range records {
		if r.OK() && r.Doubted() {
			n++
		}
	}
	return n
}

// Notes say of a tool's figures that counts that cannot be are in them.
func (f *Figures) Notes(tool string) []plan.Message {
	if f.Refused == 0 {
		return nil
	}
	return []plan.Message{plan.Msg("report.usage-foreign", "requests", f.Refused, "tool", tool)}
}

// Sum counts requests and takes the statistics of those that succeeded. Gaps between tokens
// are those that gaps gives of the i-th.
func (f *Figures) Sum(requests []*Request, gaps func(i int) []float64, percentiles []float64) {
	var ttft, tpot, e2el []float64
	for _, q := range requests {
		if !q.OK {
			f.Failed++
			continue
		}
		f.Completed++
		f.TotalInput += q.Input
		f.TotalOutput += q.Output
		ttft, e2el = append(ttft, q.TTFT), append(e2el, q.Latency)
		if q.Output > 1 {
			tpot = append(tpot, q.TPOT())
		}
	}
	f.Latencies = metrics.Latencies{
		TTFT: metrics.Distribute(ttft, percentiles), TPOT: metrics.Distribute(tpot, percentiles),
		ITL: metrics.DistributeStream(Each(requests, gaps), percentiles), E2EL: metrics.Distribute(e2el, percentiles),
	}
}

// Each are the values that of gives of the i-th request, of those that succeeded.
func Each(requests []*Request, of func(i int) []float64) stats.Stream {
	return func(yield func([]float64) bool) {
		for i, q := range requests {
			if q.OK && !yield(of(i)) {
				return
			}
		}
	}
}

// Rate is a number of things per second of the run, 0 if it took no time.
func (f *Figures) Rate(n float64) float64 {
	if f.Duration <= 0 {
		return 0
	}
	return n / f.Duration
}

// Rates are what the sums are per second.
func (f *Figures) Rates() {
	f.RequestThroughput = f.Rate(float64(f.Completed))
	f.OutputThroughput = f.Rate(float64(f.TotalOutput))
	f.TotalTokenThroughput = f.Rate(float64(f.TotalInput + f.TotalOutput))
}

// A MetricLatency is a metric in a report.
type MetricLatency struct {
	Key    string // in the members of a result file
	Metric figure.Metric
	metrics.Distribution
}

// Metrics are the latencies in the order of vLLM's report.
func (f *Figures) Metrics() []MetricLatency {
	return []MetricLatency{{"ttft", figure.TTFT, f.TTFT}, {"tpot", figure.TPOT, f.TPOT}, {"itl", figure.ITL, f.ITL}, {"e2el", figure.E2EL, f.E2EL}}
}

// Rows adds the rows of a table.
func (l MetricLatency) Rows(e *Entries) {
	e.Add(l.Metric.Mean(), l.Mean)
	e.Add(l.Metric.Median(), l.Median)
	for _, p := range l.Percentiles {
		e.Add(l.Metric.Of("p"+Percentile(p.P)), p.Value)
	}
}

// Members writes the members of a result file.
func (l MetricLatency) Members(o *python.Object) {
	o.Set("mean_"+l.Key+"_ms", l.Mean*1000)
	o.Set("median_"+l.Key+"_ms", l.Median*1000)
	o.Set("std_"+l.Key+"_ms", l.Std*1000)
	for _, p := range l.Percentiles {
		o.Set("p"+Percentile(p.P)+"_"+l.Key+"_ms", p.Value*1000)
	}
}

// List are the figures that are no statistics of latencies.
func (f *Figures) List() (l metrics.List) {
	l.Add(figure.RequestsOK, float64(f.Completed))
	l.Add(figure.Duration, f.Duration)
	l.Add(figure.InputTokens, float64(f.TotalInput))
	l.Add(figure.OutputTokens, float64(f.TotalOutput))
	l.Add(figure.RequestThroughput, f.RequestThroughput)
	l.Add(figure.OutputThroughput, f.OutputThroughput)
	l.Add(figure.TotalThroughput, f.TotalTokenThroughput)
	l.Add(figure.PeakOutput, f.MaxOutputPerSecond)
	l.Add(figure.PeakConcurrency, float64(f.MaxConcurrent))
	return l
}

// Seconds count what happens in each second from the first start on. The sums are made in
// the order of those tools, since buckets cut at whole seconds.
type Seconds struct {
	from            float64
	events, touched []int // of touched the differences from one second to the next
}

// NewSeconds counts from the first start to the last end.
func NewSeconds(from, to float64) *Seconds {
	n := int(math.Ceil(to-from)) + 1
	return &Seconds{from, make([]int, n), make([]int, n+1)}
}

// Add counts the token events of a request, and the seconds that it touches.
func (s *Seconds) Add(q *Request) {
	s.touched[int(q.Start-s.from)]++
	s.touched[int(q.Start+q.Latency-s.from)+1]--
	at := q.Start + q.TTFT
	for i := -1; i < len(q.ITL); i++ {
		if i >= 0 {
			at += q.ITL[i]
		}
		if s, n := s.events, int(at-s.from); n >= 0 && n < len(s) {
			s[n]++
		}
	}
}

// Peaks are the most token events within a second, and the most requests that touch one.
func (s *Seconds) Peaks() (events, touched int) {
	now := 0
	for _, change := range s.touched {
		now += change
		touched = max(touched, now)
	}
	return slices.Max(s.events), touched
}

// Peaks fills in the peaks of the requests that succeeded.
func (f *Figures) Peaks(requests []*Request) {
	from, to := math.Inf(1), math.Inf(-1)
	for _, q := range requests {
		if q.OK {
			from, to = min(from, q.Start), max(to, q.Start+q.Latency)
		}
	}
	if from > to {
		return
	}
	s := NewSeconds(from, to)
	for _, q := range requests {
		if q.OK {
			s.Add(q)
		}
	}
	events, touched := s.Peaks()
	f.MaxOutputPerSecond, f.MaxConcurrent = float64(events), touched
}
