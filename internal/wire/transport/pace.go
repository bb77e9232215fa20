package transport

import "time"

// A pace decides whether a poller is lazy: whether it sleeps between its reads, so that what comes meanwhile
// shares the cost of waking up. It is lazy where that does no harm:
//
//   - much comes, so that there is something to share;
//   - streams pause long enough between tokens that hardly two of one stream are read at once, which would
//     cost the first its own timestamp;
//   - the kernel timestamps every read, or else the delay would be an error;
//   - no server sends its tokens in pieces: it may hold one back until the one before is acknowledged, which is when
//     it is read;
//   - answers take so long that a request that waits for their ends is not noticeably late, or none waits.
//
// Where nothing waits for the ends of answers, it sleeps for longer after its first window, as long as the pauses of
// the streams allow.
//
// It is not safe for concurrent use.
type pace struct {
	lazy   bool
	sleep  time.Duration // of the poller, while it is lazy
	events int           // in this window
	merged int           // reads with several outputs that had been sent one by one, likewise
	bare   int           // reads without the kernel's timestamp, likewise
	pieces int           // reads that ended within a chunk of HTTP, likewise

	pieced   bool  // tokens come in pieces: it stays eager
	since    int64 // the beginning of the window; 0 before the first one
	wary     int   // windows that it stays eager
	caution  int   // how many windows the next time
	duration int64 // of an answer, a moving mean; 0 before the first one
	last     int64 // when the latest answer ended
}

const (
	paceWindow   = 200 * time.Millisecond
	shortSleep   = time.Millisecond
	longSleep    = 4 * time.Millisecond
	manyEvents   = 2                // in a short sleep
	sleepsAPause = 10               // a pause between two reads of a stream is at least so many sleeps
	shortAnswer  = 100 * shortSleep // what waits for its end is a hundredth late
	fewMerged    = 0.0005           // of the events; more, and it is eager for a while
	waryWindows  = 25               // the first time; twice as many each further time
	meanDuration = 8                // answers
	// fewPieces is a share of the events; with more it is never lazy again. A read also ends where large ones are cut
	// into segments.
	fewPieces = 0.1
)

// ended notes the duration of an answer that has ended now.
func (p *pace) ended(now, duration int64) {
	if p.duration == 0 {
		p.duration = duration
	}
	p.duration += (duration - p.duration) / meanDuration
	p.last = now
}

// decide looks at the window that ends now, if it is over. streams are under way; patient: nothing waits for the
// ends of their answers.
func (p *pace) decide(now int64, streams int, patient bool) {
	if p.since == 0 {
		p.since, p.last = now, now
	}
	span := now - p.since
	if span < int64(paceWindow) {
		return
	}
	events := float64(p.events)
	p.pieced = p.pieced || p.lazy && float64(p.pieces) > fewPieces*events
	if p.lazy && float64(p.merged) > fewMerged*events || p.bare > 0 {
		p.caution = max(waryWindows, 2*p.caution)
		p.wary = p.caution
	}
	p.wary = max(0, p.wary-1)
	tried := p.lazy
	many := manyEvents * float64(span) / float64(shortSleep)
	if tried {
		many *= 0.75 // it does not go back and forth
	}
	sleep := time.Duration(float64(streams) * float64(span) / max(1, events) / sleepsAPause)
	long := max(p.duration, now-p.last) >= int64(shortAnswer)
	p.lazy = p.wary == 0 && !p.pieced && events >= many && sleep >= shortSleep && (long || patient)
	p.sleep = shortSleep
	if tried && patient {
		p.sleep = min(max(sleep, shortSleep), longSleep)
	}
	p.since, p.events, p.merged, p.bare, p.pieces = now, 0, 0, 0, 0
}
