package experiment

import (
	"testing"
	"time"
)

// Attempts at a turn share its number, and the time left counts turns, not attempts.
func TestNumbersAndTimeLeft(t *testing.T) {
	j := &Journal{Legs: []*Leg{
		{Variant: "a", Block: 1, Slot: 1, Status: Done, Took: time.Minute},
		{Variant: "b", Block: 1, Slot: 2, Status: Failed, Took: time.Hour},
		{Variant: "b", Block: 1, Slot: 2, Attempt: 2, Status: Done, Took: 3 * time.Minute},
		{Variant: "b", Block: 1, Slot: 3, Status: Running, Took: 30 * time.Second},
	}}
	for i, want := range []int{1, 2, 2, 3} {
		if got := j.Number(j.Legs[i]); got != want {
			t.Errorf("leg %d has number %d, want %d", i, got, want)
		}
	}
	if left := j.TimeLeft(4); left != 2*2*time.Minute-30*time.Second {
		t.Error(left)
	}
	if left := (&Journal{}).TimeLeft(4); left != 0 {
		t.Error(left)
	}
}
