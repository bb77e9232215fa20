package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/load/arrival"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

const ms = trace.Instant(time.Millisecond)

// plain is an engine with 50 ms to the first token and 10 ms between tokens.
func plain(slots int) engine.Model {
	return engine.NewLatencyModel(engine.Latency{
		TTFT: arrival.FixedDuration(50 * time.Millisecond), ITL: arrival.FixedDuration(10 * time.Millisecond), Slots: slots,
	}, 0)
}

// answers are requests with these output lengths.
func answers(tokens ...int) []Request {
	requests := make([]Request, len(tokens))
	for i, n := range tokens {
		requests[i] = Request{PromptTokens: 7, WantTokens: n, Job: engine.Job{PromptTokens: 9, OutputTokens: n}, Finish: "length"}
	}
	return requests
}

func everyTenth(rate float64) arrival.Schedule {
	return arrival.New(arrival.Regular(), arrival.Constant(rate))
}

// times are due, free, released, sent, done in milliseconds by index; -1 is Never.
func times(records []*trace.Record) [][5]int {
	in := func(t trace.Instant) int {
		if !t.Happened() {
			return -1
		}
		return int(t / ms)
	}
	out := make([][5]int, len(records))
	for _, r := range records {
		out[r.Index] = [5]int{in(r.Due), in(r.Free), in(r.Released), in(r.Sent), in(r.Done)}
	}
	return out
}

func TestOpenLoopKeepsItsSchedule(t *testing.T) {
	o := Run(plain(1), SimulationPlan{Requests: answers(6, 6, 6), Schedule: everyTenth(10), Stream: true})
	want := [][5]int{{0, -1, 0, 0, 100}, {100, -1, 100, 100, 200}, {200, -1, 200, 200, 300}}
	if diff := cmp.Diff(want, times(o.Records)); diff != "" {
		t.Error(diff)
	}
	slow := Run(plain(1), SimulationPlan{Requests: answers(11, 11, 11), Schedule: everyTenth(10), Stream: true})
	want = [][5]int{{0, -1, 0, 0, 150}, {100, -1, 100, 100, 300}, {200, -1, 200, 200, 450}}
	if diff := cmp.Diff(want, times(slow.Records)); diff != "" || slow.End != 450*ms || slow.Stopped || slow.Tokens != 33 {
		t.Errorf("end %v, stopped %v, %d tokens: %s", slow.End, slow.Stopped, slow.Tokens, diff)
	}
}

func TestClosedLoopReleasesWhenAPlaceFallsFree(t *testing.T) {
	o := Run(plain(0), SimulationPlan{Requests: answers(26, 6, 1, 2, 1), Schedule: arrival.Burst(), Concurrency: 2, Stream: true})
	want := [][5]int{{0, 0, 0, 0, 300}, {0, 0, 0, 0, 100}, {0, 100, 100, 100, 150}, {0, 150, 150, 150, 210}, {0, 210, 210, 210, 260}}
	if diff := cmp.Diff(want, times(o.Records)); diff != "" {
		t.Error(diff)
	}
	var done []int
	for _, r := range o.Records {
		done = append(done, r.Index)
	}
	if !slices.Equal(done, []int{1, 2, 3, 4, 0}) {
		t.Errorf("records in the order %v", done)
	}
}

func TestGateWithASchedule(t *testing.T) {
	o := Run(plain(0), SimulationPlan{Requests: answers(11, 11, 11, 11), Schedule: everyTenth(10), Concurrency: 1})
	want := [][5]int{{0, 0, 0, 0, 150}, {100, 150, 150, 150, 300}, {200, 300, 300, 300, 450}, {300, 450, 450, 450, 600}}
	if diff := cmp.Diff(want, times(o.Records)); diff != "" {
		t.Error(diff)
	}
	idle := Run(plain(0), SimulationPlan{Requests: answers(1, 1), Schedule: everyTenth(10), Concurrency: 1})
	if diff := cmp.Diff([][5]int{{0, 0, 0, 0, 50}, {100, 50, 100, 100, 150}}, times(idle.Records)); diff != "" {
		t.Error(diff)
	}
}

func TestRecordsOfEachForm(t *testing.T) {
	stream := []trace.Chunk{{At: 50 * ms, Tokens: 1, Kind: trace.Text}, {At: 60 * ms, Tokens: 1, Kind: trace.Text | trace.Finish}}
	for _, tt := range []struct {
		name  string
		plan  SimulationPlan
		first trace.Instant
		usage trace.Instant
		want  []trace.Chunk
	}{
		{"stream", SimulationPlan{Stream: true}, 0, 60 * ms, stream},
		{"chat", SimulationPlan{Stream: true, Chat: true}, 0, 60 * ms, append([]trace.Chunk{{At: 50 * ms, Kind: trace.Role}}, stream...)},
		{"whole", SimulationPlan{Chat: true}, 60 * ms, trace.Never, []trace.Chunk{{At: 60 * ms, Tokens: 2, Kind: trace.Text | trace.Finish}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.plan.Requests, tt.plan.Schedule = answers(2), arrival.Burst()
			tt.plan.Requests[0].ID = "x-0"
			want := &trace.Record{
				ID: "x-0", PromptTokens: 7, WantTokens: 2, Free: trace.Never, Dialed: trace.Never, Connected: trace.Never,
				FirstByte: tt.first, Done: 60 * ms, Chunks: tt.want, Status: 200, FinishReason: "length",
				Usage: trace.Usage{Prompt: 9, Completion: 2, At: tt.usage}, OutputTokens: 2, CountedFrom: trace.FromUsage,
			}
			if diff := cmp.Diff([]*trace.Record{want}, Run(plain(0), tt.plan).Records); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARefusedRequestIsDoneAtOnceAndFreesItsPlace(t *testing.T) {
	requests := answers(1, 1, 1)
	requests[1].Status, requests[1].Refused = 400, "too long"
	o := Run(plain(0), SimulationPlan{Requests: requests, Schedule: arrival.Burst(), Concurrency: 1, Stream: true})
	if diff := cmp.Diff([][5]int{{0, 0, 0, 0, 50}, {0, 50, 50, 50, 50}, {0, 50, 50, 50, 100}}, times(o.Records)); diff != "" {
		t.Error(diff)
	}
	if r := o.Records[1]; r.Class != trace.HTTP || r.Status != 400 || r.Error != "too long" || len(r.Chunks) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestScheduleShorterThanTheWorkload(t *testing.T) {
	s, err := arrival.Replay([]time.Duration{0, time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o := Run(plain(0), SimulationPlan{Requests: answers(1, 1, 1), Schedule: s})
	if len(o.Records) != 2 || !o.Stopped || o.End != 1050*ms {
		t.Errorf("%d records, stopped %v, end %v", len(o.Records), o.Stopped, o.End)
	}
	if o := Run(plain(0), SimulationPlan{Schedule: arrival.Burst()}); len(o.Records) > 0 || o.Stopped || o.End != 0 {
		t.Errorf("an empty plan gives %+v", o)
	}
}

func TestStopCancelsWhatIsInFlight(t *testing.T) {
	for _, concurrency := range []int{0, 2} {
		asked := 0
		p := SimulationPlan{Requests: answers(slices.Repeat([]int{1000}, 100)...), Schedule: everyTenth(1), Concurrency: concurrency, Stream: true}
		p.Stop = func() bool { asked++; return asked == 2 }
		o := Run(plain(0), p)
		var ok, cancelled int
		for _, r := range o.Records {
			switch r.Class {
			case "":
				ok++
			case trace.Cancelled:
				cancelled++
				if r.Done != o.End || len(r.Chunks) > 0 && r.Chunks[len(r.Chunks)-1].At > r.Done {
					t.Errorf("request %d is done at %v, the run at %v", r.Index, r.Done, o.End)
				}
			}
		}
		if !o.Stopped || ok == 0 || cancelled == 0 || ok+cancelled != len(o.Records) || len(o.Records) == 100 {
			t.Errorf("stopped %v, %d ok and %d cancelled of %d", o.Stopped, ok, cancelled, len(o.Records))
		}
	}
}

// A mute takes jobs and never returns an emission.
type mute struct{ engine.Model }

func (mute) Add(time.Duration, engine.Job)                                 {}
func (mute) Load() engine.Utilization                                      { return engine.Utilization{} }
func (mute) Next() (time.Duration, bool)                                   { return 0, false }
func (mute) Step(_ time.Duration, out []engine.Emission) []engine.Emission { return out }

func TestWhatTheEngineLeavesBehindFails(t *testing.T) {
	o := Run(mute{}, SimulationPlan{Requests: answers(1, 1), Schedule: arrival.Burst(), Concurrency: 1})
	if len(o.Records) != 1 || o.Records[0].Class != trace.Other || !o.Stopped {
		t.Errorf("stopped %v: %+v", o.Stopped, o.Records)
	}
}

// A watch checks the calls to a model against its contract.
type watch struct {
	engine.Model
	t       *rapid.T
	stepped time.Duration
	live    map[uint64]bool
	most    int
	ids     uint64
}

func (w *watch) Add(now time.Duration, j engine.Job) {
	if now != w.stepped || j.ID != w.ids {
		w.t.Fatalf("job %d came at %v, the last step was to %v", j.ID, now, w.stepped)
	}
	w.ids++
	w.live[j.ID] = true
	w.most = max(w.most, len(w.live))
	w.Model.Add(now, j)
}

func (w *watch) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	if now < w.stepped {
		w.t.Fatalf("a step back from %v to %v", w.stepped, now)
	}
	w.stepped = now
	out = w.Model.Step(now, out)
	for _, e := range out {
		if e.Done {
			delete(w.live, e.ID)
		}
	}
	return out
}

// For any plan, the model is used according to its contract, no request and no
// token is lost, and each is released at the first instant at which it was due and
// the gate had a place.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "requests")
		lengths := rapid.SliceOfN(rapid.IntRange(1, 30), n, n).Draw(t, "lengths")
		gap := rapid.IntRange(0, 300).Draw(t, "gap")
		at, dice := make([]time.Duration, n), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := 1; i < n; i++ {
			at[i] = at[i-1] + time.Duration(dice.IntN(gap+1))*time.Millisecond
		}
		schedule, err := arrival.Replay(at, 1)
		if err != nil {
			t.Fatal(err)
		}
		places := rapid.IntRange(0, 5).Draw(t, "places")
		ttft, err := arrival.ParseDuration("uniform(0ms,100ms)")
		if err != nil {
			t.Fatal(err)
		}
		model := &watch{t: t, live: map[uint64]bool{}, Model: engine.NewLatencyModel(engine.Latency{
			TTFT: ttft, ITL: arrival.FixedDuration(time.Duration(rapid.IntRange(0, 20).Draw(t, "itl")) * time.Millisecond),
			Slots: rapid.IntRange(0, 4).Draw(t, "slots"),
		}, 1)}
		o := Run(model, SimulationPlan{Requests: answers(lengths...), Schedule: schedule, Concurrency: places, Stream: true})
		if len(o.Records) != n || o.Stopped || places > 0 && model.most > places {
			t.Fatalf("%d records of %d, stopped %v, %d in flight", len(o.Records), n, o.Stopped, model.most)
		}
		done := trace.Instant(0)
		for i, r := range o.Records {
			if len(r.Chunks) != lengths[r.Index] || r.OutputTokens != lengths[r.Index] || r.Done < done {
				t.Fatalf("record %d: %+v", i, r)
			}
			done = r.Done
			if want := max(r.Due, r.Free); r.Released != max(want, 0) && r.Released != before(o.Records, r.Index) {
				t.Fatalf("request %d: due %v, free %v, released %v", r.Index, r.Due, r.Free, r.Released)
			}
		}
	})
}

// before is when the previous request was released.
func before(records []*trace.Record, index int) trace.Instant {
	i := slices.IndexFunc(records, func(r *trace.Record) bool { return r.Index == index-1 })
	if i < 0 {
		return trace.Never
	}
	return records[i].Released
}

// A ticking model emits a token for every job at the end of a step, like a real
// engine, at almost no cost.
type ticking struct {
	engine.Model
	live []unfinished
	next time.Duration
}

type unfinished struct {
	id   uint64
	left int
}

func (*ticking) Load() engine.Utilization { return engine.Utilization{} }

func (m *ticking) Add(now time.Duration, j engine.Job) {
	if len(m.live) == 0 {
		m.next = now + 10*time.Millisecond
	}
	m.live = append(m.live, unfinished{j.ID, j.OutputTokens})
}

func (m *ticking) Next() (time.Duration, bool) { return m.next, len(m.live) > 0 }

func (m *ticking) Step(now time.Duration, out []engine.Emission) []engine.Emission {
	for m.next <= now && len(m.live) > 0 {
		for i := range m.live {
			j := &m.live[i]
			j.left--
			out = append(out, engine.Emission{})
			e := &out[len(out)-1]
			e.ID, e.At, e.Tokens, e.Done = j.id, m.next, 1, j.left == 0
		}
		m.live = slices.DeleteFunc(m.live, func(j unfinished) bool { return j.left == 0 })
		m.next += 10 * time.Millisecond
	}
	return out
}

func TestNoAllocationForAToken(t *testing.T) {
	few, many := answers(slices.Repeat([]int{10}, 50)...), answers(slices.Repeat([]int{1000}, 50)...)
	allocs := func(requests []Request) float64 {
		return testing.AllocsPerRun(5, func() {
			Run(&ticking{}, SimulationPlan{Requests: requests, Schedule: arrival.Burst(), Stream: true})
		})
	}
	if extra := allocs(many) - allocs(few); extra > 5 {
		t.Errorf("49 500 more tokens take %v more allocations", extra)
	}
}

// Runs that share an arena, one after the other, have the records that they have without.
func TestAnArenaIsUsedAgain(t *testing.T) {
	var memory trace.Arena
	for _, seed := range []uint64{1, 2} {
		dice := rand.New(rand.NewPCG(seed, 1))
		requests := answers(make([]int, 300)...)
		for i := range requests {
			requests[i].Job.OutputTokens = 1 + dice.IntN(800)
		}
		own := SimulationPlan{Requests: requests, Schedule: everyTenth(50), Stream: true}
		shared := own
		shared.Chunks = &memory
		memory.Reset()
		if diff := cmp.Diff(Run(plain(8), own).Records, Run(plain(8), shared).Records); diff != "" {
			t.Fatal(diff)
		}
	}
}

// The cost of a token in addition to the engine's.
func BenchmarkRecord(b *testing.B) {
	requests := answers(slices.Repeat([]int{256}, 2000)...)
	tokens := 0
	for b.Loop() {
		tokens += Run(&ticking{}, SimulationPlan{Requests: requests, Schedule: arrival.Burst(), Concurrency: 64, Stream: true}).Tokens
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tokens), "ns/token")
}

// A whole run with the engine of a deployment.
func BenchmarkDeployment(b *testing.B) {
	requests := answers(slices.Repeat([]int{256}, 20000)...)
	tokens := 0
	for b.Loop() {
		m, err := engine.New(engine.Config{Cost: engine.Costs{Step: 0.008, Sequence: 20e-6, ContextToken: 1e-9, PrefillToken: 20e-6}, KV: engine.KVCache{Tokens: 1 << 20}})
		if err != nil {
			b.Fatal(err)
		}
		tokens += Run(m, SimulationPlan{Requests: requests, Schedule: arrival.Burst(), Concurrency: 256, Stream: true}).Tokens
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
}

// A whole run with the plain engine.
func BenchmarkLatencyModel(b *testing.B) {
	requests := answers(slices.Repeat([]int{256}, 2000)...)
	tokens := 0
	for b.Loop() {
		tokens += Run(plain(0), SimulationPlan{Requests: requests, Schedule: arrival.Burst(), Concurrency: 64, Stream: true}).Tokens
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tokens), "ns/token")
}

// The head of a response is the first byte, before any token.
func TestHeadsAreFirstBytes(t *testing.T) {
	model, err := engine.New(engine.Config{
		Frontend: engine.Frontend{Head: 3e-3, Delay: 1e-3}, Cost: engine.Costs{Step: 10e-3},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := Run(model, SimulationPlan{Requests: answers(2), Schedule: everyTenth(10), Stream: true})
	r := o.Records[0]
	if r.FirstByte != 3*ms || len(r.Chunks) != 2 || r.Chunks[0].At != 14*ms || r.OutputTokens != 2 {
		t.Errorf("first byte at %v, %d chunks %+v", r.FirstByte, len(r.Chunks), r.Chunks)
	}
}
