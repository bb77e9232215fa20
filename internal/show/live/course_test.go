package live

import (
	"testing"
	"time"
)

func TestTimeLeft(t *testing.T) {
	closed := Load{Requests: 100, Output: 100 * 200, Gate: 10}
	open := Load{Requests: 600, Output: 600 * 10, LastDue: 60 * time.Second}
	for name, tt := range map[string]struct {
		course
		want time.Duration
	}{
		// Half of ten answers came in 5 s, so a request takes a second of the server.
		"no answer is over yet": {course{Load: closed, elapsed: 5 * time.Second, sent: 10, tokens: 1000}, 95 * time.Second},
		"answers are over":      {course{Load: closed, elapsed: 20 * time.Second, sent: 30, done: 20, tokens: 4000, settled: 4000, answers: 20, whole: 4000}, 80 * time.Second},
		// They turn out to be of 100 tokens, not of 200.
		"shorter than asked": {course{Load: closed, elapsed: 20 * time.Second, sent: 30, done: 20, tokens: 2500, settled: 2000, answers: 20, whole: 2000}, 60 * time.Second},
		// 10 per second, 20 in flight: an answer takes 2 s, whatever has been sent so far.
		"a schedule":              {course{Load: open, elapsed: 20 * time.Second, sent: 220, done: 200, tokens: 2000, settled: 2000, answers: 200, whole: 2000}, 42 * time.Second},
		"a schedule that is over": {course{Load: open, elapsed: 61 * time.Second, sent: 600, done: 590, tokens: 5950, settled: 5900, answers: 590, whole: 5900}, 512605042},
		// The server does 5 per second of 10, so that requests wait for a place.
		"a schedule ahead of the server": {course{Load: Load{Requests: 600, LastDue: 60 * time.Second, Gate: 8}, elapsed: 20 * time.Second, sent: 108, done: 100}, 100 * time.Second},
		"a limit of time":                {course{Load: Load{Requests: 1000, Until: 30 * time.Second, Gate: 10}, elapsed: 20 * time.Second, sent: 30, done: 20}, 20 * time.Second},
		"after that limit":               {course{Load: Load{Requests: 1000, Until: 30 * time.Second, Gate: 10}, elapsed: 35 * time.Second, sent: 40, done: 35}, 5 * time.Second},
		"interrupted":                    {course{Load: closed, elapsed: 20 * time.Second, sent: 30, done: 20, tokens: 5000, settled: 4000, answers: 20, whole: 4000, ending: true}, 4 * time.Second},
	} {
		got, known := tt.left()
		if !known || (got-tt.want).Abs() > time.Millisecond {
			t.Errorf("%s: %v left (known: %v), want %v", name, got, known, tt.want)
		}
	}
	for name, c := range map[string]course{"nothing came": {Load: closed, elapsed: time.Second, sent: 10}, "nothing was sent": {}} {
		if got, known := c.left(); known {
			t.Errorf("%s: %v left", name, got)
		}
	}
}
