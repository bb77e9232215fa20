package metrics_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestParse(t *testing.T) {
	got, taken, err := metrics.Parse("ttft.p99=500ms, tpot.mean<=40ms,itl.median ≤ 0.08s,e2el.p99.90<1m,tpot=50ms")
	want := []metrics.Objective{
		{"ttft", 99, 500 * time.Millisecond}, {"tpot", 0, 40 * time.Millisecond}, {"itl", 50, 80 * time.Millisecond}, {"e2el", 99.9, time.Minute}, {"tpot", 99, 50 * time.Millisecond},
	}
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(taken, []string{"tpot=50ms"}) {
		t.Fatalf("got %v, %v, %v", got, taken, err)
	}
	for _, o := range got {
		again, _, err := metrics.Parse(o.String())
		if err != nil || again[0] != o {
			t.Errorf("%s is read as %v, %v", o, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, why := range map[string]string{
		"":                             `"": has no limit`,
		"ttft.p99":                     `"ttft.p99": has no limit`,
		"tftt.p99=1s":                  `did you mean "ttft"?`,
		"ttft.p0=1s":                   "must be mean, or a percentile",
		"ttft.pNaN=1s":                 "must be mean, or a percentile",
		"ttft.p101=1s":                 "must be mean, or a percentile",
		"ttft.p99=500":                 "the limit needs a unit: 500ms, 500s",
		"ttft.p99=-1s":                 "the limit must be above 0",
		"ttft.p99=soon":                "the limit must be a time",
		"ttft:200":                     "write ttft=200ms",
		"ttft=1s,ttft.p99=2s":          "ttft.p99 has a limit already",
		"ttft.p99=1s,ttft.p99=2s":      "ttft.p99 has a limit already",
		"ttft.p99=1s,,tpot.pinf=1s":    `"tpot.pinf=1s"`,
		"ttft.median=1s,ttft.p50=10ms": "ttft.p50 has a limit already",
	} {
		if _, _, err := metrics.Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", text, err, why)
		}
	}
}

// answer is a request that was sent at 0 with chunks at the given milliseconds.
func answer(want int, ms ...int) *trace.Record {
	r := &trace.Record{Status: 200, WantTokens: want, OutputTokens: len(ms), Done: trace.Instant(ms[len(ms)-1]) * 1e6}
	for _, at := range ms {
		r.Chunks = append(r.Chunks, trace.Chunk{At: trace.Instant(at) * 1e6, Tokens: trace.Carried(1), Kind: trace.Text})
	}
	return r
}

func TestAttainment(t *testing.T) {
	failed := &trace.Record{Class: trace.HTTP, Status: 500, WantTokens: 4}
	run := &trace.Trace{Records: []*trace.Record{
		answer(3, 100, 110, 140), // TTFT 100, TPOT 20, gaps 10 30
		answer(2, 200, 250),      // TTFT 200, TPOT 50, gap 50
		answer(1, 400),           // TTFT 400, no TPOT
		failed,
	}}
	run.Run.Plan.Stream = true
	for _, c := range []struct {
		text       string
		within, of int
		mean       float64
		met        bool
	}{
		{"ttft.p50=200ms", 2, 4, .7 / 3, true},
		{"ttft.p51=200ms", 2, 4, .7 / 3, false},
		{"ttft.p75=400ms", 3, 4, .7 / 3, true},
		{"ttft.p99=1h", 3, 4, .7 / 3, false},     // as one failed
		{"ttft.mean=234ms", 2, 4, .7 / 3, false}, // as a quarter failed
		{"tpot.p33=20ms", 1, 3, .035, true},
		{"e2el.p75=400ms", 3, 4, .79 / 3, true},
		{"itl.p33=30ms", 2, 6, .03, true}, // the failed request has three gaps
		{"itl.p34=30ms", 2, 6, .03, false},
	} {
		o, _, err := metrics.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		a := o[0].Evaluate(run)
		if a.Within != c.within || a.Of != c.of || a.Failed != 1 || math.Abs(a.Mean()-c.mean) > 1e-9 || o[0].Met(a) != c.met {
			t.Errorf("%s: %+v, mean %v, met %v", c.text, a, a.Mean(), o[0].Met(a))
		}
		if twice := a.Add(a); twice.Share() != a.Share() || math.Abs(twice.Mean()-a.Mean()) > 1e-12 || o[0].Met(twice) != c.met {
			t.Errorf("%s: pooled with itself it is %+v", c.text, twice)
		}
	}
}

// 0.999 times 1000 is not 999 in float64.
func TestMetExactly(t *testing.T) {
	o := metrics.Objective{Metric: "ttft", P: 99.9, Limit: time.Second}
	if a := (metrics.Attainment{Within: 999, Of: 1000, Values: 1000}); !o.Met(a) {
		t.Error("999 of 1000 are 99.9 %")
	}
	if a := (metrics.Attainment{Within: 998, Of: 1000, Values: 1000}); o.Met(a) {
		t.Error("998 of 1000 are less than 99.9 %")
	}
}

// A mean of 100 ms says nothing of a server that failed 3 of 1000.
func TestMeansOfTheAnswered(t *testing.T) {
	o := metrics.Objective{Metric: "ttft", Limit: 100 * time.Millisecond}
	for failed, met := range map[int]bool{0: true, 2: true, 3: false} {
		if a := (metrics.Attainment{Within: 1, Of: 1000, Failed: failed, Sum: 0.1, Values: 1}); o.Met(a) != met {
			t.Errorf("%d failed: met %v", failed, !met)
		}
	}
	o.Limit--
	if o.Met(metrics.Attainment{Of: 1, Sum: 0.1, Values: 1}) {
		t.Error("the mean is beyond the limit")
	}
}

// A run without a stream has no first token, and one without requests nothing at all.
func TestNothingToJudge(t *testing.T) {
	for _, run := range []*trace.Trace{{}, {Records: []*trace.Record{answer(2, 100, 110)}}} {
		for _, m := range []figure.Metric{figure.TTFT, figure.TPOT, figure.ITL} {
			o := metrics.Objective{Metric: m, P: 50, Limit: time.Hour}
			if a := o.Evaluate(run); a.Of != 0 || a.Share() != 0 || o.Met(a) {
				t.Errorf("%s: %+v", o, a)
			}
		}
	}
}
