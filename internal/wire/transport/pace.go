package transport

import "time"

// A pace decides whether a poller is lazy: whether it sleeps between its reads, so that what comes meanwhile
// shares their cost. It is lazy where that can do no harm:
//
//   - much comes, so that there is something to share;
//   - streams pause for long enough between tokens that hardly two of one stream are read at once, which would
//     cost them their own timestamps;
//   - answers take so long that what waits for their ends, such as the next turn of a conversation or
//     a request for whose place another has to leave, is not noticeably late.
type pace struct {
	lazy   bool
	events int // in this window
	merged int // of these, with several outputs that had not been sent at once

	since    int64 // the beginning of the window
	wary     int   // windows that it stays eager
	duration int64 // of an answer, a moving mean
	last     int64 // the instant of the latest end of an answer
}

const (
	paceWindow   = int64(200 * time.Millisecond)
	manyEvents   = 2.0                            // a millisecond
	shortPause   = float64(10 * time.Millisecond) // between two reads of a stream
	shortAnswer  = int64(100 * time.Millisecond)  // a hundred times the longest delay
	fewMerged    = 0.0005                         // of the events
	waryWindows  = 25
	meanDuration = 8 // answers
)

// ended notes the duration of an answer.
func (p *pace) ended(duration int64) {
	if p.duration == 0 {
		p.duration = duration
	}
	p.duration += (duration - p.duration) / meanDuration
	p.last = 0
}

// decide looks at the window that ends now, with so many streams under way.
func (p *pace) decide(now int64, streams int) {
	if p.last == 0 {
		p.last = now
	}
	if p.since == 0 {
		p.since = now
	}
	span := now - p.since
	if span < paceWindow {
		return
	}
	many := manyEvents
	if p.lazy {
		many *= 0.75 // it does not go back and forth
	}
	rate := float64(p.events) / float64(span) // a nanosecond
	pause := float64(streams) / rate
	if p.wary = max(0, p.wary-1); p.lazy && float64(p.merged) > fewMerged*float64(p.events) {
		p.wary = waryWindows
	}
	p.lazy = p.wary == 0 && rate*float64(time.Millisecond) >= many && pause >= shortPause && max(p.duration, now-p.last) >= shortAnswer
	p.since, p.events, p.merged = now, 0, 0
}
