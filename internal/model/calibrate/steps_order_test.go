package calibrate

import (
	"testing"
	"time"
)

// after is how many steps come before the first tokens.
const after = 10

// served is a leg of 100 requests sent so far apart, prompts of 100 and 900 tokens in turn, whose first
// tokens come in the order that rank gives.
func served(apart time.Duration, rank func(i int) int) *steplog {
	l := &steplog{}
	for i := range 100 {
		l.Streams = append(l.Streams, Stream{known: time.Duration(i) * apart, Prompt: 100 + 800*(i%2)})
		l.first = append(l.first, rank(i)+after)
	}
	for k := range 100 + after {
		l.steps = append(l.steps, step{end: 100*apart + time.Duration(k-after)*10*time.Millisecond})
	}
	return l
}

func TestTheOrderOfRequests(t *testing.T) {
	inOrder := func(i int) int { return i }
	byLength := func(i int) int { return i/2 + 50*(i%2) } // all short prompts before the long ones
	for name, c := range map[string]struct {
		leg       *steplog
		overtaken float64 // at least; 0: none
		short     float64
	}{
		"in order, together": {served(time.Microsecond, inOrder), 0, 0.5},
		"in order, apart":    {served(time.Second, inOrder), 0, 0}, // none overtook
		"short, together":    {served(time.Microsecond, byLength), 0, 1},
		"short, apart":       {served(time.Second, byLength), 0.3, 1},
		"in order within 20": {served(5*time.Millisecond, func(i int) int { return i/20*20 + i%20/2 + 10*(i%2) }), 0, 0},
	} {
		logs := []*steplog{c.leg}
		over, short := overtaken(logs), orderOf(logs).Short
		if over < c.overtaken || c.overtaken == 0 && over > 0 || short < c.short-0.05 || short > c.short+0.05 {
			t.Errorf("%s: overtaken %v, short first %v", name, over, short)
		}
	}
}
