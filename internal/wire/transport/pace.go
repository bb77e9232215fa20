package transport

import "time"

// A pace decides whether a poller is lazy: whether it sleeps between its reads, so that what comes meanwhile
// shares the cost of waking up. It is lazy where that does no harm:
//
//   - much comes, so that there is something to share;
//   - streams pause for at least one and a half sleeps between outputs, so that hardly two of one stream are read at
//     once, which would cost the first its own timestamp;
//   - the kernel timestamps every read, or else the delay would be an error;
//   - no server sends its tokens in pieces: it may hold one back until the one before is acknowledged, which is when
//     it is read;
//   - answers take so long that a request that waits for their ends is not noticeably late, or none waits.
//
// Where nothing waits for the ends of answers, it sleeps for longer, after its first window: as long as the pauses
// allow. Answers of one output have none: of these the mean time between the reads of a stream is that much longer.
//
// It is not safe for concurrent use.
type pace struct {
	lazy   bool
	sleep  time.Duration   // of the poller, while it is lazy
	events int             // in this window
	merged int             // reads with several outputs that had been sent one by one, likewise
	bare   int             // reads without the kernel's timestamp, likewise
	pieces int             // reads that ended within a chunk of HTTP, likewise
	pauses int             // between two reads of a stream with output, likewise
	short  [pauseSteps]int // of these, by their length in units of pauseStep

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
	manyEvents   = 2                // in a sleep
	sleepsAPause = 1.5              // as a pause between two outputs is long
	sleepsARead  = 10               // as the mean time between two reads of a stream is long, where no pauses are known
	fewPauses    = 50               // of fewer the shortest tell nothing
	shortAnswer  = 100 * shortSleep // what waits for its end is a hundredth late
	fewMerged    = 0.0005           // of the events; more, and it is eager for a while; and the share of shorter pauses
	waryWindows  = 25               // the first time; twice as many each further time
	meanDuration = 8                // answers
	// fewPieces is a share of the events; with more it is never lazy again. A read also ends where large ones are cut
	// into segments.
	fewPieces = 0.1

	pauseStep  = 500 * time.Microsecond
	pauseSteps = int(sleepsAPause * float64(longSleep) / float64(pauseStep))
)

// paused notes the time between two outputs of a stream that came in reads of their own.
func (p *pace) paused(pause int64) {
	p.pauses++
	if step := max(0, pause) / int64(pauseStep); step < int64(pauseSteps) {
		p.short[step]++
	}
}

// longest is how long the poller may sleep in a window like this one.
func (p *pace) longest(streams int, span int64) time.Duration {
	if p.pauses < fewPauses {
		return time.Duration(float64(streams) * float64(span) / max(1, float64(p.events)) / sleepsARead)
	}
	step, left := 0, int(fewMerged*float64(p.pauses))
	for ; step < pauseSteps && p.short[step] <= left; step++ {
		left -= p.short[step]
	}
	return time.Duration(float64(step) * float64(pauseStep) / sleepsAPause)
}

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
	longest := p.longest(streams, span)
	sleep := shortSleep
	if patient {
		sleep = min(max(longest, shortSleep), longSleep)
	}
	many := manyEvents * float64(span) / float64(sleep)
	if tried {
		many *= 0.75 // it does not go back and forth
	}
	long := max(p.duration, now-p.last) >= int64(shortAnswer)
	p.lazy = p.wary == 0 && !p.pieced && events >= many && longest >= shortSleep && (long || patient)
	if p.sleep = shortSleep; tried {
		p.sleep = sleep
	}
	p.since, p.events, p.merged, p.bare, p.pieces, p.pauses, p.short = now, 0, 0, 0, 0, 0, [pauseSteps]int{}
}
