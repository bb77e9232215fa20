package compare

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// with gives runs prompts of which the server had some in its cache before each.
func with(runs []ComparedRun, earlier ...int) []ComparedRun {
	for i := range runs {
		runs[i].run.Reuse = &trace.Reuse{Prompt: 1000, Hit: 200 + earlier[i%len(earlier)], Own: 200}
	}
	return runs
}

// What a server had cached before the runs of one side, and not before those of the other, leaves their difference open. Equal
// shares do not, nor does what a run finds again of its own.
func TestCachesThatDiffer(t *testing.T) {
	slow := func() []ComparedRun { return repeated("a", "ttft.mean", 2.00, 2.01, 2.02, 2.00, 2.01) }
	fast := func() []ComparedRun { return repeated("b", "ttft.mean", 1.00, 1.01, 1.02, 1.00, 1.01) }
	unknown := func(runs []ComparedRun) []ComparedRun {
		for i := range runs {
			runs[i].run.Reuse = &trace.Reuse{Prompt: 1000, Hit: 900, Own: -1}
		}
		return runs
	}
	for name, tt := range map[string]struct {
		a, b   []ComparedRun
		ignore []string
		want   Verdict
		open   bool
	}{
		"nothing is known":         {slow(), fast(), nil, Better, false},
		"one side is not known":    {with(slow(), 0), fast(), nil, Better, false},
		"nobody knows what is own": {with(slow(), 0), unknown(fast()), nil, Better, false},
		"none":                     {with(slow(), 0), with(fast(), 0), nil, Better, false},
		"as much":                  {with(slow(), 700), with(fast(), 720), nil, Better, false},
		"in the mean":              {with(slow(), 0, 100), with(fast(), 100, 0), nil, Better, false},
		"more":                     {with(slow(), 0), with(fast(), 700), nil, CannotTell, true},
		"less":                     {with(slow(), 700), with(fast(), 0), nil, CannotTell, true},
		"more of some":             {with(slow(), 0), with(fast(), 0, 700), nil, CannotTell, true},
		"to be ignored":            {with(slow(), 0), with(fast(), 700), []string{"cached-before"}, Better, false},
	} {
		o := Options{Ignore: tt.ignore}
		w := compared(t, o, tt.a, tt.b)
		c := w.Rows[0].Cells[1].Change
		listed := slices.ContainsFunc(w.SettingDiffs, func(r SettingDiff) bool { return r.Setting == cachedSetting && len(r.Values) == 2 })
		noted := slices.ContainsFunc(w.Notes, func(m plan.Message) bool { return m.Code == CachesDiffer })
		if c.Verdict != tt.want || (c.Open.Code == CachesDiffer) != tt.open || listed != tt.open || noted != tt.open || c.Interval == nil {
			t.Errorf("%s: %s, open %q, listed %v, noted %v", name, c.Verdict, c.Open.Code, listed, noted)
		}
	}
	if g := gated(t, "ttft.mean > +2%", Options{}, with(slow(), 0), with(fast(), 700)); g.Outcome != Inconclusive || g.Why.Code != "gate.caches-differ" {
		t.Errorf("a gate is %s for %s", g.Outcome, g.Why.Code)
	}
	failures := compared(t, Options{}, with(repeated("a", "requests.failed", 90, 91, 90, 92, 91), 0), with(repeated("b", "requests.failed", 0, 1, 0, 1, 0), 700))
	if c := failures.Rows[0].Cells[1].Change; c.Verdict != Better {
		t.Errorf("failures are %s", c.Verdict)
	}
}

// Two single runs have no unusual difference where their caches were unlike.
func TestCachesOfSingleRuns(t *testing.T) {
	one := compared(t, Options{}, with(repeated("a", "ttft.mean", 0.206), 0), with(repeated("b", "ttft.mean", 0.017), 940))
	if c := one.Rows[0].Cells[1].Change; c.Chance != 0 || c.Unusual || c.ExcludesZero || c.Open.Code != CachesDiffer {
		t.Errorf("%+v", c)
	}
	a, b := planned("a", "a", func(r *trace.Run) { r.Reuse = &trace.Reuse{Prompt: 1000} }).run, planned("a", "a", func(r *trace.Run) { r.Reuse = &trace.Reuse{Prompt: 1000, Hit: 940} }).run
	if got := Differences(a, b); len(got) != 1 || got[0].Name != cachedSetting || got[0].Values[1].Args["share"] != 0.94 {
		t.Errorf("%+v", got)
	}
	if got := Differences(b, b); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
