package verify

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

const ms = int64(time.Millisecond)

// served is a request that arrived at a millisecond and whose tokens were written
// so many milliseconds after; then came the usage and the end, each 1 ms later.
func served(at int64, tokens ...int64) truth.Request {
	r := truth.Request{Stream: true, Received: at * ms, Wanted: len(tokens), Tokens: len(tokens), Ended: truth.Complete}
	last := int64(0)
	for _, t := range tokens {
		last = at + t
		r.Writes = append(r.Writes, truth.Write{Planned: last * ms, Before: last * ms, After: last*ms + 1000, Tokens: 1, Events: 1})
	}
	for i := range int64(2) {
		end := (last + 1 + i) * ms
		r.Writes = append(r.Writes, truth.Write{Before: end, After: end + 1000, Events: 1})
	}
	return r
}

// Two answers: a has tokens after 10, 20 and 40 ms, b after 20, 25, 30, 45 ms.
var two = []truth.Request{served(0, 10, 20, 40), served(100, 20, 25, 30, 45)}

func TestDefinitions(t *testing.T) {
	shared := map[conform.Metric]string{conform.TTFT: "10 20", conform.ITL: "10 20 5 5 15"}
	with := func(more map[conform.Metric]string) map[conform.Metric]string {
		for m, s := range shared {
			if more[m] == "" {
				more[m] = s
			}
		}
		return more
	}
	for name, want := range map[string]map[conform.Metric]string{
		"pitot":          with(map[conform.Metric]string{conform.TPOT: "15 8.333", conform.E2EL: "42 47"}),
		"vllm":           with(map[conform.Metric]string{conform.TPOT: "15 8.333", conform.E2EL: "40 45"}),
		"sglang":         with(map[conform.Metric]string{conform.TPOT: "16 9", conform.E2EL: "42 47"}),
		"inference-perf": with(map[conform.Metric]string{conform.TPOT: "15 8.333", conform.E2EL: "42 47"}),
		"aiperf":         with(map[conform.Metric]string{conform.ITL: "15 8.333", conform.ICL: "10 20 5 5 15", conform.E2EL: "40 45"}),
		"guidellm":       with(map[conform.Metric]string{conform.ITL: "15×2 8.333×3", conform.TPOT: "13.33×3 11.25×4", conform.E2EL: "42 47"}),
	} {
		f, ok := conform.FormatNamed(name)
		if !ok {
			t.Fatal(name)
		}
		got := map[conform.Metric]string{}
		for m, code := range f.Truth {
			var s sample
			for i := range two {
				contributions[code](&s, &two[i])
			}
			got[m] = s.String()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Tokens of one write have no time between them, and an answer without output
// is in no sample.
func TestBundledTokens(t *testing.T) {
	r := served(0, 10, 30)
	r.Writes[1].Tokens, r.Writes[1].Events, r.Tokens = 3, 3, 4
	none := truth.Request{Received: 5, Ended: truth.Complete, Writes: []truth.Write{{Before: 6, Events: 1}}}
	var s sample
	for _, q := range []*truth.Request{&r, &none} {
		contributions[metrics.Gaps](&s, q)
	}
	contributions[metrics.ToFirstToken](&s, &none)
	if got := s.String(); got != "20 0 0" {
		t.Error(got)
	}
}

// By numpy, percentiles interpolate; by GuideLLM's rule they are values of the
// sample, of which a heavier one counts for more.
func TestRules(t *testing.T) {
	got := linear(sample{values: []float64{4, 1, 2, 3}})
	if want := (map[conform.Statistic]float64{conform.Mean: 2.5, conform.Median: 2.5, conform.P90: 3.7, conform.P99: 3.97}); !near(got, want) {
		t.Errorf("linear %v", got)
	}
	got = stepped(sample{values: []float64{4, 1, 2, 3}})
	if want := (map[conform.Statistic]float64{conform.Mean: 2.5, conform.Median: 2, conform.P90: 4, conform.P99: 4}); !near(got, want) {
		t.Errorf("stepped %v", got)
	}
	got = stepped(sample{values: []float64{9, 1}, weights: []float64{1, 19}})
	if want := (map[conform.Statistic]float64{conform.Mean: 1.4, conform.Median: 1, conform.P90: 1, conform.P99: 9}); !near(got, want) {
		t.Errorf("weighed %v", got)
	}
}

func near(got, want map[conform.Statistic]float64) bool {
	for s, v := range want {
		if math.Abs(got[s]-v) > 1e-12 {
			return false
		}
	}
	return len(got) == len(want)
}

func cell(t *testing.T, text string) conform.Cell {
	t.Helper()
	cells, err := conform.ParseCells(text)
	if err != nil {
		t.Fatal(err)
	}
	return cells[0]
}

func TestFigures(t *testing.T) {
	claim := newClaim("")
	claim.Format, claim.OK, claim.Failed, claim.Output = "vllm", 2, 0, 7
	claim.Latencies[conform.TTFT] = conform.Latency{conform.Mean: 0.016, conform.P99: 0.020}
	claim.Latencies[conform.E2EL] = conform.Latency{conform.Median: 0.0425}
	claim.Bounds = map[conform.Metric]map[conform.Statistic]conform.Bound{conform.TTFT: {conform.P99: {Low: 0.015, High: 0.0198}}, conform.E2EL: {conform.Median: {Low: 0.03502, High: 0.036}}}
	claim.Void = []conform.Metric{conform.TTFT}
	trial := served(-1000, 500) // asks for another length
	got := Compare(CellRun{
		Cell: cell(t, "streams=1 requests=2 output=3"), Claim: &claim, StartUp: conform.Usage{CPU: time.Second},
		Usage: conform.Usage{CPU: time.Second + 16*time.Microsecond},
		Log:   truth.Log{Requests: append([]truth.Request{trial}, served(0, 10, 20, 40), served(100, 20, 25, 30))},
	})
	want := []conform.FigureError{
		{Metric: conform.TTFT, Statistic: conform.Mean, Claimed: 0.016, True: 0.015, N: 2},
		{Metric: conform.TTFT, Statistic: conform.P99, Claimed: 0.020, True: 0.0199, N: 2, Bound: &conform.Bound{Low: 0.015, High: 0.0198}, Void: true},
		{Metric: conform.E2EL, Statistic: conform.Median, Claimed: 0.0425, True: 0.035, N: 2, Bound: &conform.Bound{Low: 0.03502, High: 0.036}},
	}
	if diff := cmp.Diff(want, got.Figures, roughly); diff != "" {
		t.Error(diff)
	}
	if got.Figures[0].InBounds() || got.Figures[1].InBounds() || !got.Figures[2].InBounds() { // by less than stamps differ
		t.Error("bounds are misjudged")
	}
	if e, share := got.Figures[0].Error(), mustShare(got.Figures[0]); math.Abs(e-0.001) > 1e-12 || math.Abs(share-1./15) > 1e-9 {
		t.Errorf("error %v, %v", e, share)
	}
	if diff := cmp.Diff(conform.Requests{Asked: 2, Served: 2, SetAside: 1, Peak: 1, OK: 2}, got.Requests); diff != "" {
		t.Error(diff)
	}
	if got.Tokens != (conform.Tokens{Written: 6, Claimed: 7}) || math.Abs(got.Rate.Offered-10) > 1e-9 || len(got.Notes) != 0 {
		t.Errorf("%+v %+v %q", got.Tokens, got.Rate, got.Notes)
	}
	if want := 16e-6 / 7; math.Abs(got.Usage.PerToken-want) > 1e-12 { // the trial's token is one too
		t.Errorf("%v a token", got.Usage.PerToken)
	}
}

var roughly = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })

func mustShare(f conform.FigureError) float64 {
	share, _ := f.Relative()
	return share
}

// Warm-up of the same length comes first, so the measured requests are the last.
func TestWarmUpIsSetAside(t *testing.T) {
	log := truth.Log{Requests: []truth.Request{served(0, 500, 510), served(600, 10, 20), served(700, 12, 22)}}
	claim := newClaim("")
	claim.Format, claim.OK, claim.Failed = "pitot", 2, 0
	claim.Latencies[conform.TTFT] = conform.Latency{conform.Mean: 0.011}
	got := Compare(CellRun{Cell: cell(t, "streams=1 requests=2 output=2"), Log: log, Claim: &claim})
	if len(got.Figures) != 1 || math.Abs(got.Figures[0].Error()) > 1e-12 || got.Requests.SetAside != 1 || len(got.Notes) != 0 {
		t.Errorf("%+v", got)
	}
}

func said(m plan.Message) string { return words.In("en").Say(m) }

func TestCountsThatDoNotAgree(t *testing.T) {
	cut := served(100, 10, 20)
	cut.Ended, cut.Tokens = truth.Truncate, 1
	log := truth.Log{Requests: []truth.Request{served(0, 10, 20), cut}}
	for _, tt := range []struct {
		name, cell string
		ok, failed int
		served     int
		notes      []string
	}{
		{"honest", "streams=1 requests=2 output=2", 1, 1, 1, nil},
		{"a broken answer passes for a whole one", "streams=1 requests=2 output=2", 2, 0, 1, []string{"counts 2 whole answers, the server wrote 1"}},
		{"one too many", "streams=1 requests=3 output=2", 1, 2, 1, []string{"counts 3 requests, the server got 2"}},
		{"one lost", "streams=1 requests=2 output=2", 0, 2, 1, []string{"counts 0 whole answers, the server wrote 1"}},
		{"fewer than asked", "streams=1 requests=9 output=2", 1, 1, 1, []string{"made 2 requests, the cell asks for 9"}},
		{"another length", "streams=1 requests=2 output=5", 1, 1, 1, []string{"no request asked for 5 tokens, as the cell wants: the first asked for 2"}},
		{"too few at once", "streams=10 requests=2 output=2", 1, 1, 1, []string{"at most 1 of 10 streams were open at once"}},
		{"no count of failures", "streams=1 requests=2 output=2", 1, -1, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := newClaim("")
			claim.Format, claim.OK, claim.Failed = "vllm", tt.ok, tt.failed
			got := Compare(CellRun{Cell: cell(t, tt.cell), Log: log, Claim: &claim})
			if got.Requests.Served != tt.served || len(got.Notes) != len(tt.notes) {
				t.Fatalf("%d served, %q", got.Requests.Served, got.Notes)
			}
			for i, want := range tt.notes {
				if !strings.Contains(said(got.Notes[i]), want) {
					t.Errorf("%q, want %q", got.Notes[i], want)
				}
			}
		})
	}
}

// Without a claim the truth is told all the same.
func TestAClientThatFailed(t *testing.T) {
	refused := truth.Request{Ended: truth.Refused}
	got := Compare(CellRun{Cell: cell(t, "rate=10 requests=2 output=3"), Log: truth.Log{Requests: append([]truth.Request{refused}, two...)}, Others: 0.5})
	if got.Requests.Served != 1 || got.Tokens != (conform.Tokens{Written: 3, Claimed: -1}) || got.Figures != nil || got.Rate.Asked != 10 {
		t.Errorf("%+v", got)
	}
	if len(got.Notes) != 1 || !strings.Contains(said(got.Notes[0]), "0.5 processors") {
		t.Errorf("%q", got.Notes)
	}
}

// Only what was used while the measured requests were open counts: here from 100 to
// 147 ms, of samples that are 20 ms apart.
func TestShareOfAProcessor(t *testing.T) {
	samples := []proc.Sample{
		{At: 80 * ms, CPU: time.Second},
		{At: 120 * ms, CPU: time.Second + 20*time.Millisecond},
		{At: 140 * ms, CPU: time.Second + 30*time.Millisecond},
		{At: 160 * ms, CPU: time.Second + 50*time.Millisecond},
	}
	log := truth.Log{Requests: two}
	got := Compare(CellRun{Cell: cell(t, "streams=1 requests=1 output=4"), Log: log, Samples: samples}).Usage.Share
	if want := (20./2 + 10 + 7.) / 47; math.Abs(got-want) > 1e-3 { // the last write took a microsecond
		t.Errorf("%v, want %v", got, want)
	}
	if got := Compare(CellRun{Cell: cell(t, "streams=1 requests=1 output=4"), Log: log, Samples: samples[:1]}).Usage.Share; got != 0 {
		t.Errorf("of a single sample: %v", got)
	}
}

// A client that does not read holds the server up: the truth is then of its making.
func TestWritesThatWaitedForTheClient(t *testing.T) {
	slow := served(0, 10, 20)
	slow.Writes[1].Blocked, slow.Writes[2].Blocked = true, true
	got := Compare(CellRun{Cell: cell(t, "streams=1 requests=1 output=2"), Log: truth.Log{Requests: []truth.Request{slow}}, Others: 0.2})
	if len(got.Notes) != 1 || !strings.HasPrefix(said(got.Notes[0]), "2 writes found the socket full") || got.Disturbed() {
		t.Errorf("%q", got.Notes)
	}
}

func TestTheServerAsTheLimit(t *testing.T) {
	log := truth.Log{Requests: two}
	c := cell(t, "streams=1 step=10ms")
	if s := serverOf(c, log); !s.Limit.IsZero() || s.CPU != 0 {
		t.Errorf("%+v", s)
	}
	log.Lateness.P99 = 1010 * time.Microsecond
	if s := serverOf(c, log); !strings.Contains(said(s.Limit), "wrote late: P99 1.01ms") {
		t.Errorf("%+v", s)
	}
	c.Arrivals = conform.Lockstep
	if s := serverOf(c, log); !s.Limit.IsZero() {
		t.Errorf("%+v", s)
	}
	log.Lateness.P99 = 6 * time.Millisecond
	if s := serverOf(c, log); !strings.Contains(said(s.Limit), "more than half of the step") {
		t.Errorf("%+v", s)
	}
	log.WriteCPU = 140 * time.Millisecond // of the 147 from the first request to the last write
	if s := serverOf(c, log); !strings.Contains(said(s.Limit), "writing for 95 %") {
		t.Errorf("%+v", s)
	}
}
