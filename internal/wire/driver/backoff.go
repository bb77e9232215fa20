package driver

import (
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// In a closed loop a request is sent as soon as another one is done, and one that is
// refused is done at once: a server that is down for a second would cost the loop
// thousands of requests. So after a refusal the loop pauses, then sends a single
// request, and goes on when that is not refused within a moment:
//
//	refused ── pause ── one request ──┬── go on
//	              ↑                   │
//	              └──── twice as long ┴── refused
const (
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 5 * time.Second
	refusedWithin  = 100 * time.Millisecond
	// givesUp is how long the server must be down until the loop no longer waits.
	givesUp = time.Minute
)

// A backoff holds a closed loop back while its requests are refused. The zero value
// does not.
type backoff struct {
	on bool // of a closed loop that is to wait

	mu    sync.Mutex
	dead  bool
	tried bool          // the single request has been released
	since trace.Instant // of the first refusal
	until trace.Instant // of the pause, or of the moment after it
	sent  trace.Instant // release of the single request
	pause time.Duration
	free  trace.Instant // the end of the last hold
}

// refused reports whether no server accepted the request: it was not sent.
func refused(r *trace.Record) bool {
	switch r.Class {
	case trace.Refused, trace.Unreachable, trace.Reset, trace.Timeout:
		return !r.Sent.Happened()
	}
	return false
}

// saw takes note of a request that is done at now. Those that were released with or before
// the one that began the pause say nothing of the server since.
func (b *backoff) saw(r *trace.Record, now trace.Instant) {
	if !b.on {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.dead && (!b.tried || r.Released < b.sent): // an earlier one
	case !refused(r) && !b.dead: // as ever
	case !refused(r):
		b.dead, b.free = false, now
	case !b.dead:
		b.dead, b.since, b.pause = true, now, 0
		fallthrough
	default:
		b.pause = min(max(2*b.pause, firstBackoff), longestBackoff)
		b.tried, b.until = false, now+trace.Instant(b.pause)
	}
}

// remaining is how long a release at now has to wait.
func (b *backoff) remaining(now trace.Instant) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.dead:
		return 0
	case now.Sub(b.since) >= givesUp:
		b.free = b.since + trace.Instant(givesUp)
		return 0
	case now < b.until:
		return min(b.until, b.since+trace.Instant(givesUp)).Sub(now)
	case b.tried:
		b.dead, b.free = false, now
	default:
		b.free = now
		b.tried, b.sent, b.until = true, now, now+trace.Instant(refusedWithin)
	}
	return 0
}

// wait returns when a request may be released. It could have been since free, or since
// the end of a hold, if that was later; ok is false if the run was stopped.
func (b *backoff) wait(r *run, free trace.Instant) (_ trace.Instant, ok bool) {
	if !b.on {
		return free, true
	}
	for left := b.remaining(r.now()); left > 0; left = b.remaining(r.now()) {
		if !r.pause(r.now() + trace.Instant(left)) {
			return free, false
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(free, b.free), true
}
