package live

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// underWay is a run of which half is done, behind a gate, with a second in which nothing ended.
func underWay() runState {
	s := runState{
		head: head{"Qwen/Qwen3-8B", "http://10.0.0.7:8000", "random 1024→256 tokens, Poisson 12 req/s, at most 32 in flight", "20261104-130501-ab12"},
		course: course{
			Load:    Load{Requests: 1200, Output: 1200 * 256, LastDue: 100 * time.Second, Gate: 32},
			elapsed: 52 * time.Second, sent: 620, done: 594, tokens: 155000, settled: 152000, answers: 591, whole: 151296,
		},
		failed: 3, inFlight: 26, waiting: 2, requests: 11.8, outputs: 3012, stream: true,
		ttft: percentiles{48200, 91000, 143000}, itl: percentiles{9100, 10300, 18700}, e2el: percentiles{2410000, 2720000, 3300000},
		failures: []failures{{failure{trace.HTTP, 503}, 2}, {failure{trace.Reset, 0}, 1}},
		health:   health{late: 180 * time.Microsecond, timed: true, busy: 0.12, cpus: 2},
		server: resources.Live{
			Servers: []resources.LiveServer{{Source: "server", Running: is(26), Waiting: is(0), KVUse: is(0.41), CacheHits: is(0.12), Preemptions: is(0)}},
			Devices: []resources.LiveDevice{{Utilization: is(0.97), Power: is(655)}, {Utilization: is(0.95), Power: is(645)}},
		},
	}
	for i := range 52 {
		wave := math.Sin(float64(i) / 6)
		one := second{requests: 12 + 3*wave, tokens: 3000 + 500*wave, inFlight: math.Round(24 + 8*wave), ttft: is(0.05 + 0.02*wave)}
		if i == 30 {
			one = second{inFlight: 32}
		}
		s.seconds = append(s.seconds, one)
	}
	return s
}

func starting() runState {
	return runState{head: underWay().head, course: course{Load: underWay().Load, elapsed: 250 * time.Millisecond, sent: 2}, inFlight: 2, waiting: -1, stream: true, health: health{cpus: 2}}
}

func draining() runState {
	s := underWay()
	s.ending, s.waiting = true, -1
	return s
}

func doubtful() runState {
	s := underWay()
	s.mark, s.late, s.busy = "NOT SAVED", 31*time.Millisecond, 0.97
	s.doubts = []plan.Message{plan.Msg("verdict.sent-late", "p99", 0.031, "limit", 0.01), plan.Msg("verdict.itl-void", "share", 0.02)}
	return s
}

// whole is a run without streams that time ends, of which all is sent.
func whole() runState {
	s := underWay()
	s.waiting, s.stream, s.Until, s.elapsed, s.ttft, s.itl, s.failed, s.server = -1, false, 50*time.Second, 52*time.Second, nil, nil, 0, resources.Live{}
	return s
}

// leg is a run of an experiment.
func leg() runState {
	s := underWay()
	s.whole = "experiment: leg 3 of 8 · 2m10s gone, about 6m0s left, until 14:35"
	return s
}

func TestViews(t *testing.T) {
	for file, c := range map[string]struct {
		s             runState
		columns, rows int
		lang          string
		ascii         bool
	}{
		"100":         {s: underWay(), columns: 100},
		"80":          {s: underWay(), columns: 80},
		"60":          {s: underWay(), columns: 60},
		"40":          {s: underWay(), columns: 40},
		"80-6-rows":   {s: underWay(), columns: 80, rows: 6},
		"80-zh":       {s: doubtful(), columns: 80, lang: "zh"},
		"80-ascii":    {s: underWay(), columns: 80, ascii: true},
		"80-starting": {s: starting(), columns: 80},
		"80-draining": {s: draining(), columns: 80},
		"80-doubtful": {s: doubtful(), columns: 80},
		"80-whole":    {s: whole(), columns: 80},
		"80-leg":      {s: leg(), columns: 80},
	} {
		if c.rows == 0 {
			c.rows = 23
		}
		p := Paper{Columns: c.columns - 1, Rows: c.rows, ASCII: c.ascii, Lang: words.In(c.lang)}
		golden.Check(t, "testdata/progress/"+file+".txt", strings.Join(c.s.lines(p), "\n")+"\n")
	}
}

// A view is never wider or higher than its paper, whatever others call themselves, and what they
// say cannot leave its line or move the cursor. In ASCII it is of that alone.
func TestNothingLeavesTheView(t *testing.T) {
	s := doubtful()
	s.model, s.id = "evil\x1b[2J\x1b[H\r\n\u202e名字名字名字名字名字名字", "名字\x1b]0;title\a"
	s.server.Servers = append(s.server.Servers, resources.LiveServer{Source: "\x1b[31m\x00gpu名字名字名字名字名字名字", Running: is(1)})
	for columns := 20; columns <= 150; columns++ {
		for rows := 1; rows <= 24; rows++ {
			lines := s.lines(Paper{Columns: columns, Rows: rows, Lang: words.In("en")})
			if len(lines) > rows {
				t.Fatalf("%dx%d: %d lines", columns, rows, len(lines))
			}
			for _, line := range lines {
				if doc.Width(line) > columns || plain.Line(line) != line {
					t.Fatalf("%dx%d: %q", columns, rows, line)
				}
			}
		}
		plainly := underWay()
		plainly.load = "random"
		for _, line := range plainly.lines(Paper{Columns: columns, Rows: 24, ASCII: true, Lang: words.In("en")}) {
			if i := strings.IndexFunc(line, func(r rune) bool { return r > 126 }); i >= 0 {
				t.Fatalf("%d columns: %q", columns, line)
			}
		}
	}
}

// Colours go with what they colour: without them the text is the same.
func TestColours(t *testing.T) {
	p := Paper{Columns: 79, Rows: 23, Lang: words.In("en")}
	bare := strings.Join(doubtful().lines(p), "\n")
	p.Colors = true
	colored := strings.Join(doubtful().lines(p), "\n")
	if !strings.Contains(colored, plain.Paint("NOT SAVED", plain.Red)) || painted.ReplaceAllString(colored, "") != bare {
		t.Errorf("%q", colored)
	}
}

func TestWaitingForAPlace(t *testing.T) {
	due := func(yield func(time.Duration) bool) {
		for i := time.Duration(0); yield(i * time.Second); i++ {
		}
	}
	q := newQueue(Load{Requests: 5, Gate: 2, Due: due})
	defer q.stop()
	for _, c := range []struct {
		at         time.Duration
		sent, want int
	}{{0, 0, 1}, {500 * time.Millisecond, 1, 0}, {2 * time.Second, 1, 2}, {time.Minute, 3, 2}} {
		if got := q.waiting(c.at, c.sent); got != c.want {
			t.Errorf("after %v with %d sent: %d wait, want %d", c.at, c.sent, got, c.want)
		}
	}
	if newQueue(Load{Requests: 5, Due: due}) != nil || newQueue(Load{Requests: 5, Gate: 2}) != nil {
		t.Error("a queue without a gate, or without a schedule")
	}
}

// The last minute is kept, second by second, from counts that come more often.
func TestThePast(t *testing.T) {
	var p history
	var r recent = []count{{}}
	var first sum
	for i := 1; i <= 4*90; i++ {
		now := count{at: time.Duration(i) * 250 * time.Millisecond, tokens: 25 * i, done: i / 4}
		if i%8 == 0 {
			first = sum{first.of + 0.5, first.n + 1}
		}
		p.add(now, 3, first)
		if tokens, done := r.rates(now); i > 40 && (tokens != 100 || math.Abs(done-1) > 0.2) {
			t.Fatalf("at %v: %g tokens, %g requests per second", now.at, tokens, done)
		}
	}
	if len(p.seconds) != kept {
		t.Fatalf("%d seconds", len(p.seconds))
	}
	for i, s := range p.seconds {
		if s.requests != 1 || s.tokens != 100 || s.inFlight != 3 || (s.ttft != nil) != (i%2 == 1) || s.ttft != nil && *s.ttft != 0.5 {
			t.Errorf("second %d: %+v", i, s)
		}
	}
}

// A line that is drawn every few seconds has the rates since the one before.
func TestRatesOfALine(t *testing.T) {
	for _, every := range []time.Duration{100 * time.Millisecond, time.Second, recently, 2 * recently} {
		var r recent
		for i := range 40 {
			now := count{at: time.Duration(i) * every, tokens: i * int(every/time.Millisecond), done: i}
			tokens, done := r.rates(now)
			if want := 1 / every.Seconds(); i > 0 && (math.Abs(tokens-1000) > 1e-6 || math.Abs(done-want) > 1e-6) {
				t.Fatalf("every %v, line %d: %g tokens, %g requests per second; want 1000, %g", every, i, tokens, done, want)
			}
		}
	}
}

// A view is drawn four times a second by the process that measures.
func BenchmarkView(b *testing.B) {
	s, p := underWay(), Paper{Columns: 99, Rows: 30, Colors: true, Lang: words.In("en")}
	b.ReportAllocs()
	for b.Loop() {
		s.lines(p)
	}
}
