package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// TestCoreScripts runs the scripts in testdata/core. A script is a model and then,
// in order of time:
//
//	add AT ID [out=N] [prompt=N] [images=N]
//	cancel AT ID
//	step AT, followed by the emissions it must give, indented
//	load running=N waiting=N
//	next AT, or never
func TestCoreScripts(t *testing.T) {
	eachFile(t, "testdata/core/*.txt", func(t *testing.T, file, text string) {
		s := script{t: t}
		for i, line := range strings.Split(text, "\n") {
			s.line(fmt.Sprintf("%s:%d", file, i+1), line)
		}
		s.settle()
	})
}

type script struct {
	t         *testing.T
	core      *LatencyModel
	where     string
	got, want []string // emissions of the last step
}

func (s *script) line(where, line string) {
	if strings.HasPrefix(line, "\t") {
		s.want = append(s.want, strings.TrimSpace(line))
		return
	}
	s.settle()
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "#" {
		return
	}
	s.where = where
	s.verb(words[0], words[1:])
}

func (s *script) verb(verb string, args []string) {
	switch verb {
	case "model":
		s.core = NewLatencyModel(s.model(args), 0)
	case "add":
		s.core.Add(s.at(args[0]), s.job(args[1:]))
	case "cancel":
		s.core.Cancel(s.at(args[0]), s.job(args[1:]).ID)
	case "step":
		for _, e := range s.core.Step(s.at(args[0]), nil) {
			done := ""
			if e.Done {
				done = " done"
			}
			s.got = append(s.got, fmt.Sprintf("%vms %d from %vms%s", e.At.Milliseconds(), e.ID, e.Start.Milliseconds(), done))
		}
	case "load":
		l := s.core.Load()
		s.same(fmt.Sprintf("running=%d waiting=%d", l.Running, l.Waiting), strings.Join(args, " "))
	case "next":
		got := "never"
		if at, ok := s.core.Next(); ok {
			got = fmt.Sprint(at)
		}
		s.same(got, args[0])
	default:
		s.t.Fatalf("%s: unknown verb %s", s.where, verb)
	}
}

func (s *script) settle() {
	s.same(strings.Join(s.got, "\n"), strings.Join(s.want, "\n"))
	s.got, s.want = nil, nil
}

func (s *script) same(got, want string) {
	if got != want {
		s.t.Errorf("%s: got\n%s\nwant\n%s", s.where, got, want)
	}
}

func (s *script) at(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatalf("%s: %v", s.where, err)
	}
	return d
}

func (s *script) model(args []string) Latency {
	var m Latency
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "slots":
			s.scan(value, &m.Slots)
		default:
			*map[string]*arrival.Duration{
				"ttft": &m.TTFT, "itl": &m.ITL, "prompt": &m.PerPromptToken, "image": &m.PerImage,
			}[name] = mustDist(s.t, value)
		}
	}
	return m
}

func (s *script) job(args []string) Job {
	var j Job
	images := 0
	s.scan(args[0], &j.ID)
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		s.scan(value, map[string]*int{"out": &j.OutputTokens, "prompt": &j.PromptTokens, "images": &images}[name])
	}
	j.Images = make([]Image, images)
	return j
}

func (s *script) scan(text string, dst any) {
	if _, err := fmt.Sscan(text, dst); err != nil {
		s.t.Fatalf("%s: %q: %v", s.where, text, err)
	}
}

// A move is an event: a job arrives or leaves.
type move struct {
	at     time.Duration
	add    Job
	cancel uint64
}

func drawLatency(t *rapid.T) Latency {
	dists := []string{
		"0s", "7ms", "uniform(1ms,20ms)", "normal(5ms,9ms)", "lognormal(9ms,1.5)", "exponential(4ms)", "gamma(8ms,2)",
	}
	law := func(name string) arrival.Duration {
		d, err := arrival.ParseDuration(rapid.SampledFrom(dists).Draw(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return Latency{
		TTFT: law("ttft"), ITL: law("itl"), PerPromptToken: law("prompt"), PerImage: law("image"),
		Slots: rapid.IntRange(0, 4).Draw(t, "slots"),
	}
}

func drawMoves(t *rapid.T, cancels bool) []move {
	var moves []move
	var at time.Duration
	for id := range uint64(rapid.IntRange(1, 12).Draw(t, "jobs")) {
		at += time.Duration(rapid.IntRange(0, 30).Draw(t, "gap")) * ms
		moves = append(moves, move{at: at, add: Job{
			ID: id + 1, OutputTokens: rapid.IntRange(1, 6).Draw(t, "out"),
			PromptTokens: rapid.IntRange(0, 3).Draw(t, "prompt"), Images: make([]Image, rapid.IntRange(0, 2).Draw(t, "images")),
		}})
		if cancels && rapid.Bool().Draw(t, "cancel") {
			later := at + time.Duration(rapid.IntRange(0, 60).Draw(t, "later"))*ms
			moves = append(moves, move{at: later, cancel: id + 1})
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	return moves
}

// play makes the moves, calling step before each and once at the end.
func play(c Model, moves []move, step func(now time.Duration)) {
	for _, m := range moves {
		step(m.at)
		if m.cancel != 0 {
			c.Cancel(m.at, m.cancel)
		} else {
			c.Add(m.at, m.add)
		}
	}
	step(1 << 60)
}

func TestCoreKeepsEveryToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, moves := drawLatency(t), drawMoves(t, true)
		c := NewLatencyModel(model, 1)
		var all []Emission
		play(c, moves, func(now time.Duration) {
			all = c.Step(now, all)
			if l := c.Load(); model.Slots > 0 && l.Running > model.Slots {
				t.Fatalf("%d running in %d places", l.Running, model.Slots)
			}
		})
		if l := c.Load(); l != (Utilization{}) || len(c.jobs) != 0 || len(c.queue) != 0 {
			t.Fatalf("left behind: %+v, %d jobs", l, len(c.jobs))
		}
		checkEmissions(t, moves, all)
	})
}

// checkEmissions checks that time advances, that every job starts after its arrival
// and in order of arrival, and that it emits each token once, unless it was
// cancelled.
func checkEmissions(t *rapid.T, moves []move, all []Emission) {
	arrived, want, cancelled := map[uint64]time.Duration{}, map[uint64]int{}, map[uint64]time.Duration{}
	for _, m := range moves {
		if m.cancel != 0 {
			cancelled[m.cancel] = m.at
		} else {
			arrived[m.add.ID], want[m.add.ID] = m.at, m.add.OutputTokens
		}
	}
	got, starts := map[uint64]int{}, map[uint64]time.Duration{}
	for i, e := range all {
		if i > 0 && e.At < all[i-1].At || e.At < e.Start || e.Start < arrived[e.ID] {
			t.Fatalf("emission %d goes back in time: %+v", i, e)
		}
		got[e.ID] += int(e.Tokens)
		starts[e.ID] = e.Start
		if e.Done != (got[e.ID] == want[e.ID]) {
			t.Fatalf("emission %d: %+v is token %d of %d", i, e, got[e.ID], want[e.ID])
		}
		if at, ok := cancelled[e.ID]; ok && e.At > at {
			t.Fatalf("emission %d after its job was cancelled at %v: %+v", i, at, e)
		}
	}
	var last time.Duration
	for _, m := range moves {
		if s, ok := starts[m.add.ID]; ok {
			if s < last {
				t.Fatalf("job %d overtook: started at %v, the one before it at %v", m.add.ID, s, last)
			}
			last = s
		}
		if _, ok := cancelled[m.add.ID]; !ok && got[m.add.ID] != want[m.add.ID] {
			t.Fatalf("job %d: %d tokens of %d", m.add.ID, got[m.add.ID], want[m.add.ID])
		}
	}
}

// Emissions depend only on the arrivals, not on the times of the calls.
func TestCoreDoesNotMindLateSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model, moves := drawLatency(t), drawMoves(t, false)
		prompt, late := NewLatencyModel(model, 2), NewLatencyModel(model, 2)
		var eager, lazy []Emission
		play(prompt, moves, func(now time.Duration) {
			for at, ok := prompt.Next(); ok && at <= now; at, ok = prompt.Next() {
				eager = prompt.Step(at, eager)
			}
		})
		play(late, moves, func(now time.Duration) {
			if now > moves[len(moves)-1].at {
				lazy = late.Step(now, lazy)
			}
		})
		if diff := gocmp.Diff(eager, lazy); diff != "" {
			t.Fatalf("steps in time and late differ:\n%s", diff)
		}
	})
}

// Delays with a sum beyond a Duration do not come at once.
func TestLongDelaysDoNotOverflow(t *testing.T) {
	day := arrival.FixedDuration(24 * time.Hour)
	for name, model := range map[string]Latency{
		"prompt": {PerPromptToken: day},
		"first":  {TTFT: arrival.FixedDuration(1 << 62), PerImage: arrival.FixedDuration(1 << 62)},
		"itl":    {ITL: arrival.FixedDuration(1<<63 - 1)},
	} {
		c := NewLatencyModel(model, 0)
		c.Add(time.Hour, Job{PromptTokens: 10_000_000, Images: make([]Image, 3), OutputTokens: 4})
		if out := c.Step(365*24*time.Hour, nil); len(out) > 1 || len(out) == 1 && name != "itl" {
			t.Errorf("%s: %v", name, out)
		}
		if at, ok := c.Next(); !ok || at != forever {
			t.Errorf("%s: next at %v, %v", name, at, ok)
		}
	}
}

// The draws of a job are independent of the others.
func TestJobDrawsAreItsOwn(t *testing.T) {
	model := Latency{TTFT: mustDist(t, "exponential(10ms)"), ITL: mustDist(t, "gamma(5ms,1)")}
	alone, crowded := NewLatencyModel(model, 3), NewLatencyModel(model, 3)
	for id := range uint64(50) {
		crowded.Add(0, Job{ID: id, OutputTokens: 3})
	}
	alone.Add(0, Job{ID: 17, OutputTokens: 3})
	var got []Emission
	for _, e := range crowded.Step(time.Hour, nil) {
		if e.ID == 17 {
			got = append(got, e)
		}
	}
	if want := alone.Step(time.Hour, nil); !slices.Equal(got, want) {
		t.Errorf("in a crowd %v, alone %v", got, want)
	}
}

func mustDist(t testing.TB, s string) arrival.Duration {
	t.Helper()
	d, err := arrival.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const ms = time.Millisecond
