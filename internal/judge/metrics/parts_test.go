package metrics

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// of makes a request one of a tenant, at a place in a conversation.
func of(tenant string, turn, prompt, cached int, r *trace.Record) *trace.Record {
	r.Tenant, r.Turn, r.Usage.Prompt, r.Usage.Cached = tenant, turn, prompt, cached
	if turn >= 0 {
		r.Session = "c"
	} else {
		r.Turn = 0
	}
	return r
}

func TestPartsOfARun(t *testing.T) {
	s := Summarize(run(2000,
		of("b", 0, 100, 0, answered(0, 0, 0, 3, 10, 20, 30)),
		of("b", 1, 300, 200, answered(1, 500, 500, 3, 530, 540, 550)),
		of("b", 2, 0, 0, failed(2, 700, trace.Reset, 0, "reset")),
		of("a", -1, 10, 0, answered(3, 0, 0, 1, 40)),
	), Options{Percentiles: []float64{99}})
	var names []string
	for _, p := range slices.Concat(s.Tenants, s.Turns) {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "1", "2", "3"}, names); diff != "" {
		t.Fatal(diff)
	}
	b := s.Tenants[1]
	want := Part{Name: "b", Sent: 3, OK: 2, Failed: 1, Rate: 1, Output: 3, Prompt: 200, Cached: .5, Service: b.Service}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Error(diff)
	}
	if l := b.Service; l.TTFT.N != 2 || math.Abs(l.TTFT.Mean-.020) > 1e-12 || l.ITL.N != 4 || math.Abs(l.E2EL.Max-.051) > 1e-12 {
		t.Errorf("%+v", l)
	}
	if second := s.Turns[1]; second.Prompt != 300 || second.OK != 1 || math.Abs(second.Service.TTFT.Mean-.030) > 1e-12 {
		t.Errorf("%+v", second)
	}
}

// With a gate and all conversations due at once nobody asked for their times, though
// later turns are due later.
func TestAClosedLoopOfConversationsHasNoResponseTime(t *testing.T) {
	later := of("", 1, 5, 0, answered(1, 500, 500, 3, 530, 540, 550))
	for _, due := range []trace.Instant{0, 100} {
		tr := run(2000, of("", 0, 5, 0, answered(0, due, due, 3, 110, 120, 130)), later)
		tr.Run.Plan.Concurrency = 1
		if s := Summarize(tr, Options{}); (s.Response != nil) != (due > 0) {
			t.Errorf("first due at %d ms: %v", due, s.Response)
		}
	}
}

func TestARunWithoutParts(t *testing.T) {
	s := Summarize(run(2000, answered(0, 0, 0, 3, 10, 20, 30), answered(1, 500, 500, 3, 530, 540, 550)), Options{})
	first := Summarize(run(2000, of("", 0, 5, 0, answered(0, 0, 0, 3, 10, 20, 30))), Options{})
	if s.Tenants != nil || s.Turns != nil || first.Tenants != nil || first.Turns != nil {
		t.Errorf("%v %v %v %v", s.Tenants, s.Turns, first.Tenants, first.Turns)
	}
}

func TestTurnsAreCountedTogether(t *testing.T) {
	for n, want := range map[int][2]int{0: {0, 0}, 3: {3, 3}, 4: {4, 7}, 7: {4, 7}, 8: {8, 15}, 15: {8, 15}, 16: {16, 31}, 100: {64, 127}} {
		if first, last := group(n); first != want[0] || last != want[1] {
			t.Errorf("turn %d is in %d to %d, want %v", n, first, last, want)
		}
	}
}
