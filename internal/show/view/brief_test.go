package view

import (
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// distributed is a distribution of a hundred values in seconds.
func distributed(mean, p99 float64) metrics.Distribution {
	return metrics.Distribution{N: 100, Mean: mean, Median: mean, Percentiles: []metrics.Percentile{{P: 90, Value: mean}, {P: 99, Value: p99}}}
}

// summed is a run of 100 requests with a steady state in which all is twice as slow.
func summed() Known {
	k := measured()
	k.Listing.Records, k.Listing.Failed = 100, 0
	k.Run.Plan.Objectives = append(k.Run.Plan.Objectives, plan.Objective{Metric: "tpot", Limit: plan.Duration(12 * time.Millisecond)})
	s := &metrics.Summary{
		Run: k.Run, Duration: 30, Rates: metrics.Rates{Requests: 10, Output: 640}, Goodput: &metrics.Goodput{Share: 0.084, Rate: 1},
		Service: metrics.Latencies{TTFT: distributed(0.1, 0.3), TPOT: distributed(0.01, 0.02), ITL: distributed(0.01, 0.05), E2EL: distributed(1, 2)},
		Steady: metrics.Steady{
			From: 3, To: 27, Requests: 80, Completed: 5, Output: 320,
			Service: metrics.Latencies{TTFT: distributed(0.2, 0.6), TPOT: distributed(0.02, 0.04), ITL: distributed(0.02, 0.1), E2EL: distributed(2, 4)},
		},
	}
	k.Summary, k.Service, k.Figures = s, &s.Service, s.Figures()
	return k
}

// lines are the figures of a brief with their units, and which are doubted.
func (b Brief) lines() string {
	var all []string
	for _, f := range b.Figures {
		line := f.Name + " " + f.Text + " " + f.Unit
		if f.Doubt != "" {
			line += " !"
		}
		all = append(all, line)
	}
	return strings.Join(all, ", ")
}

func TestTheSixFiguresAreOfTheSteadyState(t *testing.T) {
	b := NewRun(summed(), words.In("en")).Brief
	want := "throughput.requests 5.000 /s, throughput.output 320.0 tok/s, ttft.mean 200.0 ms, ttft.p99 600.0 ms !, tpot.mean 20.00 ms, e2el.mean 2000 ms"
	if got := strings.ReplaceAll(b.lines(), "req/s", "/s"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if b.Of != "of the steady state, 3.0 to 27.0 s of 30.0 s" || b.Met != "8.4 % of the requests met TTFT ≤ 200ms, TPOT ≤ 12ms" || *b.MetShare != 0.084 {
		t.Errorf("%q, %q", b.Of, b.Met)
	}
	k := summed()
	k.Summary.Steady.Service.TTFT.MeanInterval = &metrics.Interval{Low: 0.19, High: 0.21}
	k.Summary.Steady.Service.TTFT.Percentiles[1].Interval = &metrics.Interval{Low: 0.5, High: 0.7}
	if f := NewRun(k, words.In("en")).Brief.Figures; *f[2].Low != 0.19 || *f[3].High != 0.7 || f[4].Low != nil {
		t.Errorf("%+v", f)
	}
	k = summed()
	k.Summary.Steady = metrics.Steady{Why: plan.Text("it was short")}
	if b := NewRun(k, words.In("en")).Brief; !strings.HasPrefix(b.Figures[0].Text, "10") || b.Of != "of the whole run: no steady state: it was short" {
		t.Errorf("%+v", b)
	}
}

// Figures that are void, or invalid, are not left out in silence.
func TestTheSixFiguresHaveThoseThatAreNotToBeBelieved(t *testing.T) {
	k := summed()
	l := &k.Summary.Steady.Service
	l.TTFT.Void, l.TPOT.Invalid = true, true
	b := NewRun(k, words.In("en")).Brief
	if got := b.lines(); !strings.Contains(got, "ttft.mean – ms !, ttft.p99 – ms !, tpot.mean 20.00 ms, e2el.mean") {
		t.Error(got)
	}
}

// Of a run whose requests were not all read, the share comes from the goodput that is stored.
func TestABriefOfWhatIsStored(t *testing.T) {
	k := summed()
	k.Summary, k.Service = nil, nil
	b := NewRun(k, words.In("en")).Brief
	if !strings.Contains(b.Of, "pitot runs report r1") || !strings.HasPrefix(b.Met, "30.0 % of the requests met") {
		t.Errorf("%q, %q", b.Of, b.Met)
	}
	k.Tool = "vllm"
	if b := NewRun(k, words.In("en")).Brief; b.Of != "" || b.Met != "" || len(b.Figures) != 6 {
		t.Errorf("%+v", b)
	}
	k = measured()
	k.Listing.Status = trace.Running
	if b := NewRun(k, words.In("zh")).Brief; b.Of != "到目前为止" || b.Met != "" || len(b.Figures) != 2 {
		t.Errorf("%+v", b)
	}
}

// Objectives of the run are judged one by one.
func TestObjectivesOfTheRunAreJudged(t *testing.T) {
	k := summed()
	of := plan.Objective{Metric: "ttft", Statistic: "p99", Limit: plan.Duration(200 * time.Millisecond)}
	k.Summary.Judgements = []metrics.Judgement{{Objective: of, Value: 0.3, Known: true}, {Objective: of, Value: 0.1, Known: true, Met: true}, {Objective: of}}
	b := NewRun(k, words.In("en")).Brief
	if len(b.Judged) != 3 || b.Judged[0].Tone != "worse" || b.Judged[1].Tone != "better" || b.Judged[2].Tone != "unclear" || !strings.Contains(b.Judged[0].Text, "P99 TTFT ≤ 200ms") {
		t.Errorf("%+v", b.Judged)
	}
}

// A verdict is why, what to do, and what it did to the figures.
func TestAVerdictIsExplained(t *testing.T) {
	k := measured()
	k.Run.Verdict.Reasons = []plan.Message{plan.Msg("verdict.sent-late", "p99", 0.02, "limit", 0.001), plan.Msg("verdict.starved", "others", 0.9, "waited", 0.5, "pressure", 0.9)}
	v := NewRun(k, words.In("en")).Verdict
	if len(v.Causes) != 1 || !strings.Contains(v.Causes[0], "busy") || !strings.HasPrefix(v.Remedy, "what to do: ") || !strings.Contains(v.Effects, "late") {
		t.Errorf("%+v", v)
	}
}
