package collect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A Clock brings stamps of a host's wall clock to this process.
//
//	sent            answered                 the host read its clock between the two, so that its
//	  |---- asked -----|                     offset lies within half of the exchange
//
// The zero value knows nothing of the host; Same is that of this machine.
type Clock struct {
	Same  bool
	sent  map[string]time.Time
	asked int
	best  exchange
}

type exchange struct {
	at     time.Time
	offset time.Duration // this machine's wall clock less the host's
	half   time.Duration
}

// ClockEvery is how often a host is asked for its clock.
const ClockEvery = 10 * time.Second

// drift is the largest drift between two clocks of ordinary quartz.
const drift = 200e-6

// mostPending bounds questions without answers.
const mostPending = 4

// Ask asks for the clock.
func (c *Clock) Ask(send func(string) error) {
	if c.Same {
		return
	}
	if c.sent == nil || len(c.sent) >= mostPending {
		c.sent = map[string]time.Time{}
	}
	c.asked++
	n := strconv.Itoa(c.asked)
	c.sent[n] = time.Now()
	if send("clock "+n) != nil {
		delete(c.sent, n)
	}
}

// Answer takes the words behind the word clock of an answer. It keeps the exchange that bounds
// the clock best, given how long ago it was.
func (c *Clock) Answer(words string, at time.Time) error {
	n, text, _ := strings.Cut(words, " ")
	sent, asked := c.sent[n]
	delete(c.sent, n)
	whole, part, found := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	ns, err2 := strconv.ParseInt(part, 10, 64)
	if !asked || !found || err != nil || err2 != nil || len(part) != 9 || seconds < 0 ||
		seconds > math.MaxInt64/int64(time.Second) {
		return fmt.Errorf("clock %q", Short(words))
	}
	half := at.Sub(sent) / 2
	x := exchange{at, sent.Add(half).Round(0).Sub(time.Unix(seconds, ns)), half}
	if c.best.at.IsZero() || x.half <= c.best.bound(at) {
		c.best = x
	}
	return nil
}

func (x exchange) bound(at time.Time) time.Duration {
	return x.half + time.Duration(drift*float64(max(0, at.Sub(x.at))))
}

// Bounds of stamps that are believed.
const (
	oldestStamp = 5 * time.Minute // a wrong time zone is off by a quarter of an hour at least
	stampStep   = time.Millisecond
)

// Instant is when a line was sampled that has a stamp of the host's wall clock and arrived at
// an instant. It is off by at most the time from the stamp to the arrival, by which everything
// was read, or by a period of the program if that is less; and by the uncertainty of the
// host's clock. Without a stamp that can be believed it is the arrival, off by a period.
func (c *Clock) Instant(stamp, arrived time.Time, period time.Duration) (time.Time, telemetry.Clock) {
	known, offset, bound := c.Same, time.Duration(0), time.Duration(0)
	if !c.best.at.IsZero() {
		known, offset, bound = true, c.best.offset, c.best.bound(arrived)
	}
	late := arrived.Round(0).Sub(stamp.Add(offset))
	if !known || stamp.IsZero() || late > oldestStamp || late < -bound-stampStep {
		return arrived, telemetry.Clock{Bound: period}
	}
	return arrived.Add(-late), telemetry.Clock{Own: true, Offset: offset, Bound: max(bound+stampStep, min(late, period))}
}
