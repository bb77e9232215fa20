package metrics

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	catalogue "github.com/pitot-bench/pitot/internal/show/words"
)

const ms = trace.Instant(time.Millisecond)

// answered is a request that is due at due, released and sent at sent, and
// whose output chunks come at the given instants; all in milliseconds.
func answered(index int, due, sent trace.Instant, tokens int, chunks ...trace.Instant) *trace.Record {
	r := trace.NewRecord(index)
	r.Due, r.Released, r.Sent = due*ms, sent*ms, sent*ms
	for _, at := range chunks {
		r.Chunks = append(r.Chunks, trace.Chunk{At: at * ms, Kind: trace.Text})
		r.Done = at*ms + ms
	}
	r.OutputTokens, r.CountedFrom = tokens, trace.FromUsage
	r.PromptTokens, r.WantTokens = 10, tokens
	r.Status = 200
	return r
}

func failed(index int, due trace.Instant, class trace.Class, status int, text string) *trace.Record {
	r := trace.NewRecord(index)
	r.Due, r.Released, r.Sent, r.Done = due*ms, due*ms, due*ms, due*ms+5*ms
	r.Class, r.Status, r.Error = class, status, text
	return r
}

func run(end trace.Instant, records ...*trace.Record) *trace.Trace {
	return &trace.Trace{
		Run:     trace.Run{End: end * ms, Plan: trace.Load{Stream: true, Requests: len(records)}, Env: trace.Environment{CPUs: 2}},
		Records: records,
	}
}

var exact = cmpopts.EquateApprox(1e-12, 0)

func TestLatenciesOfOneRequest(t *testing.T) {
	r := answered(0, 100, 120, 4, 170, 200, 230)
	r.Chunks = append([]trace.Chunk{{At: 150 * ms, Kind: trace.Role}}, r.Chunks...)
	r.Chunks = append(r.Chunks, trace.Chunk{At: 231 * ms, Kind: trace.Finish})
	s := Summarize(run(1000, r), Options{Percentiles: []float64{50}})
	one := func(v float64) Distribution {
		return Distribution{N: 1, Mean: v, Min: v, Median: v, Max: v, Percentiles: []Percentile{{P: 50, Value: v, Short: true}}}
	}
	want := Latencies{
		TTFT: one(.050), // from sent to the first chunk with output, not to the role
		TPOT: one(.020), // 60 ms for 3 tokens
		ITL:  Distribution{N: 2, Mean: .03, Min: .03, Median: .03, Max: .03, Percentiles: []Percentile{{P: 50, Value: .03, Short: true}}},
		E2EL: one(.111), // to the end of the answer
	}
	if diff := cmp.Diff(want, s.Service, exact); diff != "" {
		t.Error("service time: " + diff)
	}
	if got := s.Response; got.TTFT.Mean != .07 || math.Abs(got.E2EL.Mean-.131) > 1e-12 {
		t.Errorf("response time: TTFT %v, E2EL %v; want 0.07, 0.131", got.TTFT.Mean, got.E2EL.Mean)
	}
	if s.Wait.Mean != .02 {
		t.Errorf("wait %v, want 0.02", s.Wait.Mean)
	}
}

func TestRequestsWithoutAFigureAreLeftOut(t *testing.T) {
	single := answered(0, 0, 0, 1, 50)
	silent := answered(1, 0, 0, 0)
	silent.Done = 80 * ms
	s := Summarize(run(1000, single, silent), Options{})
	if l := s.Service; l.TTFT.N != 1 || l.TPOT.N != 0 || l.ITL.N != 0 || l.E2EL.N != 2 {
		t.Errorf("TTFT %d, TPOT %d, ITL %d, E2EL %d values", l.TTFT.N, l.TPOT.N, l.ITL.N, l.E2EL.N)
	}
}

func TestWithoutAStreamThereIsOnlyE2EL(t *testing.T) {
	tr := run(1000, answered(0, 0, 0, 5, 50))
	tr.Run.Plan.Stream = false
	if l := Summarize(tr, Options{}).Service; l.TTFT.N != 0 || l.ITL.N != 0 || l.E2EL.N != 1 {
		t.Errorf("%+v", l)
	}
}

func TestCounts(t *testing.T) {
	assumed := answered(3, 0, 0, 7, 50)
	assumed.CountedFrom, assumed.WantTokens = trace.FromChunks, 9
	tokenized := answered(4, 0, 0, 2, 50)
	tokenized.CountedFrom, tokenized.PromptTokens, tokenized.WantTokens = trace.FromTokenizer, 0, 9
	reported := answered(5, 0, 0, 3, 50)
	reported.Usage.Prompt = 12
	s := Summarize(run(2000,
		failed(0, 10, trace.HTTP, 503, "busy"), failed(1, 20, trace.Reset, 0, "reset"), failed(2, 30, trace.HTTP, 503, "still busy"),
		assumed, tokenized, reported, failed(6, 40, trace.HTTP, 429, "slow down")), Options{})
	want := Requests{Planned: 7, Sent: 7, OK: 3, Failed: 4, Classes: []Class{
		{trace.HTTP, 503, 2, "busy"}, {trace.Reset, 0, 1, "reset"}, {trace.HTTP, 429, 1, "slow down"},
	}, Shed: 1, FirstFailed: .015, LastFailed: .045}
	if diff := cmp.Diff(want, s.Requests); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Tokens{Input: 22, Output: 12, Tokenized: 1, Assumed: 1, InputUnknown: 1, Short: 1}, s.Tokens); diff != "" {
		t.Error(diff)
	}
	if r := s.Rates; r.Requests != 1.5 || r.Input != 11 || r.Output != 6 {
		t.Errorf("rates %+v", r)
	}
}

func TestARunThatWasKilledLastsToItsLastAnswer(t *testing.T) {
	tr := run(0, answered(0, 0, 0, 2, 50, 499), answered(1, 0, 0, 2, 50, 99))
	tr.Run.End, tr.Run.Plan.Requests = trace.Never, 10
	s := Summarize(tr, Options{})
	if s.Duration != .5 || s.Requests.Planned != 10 || s.Requests.Sent != 2 {
		t.Errorf("duration %v, %+v", s.Duration, s.Requests)
	}
}

func TestGoodput(t *testing.T) {
	slos := func(pairs ...any) (out []plan.Objective) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, plan.Objective{Metric: pairs[i].(string), Limit: plan.Duration(pairs[i+1].(int) * 1e6)})
		}
		return out
	}
	records := []*trace.Record{
		answered(0, 0, 0, 3, 50, 80, 110), // TTFT 50, TPOT 30, ITL 30, E2EL 111
		answered(1, 0, 0, 7, 90, 120),     // TTFT 90, TPOT 5, ITL 30, E2EL 121
		answered(2, 0, 0, 1, 40),          // TTFT 40, no TPOT, E2EL 41
		failed(3, 0, trace.Reset, 0, ""),
	}
	for _, tt := range []struct {
		slos []plan.Objective
		met  int
	}{
		{slos("ttft", 50), 2}, // inclusive
		{slos("ttft", 49), 1},
		{slos("tpot", 5), 2}, // a single token meets any TPOT
		{slos("itl", 29), 1},
		{slos("e2el", 111), 2},
		{slos("ttft", 50, "tpot", 29), 1},
		{slos("ttft", 1000, "tpot", 1000, "itl", 1000, "e2el", 1000), 3},
	} {
		g := Summarize(run(2000, records...), Options{Objectives: tt.slos}).Goodput
		if g.Met != tt.met || g.Share != float64(tt.met)/4 || g.Rate != float64(tt.met)/2 {
			t.Errorf("%v: %+v, want %d met", tt.slos, g, tt.met)
		}
	}
	if Summarize(run(1000, records...), Options{}).Goodput != nil {
		t.Error("goodput without objectives")
	}
}

func TestAClosedLoopHasNoResponseTime(t *testing.T) {
	tr := run(1000, answered(0, 0, 0, 1, 50), answered(1, 0, 60, 1, 110))
	tr.Run.Plan.Concurrency = 1
	if s := Summarize(tr, Options{}); s.Response != nil || s.Rates.Offered != 0 {
		t.Errorf("response %+v", s.Response)
	}
	tr.Records[1].Due = 10 * ms // a schedule with a gate has one
	s := Summarize(tr, Options{})
	if s.Response == nil || s.Response.TTFT.Max != .1 {
		t.Errorf("response %+v", s.Response)
	}
	if s.Rates.Offered != 100 || math.Abs(s.Rates.Released-1/.06) > 1e-9 {
		t.Errorf("offered %v, released %v", s.Rates.Offered, s.Rates.Released)
	}
}

// Chunks without an instant of their own: merged where the client was late, bundled
// where it was not.
func TestChunksThatCameTogetherAreCounted(t *testing.T) {
	user := answered(0, 0, 0, 6, 50, 60, 60)
	user.Chunks[2].Kind |= trace.Coalesced
	role := answered(1, 0, 0, 2, 50, 70) // met the role chunk, which is no output: its instant is its own
	role.Chunks[0].Kind |= trace.Coalesced
	role.Chunks = append([]trace.Chunk{{At: 50 * ms, Kind: trace.Role}}, role.Chunks...)
	late := answered(2, 0, 0, 3, 50, 60, 60)
	late.Stamps, late.Chunks[1].Slack, late.Chunks[2].Kind = trace.KernelStamps, 7000, trace.Text|trace.Coalesced
	waiting := answered(3, 0, 0, 4, 50, 50, 60, 60)
	waiting.Stamps = trace.KernelStamps
	for i := range waiting.Chunks {
		waiting.Chunks[i].Kind |= trace.Bundled
	}
	waiting.Chunks[1].Kind |= trace.Coalesced
	waiting.Chunks[3].Kind |= trace.Coalesced
	for _, tt := range []struct {
		records []*trace.Record
		want    Chunks
	}{
		{[]*trace.Record{user, role}, Chunks{Output: 5, PerChunk: 8. / 5, Merged: 1, MergedShare: .2, PerWrite: 1}},
		{[]*trace.Record{late}, Chunks{Output: 3, PerChunk: 1, Merged: 1, MergedShare: 1. / 3, PerWrite: 1}},
		{[]*trace.Record{waiting}, Chunks{Output: 4, PerChunk: 1, Bundled: 2, PerWrite: 2}},
	} {
		if diff := cmp.Diff(tt.want, Summarize(run(100, tt.records...), Options{}).Chunks); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAWholeAnswerThatNobodyCountedIsInNoFigure(t *testing.T) {
	r := answered(0, 0, 0, 0, 50)
	r.CountedFrom, r.WantTokens = "", 9
	if s := Summarize(run(1000, r), Options{}).Tokens; s.OutputUnknown != 1 || s.Short != 0 || s.Output != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAnswersThatKeepToNoLimitAreCounted(t *testing.T) {
	tr := run(1000)
	for i, tokens := range []int{3, 4, 5, 9} {
		r := answered(i, 0, 0, 1, 10, 20)
		r.WantTokens, r.OutputTokens = 4, tokens
		tr.Records = append(tr.Records, r)
	}
	if s := Summarize(tr, Options{}).Tokens; s.Short != 1 || s.Long != 2 {
		t.Errorf("%d short, %d long", s.Short, s.Long)
	}
}

func TestCountsThatCannotBeAreInNoFigure(t *testing.T) {
	reporting := answered(0, 0, 0, 2, 10, 20)
	reporting.Usage = trace.Usage{Prompt: 12, Completion: 2, Cached: 4}
	absurd := answered(1, 0, 0, 2, 10, 20)
	absurd.Usage, absurd.CountedFrom = trace.Usage{Prompt: trace.MaxCount, Completion: -1000, Cached: -8}, trace.FromChunks
	s := Summarize(run(1000, reporting, absurd), Options{})
	if s.Tokens.Output != 4 || s.Tokens.Input != 22 || s.Tokens.Refused != 1 || s.Tokens.Assumed != 0 {
		t.Errorf("%+v", s.Tokens)
	}
}

func TestTheRateOfferedIsThatOfTheGaps(t *testing.T) {
	tr := run(1000)
	for i := range 5 {
		tr.Records = append(tr.Records, answered(i, trace.Instant(i*200), trace.Instant(i*200), 1, trace.Instant(i*200)+10, trace.Instant(i*200)+20))
	}
	if r := Summarize(tr, Options{}).Rates; r.Offered != 5 || r.Released != 5 {
		t.Errorf("offered %v, released %v", r.Offered, r.Released)
	}
}

func TestARampHasNoSteadyState(t *testing.T) {
	tr := run(1000)
	tr.Run.Plan.Ramp = true
	if s := Summarize(tr, Options{}).Steady; catalogue.In("en").Say(s.Why) != "the rate is a ramp" {
		t.Errorf("%+v", s)
	}
}

func TestPercentilesTheSampleCannotCarryAreMarked(t *testing.T) {
	x := make([]float64, 40)
	d := Distribute(x, []float64{50, 90, 95})
	if d.Percentiles[0].Short || d.Percentiles[1].Short || !d.Percentiles[2].Short {
		t.Errorf("%+v: 40 values carry a P90 (36) but no P95 (72)", d.Percentiles)
	}
	if d.At(42) != 0 {
		t.Error("a percentile that was not asked for")
	}
}

func TestConcurrency(t *testing.T) {
	// in flight: 0–101 ms one, 50–101 two, 101–151 one (departures first), 201–251 one
	s := Summarize(run(300, answered(0, 0, 0, 1, 100), answered(1, 50, 50, 1, 150), answered(2, 101, 101, 1, 102), answered(3, 201, 201, 1, 250)), Options{})
	if s.Concurrency.Peak != 2 {
		t.Errorf("peak %d", s.Concurrency.Peak)
	}
	if want := (101.0 + 101 + 2 + 50) / 251; math.Abs(s.Concurrency.Mean-want) > 1e-12 {
		t.Errorf("mean %v, want %v", s.Concurrency.Mean, want)
	}
}

// pulse is n requests released every gap ms that each take took ms and stream a
// token every 10 ms.
func pulse(n int, gap, took func(i int) trace.Instant) []*trace.Record {
	var records []*trace.Record
	at := trace.Instant(0)
	for i := range n {
		var chunks []trace.Instant
		for c := at + 10; c < at+took(i); c += 10 {
			chunks = append(chunks, c)
		}
		records = append(records, answered(i, at, at, len(chunks), chunks...))
		at += gap(i)
	}
	return records
}

func always(v trace.Instant) func(int) trace.Instant { return func(int) trace.Instant { return v } }

func TestSteadyState(t *testing.T) {
	// 100 requests every 50 ms, each 492 ms: ten in flight from 450 ms on, of which the last has its second chunk at 470 ms
	s := Summarize(run(6000, pulse(100, always(50), always(492))...), Options{}).Steady
	if !s.Why.IsZero() || s.From != .47 || s.To != 4.95 || s.Requests != 90 {
		t.Fatalf("%+v", s)
	}
	if math.Abs(s.Level-9.8) > .1 || math.Abs(s.Completed-20) > .5 || math.Abs(s.Output-20*49) > 25 {
		t.Errorf("level %v, %v answers/s, %v tokens/s; want 9.8, 20, 980", s.Level, s.Completed, s.Output)
	}
	if s.Service.TTFT.N != 90 || math.Abs(s.Service.TTFT.Mean-.01) > 1e-12 {
		t.Errorf("TTFT %+v", s.Service.TTFT)
	}
}

// What makes a run doubtful only where there is a steady state is found without the figures of that.
func TestHealthAloneKnowsTheSteadyState(t *testing.T) {
	for _, doubt := range []bool{true, false} {
		made := run(6000, pulse(100, always(50), always(492))...)
		made.Run.Plan.Ramp = !doubt
		made.Telemetry = &telemetry.Set{Sources: []telemetry.Source{{Name: "server", Every: time.Second}}}
		for at := range 7 {
			made.Telemetry.Add(telemetry.Value{
				Key:  telemetry.Key{Source: "server", Name: telemetry.ServerPreemptions},
				Unit: "requests", Kind: telemetry.Counter, Point: telemetry.Point{At: time.Duration(at) * time.Second, Value: float64(at)},
			})
		}
		all, alone := Summarize(made, Options{}).Health, HealthOf(made)
		has := slices.ContainsFunc(alone.Verdict.Reasons, func(m plan.Message) bool { return m.Code == "verdict.preempted" })
		if has != doubt || !reflect.DeepEqual(all, alone) {
			t.Errorf("doubted %v: %+v, alone %+v", has, all.Verdict, alone.Verdict)
		}
	}
}

func TestNoSteadyState(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []*trace.Record
		why     string
	}{
		{"burst", pulse(50, always(0), always(500)), "released at once"},
		{"few", pulse(15, always(50), always(100)), "requests succeeded after the load had built up"},
		{"short", pulse(50, always(10), always(400)), "which is short when each takes"},
		{"overload", pulse(2000, always(5), func(i int) trace.Instant { return 20 + trace.Instant(i)*3/4 }), "requests in flight grew"},
		{"overload from the start", pulse(400, always(10), func(i int) trace.Instant { return 20 + 10*trace.Instant(i) }), "requests take ever longer"},
		{"easing", pulse(400, func(i int) trace.Instant { return 5 + trace.Instant(i)/10 }, always(300)), "requests in flight fell"},
		{"nothing", nil, "released at once"},
	} {
		if s := Summarize(run(9000, tt.records...), Options{}).Steady; !strings.Contains(catalogue.In("en").Say(s.Why), tt.why) || s.Requests != 0 {
			t.Errorf("%s: %+v, want %s", tt.name, s, tt.why)
		}
	}
}

func TestAnEmptyRunHasASummary(t *testing.T) {
	s := Summarize(&trace.Trace{Run: trace.Run{End: trace.Never}}, Options{})
	if s.Duration != 0 || s.Rates.Requests != 0 || s.Health.Verdict.Validity != trace.Invalid {
		t.Errorf("%+v", s)
	}
}
