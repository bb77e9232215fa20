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
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestEagerSendsEveryTokenOnce(t *testing.T) {
	calls := someCalls(3, 400, 40)
	jobs, ended, tokens := map[uint64]engine.Job{}, map[uint64]time.Duration{}, map[uint64]int{}
	for _, c := range calls {
		if c.cancel != 0 {
			ended[c.cancel] = c.at
		} else {
			jobs[c.job.ID] = c.job
		}
	}
	m, done, heads, last := NewEager(7), map[uint64]bool{}, map[uint64]bool{}, time.Duration(0)
	out := play(m, calls, false)
	for _, e := range out {
		at, cancelled := ended[e.ID]
		if e.At < last || e.Start > e.At || heads[e.ID] != (e.Tokens > 0) || done[e.ID] || cancelled && e.At > at {
			t.Fatalf("%+v after %v", e, last)
		}
		last, heads[e.ID] = e.At, true
		tokens[e.ID] += int(e.Tokens)
		if done[e.ID] = e.Done; e.Done != (tokens[e.ID] == jobs[e.ID].OutputTokens) {
			t.Fatalf("%+v after %d of %d tokens", e, tokens[e.ID], jobs[e.ID].OutputTokens)
		}
	}
	for id := range jobs {
		if _, cancelled := ended[id]; !done[id] && !cancelled {
			t.Errorf("job %d has %d of %d tokens", id, tokens[id], jobs[id].OutputTokens)
		}
	}
	if l := m.Load(); l.Running+l.Waiting > 0 || l.Steps == 0 {
		t.Errorf("%+v at the end", l)
	}
	if !slices.Equal(out, play(NewEager(7), calls, true)) {
		t.Error("a late Step changes something")
	}
	if slices.Equal(out, play(NewEager(8), calls, false)) {
		t.Error("another seed is the same engine")
	}
}

// closed are the records of a closed loop, with tokens per chunk.
func closed(m engine.Model, limit, n int) (records []*trace.Record, joined float64) {
	dice := rand.New(rand.NewPCG(11, uint64(limit)))
	plan := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: limit, Stream: true}
	for range n {
		plan.Requests = append(plan.Requests, sim.Request{Job: base(dice)})
	}
	records = sim.Run(m, plan).Records
	tokens, chunks := 0, 0
	for _, r := range records {
		tokens, chunks = tokens+r.OutputTokens, chunks+len(r.Chunks)
	}
	return records, float64(tokens) / float64(chunks)
}

// A full frontend joins tokens; one with time does not.
func TestEagerJoinsTokens(t *testing.T) {
	for limit, c := range map[int][2]float64{1: {1, 1.02}, 4: {1, 1.02}, 16: {1, 1.1}, 64: {1.1, 2}} {
		if _, joined := closed(NewEager(9), limit, 40+10*limit); joined < c[0] || joined > c[1] {
			t.Errorf("%d in flight: %.3f tokens a chunk", limit, joined)
		}
	}
}

// The long gap of streams that decode stands before the first token of the prompt that made it.
func TestEagerLaunchesBeforeItHandsOut(t *testing.T) {
	for seed := range uint64(20) {
		calls := together([2]int{10, 400})
		calls = append(calls, call{at: 500 * ms, job: engine.Job{ID: 2, PromptTokens: 300, OutputTokens: 5}})
		out := play(NewEager(seed), calls, false)
		at := times(out, 1)[1:] // without the head
		first := times(out, 2)[1]
		var longest int
		for i := 200; i < len(at)-1; i++ {
			if at[i] > 500*ms-50*ms && at[i+1] < first+20*ms && (longest == 0 || at[i+1]-at[i] > at[longest+1]-at[longest]) {
				longest = i
			}
		}
		if gap := at[longest+1] - at[longest]; gap < 13*ms || at[longest+1] >= first-500*time.Microsecond {
			t.Errorf("seed %d: a gap of %v ends at %v, the first token is there at %v", seed, gap, at[longest+1], first)
		}
	}
}

// The host has two speeds, and another factor at each start.
func TestEagerHostJumps(t *testing.T) {
	var starts []float64
	for seed := range uint64(300) {
		s := newEagerSpeed(seed)
		slow := 0
		for at := range 2000 {
			if s.at(time.Duration(at)*100*ms)/s.start > 1 {
				slow++
			}
		}
		if slow < 700 || slow > 1300 {
			t.Errorf("seed %d: slow %d times of 2000", seed, slow)
		}
		starts = append(starts, s.start)
	}
	sum := 0.0
	for _, x := range starts {
		sum += (x - 1) * (x - 1)
	}
	if sd := math.Sqrt(sum / 300); math.Abs(sd-0.08) > 0.01 {
		t.Errorf("starts differ by %.3f", sd)
	}
}

// Drafts are accepted with falling probability, whatever the load.
func TestDraftsAreAccepted(t *testing.T) {
	for _, accept := range []float64{0.5, 0.7, 0.9} {
		for _, limit := range []int{1, 16} {
			records, _ := closed(Drafting(accept)(5), limit, 60+20*limit)
			more, all := [4]int{}, 0
			for _, r := range records {
				for _, c := range r.Chunks[1:max(len(r.Chunks)-1, 1)] {
					all++
					for j := range more {
						if int(c.Tokens) > j {
							more[j]++
						}
					}
				}
			}
			p := accept
			for j := range 3 {
				// The easier half of the requests has fewer steps: a little less is accepted.
				if got := float64(more[j+1]) / float64(more[j]); math.Abs(got-p) > 0.035 {
					t.Errorf("%v, %d in flight: draft %d is accepted %.3f times, want %.3f (%d steps)", accept, limit, j+1, got, p, all)
				}
				p *= falling
			}
		}
	}
}
