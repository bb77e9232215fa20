package arrival

import (
	"slices"
	"testing"
	"time"
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
