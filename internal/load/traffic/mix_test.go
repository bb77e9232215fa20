package traffic

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

func TestDeal(t *testing.T) {
	of := Deal([]float64{3, 1, 6}, 1000, 1)
	counts := make([]int, 3)
	for _, i := range of {
		counts[i]++
	}
	if !slices.Equal(counts, []int{300, 100, 600}) {
		t.Errorf("%v", counts)
	}
	if slices.IsSorted(of) || !slices.Equal(of, Deal([]float64{3, 1, 6}, 1000, 1)) ||
		slices.Equal(of, Deal([]float64{3, 1, 6}, 1000, 2)) {
		t.Error("the seed does not decide the order")
	}
	if n := len(Deal([]float64{1, 1, 1}, 100, 1)); n != 100 {
		t.Errorf("%d arrivals", n)
	}
}

func TestSuperpose(t *testing.T) {
	replay := func(at ...time.Duration) arrival.Schedule {
		s, err := arrival.Replay(at, 1)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at, of := Superpose([]arrival.Schedule{
		arrival.New(arrival.Regular(), arrival.Constant(1)), replay(0, 2500*time.Millisecond, 3*time.Second),
	}, 7)
	var seconds []float64
	for _, d := range at {
		seconds = append(seconds, d.Seconds())
	}
	if diff := cmp.Diff([]float64{0, 0, 1, 2, 2.5, 3, 3}, seconds) + cmp.Diff([]int{0, 1, 0, 0, 1, 0, 1}, of); diff != "" {
		t.Error(diff)
	}
	if at, _ := Superpose([]arrival.Schedule{replay(0), replay(5)}, 7); len(at) != 2 {
		t.Errorf("%v of schedules that end", at)
	}
}

func TestTogether(t *testing.T) {
	talk := func(after ...int) (out []workload.Request) {
		for i, a := range after {
			out = append(out, workload.Request{Text: sprint(i), Turn: workload.Turn{Session: "c", After: a}})
		}
		return out
	}
	single := []workload.Request{{Text: "s0"}, {Text: "s1"}}
	parts := []Part{{"chat", workload.Listed(talk(0, 1, 2, 0, 4))}, {"one", workload.Listed(single)}}
	list, arrivals := MergeParts(parts, []int{1, 0, 1, 0, 1, 0}, "p-")
	got, err := list.Make(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Request{
		{ID: "p-0", Text: "s0", Tenant: "one"},
		{ID: "p-1", Text: "0", Tenant: "chat", Turn: workload.Turn{Session: "chat/c"}},
		{ID: "p-2", Text: "1", Tenant: "chat", Turn: workload.Turn{Session: "chat/c", After: 2}},
		{ID: "p-3", Text: "2", Tenant: "chat", Turn: workload.Turn{Session: "chat/c", After: 3}},
		{ID: "p-4", Text: "s1", Tenant: "one"},
		{ID: "p-5", Text: "3", Tenant: "chat", Turn: workload.Turn{Session: "chat/c"}},
		{ID: "p-6", Text: "4", Tenant: "chat", Turn: workload.Turn{Session: "chat/c", After: 6}},
	}
	if diff := cmp.Diff(want, got); diff != "" || arrivals != 4 {
		t.Errorf("%d arrivals\n%s", arrivals, diff)
	}
}
