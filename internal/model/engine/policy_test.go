package engine

import (
	"math"
	"testing"
	"time"
)

// SGLang's ratio falls from 0.7 to 0.14 of that in 600 steps, and is reset after an
// idle period.
func TestReserveStartsAgainAfterARest(t *testing.T) {
	d := mustNew(t, Config{Scheduler: Scheduler{Policy: "sglang"}, Cost: Costs{Step: 1e-3}})
	p := d.replicas[0].decode.policy.(*sglang)
	same := func(when string, want float64) {
		t.Helper()
		if math.Abs(p.ratio-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", when, p.ratio, want)
		}
	}
	d.Add(0, Job{ID: 1, PromptTokens: 5, OutputTokens: 1000})
	d.Step(301*ms, nil) // 1 step with the prompt, 300 without, and one has begun
	same("after 301 steps", 0.7-0.7*0.86*301/600)
	d.Step(time.Hour, nil)
	same("at the end", 0.7*0.14)
	d.Add(time.Hour, Job{ID: 2, PromptTokens: 5, OutputTokens: 9})
	d.Step(time.Hour, nil)
	same("after a rest", 0.7)
}

// A prefix keeps its replica only while that has at most 32 jobs more than another.
func TestPrefixAwareKeepsBalance(t *testing.T) {
	r := newRouter(Config{KV: KVCache{Block: 2}, Replicas: Replicas{Router: "prefix-aware"}})
	s := newSeq(Job{PromptTokens: 4, Prompt: []int32{1, 2, 3, 4}})
	replicas := []*replica{{load: 1}, {load: 0}}
	for i, want := range []struct{ load, to int }{{0, 1}, {33, 1}, {34, 0}, {0, 0}} {
		if replicas[1].load = want.load; i == 3 {
			replicas[0].load = 2 // requests sent elsewhere stay there
		}
		if to := r(s, replicas); to != want.to {
			t.Errorf("%d: to %d with %d jobs", i, to, want.load)
		}
	}
}
