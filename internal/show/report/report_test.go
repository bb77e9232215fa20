package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

const milli = trace.Instant(time.Millisecond)

// sample is a run of n requests, one every 20 ms, of which every failEvery-th
// fails.
func sample(n, failEvery int) *trace.Trace {
	t := &trace.Trace{Run: trace.Run{
		ID: "20261121-120000-abcd", Name: "nightly", Status: trace.Complete, Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local),
		Plan: trace.Load{
			URL: "http://127.0.0.1:8000", Model: "m", Protocol: "chat", Stream: true, Workload: plan.Text("random 10→5 tokens"), Arrival: plan.Text("constant 50 req/s"),
			Requests: n, Seed: 7, Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(40 * time.Millisecond)}, {Metric: "e2el", Limit: plan.Duration(time.Second)}},
		},
		Env:    trace.Environment{CPUs: 4},
		Client: trace.Client{CPU: 500 * time.Millisecond, GCCycles: 3, GCMax: 250 * time.Microsecond},
		Notes:  []plan.Message{plan.Text("something was noticed")},
	}}
	for i := range n {
		t.Records = append(t.Records, record(i, failEvery > 0 && i%failEvery == 1))
		t.Run.End = max(t.Run.End, t.Records[i].Done)
	}
	return t
}

func record(i int, fails bool) *trace.Record {
	r := trace.NewRecord(i)
	at := trace.Instant(i) * 20 * milli
	r.Due, r.Released, r.Sent = at, at+milli/10, at+milli/5
	r.Done, r.Status, r.PromptTokens, r.WantTokens = at+80*milli, 200, 10, 5
	if i%10 == 0 {
		r.Dialed, r.Connected = at+milli/10, at+milli/5
	}
	if fails {
		r.Class, r.Status, r.Error = trace.HTTP, 503, "{\"error\":\n\t\"overloaded\"}"+strings.Repeat(".", 200)
		return r
	}
	for j := range 5 {
		jitter := trace.Instant((i*7+j*3)%11) * milli / 10
		r.Chunks = append(r.Chunks, trace.Chunk{At: at + 30*milli + trace.Instant(j)*10*milli + jitter, Kind: trace.Text})
	}
	r.OutputTokens, r.CountedFrom = 5, trace.FromUsage
	return r
}

// merged is a run stamped by the kernel, in which n answers had two chunks in one
// read.
func merged(n int) *trace.Trace {
	tr := sample(400, 0)
	for i, r := range tr.Records {
		if r.Stamps = trace.KernelStamps; i < n {
			r.Chunks[1].At, r.Chunks[1].Slack = r.Chunks[2].At, 15_000
			r.Chunks[2].Kind |= trace.Coalesced
		}
	}
	tr.Run.Client.Lag = trace.Lag{Reads: 2000, P50: 41 * time.Microsecond, P99: 6 * time.Millisecond, Max: 15 * time.Millisecond}
	if n >= 100 {
		tr.Run.Client.CPU, tr.Run.Client.Procs = 7800*time.Millisecond, 1
	}
	return tr
}

// bundled is a run of a server that writes two chunks at once. Half of the answers
// came without stamps, and the first of all before the client looked.
func bundled() *trace.Trace {
	tr := sample(400, 0)
	for i, r := range tr.Records {
		r.Stamps = trace.UserStamps
		if i%2 == 0 {
			r.Stamps = trace.KernelStamps
			for k := 1; k < 5; k += 2 {
				r.Chunks[k].At = r.Chunks[k+1].At
				r.Chunks[k].Kind |= trace.Bundled
				r.Chunks[k+1].Kind |= trace.Bundled | trace.Coalesced
			}
		}
	}
	tr.Records[0].Chunks[0].Slack = 1500
	tr.Run.Client.Lag = trace.Lag{Reads: 1000, P50: 41 * time.Microsecond, P99: 812 * time.Microsecond, Max: 2 * time.Millisecond}
	return tr
}

// conditions is a run of a server that had not come to rest, whose cache was not cold, and
// that stood still once.
func conditions() *trace.Trace {
	tr := sample(400, 0)
	tr.Run.WarmUp = &trace.WarmUp{Waves: make([]trace.Wave, 10)}
	tr.Run.Cache = &trace.Cache{Declared: plan.ColdCache, Reset: "/flush_cache", Most: 300, Reported: 400}
	for _, r := range tr.Records {
		r.Usage.Prompt, r.Usage.Cached = 10, 8
		for i := range r.Chunks {
			if r.Chunks[i].At > 4055*milli {
				r.Chunks[i].At += 900 * milli
			}
		}
		if r.Done > 4055*milli {
			r.Done += 900 * milli
		}
		if r.Released > 4055*milli {
			r.Due, r.Released, r.Sent = r.Due+900*milli, r.Released+900*milli, r.Sent+900*milli
		}
	}
	tr.Run.End += 900 * milli
	return tr
}

func TestReport(t *testing.T) {
	killed := sample(30, 0)
	killed.Run.Status, killed.Run.Plan.Requests, killed.Run.Name = trace.Interrupted, 100, ""
	killed.Run.Plan.Concurrency, killed.Run.Plan.Objectives, killed.Run.Notes = 4, nil, nil
	killed.Run.Client = trace.Client{}
	killed.Run.Env.Embedded = true
	for i, r := range killed.Records {
		r.Due, r.Free, r.Redials = 0, r.Released, i%2
		r.CountedFrom, r.OutputTokens, r.Chunks[1].At, r.Chunks[1].Kind = trace.FromChunks, 7, r.Chunks[0].At, trace.Text|trace.Coalesced
	}
	late := sample(400, 0)
	for _, r := range late.Records[:20] {
		r.Sent += 15 * milli
	}
	late.Run.Plan.Stream = false
	simulated := sample(400, 0)
	simulated.Run.Kind, simulated.Run.Plan.URL, simulated.Run.Client = trace.Simulated, "", trace.Client{}
	simulated.Run.Env.Profile = &trace.Profile{Name: "sharegpt-kvcached", Error: plan.Text("6.7 %, in sample")}
	simulated.Run.ServerCounters = map[string]float64{
		"vllm:num_preemptions_total": 1242, "vllm:prefix_cache_queries_total": 3000, "vllm:prefix_cache_hits_total": 1290,
		"vllm:spec_decode_num_draft_tokens_total": 500, "vllm:spec_decode_num_accepted_tokens_total": 331,
		"vllm:request_queue_time_seconds_sum": 4000, "vllm:request_queue_time_seconds_count": 32,
	}
	tenants := sample(400, 9)
	for i, r := range tenants.Records {
		r.Tenant, r.Usage.Prompt, r.Usage.Cached = []string{"shop", "a tenant with a long name"}[i%3/2], 100+i%7*50, i%7*50
		if i%3 != 2 {
			r.Session, r.Turn = "c", i%7
		}
	}
	whole := sample(40, 0)
	whole.Run.Plan.Stream, whole.Run.Plan.Spec = false, &plan.Spec{Load: []plan.Stream{{Mix: make([]plan.Part, 2)}}}
	for i, r := range whole.Records {
		r.Tenant = []string{"chat", "random"}[i%2]
	}
	for name, tr := range map[string]*trace.Trace{
		"conditions": conditions(),
		"tenants":    tenants, "mix": whole, "simulated": simulated, "bounded": merged(10), "merged": merged(100), "bundled": bundled(),
		"failures": sample(400, 9), "interrupted": killed, "invalid": late, "empty": {Run: trace.Run{Status: trace.Complete}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Text(&b, metrics.Summarize(tr, metrics.Options{}), words.In("en")); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+".txt", b.String())
			b.Reset()
			if err := Brief(&b, metrics.Summarize(tr, metrics.Options{}), words.In("en")); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/brief/"+name+".txt", b.String())
			if n := strings.Count(b.String(), "\n"); n > briefLines {
				t.Errorf("the first screen has %d lines", n)
			}
		})
	}
	for _, name := range []string{"tenants", "merged", "conditions"} { // most of what a report can say
		var b strings.Builder
		if err := Text(&b, metrics.Summarize(map[string]*trace.Trace{"tenants": tenants, "merged": merged(100), "conditions": conditions()}[name], metrics.Options{}), words.In("zh")); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name+"-zh.txt", b.String())
	}
	var b strings.Builder
	if err := Brief(&b, metrics.Summarize(conditions(), metrics.Options{}), words.In("zh")); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/brief/conditions-zh.txt", b.String())
}

// Every way to fail has its words.
func TestEveryClassIsExplained(t *testing.T) {
	for _, name := range words.Names() {
		for _, c := range trace.Classes() {
			if l := words.In(name); !l.Knows(c.Code()) {
				t.Errorf("%s has no words for %s", name, c)
			}
		}
	}
}

// The head of a report says how the run ended, also that its process was killed.
func TestEveryStatusHasWords(t *testing.T) {
	for _, status := range []trace.Status{trace.Running, trace.Complete, trace.Interrupted, store.Killed} {
		tr := sample(30, 0)
		tr.Run.Status = status
		var b strings.Builder
		if err := Text(&b, metrics.Summarize(tr, metrics.Options{}), words.In("en")); err != nil {
			t.Fatal(err)
		}
		if head, _, _ := strings.Cut(b.String(), "\n"); !strings.HasSuffix(head, " · "+string(status)) {
			t.Error(head)
		}
	}
}

func TestSig(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.000", 0.0004: "0.000", 0.1234: "0.123", 9.9994: "9.999", 9.9996: "10.00", 12.345: "12.35", 99.994: "99.99", 99.996: "100.0",
		123.44: "123.4", 999.94: "999.9", 999.96: "1000", 12345.6: "12346", -3.5: "-3.500",
	} {
		if got := sig(v); got != want {
			t.Errorf("sig(%v) = %s, want %s", v, got, want)
		}
	}
}

func ExampleText() {
	var b strings.Builder
	_ = Text(&b, metrics.Summarize(sample(400, 0), metrics.Options{Percentiles: []float64{99}}), words.In("en"))
	head, _, _ := strings.Cut(b.String(), "\n\n")
	fmt.Println(strings.ReplaceAll(head, "·", "-"))
	// Output:
	// run     20261121-120000-abcd - "nightly" - 2026-11-21 12:00:00 - complete
	// target  http://127.0.0.1:8000 - m - chat, streamed
	// load    random 10→5 tokens - constant 50 req/s - seed 7
	// client  VALID
	//         sent late by P50 0.200, P99 0.200, max 0.200 ms
	//         CPU 2 % of 4 - 3 GC, longest pause 0.250 ms
}

// Of another tool's client nobody knows how well it kept time: no verdict stands on it.
func TestReportOfAnotherToolsClient(t *testing.T) {
	tr := sample(400, 0)
	tr.Run.Kind, tr.Run.Plan.Seed = trace.Imported, 0
	tr.Run.Origin = &trace.Origin{Tool: "vllm", Form: "2026-08", Detail: trace.Recorded}
	s := metrics.Summarize(tr, metrics.Options{Percentiles: []float64{99}})
	if s.Health.Verdict.Validity != "" {
		t.Errorf("it is judged %q", s.Health.Verdict.Validity)
	}
	var b strings.Builder
	if err := Text(&b, s, words.In("en")); err != nil {
		t.Fatal(err)
	}
	for _, claim := range []string{"VALID", "sent late", "stamps", "CPU", "GC", "seed"} {
		if strings.Contains(b.String(), claim) {
			t.Errorf("it says %q:\n%s", claim, b.String())
		}
	}
	if want := "client  vllm 2026-08: not monitored"; !strings.Contains(b.String(), want) {
		t.Errorf("it lacks %q:\n%s", want, b.String())
	}
}
