package fleet

import (
	"math"
	"slices"
)

// MaxRate is how much the difference of two clocks changes, in seconds per second. Linux corrects the rate of a
// clock by at most 500 ppm (MAXFREQ in include/linux/timex.h), and oscillators of computers are off by up to 100
// ppm. A clock that is slewed faster, as chrony can be configured to, counts as one that steps repeatedly.
const MaxRate = 500e-6

// Unknown is a bound that says nothing.
const Unknown = math.MaxInt64

const (
	// farthest is the largest instant that is not absurd, in nanoseconds: 63 years, so that sums of
	// four of them fit.
	farthest = 2e18
	// mostEpochs is how many steps are remembered.
	mostEpochs = 64
)

// An Exchange is a message and its answer: Sent and Received on our clock, Arrived and Answered on
// theirs.
type Exchange struct{ Sent, Arrived, Answered, Received int64 }

func (e Exchange) plausible() bool {
	for _, t := range []int64{e.Sent, e.Arrived, e.Answered, e.Received} {
		if t < -farthest || t > farthest {
			return false
		}
	}
	there, here := e.Answered-e.Arrived, e.Received-e.Sent
	return there >= 0 && here >= 0 && there <= here+widening(here)
}

// roundTrip is the time on the way, there and back.
func (e Exchange) roundTrip() int64 { return max(0, (e.Received-e.Sent)-(e.Answered-e.Arrived)) }

// A Clock is the clock of another machine as exchanges show it. The zero Clock has none. It is not
// safe for concurrent use. Its size has a limit, whatever the number of exchanges.
type Clock struct {
	epochs    []epoch
	exchanges int
	ignored   int
	steps     int
	least     int64
	newest    int64 // Received
}

// An epoch is a time in which no clock stepped.
type epoch struct {
	begins, ends int64   // on our clock
	upper, lower ceiling // of the offset, and of its negative
}

// Add takes an exchange into account. Exchanges come in the order in which answers are received.
// One that cannot be, or that was under way when a clock stepped, is ignored.
func (c *Clock) Add(e Exchange) {
	if !e.plausible() || len(c.epochs) > 0 && e.Sent < c.last().begins {
		c.ignored++
		return
	}
	if len(c.epochs) == 0 {
		c.epochs = []epoch{{begins: -farthest, ends: farthest}}
	}
	overlaps := c.exchanges > 0 && e.Sent < c.newest
	if c.exchanges == 0 || e.Received > c.newest {
		c.newest = e.Received
	}
	stepped, rose := c.stepped(e)
	if stepped && overlaps {
		c.ignored++ // it may be from before the step or from after it
		return
	}
	now := c.last()
	if !rose { // else Arrived may be from before the rise was complete
		now.upper.add(e.Sent, e.Sent, e.Arrived-e.Sent)
	}
	now.lower.add(e.Received, e.Sent, e.Received-e.Answered)
	if trip := e.roundTrip(); c.exchanges == 0 || trip < c.least {
		c.least = trip
	}
	c.exchanges++
}

func (c *Clock) last() *epoch { return &c.epochs[len(c.epochs)-1] }

// stepped reports whether e contradicts earlier exchanges, and whether the offset rose; it begins an
// epoch if so.
//
// The offset rises at one instant of ours, while our machine is suspended. It falls while theirs is,
// from some instant to another: after the exchange that contradicts e was sent, since it was
// answered, and before e was received, since it was answered too.
func (c *Clock) stepped(e Exchange) (stepped, rose bool) {
	now := c.last()
	low, fell := now.lower.beyond(e.Sent, e.Sent-e.Arrived)
	high, rose := now.upper.beyond(e.Received, e.Answered-e.Received)
	if !fell && !rose {
		return false, false
	}
	ends := e.Sent
	if fell {
		ends = min(ends, low)
	}
	if rose {
		ends = min(ends, high)
	}
	c.step(ends, c.newest)
	return true, rose
}

// step ends an epoch and begins another: a clock has stepped between two instants.
func (c *Clock) step(ends, begins int64) {
	c.steps++
	now := c.last()
	now.ends = ends
	now.upper.cut(ends)
	now.lower.cut(ends)
	if now.ends < now.begins { // nothing of it is sure
		c.epochs = c.epochs[:len(c.epochs)-1]
	}
	c.epochs = append(c.epochs, epoch{begins: begins, ends: farthest})
	if len(c.epochs) > mostEpochs {
		c.epochs = slices.Delete(c.epochs, 0, 1)
	}
}
