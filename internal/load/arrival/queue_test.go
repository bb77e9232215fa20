package arrival

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestQueue(t *testing.T) {
	var q Queue[string]
	if _, _, ok := q.First(); ok || q.Len() != 0 {
		t.Error("the zero value is not empty")
	}
	for i, due := range []time.Duration{5, 1, 5, 3, 1} {
		q.Push(due, 10-i, string(rune('a'+i)))
	}
	if v, due, ok := q.First(); v != "e" || due != 1 || !ok {
		t.Errorf("%q, due at %d, is first", v, due)
	}
	q.Remove(7)
	var order []string
	for q.Len() > 0 {
		order = append(order, q.Pop())
	}
	if want := []string{"e", "b", "c", "a"}; !slices.Equal(order, want) {
		t.Errorf("%q came out, want %q", order, want)
	}
}

// A queue gives out what a sorted list would.
func TestQueueIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int]
		var want []entry[int]
		due := rapid.Int64Range(0, 20)
		for n := range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch {
			case len(want) == 0 || rapid.Bool().Draw(t, "push"):
				e := entry[int]{time.Duration(due.Draw(t, "due")), n, n}
				q.Push(e.due, n, n)
				want = append(want, e)
			case rapid.Bool().Draw(t, "delay"):
				want[0].due += time.Duration(due.Draw(t, "gap"))
				q.Delay(want[0].due)
			case rapid.Bool().Draw(t, "remove"):
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				q.Remove(want[i].number)
				want = slices.Delete(want, i, i+1)
			default:
				q.Pop()
				want = want[1:]
			}
			slices.SortFunc(want, func(a, b entry[int]) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			if q.Len() != len(want) || len(want) > 0 && q.heap[0] != want[0] {
				t.Fatalf("step %d: %v first of %d, want %v of %d", n, q.heap[:min(1, q.Len())], q.Len(),
					want[:min(1, len(want))], len(want))
			}
		}
	})
}

func BenchmarkDelay(b *testing.B) {
	var q Queue[*int]
	for n := range 10_000 {
		q.Push(time.Duration(rand.N(1_000_000)), n, new(int))
	}
	for b.Loop() {
		_, due, _ := q.First()
		q.Delay(due + 1e6)
	}
}
