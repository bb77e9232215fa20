package truth

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A queue gives out what a sorted list would.
func TestQueueIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []entry
		due := rapid.Int64Range(0, 20)
		for n := range uint64(rapid.IntRange(0, 200).Draw(t, "steps")) {
			if len(want) == 0 || rapid.Bool().Draw(t, "push") {
				st := &stream{due: due.Draw(t, "due")}
				st.arrival = n
				q.push(st)
				want = append(want, entry{st.due, n, st})
			} else if rapid.Bool().Draw(t, "again") {
				q[0].stream.due += due.Draw(t, "gap")
				want[0].due = q[0].stream.due
				q.again()
			} else {
				q.pop()
				want = want[1:]
			}
			slices.SortFunc(want, func(a, b entry) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			if len(q) != len(want) || len(q) > 0 && q[0] != want[0] {
				t.Fatalf("step %d: %v first of %d, want %v of %d", n, q[:min(1, len(q))], len(q), want[:min(1, len(want))], len(want))
			}
		}
	})
}

func BenchmarkQueueAgain(b *testing.B) {
	var q queue
	for n := range uint64(10_000) {
		st := &stream{due: int64(mix(n) % 1e6)}
		st.arrival = n
		q.push(st)
	}
	for b.Loop() {
		q[0].stream.due += 1e6
		q.again()
	}
}
