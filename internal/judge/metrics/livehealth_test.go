package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// What is doubted while a run goes on is what its verdict says, where it can be known by then.
func TestDoubtsAreThoseOfTheVerdict(t *testing.T) {
	known := []plan.Code{"verdict.sent-late", "verdict.ran-out", "verdict.itl-void", "verdict.merged-somewhere", "verdict.processors-busy"}
	for name, c := range map[string]struct {
		spoil  spoiler
		doubts int
	}{
		"nothing":              {spoil(), 0},
		"late":                 {late(5, 20), 1},
		"one late":             {late(1, 500), 0},
		"merged":               {merged(21), 1},
		"merged in user space": {spoil(userStamps(200), noLag, merged(21)), 1},
		"busy, and late":       {spoil(late(5, 20), used(19*time.Second/10)), 2},
		"busy":                 {used(19 * time.Second / 10), 0},
		"busy, with an engine": {spoil(used(19*time.Second/10), func(tr *trace.Trace) { tr.Run.Env.Embedded = true }), 1},
		"files and ports": {func(tr *trace.Trace) {
			tr.Records[0].Class, tr.Records[1].Class, tr.Records[2].Class = trace.Files, trace.Ports, trace.Files
		}, 2},
	} {
		tr := healthy()
		c.spoil(tr)
		s := Summarize(tr, Options{Percentiles: []float64{99}})
		g := LiveHealth{Run: &tr.Run, Elapsed: time.Second, CPU: tr.Run.Client.CPU, CPUs: 2, Late: s.Health.Lateness.At(99), E2EL: s.Service.E2EL.Median}
		for _, r := range tr.Records {
			g.Add(r)
		}
		var want, got []string
		for _, reason := range s.Health.Verdict.Reasons {
			if slices.Contains(known, reason.Code) {
				want = append(want, reason.Key())
			}
		}
		for _, doubt := range g.Doubts() {
			got = append(got, doubt.Key())
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || len(got) != c.doubts {
			t.Errorf("%s: %q, the verdict has %q", name, got, want)
		}
	}
}
