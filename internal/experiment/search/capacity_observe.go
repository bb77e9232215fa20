package search

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An Outcome is the result of a leg. It is a function of its trace.
type Outcome struct {
	Spent    time.Duration // by the leg, with the wait after it
	Requests int           // counted
	Failed   int           // of these, with the answers that had nothing in them
	// Client says how the client was in the way, and not the server under test; empty: it was not.
	Client  []plan.Message
	Growing bool // the queue grew
	Cut     bool // the run ended before all that it was to count was sent

	Tails  [][]Tail // by objective, then by block: parts of the leg, as long as each other
	E2EL   float64  // mean, in seconds; 0 if nothing was answered
	Long   float64  // 90th percentile of the same
	Fly    float64  // requests in flight at the end of Count
	Output float64  // mean tokens of an answer
}

// A Tail counts values beyond multiples of a limit.
type Tail struct {
	N     int
	Above [steps]int // by factor: exp(factorOf(i))
}

// The factors of a Tail: logarithms from -widest to widest.
const (
	steps  = 81
	widest = 0.8
)

func factorOf(i int) float64 { return widest * (2*float64(i)/(steps-1) - 1) }

// centre is the index of the limit itself.
const centre = (steps - 1) / 2

// add counts a value, as a multiple of the limit.
func (t *Tail) add(multiple float64) {
	t.N++
	l := math.Log(multiple)
	for i := 0; i < steps && l > factorOf(i); i++ {
		t.Above[i]++
	}
}

// at is how many are beyond exp(u) times the limit, between two factors in proportion.
func (t *Tail) at(u float64) float64 {
	x := (min(max(u, -widest), widest)/widest + 1) / 2 * (steps - 1)
	i := min(int(x), steps-2)
	f := x - float64(i)
	return (1-f)*float64(t.Above[i]) + f*float64(t.Above[i+1])
}

func (t Tail) plus(o Tail) Tail {
	t.N += o.N
	for i := range t.Above {
		t.Above[i] += o.Above[i]
	}
	return t
}

// Tail is that of all blocks for an objective.
func (o *Outcome) Tail(objective int) (t Tail) {
	for _, b := range o.Tails[objective] {
		t = t.plus(b)
	}
	return t
}

// Attained is the share of the requests within the limit of an objective; 0 of none.
func (o *Outcome) Attained(objective int) float64 {
	t := o.Tail(objective)
	if t.N == 0 {
		return 0
	}
	return 1 - float64(t.Above[centre])/float64(t.N)
}

// blocks are the parts of a leg.
const blocks = 4

// Observe is the Outcome of a leg, by its run.
func Observe(t *trace.Trace, l Leg, objectives []metrics.Objective) Outcome {
	o := Outcome{
		Spent: time.Duration(t.Run.End), Cut: t.Run.Status != trace.Complete, Tails: make([][]Tail, len(objectives)),
		Client: InTheWay(t.Run.Verdict),
	}
	for i := range o.Tails {
		o.Tails[i] = make([]Tail, blocks)
	}
	var took []float64
	tokens := 0
	for r, at := range l.counted(t) {
		o.Requests++
		if !answered(r) {
			o.Failed++
		} else {
			took = append(took, r.Done.Sub(r.Sent).Seconds())
			tokens += r.OutputTokens
		}
		block := 0
		if l.Count > 0 {
			block = int(blocks * int64(at-trace.Instant(l.Ramp)) / int64(l.Count))
		}
		own := latenciesOf(r, t.Run.Plan.Stream)
		for i, goal := range objectives {
			o.Tails[i][block].addRequest(goal, r, own)
		}
	}
	if n := len(took); n > 0 {
		sort.Float64s(took)
		o.E2EL, o.Long, o.Output = mean(took), took[n*9/10], float64(tokens)/float64(n)
	}
	o.Fly, o.Growing = growth(t.Records, l)
	return o
}

// starved says that other programs occupied the client's processors, and noAnswer that the server answered nothing,
// which alone is no fault of the client.
const (
	starved  plan.Code = "verdict.starved"
	noAnswer plan.Code = "verdict.none-answered"
)

// aboutClient are reasons that blame the client even of a run without answers.
var aboutClient = []plan.Code{"verdict.ran-out", "verdict.sent-late", "verdict.processors-busy", "verdict.workers-busy", starved}

// InTheWay is why a run shows its client: it is invalid, for more than that nothing was answered,
// or others starved the client.
func InTheWay(v *trace.Verdict) []plan.Message {
	has := func(codes ...plan.Code) bool {
		return slices.ContainsFunc(v.Reasons, func(m plan.Message) bool { return slices.Contains(codes, m.Code) })
	}
	switch {
	case v == nil,
		v.Validity != trace.Invalid && !has(starved),
		has(noAnswer) && !has(aboutClient...):
		return nil
	}
	return v.Reasons
}

// counted are the requests of a run that a leg counts, and when they came.
func (l Leg) counted(t *trace.Trace) iter.Seq2[*trace.Record, trace.Instant] {
	from, to := trace.Instant(l.Ramp), trace.Instant(l.Ramp+l.Count)
	if l.Count == 0 { // all there is
		to = math.MaxInt64
	}
	return func(yield func(*trace.Record, trace.Instant) bool) {
		for _, r := range t.Records {
			if at := came(r, l.By); at >= from && at < to && !yield(r, at) {
				return
			}
		}
	}
}

// answered reports whether a request has an answer with something in it.
func answered(r *trace.Record) bool { return r.OK() && r.OutputTokens > 0 && len(r.Chunks) > 0 }

// Limited are the figures that objectives limit, in seconds, of the requests that a leg counts:
// 0 of no values, and no number where too many were not answered.
func Limited(t *trace.Trace, l Leg, objectives []metrics.Objective) (figures []float64) {
	for _, goal := range objectives {
		var all []float64
		for r := range l.counted(t) {
			latenciesOf(r, t.Run.Plan.Stream).values(goal.Metric, r, func(v float64) { all = append(all, v) })
		}
		figures = append(figures, stats.Sort(all).Percentile(goal.P))
	}
	return figures
}

// came is when a request came to the server as far as a leg is concerned: of an open loop when
// it was due, of a closed one when it was sent.
func came(r *trace.Record, by LoadUnit) trace.Instant {
	if by == Concurrency && r.Sent.Happened() {
		return r.Sent
	}
	return max(r.Due, 0)
}

// latencies are those that a request has one of, in seconds; NaN: it has none.
type latencies struct{ ttft, tpot, e2el float64 }

// latenciesOf are those of a request. Unanswered requests are beyond every limit.
func latenciesOf(r *trace.Record, stream bool) (l latencies) {
	if !answered(r) {
		return latencies{math.Inf(1), math.Inf(1), math.Inf(1)}
	}
	l.ttft, l.tpot, l.e2el = metrics.PitotLatencies(r, stream)
	return l
}

// addRequest counts the values that a request has of the metric of an objective.
func (t *Tail) addRequest(goal metrics.Objective, r *trace.Record, own latencies) {
	limit := goal.Limit.Seconds()
	own.values(goal.Metric, r, func(v float64) { t.add(v / limit) })
}

// values gives the values that a request has of a metric, in seconds; infinite ones if it was not
// answered.
func (l latencies) values(metric figure.Metric, r *trace.Record, yield func(float64)) {
	v := l.ttft
	switch metric {
	case figure.ITL:
		if math.IsInf(l.e2el, 1) {
			for range max(1, r.WantTokens-1) {
				yield(l.e2el)
			}
			return
		}
		for _, gap := range metrics.PitotGaps(r) {
			yield(gap)
		}
		return
	case figure.TPOT:
		v = l.tpot
	case figure.E2EL:
		v = l.e2el
	}
	if !math.IsNaN(v) {
		yield(v)
	}
}

// A queue grows if, while requests count, the number in flight doubles, by at least growsBy, and by growsShare of
// all that came.
const (
	growsBy    = 20
	growsShare = 0.15
)

// growth is how many requests are in flight when the counted ones have been sent, or when
// sending ended, and whether they have become ever more.
func growth(records []*trace.Record, l Leg) (fly float64, growing bool) {
	from, to := trace.Instant(l.Ramp), trace.Instant(l.Ramp+l.Count)
	last := trace.Instant(0)
	for _, r := range records {
		last = max(last, came(r, l.By))
	}
	to = min(to, last)
	before, after, sent := 0, 0, 0
	for _, r := range records {
		at := came(r, l.By)
		if at <= from && r.Done > from {
			before++
		}
		if at <= to && r.Done > to {
			after++
		}
		if at > from && at <= to {
			sent++
		}
	}
	return float64(after), l.By == Rate && Grows(before, after, sent)
}

// Grows reports whether a queue grows: before and after are requests in flight at two instants
// between which sent ones were sent.
func Grows(before, after, sent int) bool {
	more := after - before
	return more >= growsBy && after >= 2*before && float64(more) >= growsShare*float64(sent)
}

// Verdict is the verdict of a leg alone.
type Verdict string

// The verdicts. Between clearly passing and failing no single leg decides.
const (
	Met     Verdict = "met"     // every objective, as it was counted
	NotMet  Verdict = "not met" // one of them at least
	Refused Verdict = "void"    // whatever the latencies: client, failures, empty answers, queue
)

// Why a leg never passes, whatever its latencies.
const (
	clientInvalid plan.Code = "capacity.client-invalid"
	nothingCame   plan.Code = "capacity.nothing-counted"
	tooManyFailed plan.Code = "capacity.requests-failed"
	queueGrew     plan.Code = "capacity.queue-grew"
)

// Reason is why a leg never passes, whatever its latencies; empty: no reason.
func (o *Outcome) Reason() plan.Code {
	switch {
	case len(o.Client) > 0:
		return clientInvalid
	case o.Requests == 0:
		return nothingCame
	case float64(o.Failed) > mostFailed*float64(o.Requests):
		return tooManyFailed
	case o.Growing:
		return queueGrew
	}
	return ""
}

// Judge is the verdict on a leg, and the objective that is furthest beyond its goal.
func (o *Outcome) Judge(objectives []metrics.Objective) (v Verdict, worst int) {
	v = Met
	most := math.Inf(-1)
	for i, goal := range objectives {
		t := o.Tail(i)
		beyond := (float64(t.Above[centre]) + 0.5) / (float64(t.N) + 1) / allowed(goal)
		if beyond > most {
			most, worst = beyond, i
		}
		if t.N == 0 || float64(t.Above[centre]) > allowed(goal)*float64(t.N)+1e-9 {
			v = NotMet
		}
	}
	if o.Reason() != "" {
		v = Refused
	}
	return v, worst
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}

// byLoad are legs, those of the least load first.
func byLoad(legs []MeasuredLeg) []MeasuredLeg {
	return slices.SortedStableFunc(slices.Values(legs), func(a, b MeasuredLeg) int { return cmp.Compare(a.Load, b.Load) })
}

// Clear reports whether a leg alone decides: by a reason, by several times the allowed share of an objective, or by
// a small part of it for every one.
func (o *Outcome) Clear(objectives []metrics.Objective) bool {
	return o.clearly(objectives, surelyMissed) || o.clearly(objectives, surelyMet)
}

// Multiples of the allowed share beyond a limit.
const (
	surelyMissed = 4
	surelyMet    = 0.3
)

// clearly reports whether a leg has at least factor times the allowed share of an objective, or with a factor below
// 1 at most that of every one.
func (o *Outcome) clearly(objectives []metrics.Objective, factor float64) bool {
	all := o.Reason() == ""
	for i, goal := range objectives {
		t := o.Tail(i)
		bad, may := float64(t.Above[centre]), allowed(goal)*float64(t.N)
		if factor > 1 && bad >= factor*may+8 {
			return true
		}
		all = all && may >= 3 && bad <= factor*may
	}
	return factor > 1 && o.Reason() != "" || factor <= 1 && all
}
