package engine

import "testing"

func TestEqualParts(t *testing.T) {
	for _, c := range []struct {
		budget int
		rests  []int
		want   int
	}{
		{10, nil, 0},
		{10, []int{10}, 0},
		{10, []int{11}, 10},
		{10, []int{20, 20}, 5},
		{10, []int{20, 20, 20}, 4}, // 4, 4 and the 2 that are left
		{10, []int{20, 1, 20}, 5},  // 1, then half of 9 each
		{10, []int{3, 2, 5}, 0},
		{1, []int{9, 9}, 1}, // the second gets nothing
	} {
		if got := EqualPart(c.budget, c.rests); got != c.want {
			t.Errorf("%d among %v: %d, want %d", c.budget, c.rests, got, c.want)
		}
	}
}
