package calibrate_test

import (
	"fmt"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// What keeps requests waiting in these engines is no limit of sequences, and none is found. The
// short form is one calibration of one of them.
func TestNoLimitIsMadeUp(t *testing.T) {
	race.Skip(t)
	seeds := uint64(4)
	schedulers := []engine.Scheduler{
		{MaxPrompts: 2}, {MaxPrompts: 4}, {MaxPrompts: 4, EvenPrompts: true}, {PrefillBudget: 128}, {PrefillBudget: 256}, {PrefillBudget: 512}, {}, {}, {},
	}
	memory := []int{0, 0, 0, 0, 0, 0, 15_000, 40_000, 80_000}
	if !*calibrate.Long {
		seeds, schedulers = 1, schedulers[:1]
	}
	for i, s := range schedulers {
		c := ours["vllm small"]
		c.Scheduler, c.KV = s, engine.KVCache{Tokens: memory[i]}
		c.Scheduler.TokenBudget, c.Scheduler.MaxSequences = 2048, 2000
		own := truth{name: fmt.Sprintf("%+v", c.Scheduler), start: func(seed uint64) (engine.Model, error) {
			c.Seed = seed
			return engine.New(c)
		}}
		for seed := range seeds {
			found, err := calibrate.FromTraces(t.Context(), newObserver(own, seed+1).protocol(t))
			if err != nil || found.MaxSequences != 0 {
				t.Errorf("%s, %d tokens, seed %d: at most %d sequences, %v", own.name, memory[i], seed+1, found.MaxSequences, err)
			}
		}
	}
}
