package calibrate_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/aliens"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// uncounted takes the counts of tokens from the chunks of runs.
func uncounted(runs []*trace.Trace) []*trace.Trace {
	for _, run := range runs {
		for _, r := range run.Records {
			for i := range r.Chunks {
				r.Chunks[i].Tokens = 0
			}
		}
	}
	return runs
}

// Speculative decoding is found, of our engine and of an alien that accepts less at each position: by position where
// chunks have counts of their tokens, and by tokens a step where not. The short form is one acceptance of the alien.
func TestDraftsAreFound(t *testing.T) {
	race.Skip(t)
	all := []float64{0.5, 0.7, 0.9}
	loads := []load{heldOut[0], {name: "closed 8", mix: usual, limit: 8, n: 500}, heldOut[2], heldOut[7]}
	if !*calibrate.Long {
		all, loads = all[1:2], loads[1:2]
	}
	for _, accept := range all {
		own := ours["vllm small"]
		own.Speculative = &engine.Speculative{Drafts: 2, Acceptance: engine.Acceptance{accept}}
		alien := aliens.Drafting(accept)
		for name, c := range map[string]struct {
			start   func(seed uint64) (engine.Model, error)
			perStep float64
			drafts  int
		}{
			"ours":  {func(seed uint64) (engine.Model, error) { c := own; c.Seed = seed; return engine.New(c) }, 1 + accept + accept*accept, 2},
			"alien": {func(seed uint64) (engine.Model, error) { return alien(seed), nil }, 1 + accept*(1+0.94*accept*(1+0.94*0.94*accept)), 3},
		} {
			if !*calibrate.Long && name != "alien" {
				continue
			}
			for _, counts := range []bool{true, false} {
				t.Run(fmt.Sprint(name, accept, counts), func(t *testing.T) {
					o := newObserver(truth{name: name, start: c.start}, 1)
					runs := o.protocol(t)
					if !counts {
						runs = uncounted(runs)
					}
					found, err := calibrate.FromTraces(t.Context(), runs)
					if err != nil || found.Speculative == nil {
						t.Fatalf("%v, %+v", err, found)
					}
					misses := o.heldAgainst(t, found, loads, either(2, 3))
					t.Logf("%.3f tokens a step of %.3f, %+v; mean error %.1f %%", found.PerStep, c.perStep, *found.Speculative, mean(misses))
					if off := found.PerStep/c.perStep - 1; math.Abs(off) > 0.02 {
						t.Errorf("%.3f tokens a step, not %.3f", found.PerStep, c.perStep)
					}
					if found.DraftsSeen != counts || counts && (found.Speculative.Drafts != c.drafts || math.Abs(found.Speculative.Acceptance[0]-accept) > 0.02) {
						t.Errorf("%+v (seen: %v), not %d drafts accepted with %v", *found.Speculative, found.DraftsSeen, c.drafts, accept)
					}
					if off := mean(misses); off > 8 {
						t.Errorf("mean error %.1f %%", off)
					}
				})
			}
		}
	}
}
