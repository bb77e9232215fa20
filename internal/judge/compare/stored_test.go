package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A comparison of runs that were stored and restored is that of the runs, and small runs are not stored.
func TestRestoredRunsCompareAlike(t *testing.T) {
	var fresh, restored [][]ComparedRun
	for i, name := range []string{"A", "B"} {
		tr := newEngineLikeRun(i, plainSeries+1)
		r := Observe(tr, pitotsRules, foreign)
		parts := r.Parts()
		asStored := map[string]func() []byte{}
		for name, body := range parts {
			asStored[name] = func() []byte { return body }
		}
		again, ok := Restore(tr.Run, asStored, foreign)
		if !ok || parts == nil {
			t.Fatal("it was not stored")
		}
		delete(asStored, indexPart)
		if _, ok := Restore(tr.Run, asStored, foreign); ok {
			t.Error("a run without its requests was restored")
		}
		r.Variant, again.Variant = name, name
		fresh, restored = append(fresh, []ComparedRun{r}), append(restored, []ComparedRun{again})
	}
	want, got := compared(t, Options{SingleRuns: true}, fresh...), compared(t, Options{SingleRuns: true}, restored...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := change(t, got, "ttft.mean"); c.Basis != Within {
		t.Errorf("%+v", c)
	}
	if few := Observe(newEngineLikeRun(1, 100), pitotsRules, foreign); few.Parts() != nil {
		t.Error("a small run was stored")
	}
	if _, ok := Restore(trace.Run{}, nil, foreign); ok {
		t.Error("nothing was restored")
	}
}

func newEngineLikeRun(seed, n int) *trace.Trace {
	rng := newRand(9)
	e := newEngineLike(rng, n, 0.3)
	t := e.run(newRand(uint64(seed)), "")
	t.Run.Started = t.Run.Started.AddDate(0, 0, seed)
	return t
}
