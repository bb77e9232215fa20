package control

import (
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// A plan says when its requests are due, and how long nothing may come once all are.
func TestTiming(t *testing.T) {
	t.Parallel()
	second := trace.Instant(time.Second)
	j := run.Job{
		Requests: workload.Listed([]workload.Request{{}, {Turn: workload.Turn{After: 1, Think: 4 * time.Second}}, {}, {}}),
		Due:      slices.Values([]time.Duration{time.Second, 8 * time.Second}),
		Spec:     plan.Spec{Client: plan.Client{Timeout: plan.Duration(time.Minute)}},
	}
	tm := timingOf(j)
	if want := []trace.Instant{second, trace.Never, 8 * second, notSent}; !slices.Equal(tm.due, want) || tm.last != 8*second || tm.longest != 64*time.Second {
		t.Errorf("%+v", tm)
	}
	for _, tt := range []struct {
		at    trace.Instant
		quiet time.Duration
		want  time.Duration
	}{
		{8*second + 94*second, time.Hour, 0},
		{8*second + 95*second, time.Hour, 31 * time.Second},
		{1000 * second, 94 * time.Second, 0}, // one came
		{1000 * second, 95 * time.Second, 31 * time.Second},
	} {
		if got := tm.overdue(tt.at, tt.quiet, 30*time.Second); got != tt.want {
			t.Errorf("at %v after %v: %v, want %v", tt.at, tt.quiet, got, tt.want)
		}
	}
	j.Spec.Duration, j.Spec.Client.Timeout = plan.Duration(5*time.Second), 0
	if tm := timingOf(j); tm.last != 5*second || tm.overdue(1e6*second, time.Hour, 0) != 0 {
		t.Errorf("a plan that ends, with requests that have no limit: %+v", tm)
	}
}
