package view

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// measured is what is known of a run that was measured.
func measured() Known {
	spec := &plan.Spec{Version: plan.Version, Requests: 50, Seed: 3, Load: []plan.Stream{{Arrival: plan.Typed{Kind: "at-once"}, Dataset: plan.Typed{Kind: "random"}}}}
	return Known{
		Listing: store.Listing{ID: "r1", Kind: trace.Measured, Status: trace.Complete, Validity: trace.Doubtful, Requests: 50, Records: 50, Failed: 2},
		Run: trace.Run{
			ID: "r1", Kind: trace.Measured, Status: trace.Complete, End: 5e9,
			Plan: trace.Load{URL: "http://gpu1", Model: "m", Protocol: "chat", Stream: true, Spec: spec, Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(200 * time.Millisecond)}}},
			Env: trace.Environment{
				Pitot: "1.0", Host: "here", Server: "vLLM 1",
				Invocation: []string{"bench", "--url", "http://u:password-of-mine@gpu1"},
			},
			Verdict: &trace.Verdict{Validity: trace.Doubtful, Reasons: []plan.Message{plan.Text("late")}},
		},
		Figures:  []trace.ReportedFigure{{Name: "requests.ok", Value: 48}, {Name: "throughput.output", Value: 1234.5}, {Name: "ttft.median", Value: 0.1}, {Name: "ttft.p99", Value: 0.2}, {Name: "itl.p99", Value: math.NaN()}},
		Failures: []metrics.Class{{Class: trace.HTTP, Status: 503, Count: 2, Example: `{"error":"api_key: sk-123456789abcdef"}`}},
	}
}

func figureOf(t *testing.T, r Run, name string) Figure {
	t.Helper()
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no %s: %+v", name, r.Figures)
	}
	return r.Figures[i]
}

// A table without records has counts of its own; processes of a deployment are groups under their roles.
func TestATableOfADeployment(t *testing.T) {
	k := measured()
	k.Listing.Records, k.Listing.Failed, k.Run.Origin = 0, -1, &trace.Origin{}
	k.Figures = append(k.Figures, trace.ReportedFigure{Name: "requests.failed", Value: 2})
	k.Run.Env.Instances = []*environment.Environment{{Role: "prefill", Driver: "25.5.1"}}
	r := NewRun(k, words.In("en"))
	if r.Requests != (Requests{Planned: 50, Sent: 50, OK: 48, Failed: 2}) {
		t.Errorf("%+v", r.Requests)
	}
	i := slices.IndexFunc(r.Environment, func(g Group) bool { return g.Title == "Server, prefill" })
	if i < 0 || len(r.Environment[i].Fields) != 1 {
		t.Errorf("%+v", r.Environment)
	}
}

func TestARun(t *testing.T) {
	r := NewRun(measured(), words.In("en"))
	if r.Verdict.Validity != "doubtful" || !strings.HasPrefix(r.Verdict.Headline, "Doubtful") || !slices.Equal(r.Verdict.Causes, []string{"late"}) {
		t.Errorf("%+v", r.Verdict)
	}
	if *r.Seconds != 5 || r.Requests != (Requests{Planned: 50, Sent: 50, OK: 48, Failed: 2}) || r.Predicted != "" {
		t.Errorf("%v %+v %q", *r.Seconds, r.Requests, r.Predicted)
	}
	if f := figureOf(t, r, "requests.ok"); f.Text != "48" || f.Group != "" || f.Doubt != "" {
		t.Errorf("%+v", f)
	}
	if f := figureOf(t, r, "ttft.p99"); f.Text != "200.0" || f.Unit != "ms" || f.Group != "ttft" || f.Doubt == "" || f.Definition == "" || *f.Value != 0.2 {
		t.Errorf("%+v", f)
	}
	if f := figureOf(t, r, "itl.p99"); f.Value != nil || f.Text != "–" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(r.Spec, "kind: at-once") || len(r.Failures) != 1 || r.Failures[0].Title == "" || r.Failures[0].Status != 503 {
		t.Errorf("%s %+v", r.Spec, r.Failures)
	}
	if zh := NewRun(measured(), words.In("zh")); zh.Verdict.Headline == r.Verdict.Headline || zh.Plan[0].Title == r.Plan[0].Title {
		t.Errorf("%+v", zh.Verdict)
	}
}

// What texts of others and command lines have of secrets is not shown.
func TestARunWithoutSecrets(t *testing.T) {
	k := measured()
	k.Run.Plan.Spec = nil
	k.Run.Origin = &trace.Origin{Tool: "vllm", Around: []string{"VLLM_API_KEY=sk-abcdefghijklmnop"}, Setup: map[string]string{"token": "abcdefgh", "api-key": "of-mine-as-it-was-given"}}
	text := string(mustJSON(t, NewRun(k, words.In("en")))) + string(mustJSON(t, NewRun(measured(), words.In("en"))))
	for _, secret := range []string{"password-of-mine", "sk-123456789abcdef", "of-mine-as-it-was-given", "sk-abcdefghijklmnop", "abcdefgh"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBoundsAndDoubtsOfFigures(t *testing.T) {
	k := measured()
	d := metrics.Distribution{
		N: 48, Percentiles: []metrics.Percentile{{P: 99}},
		Bounds: &metrics.Bounds{Low: metrics.Quantiles{Median: 1, Percentiles: []float64{2}}, High: metrics.Quantiles{Median: 3, Percentiles: []float64{4}}},
	}
	k.Service = &metrics.Latencies{TTFT: d, ITL: metrics.Distribution{Invalid: true}}
	r := NewRun(k, words.In("en"))
	if f := figureOf(t, r, "ttft.median"); *f.Low != 1 || *f.High != 3 || f.Doubt != "" {
		t.Errorf("%+v", f)
	}
	if f := figureOf(t, r, "ttft.p99"); *f.Low != 2 || *f.High != 4 {
		t.Errorf("%+v", f)
	}
	if f := figureOf(t, r, "itl.p99"); !strings.Contains(f.Doubt, "merged") || f.Low != nil {
		t.Errorf("%+v", f)
	}
}

func TestHeadlines(t *testing.T) {
	for want, change := range map[string]func(*Known){
		"Valid":     func(k *Known) { k.Run.Verdict.Validity = trace.Valid },
		"Invalid":   func(k *Known) { k.Run.Verdict.Validity = trace.Invalid },
		"Simulated": func(k *Known) { k.Run.Verdict.Validity, k.Run.Kind = trace.Valid, trace.Simulated },
		"Imported":  func(k *Known) { k.Run.Origin, k.Run.Verdict = &trace.Origin{Tool: "vllm"}, nil },
		"Running":   func(k *Known) { k.Listing.Status, k.Run.Verdict = trace.Running, nil },
		"Not":       func(k *Known) { k.Listing.Status, k.Run.Verdict = store.Killed, nil },
	} {
		k := measured()
		change(&k)
		if v := NewRun(k, words.In("en")).Verdict; !strings.HasPrefix(v.Headline, want) {
			t.Errorf("%+v does not begin with %s", v, want)
		}
	}
}

func TestASimulatedRun(t *testing.T) {
	k := measured()
	k.Run.Kind = trace.Simulated
	k.Run.Env.Profile = &trace.Profile{Name: "h100", Error: plan.Text("3 %")}
	if p := NewRun(k, words.In("en")).Predicted; !strings.Contains(p, "h100") || !strings.Contains(p, "3 %") {
		t.Error(p)
	}
	k.Run.Env.Profile = nil
	if p := NewRun(k, words.In("en")).Predicted; p == "" {
		t.Error("nothing is said of the engine")
	}
}

func TestARequest(t *testing.T) {
	r := trace.NewRecord(4)
	r.Due, r.Sent, r.Done, r.PromptTokens, r.OutputTokens, r.Text = 1e9, 2e9, 5e9, 7, 3, "<b>"
	for i := range 3 {
		r.Chunks = append(r.Chunks, trace.Chunk{At: trace.Instant(3+i) * 1e9, Kind: trace.Text | trace.Finish, Slack: 5})
	}
	q := NewRequest(r, true, words.In("en"))
	if *q.TTFT != 1 || *q.TPOT != 1 || *q.E2EL != 3 || q.All != 3 || q.Chunks[1] != (Chunk{At: 4, Slack: 5e-6, Kind: "text+finish"}) || q.Text != "<b>" {
		t.Errorf("%+v", q)
	}
	var names []string
	for _, m := range q.Instants {
		names = append(names, m.Name)
	}
	if want := []string{"due", "sent", "first_token", "done"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	r.Class, r.Error = trace.Timeout, "Authorization: Bearer abcdefghijklmnop"
	if q := NewRecord(r, true, words.In("en")); q.TTFT != nil || q.Failure == "" || q.Text != "" || len(q.Chunks) != 0 || strings.Contains(q.Error, "abcdefghijklmnop") {
		t.Errorf("%+v", q)
	}
	if q := NewRequest(trace.NewRecord(0), false, words.In("en")); q.TTFT != nil || q.E2EL != nil || len(q.Instants) != 0 {
		t.Errorf("%+v", q)
	}
}
