package fleet

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// drawn is any workload: each request waits for none or for any before it.
func drawn(t *rapid.T) []workload.Request {
	requests := make([]workload.Request, rapid.IntRange(0, 60).Draw(t, "requests"))
	for i := range requests {
		requests[i].ID = fmt.Sprint(i)
		if i > 0 && rapid.Bool().Draw(t, "waits") {
			requests[i].After = rapid.IntRange(1, i).Draw(t, "after")
		}
	}
	return requests
}

// root is the request that begins the conversation of request i.
func root(requests []workload.Request, i int) int {
	for requests[i].After > 0 {
		i = requests[i].After - 1
	}
	return i
}

func roots(requests []workload.Request) (at []int) {
	for i, r := range requests {
		if r.After == 0 {
			at = append(at, i)
		}
	}
	return at
}

func TestOwners(t *testing.T) {
	var requests []workload.Request
	for _, after := range []int{0, 0, 1, 0, 3, 0, 2} {
		requests = append(requests, workload.Request{Turn: workload.Turn{After: after}})
	}
	if got, want := Owners(workload.Listed(requests), 2), []int{0, 1, 0, 0, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("owners are %v, want %v", got, want)
	}
	if got, want := Owners(workload.Listed(requests), 3), []int{0, 1, 0, 2, 0, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("owners are %v, want %v", got, want)
	}
}

// The k-th root belongs to share k mod n, and every other request to the share of its root.
func TestConversationsStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests, n := drawn(t), rapid.IntRange(1, 9).Draw(t, "shares")
		list := workload.Listed(requests)
		owners := Owners(list, n)
		if len(owners) != len(requests) {
			t.Fatalf("%d owners of %d requests", len(owners), len(requests))
		}
		order := roots(requests)
		for i, owner := range owners {
			if want := slices.Index(order, root(requests, i)) % n; owner != want {
				t.Errorf("request %d belongs to share %d, want %d", i, owner, want)
			}
		}
	})
}

func TestWhatWaitsForALaterOnePanics(t *testing.T) {
	for _, after := range []int{-1, 2, 3} {
		func() {
			defer func() {
				if err := fmt.Sprint(recover()); !strings.Contains(err, "request 1 waits for") {
					t.Errorf("after %d: %s", after, err)
				}
			}()
			Owners(workload.Listed([]workload.Request{{}, {Turn: workload.Turn{After: after}}}), 2)
		}()
	}
}

// made are the requests of a list.
func made(t *rapid.T, l workload.List) []workload.Request {
	all, err := l.Make(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sent is what the driver would send of a workload: by its ID, when, or after which other.
func sent(requests []workload.Request, due iter.Seq[time.Duration]) map[string]string {
	at := slices.Collect(due)
	order := roots(requests)
	instants := map[int]string{}
	for k := range min(len(at), len(order)) {
		instants[order[k]] = at[k].String()
	}
	out := map[string]string{}
	for i, r := range requests {
		if when, ok := instants[root(requests, i)]; ok {
			out[r.ID] = when
			if r.After > 0 {
				out[r.ID] = "after " + requests[r.After-1].ID
			}
		}
	}
	return out
}

// All shares together send what one machine sends, at the same instants, also where the schedule
// ends early or late.
func TestSharesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests, n := drawn(t), rapid.IntRange(1, 9).Draw(t, "shares")
		list := workload.Listed(requests)
		due := slices.Values(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "due"))
		}), 0, 70).Draw(t, "schedule"))
		owners := Owners(list, n)
		got, want := map[string]string{}, sent(requests, due)
		for share := range n {
			dealt, at, index := Share(list, due, owners, share)
			mine := made(t, dealt)
			part := sent(mine, slices.Values(at))
			if len(part) != len(mine) || len(at) != len(roots(mine)) || len(index) != len(mine) {
				t.Fatalf("share %d: %d of %d requests are sent, %d instants, %d positions", share, len(part), len(mine), len(at), len(index))
			}
			if !slices.IsSorted(index) {
				t.Errorf("share %d is not in order: %v", share, index)
			}
			for k, i := range index {
				back := mine[k]
				back.After = requests[i].After
				if d := cmp.Diff(requests[i], back); d != "" {
					t.Errorf("request %d is not itself in share %d:\n%s", i, share, d)
				}
				if _, twice := got[back.ID]; twice {
					t.Errorf("two shares have request %d", i)
				}
				got[back.ID] = part[back.ID]
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

func TestOneShareIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := drawn(t)
		var due []time.Duration
		for i := range roots(requests) {
			due = append(due, time.Duration(i))
		}
		dealt, at, index := Share(workload.Listed(requests), slices.Values(due), Owners(workload.Listed(requests), 1), 0)
		if d := cmp.Diff(requests, made(t, dealt)); d != "" && len(requests) > 0 {
			t.Error(d)
		}
		if !slices.Equal(at, due) {
			t.Errorf("instants are %v, want %v", at, due)
		}
		for k, i := range index {
			if k != i {
				t.Errorf("request %d is at %d", i, k)
			}
		}
	})
}

// A schedule without an end is read no further than there are requests.
func TestAnEndlessSchedule(t *testing.T) {
	read := 0
	endless := func(yield func(time.Duration) bool) {
		for read = 1; yield(time.Duration(read)); read++ {
		}
	}
	requests := make([]workload.Request, 5)
	_, at, _ := Share(workload.Listed(requests), endless, Owners(workload.Listed(requests), 2), 1)
	if want := []time.Duration{2, 4}; !slices.Equal(at, want) {
		t.Errorf("instants are %v, want %v", at, want)
	}
	if read > 5 {
		t.Errorf("%d instants were read for 5 requests", read)
	}
}

func sum(places []int) (total int) {
	for _, n := range places {
		total += n
	}
	return total
}

func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, n := rapid.IntRange(0, 1000).Draw(t, "total"), rapid.IntRange(1, 40).Draw(t, "shares")
		places := Places(total, n)
		if len(places) != n || sum(places) != total || slices.Max(places)-slices.Min(places) > 1 {
			t.Errorf("%d places for %d shares: %v", total, n, places)
		}
	})
	if got := Places(-3, 2); sum(got) != 0 {
		t.Errorf("fewer than no places: %v", got)
	}
}

func TestRedeal(t *testing.T) {
	for _, c := range []struct {
		total  int
		active []bool
		have   []int
		want   []int
	}{
		{8, []bool{true, true, true}, []int{3, 3, 2}, []int{3, 3, 2}},
		{8, []bool{true, false, true}, []int{3, 3, 2}, []int{4, 0, 4}},
		{9, []bool{true, false, true}, []int{3, 3, 3}, []int{5, 0, 4}},
		{8, []bool{false, false, true}, []int{3, 3, 2}, []int{0, 0, 8}},
		{8, []bool{false, false, false}, []int{3, 3, 2}, []int{0, 0, 0}},
		{4, []bool{true, true, false}, []int{5, 0, 1}, []int{5, 0, 0}},
		{10, []bool{true, true, true, false}, []int{6, 1, 0, 3}, []int{6, 2, 2, 0}},
		{2, []bool{true, true, false}, []int{1, 0, 1}, []int{1, 1, 0}},
	} {
		if got := Redeal(c.total, c.active, c.have); !slices.Equal(got, c.want) {
			t.Errorf("%d places, active %v, with %v: %v, want %v", c.total, c.active, c.have, got, c.want)
		}
	}
}

// Shares are lost one after the other, from any distribution.
func TestRedealTakesNoPlaceAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(0, 100).Draw(t, "total")
		have := rapid.SliceOfN(rapid.IntRange(0, 30), 1, 12).Draw(t, "have")
		active := rapid.SliceOfN(rapid.Bool(), len(have), len(have)).Draw(t, "active")
		places, held := Redeal(total, active, have), 0
		fewest := -1 // of those that were given any
		for i, n := range places {
			switch {
			case !active[i] && n != 0:
				t.Errorf("share %d is not active and has %d places", i, n)
			case active[i] && n < have[i]:
				t.Errorf("share %d had %d places and has %d", i, have[i], n)
			}
			if active[i] {
				held += have[i]
			}
			if n > have[i] {
				fewest = max(fewest, n)
			}
		}
		want := max(total, held)
		if !slices.Contains(active, true) {
			want = 0
		}
		if sum(places) != want {
			t.Errorf("%d places of %d, %d held: %v", sum(places), total, held, places)
		}
		for i, n := range places {
			if active[i] && n < fewest-1 {
				t.Errorf("share %d has %d places while another was raised to %d", i, n, fewest)
			}
		}
		if again := Redeal(total, active, places); !slices.Equal(again, places) {
			t.Errorf("%v becomes %v without any loss", places, again)
		}
	})
}

func BenchmarkShare(b *testing.B) {
	requests := make([]workload.Request, 1_000_000)
	for i := range requests {
		if i%4 != 0 {
			requests[i].After = i
		}
	}
	list := workload.Listed(requests)
	every := func(yield func(time.Duration) bool) {
		for d := time.Duration(0); yield(d); d += time.Millisecond {
		}
	}
	for b.Loop() {
		Share(list, every, Owners(list, 8), 3)
	}
}
