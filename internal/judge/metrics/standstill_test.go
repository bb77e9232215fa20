package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A server in a closed loop, in virtual time: request i waits wait(i) ms for its first token,
// and has eight, every 10 ms.
func loop(places, n int, wait func(i int, at trace.Instant) trace.Instant) *trace.Trace {
	free := make([]trace.Instant, places)
	t := run(0)
	for i := range n {
		k := 0
		for j := range free {
			if free[j] < free[k] {
				k = j
			}
		}
		at := free[k]
		first := at + wait(i, at)
		var chunks []trace.Instant
		for c := range trace.Instant(8) {
			chunks = append(chunks, first+10*c)
		}
		r := answered(i, 0, at, 8, chunks...)
		free[k] = first + 72
		t.Records = append(t.Records, r)
		t.Run.End = max(t.Run.End, r.Done)
	}
	t.Run.Plan.Concurrency, t.Run.Plan.Dialect, t.Run.Plan.Requests = places, Pitot, n
	return t
}

// open is the same at a rate.
func open(gap trace.Instant, n int, wait func(i int, at trace.Instant) trace.Instant) *trace.Trace {
	t := run(0)
	for i := range n {
		at := gap * trace.Instant(i)
		first := at + wait(i, at)
		t.Records = append(t.Records, answered(i, at, at, 8, first, first+10, first+20, first+30, first+40, first+50, first+60, first+70))
		t.Run.End = max(t.Run.End, t.Records[i].Done)
	}
	return t
}

// slower are requests of 500 ms, of which some wait for longer.
func slower(ms map[int]trace.Instant) func(int, trace.Instant) trace.Instant {
	return func(i int, _ trace.Instant) trace.Instant { return max(500, ms[i]) }
}

// until makes requests wait to the end of a standstill from..to, or 50 ms.
func until(from, to trace.Instant) func(int, trace.Instant) trace.Instant {
	return func(_ int, at trace.Instant) trace.Instant {
		if at+50 > from && at < to {
			return to - at + 50
		}
		return 50
	}
}

func some(first, last int, ms trace.Instant) func(int, trace.Instant) trace.Instant {
	return func(i int, _ trace.Instant) trace.Instant {
		if i >= first && i < last {
			return ms
		}
		return 50
	}
}

// Of a first wave in which seven of eight requests wait for 3 s the rate is that of the time
// after it: eight requests in 122 ms.
func TestTheSteadyStateBeginsAfterTheFirstWave(t *testing.T) {
	tr := loop(8, 400, some(0, 7, 3050))
	for _, r := range tr.Records { // as a client does
		r.Sent += ms / 10
	}
	s := Summarize(tr, Options{})
	if s.Steady.From != 3.06 || math.Abs(s.Steady.Completed-8/.122) > 1 || s.Steady.Service.TTFT.Max > .051 {
		t.Errorf("from %v, %v answers/s, TTFT at most %v", s.Steady.From, s.Steady.Completed, s.Steady.Service.TTFT.Max)
	}
	if len(s.Standstills) != 1 || !s.Standstills[0].First || s.Standstills[0].Requests != 7 || s.Standstills[0].Of != 8 {
		t.Errorf("%+v", s.Standstills)
	}
	if v := s.Health.Verdict; len(v.Reasons) == 0 || !reasoned(v, "verdict.first-wave") {
		t.Errorf("%+v", v)
	}
	if v := HealthOf(loop(8, 400, some(0, 7, 3050))).Verdict; !reasoned(v, "verdict.first-wave") {
		t.Errorf("without a report: %+v", v)
	}
}

func reasoned(v trace.Verdict, code plan.Code) bool {
	for _, m := range v.Reasons {
		if m.Code == code {
			return true
		}
	}
	return false
}

// The requests that pile up at a server that is not ready are no steady load either.
func TestTheSteadyStateBeginsAfterWhatPiledUp(t *testing.T) {
	s := Summarize(open(50, 600, func(i int, at trace.Instant) trace.Instant {
		return max(50, 3000+20*trace.Instant(i)-at) // a backlog that is answered every 20 ms
	}), Options{}).Steady
	if !s.Found() || s.From < 4.9 || s.From > 5.2 || math.Abs(s.Completed-20) > .3 {
		t.Errorf("%+v", s)
	}
}

func TestStandstills(t *testing.T) {
	decode := loop(8, 100, some(0, 0, 0))
	for _, r := range decode.Records[:8] { // the second token waits
		r.Chunks, r.Done = r.Chunks[:2], 3200*ms
		r.Chunks[1].At = 3100 * ms
	}
	for name, c := range map[string]struct {
		trace    *trace.Trace
		from, to float64
		requests int
		first    bool
	}{
		"all of a first wave":  {loop(8, 100, some(0, 8, 3050)), 0, 3.06, 8, true},
		"some of it":           {loop(32, 200, some(0, 8, 3050)), 0, 3.06, 8, true},
		"a few of it":          {loop(64, 400, some(0, 4, 3050)), 0, 3.06, 4, true},
		"three of a large one": {loop(64, 400, some(0, 3, 3050)), 0, 3.06, 3, true},
		"the only request of it, and those after it": {loop(1, 60, some(0, 6, 3050)), 0, 5*3.122 + 3.06, 6, true},
		"two rounds of it":                           {loop(8, 400, some(0, 16, 3050)), 0, 3.122 + 3.06, 16, true},
		"one that waits for four times as long":      {loop(1, 60, slower(map[int]trace.Instant{0: 2000})), 0, 2.01, 1, true},
		"two of three that do":                       {loop(3, 60, slower(map[int]trace.Instant{0: 2000, 2: 2000})), 0, 2.01, 2, true},
		"the only request of it":                     {loop(1, 40, some(0, 1, 3050)), 0, 3.06, 1, true},
		"its second token":                           {decode, 0, 3.1, 8, true},
		"an open loop":                               {open(50, 400, until(0, 3000)), 0, 3.06, 3, true},
		"under load":                                 {loop(8, 200, some(80, 88, 3050)), 1.22, 4.28, 8, false},
		"under load, by time":                        {loop(8, 200, until(500, 4000)), .488, 4.06, 8, false},
		"under load, in an open loop":                {open(400, 100, until(9900, 13000)), 10, 13.05, 8, false},
		"under load, a lone request":                 {loop(1, 60, some(30, 31, 3050)), 3.66, 6.71, 1, false},
	} {
		got := Summarize(c.trace, Options{}).Standstills
		if len(got) != 1 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		g := got[0]
		if math.Abs(g.From-c.from) > 1e-9 || math.Abs(g.To-c.to) > 1e-9 || g.Requests != c.requests || g.First != c.first || (g.Harm > 0) != c.first {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

// What takes long by nature is no standstill.
func TestNoStandstill(t *testing.T) {
	long := loop(2, 100, some(40, 42, 3050))
	for _, r := range long.Records[40:42] {
		r.PromptTokens = 4000
	}
	turns := loop(2, 100, some(0, 2, 3050))
	for _, r := range turns.Records {
		r.Turn = 1
	}
	cached := loop(8, 100, some(0, 8, 3050))
	cached.Run.ServerCounters = map[string]float64{
		"vllm:num_preemptions_total": 0, "vllm:prefix_cache_queries_total": 1000, "vllm:prefix_cache_hits_total": 900,
	}
	whole := loop(8, 100, some(0, 8, 3050))
	whole.Run.Plan.Stream = false
	dialed := loop(8, 100, some(0, 8, 3050))
	for _, r := range dialed.Records[:8] {
		r.Sent = 3000 * ms
	}
	for name, tr := range map[string]*trace.Trace{
		"a quick server":               loop(8, 100, some(0, 0, 0)),
		"slow by nature":               loop(8, 100, func(int, trace.Instant) trace.Instant { return 20_000 }),
		"one prefill after another":    loop(64, 400, prefills(300)),
		"less than a second":           loop(8, 100, some(0, 8, 900)),
		"a few of many in a short run": loop(64, 120, some(0, 3, 3050)),
		"one of few":                   loop(1, 15, slower(map[int]trace.Instant{0: 2000})),
		"one, and another":             loop(1, 60, slower(map[int]trace.Instant{0: 2000, 30: 900})),
		"long prompts":                 long,
		"turns with a history":         turns,
		"a cache that fills":           cached,
		"answers in one piece":         whole,
		"connections that take long":   dialed,
		"one wave":                     loop(64, 64, some(0, 64, 3050)),
		"overload":                     open(50, 400, prefills(80)),
		"a burst":                      open(0, 200, prefills(20)),
		"idle between requests":        open(5000, 40, some(0, 0, 0)),
		"nothing":                      run(1000),
	} {
		if s := Summarize(tr, Options{}).Standstills; s != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A run with a long stall is in doubt, one with many short ones is not: they come again. Nor is
// one in which long prompts hold up every stream.
func TestStallsThatChanceDecides(t *testing.T) {
	still := func(n int, from, to, every trace.Instant) *trace.Trace {
		return loop(8, n, func(_ int, at trace.Instant) trace.Instant {
			if into := at % every; at > from && into+50 > from && into < to {
				return to - into + 50
			}
			return 50
		})
	}
	streams := func(prompt int) *trace.Trace { // seven answers stand still while an eighth request waits
		tr := loop(8, 400, some(0, 0, 0))
		tr.Run.End += 3000 * ms
		for i, r := range tr.Records {
			at := tr.Records[200].Released + 65*ms
			shift := func(t trace.Instant) trace.Instant {
				if t > at || i == 207 && t > tr.Records[i].Released+40*ms {
					return t + 3000*ms
				}
				return t
			}
			for j := range r.Chunks {
				r.Chunks[j].At = shift(r.Chunks[j].At)
			}
			r.Done = shift(r.Done)
			r.Due, r.Released, r.Sent = shift(r.Due), shift(r.Released), shift(r.Sent)
			r.PromptTokens = 100
			if i == 207 {
				r.PromptTokens = prompt
			}
		}
		return tr
	}
	for name, c := range map[string]struct {
		trace *trace.Trace
		times int
		doubt bool
		rate  float64
	}{
		"once, for 3 s of 6":        {still(200, 500, 3500, 1e6), 1, true, 8 / .122},
		"once, for 3 s of 150":      {still(10_000, 500, 3500, 1e6), 1, false, 8 / .122},
		"40 times, for 1.1 s of 4":  {still(8_000, 500, 1600, 4000), 40, false, 8 / .122},
		"streams":                   {streams(100), 1, true, 8 / .122},
		"streams, by a long prompt": {streams(100_000), 0, false, 400 / (50*.122 + 3)},
	} {
		s := Summarize(c.trace, Options{})
		u := s.Unstalled
		if u == nil || u.Chance.Times < c.times || u.Chance.Times > c.times+3 || math.Abs(u.Chance.Rate/c.rate-1) > .1 {
			t.Errorf("%s: %+v %+v %+v", name, u, s.Standstills, s.Stalls)
			continue
		}
		if reasoned(s.Health.Verdict, "verdict.stalled") != c.doubt || reasoned(HealthOf(c.trace).Verdict, "verdict.stalled") != c.doubt {
			t.Errorf("%s: %v %+v", name, s.Health.Verdict, u)
		}
	}
}

// prefills are a queue in front of a server that prefills one prompt after another.
func prefills(each trace.Instant) func(int, trace.Instant) trace.Instant {
	ready := trace.Instant(0)
	return func(_ int, at trace.Instant) trace.Instant {
		ready = max(ready, at) + each
		return ready - at
	}
}

// A time that is a standstill and a stall of streams is noted once, and that of a first wave
// with the way out.
func TestStandstillsAreNoted(t *testing.T) {
	s := Summarize(loop(8, 100, some(0, 8, 3050)), Options{})
	s.Run.Kind = trace.Measured
	s.Stalls = []Stall{{From: 1, To: 3}, {From: 5, To: 7}}
	s.Standstills = append(s.Standstills, Standstill{From: 5.5, To: 8}, Standstill{From: 9, To: 11})
	var codes []plan.Code
	for _, n := range s.StallNotes() {
		codes = append(codes, n.Code)
	}
	if len(codes) != 3 || codes[0] != "report.first-wave" || codes[1] != "report.stalled" || codes[2] != "report.standstill" {
		t.Errorf("%v", codes)
	}
	if s.StallNotes()[0].Args["cold"] != true {
		t.Errorf("%+v", s.StallNotes()[0])
	}
}

func BenchmarkStandstills(b *testing.B) {
	tr := loop(64, 20_000, some(0, 64, 3050))
	x, _ := observe(tr, InMemory(tr.Records), Options{}, false, false)
	for b.Loop() {
		s := x.stillness(trace.Instant(time.Millisecond))
		s.standstills()
	}
}
