package metrics

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// buffered is a run of ten answers whose chunks come in groups of size every gap; kind is
// what the reads say of them.
func buffered(groups, size int, gap time.Duration, kind trace.Kind, stamps trace.Stamps) *trace.Trace {
	t := &trace.Trace{Run: trace.Run{Kind: trace.Measured, End: 1e9, Plan: trace.Load{Stream: true}, Env: trace.Environment{ServedBy: "Server: nginx"}}}
	for i := range 10 {
		r := trace.NewRecord(i)
		r.Due, r.Sent, r.Stamps = 0, 0, stamps
		for g := range groups {
			for range size {
				at := trace.Instant(g+1) * trace.Instant(gap)
				r.Chunks = append(r.Chunks, trace.Chunk{At: at, Slack: uint32(gap.Microseconds()), Kind: trace.Text | kind})
				r.Done = at
			}
		}
		r.OutputTokens = len(r.Chunks)
		t.Records = append(t.Records, r)
	}
	return t
}

func TestAnswersThatAProxyHoldsBackAreTold(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		t    *trace.Trace
		held bool
	}{
		{"whole", buffered(1, 16, 100*ms, trace.Packed, trace.KernelStamps), true},
		{"whole, in one segment", buffered(1, 4, 100*ms, trace.Bundled, trace.KernelStamps), true},
		{"a buffer at a time", buffered(5, 16, 100*ms, trace.Packed, trace.KernelStamps), true},
		{"a client that reads late", buffered(1, 16, 100*ms, 0, trace.KernelStamps), false},
		{"each for itself", buffered(16, 1, 10*ms, trace.Bundled, trace.KernelStamps), false},
		{"two at once", buffered(8, 2, 10*ms, trace.Bundled, trace.KernelStamps), false},
		{"too short to tell", buffered(1, 3, 100*ms, trace.Bundled, trace.KernelStamps), false},
		{"too quick to tell", buffered(1, 16, ms, trace.Bundled, trace.KernelStamps), false},
		{"by an idle client without the kernel's stamps", buffered(1, 16, 100*ms, 0, trace.UserStamps), true},
	} {
		s := Summarize(tt.t, Options{})
		if s.Health.HeldBack != tt.held || s.Service.TTFT.Void != tt.held || s.Service.ITL.Void != tt.held || s.Service.E2EL.Void {
			t.Errorf("%s: held %v, %+v", tt.name, s.Health.HeldBack, s.Buffering)
		}
		reasons := s.Health.Verdict.Reasons
		if tt.held && (len(reasons) != 1 || reasons[0].Code != "verdict.held-back" || s.Health.Verdict.Validity != trace.Invalid) {
			t.Errorf("%s: %+v", tt.name, s.Health.Verdict)
		}
		if alone := PitotDefinitions().Figures(tt.t, ""); !slices.Equal(s.Figures(), alone) {
			t.Errorf("%s: %v, for themselves %v", tt.name, s.Figures(), alone)
		}
		if alone := HealthOf(tt.t); !reflect.DeepEqual(alone, s.Health) {
			t.Errorf("%s: %+v, alone %+v", tt.name, s.Health, alone)
		}
		for _, f := range s.Figures() {
			if tt.held && (f.Name == "ttft.mean" || f.Name == "tpot.median") {
				t.Errorf("%s: figure %s", tt.name, f.Name)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		t      *trace.Trace
		tokens int // of an answer, as many as chunks if 0
		whole  bool
	}{
		{"whole, in three chunks", buffered(1, 3, 100*ms, trace.Bundled, trace.KernelStamps), 0, true},
		{"whole, in one chunk", buffered(1, 1, 100*ms, trace.Bundled, trace.KernelStamps), 16, true},
		{"whole, by an idle client without the kernel's stamps", buffered(1, 3, 100*ms, 0, trace.UserStamps), 0, true},
		{"in three reads", buffered(3, 4, 100*ms, trace.Bundled, trace.KernelStamps), 0, true},
		{"in three chunks of many tokens", buffered(3, 1, 400*ms, 0, trace.KernelStamps), 41, false},
		{"four at once, from step to step", buffered(3, 4, 30*ms, trace.Bundled, trace.KernelStamps), 0, false},
		{"a client that reads late", buffered(1, 3, 100*ms, 0, trace.KernelStamps), 0, false},
		{"one token", buffered(1, 1, 100*ms, 0, trace.KernelStamps), 0, false},
		{"one step of three tokens", buffered(1, 1, 100*ms, 0, trace.KernelStamps), 3, false},
		{"too quick to tell", buffered(1, 3, ms, trace.Bundled, trace.KernelStamps), 0, false},
		{"nothing in it", buffered(0, 0, ms, 0, trace.KernelStamps), 0, false},
	} {
		for _, r := range tt.t.Records {
			r.OutputTokens = cmp.Or(tt.tokens, r.OutputTokens)
		}
		v := HealthOf(tt.t).Verdict
		reported := slices.ContainsFunc(v.Reasons, func(m plan.Message) bool { return m.Code == "verdict.arrive-whole" })
		if reported != tt.whole || tt.whole && v.Validity != trace.Doubtful {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
	few := buffered(16, 1, 10*ms, 0, trace.KernelStamps)
	few.Records = append(few.Records, buffered(1, 16, 100*ms, trace.Packed, trace.KernelStamps).Records...)
	if Summarize(few, Options{}).Health.HeldBack {
		t.Error("half of the answers is not most")
	}
}
