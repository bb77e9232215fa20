package aliens

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
)

const ms = time.Millisecond

// base draws the lengths of a request: prompts of 400 tokens on average, answers of 120.
func base(dice *rand.Rand) engine.Job {
	lognormal := func(mean, cv float64) int {
		s := math.Sqrt(math.Log(1 + cv*cv))
		return max(1, int(math.Exp(math.Log(mean)-s*s/2+s*dice.NormFloat64())))
	}
	return engine.Job{PromptTokens: lognormal(400, 0.8), OutputTokens: lognormal(120, 0.7)}
}

// A call is one to a Model.
type call struct {
	at     time.Duration
	job    engine.Job
	cancel uint64 // if not 0, of a job
}

// someCalls are requests at a rate, of which some are cancelled.
func someCalls(seed uint64, n int, rate float64) (calls []call) {
	dice := rand.New(rand.NewPCG(seed, 1))
	at := 0.0
	for i := range n {
		at += dice.ExpFloat64() / rate
		j := base(dice)
		j.ID = uint64(i + 1)
		calls = append(calls, call{at: time.Duration(at * 1e9), job: j})
		if dice.IntN(10) == 0 {
			calls = append(calls, call{at: time.Duration((at + 4*dice.Float64()) * 1e9), cancel: j.ID})
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return int(a.at - b.at) })
	return calls
}

// play makes the calls, and steps to every event or, if it is lazy, only where a call must be.
func play(m engine.Model, calls []call, lazy bool) (out []engine.Emission) {
	for _, c := range calls {
		for at, ok := m.Next(); !lazy && ok && at < c.at; at, ok = m.Next() {
			out = m.Step(at, out)
		}
		if out = m.Step(c.at, out); c.cancel != 0 {
			m.Cancel(c.at, c.cancel)
		} else {
			m.Add(c.at, c.job)
		}
	}
	for at, ok := m.Next(); ok; at, ok = m.Next() {
		out = m.Step(at, out)
	}
	return out
}

func TestEveryTokenLeavesOnce(t *testing.T) {
	for _, alien := range Named {
		t.Run(alien.Name, func(t *testing.T) {
			calls := someCalls(3, 400, 40)
			jobs, ended, tokens := map[uint64]engine.Job{}, map[uint64]time.Duration{}, map[uint64]int{}
			for _, c := range calls {
				if c.cancel != 0 {
					ended[c.cancel] = c.at
				} else {
					jobs[c.job.ID] = c.job
				}
			}
			m, done, last := alien.New(7), map[uint64]bool{}, time.Duration(0)
			for _, e := range play(m, calls, false) {
				at, cancelled := ended[e.ID]
				switch {
				case e.At < last || e.Start <= 0 || e.Start > e.At || e.Tokens != 1:
					t.Fatalf("%+v after %v", e, last)
				case done[e.ID]:
					t.Fatalf("%+v after its end", e)
				case cancelled && e.At > at:
					t.Fatalf("%+v was cancelled at %v", e, at)
				}
				last = e.At
				tokens[e.ID]++
				if done[e.ID] = e.Done; e.Done != (tokens[e.ID] == jobs[e.ID].OutputTokens) {
					t.Fatalf("%+v after %d of %d tokens", e, tokens[e.ID], jobs[e.ID].OutputTokens)
				}
			}
			cut := 0
			for id := range jobs {
				if _, cancelled := ended[id]; !done[id] && !cancelled {
					t.Errorf("job %d has %d of %d tokens", id, tokens[id], jobs[id].OutputTokens)
				} else if !done[id] {
					cut++
				}
			}
			if l := m.Load(); l.Running+l.Waiting > 0 || l.KV != 0 || l.Steps == 0 || cut < 5 {
				t.Errorf("%+v at the end; %d jobs were cut", l, cut)
			}
		})
	}
}

func TestOnlyTheSeedAndTheCallsMatter(t *testing.T) {
	for _, alien := range Named {
		calls := someCalls(5, 200, 30)
		first := play(alien.New(1), calls, false)
		if !slices.Equal(first, play(alien.New(1), calls, true)) {
			t.Errorf("%s: a late Step changes something", alien.Name)
		}
		if slices.Equal(first, play(alien.New(2), calls, false)) {
			t.Errorf("%s: another seed is the same engine", alien.Name)
		}
	}
}

func TestCapacities(t *testing.T) {
	want := map[string]float64{"padded": 50, "lagged": 37, "experts": 25, "timed": 36}
	for _, alien := range Named {
		dice := rand.New(rand.NewPCG(11, 12))
		plan := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: 300, Stream: true}
		for range 1500 {
			plan.Requests = append(plan.Requests, sim.Request{Job: base(dice)})
		}
		var at []time.Duration
		for _, r := range sim.Run(alien.New(9), plan).Records {
			at = append(at, time.Duration(r.Done))
		}
		rate := 900 / (at[1100] - at[200]).Seconds()
		if math.Abs(rate/want[alien.Name]-1) > 0.1 {
			t.Errorf("%s: %.1f requests/s, its doc says %v", alien.Name, rate, want[alien.Name])
		}
	}
}
