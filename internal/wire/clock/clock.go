// Package clock tells the time to the nanosecond and wakes goroutines on time.
//
// A Clock counts nanoseconds from its epoch on the monotonic clock. The kernel
// timestamps received data with the wall clock, so a Clock also tracks the offset
// between the two:
//
//	wall clock   ──┼──────────────┼─────> FromWall(kernel timestamp)
//	               │    offset    │
//	monotonic    ──┼──────────────┼─────> Now()
//
// Slewing moves both alike and does no harm. A step of the wall clock does: Watch
// measures the offset repeatedly and counts the steps, so that timestamps taken
// across one are not trusted.
//
// A Timer fires within microseconds; the runtime's own timers are up to a
// millisecond late in a process that sleeps.
package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Clock returns instants. It is safe for concurrent use.
type Clock struct {
	epoch  time.Time
	offset atomic.Int64 // wall clock minus instant
	mu     sync.Mutex   // guards steps
	steps  Steps
}

// Steps are jumps of the wall clock against the monotonic one.
type Steps struct {
	Count   int
	Largest time.Duration // the one farthest from 0
}

const (
	samples  = 100 // of the offset; the tightest counts
	stepSize = time.Microsecond
	interval = time.Second // between two measurements
)

// New returns a Clock that starts now.
func New() *Clock {
	c := &Clock{epoch: time.Now()}
	offset, _ := c.measure()
	c.offset.Store(offset)
	return c
}

// Now is the current instant.
func (c *Clock) Now() int64 { return int64(time.Since(c.epoch)) }

// FromWall turns nanoseconds of the wall clock since 1970 into an instant.
func (c *Clock) FromWall(ns int64) int64 { return ns - c.offset.Load() }

// Steps returns the steps that Watch has seen.
func (c *Clock) Steps() Steps {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps
}

// Watch measures the offset every second until ctx ends.
func (c *Clock) Watch(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.adopt(c.measure())
		case <-ctx.Done():
			return
		}
	}
}

// adopt takes a new offset, and counts a step if it differs. A slow reading of the
// clocks leaves both offsets uncertain by its duration.
func (c *Clock) adopt(offset int64, bracket time.Duration) {
	step := time.Duration(offset - c.offset.Load())
	if bracket >= stepSize && step.Abs() <= 2*bracket {
		return
	}
	c.offset.Store(offset)
	if step.Abs() <= stepSize {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps.Count++
	if step.Abs() > c.steps.Largest.Abs() {
		c.steps.Largest = step
	}
}

// measure compares the clocks: it returns the offset of the fastest of many
// readings of both, and its duration.
func (c *Clock) measure() (offset int64, bracket time.Duration) {
	bracket = time.Hour
	for range samples {
		before := time.Since(c.epoch)
		both := time.Now() // the wall clock first, then the monotonic one
		after := both.Sub(c.epoch)
		if took := after - before; took < bracket {
			offset, bracket = both.UnixNano()-int64(after), took
		}
	}
	return offset, bracket
}
