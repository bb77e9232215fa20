package engine

import (
	"math"
	"time"
)

// An eventLoop is a frontend with one thread that does all work in iterations, like an API server
// on asyncio. An iteration does, in this order, what is there when it begins:
//
//	chunks of the output that the iteration before took     chunk each, finish for the last of an answer
//	requests on their way                                   head, for those that have waited for passes
//	new requests                                            request; then they are tokenized elsewhere
//	output of the engine                                    flush for each step, token for each token
//
//	requests ─▶ ▒ request ─▶ tokenize ─▶ passes ─▶ ▒ head ─▶ delay ─▶ engine
//	client   ◀──────── ▒ chunk (next iteration) ◀──────── ▒ flush ◀───┘
//
// Output is merged by sequence while it waits, so that a loop that falls behind sends chunks of
// several tokens.
type eventLoop struct {
	host       *processor
	tokenizer  time.Duration // when it is free
	tokenizing arrivals
	passing    []passing // requests that wait for iterations, in order
	writes     []Emission
	flushes    int // in the outbox
}

// A passing request waits for so many more iterations.
type passing struct {
	seq  *Seq
	left int
}

// pass has a tokenized request wait for its iterations.
func (f *frontend) pass(s *Seq) {
	f.loop.passing = append(f.loop.passing, passing{s, f.Passes})
}

func (f *frontend) iterate(now time.Duration) {
	l := f.loop
	if len(l.writes)+len(l.passing)+f.inbox.len()+len(f.outbox) == 0 {
		return
	}
	pace := 1.0
	if f.Host > 0 {
		pace = portable(math.Pow(l.host.at(now), f.Host))
	}
	after := func(t time.Duration, work Seconds) time.Duration { return later(t, work.times(pace).Duration()) }
	t := f.write(now, after)
	t = f.passAll(t, after)
	for f.inbox.len() > 0 {
		if s := f.inbox.popFirst(); s.status != gone {
			t = later(t, time.Duration(float64(f.work(s))*pace))
			l.tokenizer = later(max(l.tokenizer, t), f.Tokenize.times(float64(s.PromptTokens)).Duration())
			l.tokenizing.push(l.tokenizer, s)
		}
	}
	tokens := 0
	for i := range f.outbox {
		tokens += int(f.outbox[i].Tokens)
	}
	t = after(t, f.Flush.times(float64(l.flushes))+f.Token.times(float64(tokens)))
	l.writes, f.outbox, l.flushes = f.outbox, l.writes, 0
	f.busy, f.free = true, t
}

// write sends the chunks of the iteration before, from t on, and returns its end.
func (f *frontend) write(t time.Duration, after func(time.Duration, Seconds) time.Duration) time.Duration {
	for i := range f.loop.writes {
		e := &f.loop.writes[i]
		t = after(t, f.Chunk)
		e.At = t
		f.leave(*e)
		if e.Done {
			t = after(t, f.Finish)
		}
	}
	f.loop.writes = f.loop.writes[:0]
	return t
}

// passAll is an iteration for all requests that wait for some, from t on. It returns its end.
func (f *frontend) passAll(t time.Duration, after func(time.Duration, Seconds) time.Duration) time.Duration {
	waiting := f.loop.passing[:0]
	for _, p := range f.loop.passing {
		if p.left--; p.seq.status == gone {
			continue
		}
		if p.left > 0 {
			waiting = append(waiting, p)
			continue
		}
		t = after(t, f.Head)
		f.leave(p.seq.emission(t, 0))
		f.coming.push(later(t, f.delay), p.seq)
	}
	clear(f.loop.passing[len(waiting):])
	f.loop.passing = waiting
	return t
}

// leave sends a chunk, or the head of a response.
func (f *frontend) leave(e Emission) {
	if f.sent == len(f.leaving) {
		f.leaving, f.sent = f.leaving[:0], 0
	}
	f.leaving = append(f.leaving, e)
}
