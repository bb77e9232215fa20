package transport

import (
	"context"
	"sync"
	"time"
)

// An inFlight has the exchanges of a client in the order of their starts. It ends those that exceed the client's
// timeout and those of a context that ends. One timer and one function of the context serve all exchanges: of their
// own, each would cost a microsecond and leave garbage.
type inFlight struct {
	clock func() int64
	limit time.Duration // of an exchange, 0: none

	mu          sync.Mutex
	first, last *exchange
	timer       *time.Timer // nil until it is needed
	set         bool        // the timer is to fire
	ctx         context.Context
	members     int         // exchanges of ctx
	forget      func() bool // undoes the registration with ctx
	cause       error       // why ctx ended
}

// add notes that an exchange begins.
func (f *inFlight) add(ctx context.Context, x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.previous = f.last; f.last == nil {
		f.first = x
	} else {
		f.last.next = x
	}
	f.last = x
	if f.limit > 0 {
		x.due = f.clock() + int64(f.limit)
		f.arm(f.limit)
	}
	f.follow(ctx, x)
}

// follow has an exchange end with its context. Requests of a run have one in common; an exchange of another context
// that begins meanwhile gets a function of its own.
func (f *inFlight) follow(ctx context.Context, x *exchange) {
	done := ctx.Done()
	if done == nil {
		return
	}
	if f.ctx == nil || f.ctx.Done() != done {
		if f.members > 0 {
			x.forget = context.AfterFunc(ctx, func() { x.end(context.Cause(ctx)) })
			return
		}
		f.leave()
		f.ctx, f.cause = ctx, nil
		f.forget = context.AfterFunc(ctx, func() { f.canceled(ctx) })
	}
	x.member = true
	if f.members++; f.cause != nil {
		x.end(f.cause)
	}
}

// canceled ends the exchanges of the context that they have in common.
func (f *inFlight) canceled(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx == nil || f.ctx.Done() != ctx.Done() {
		return
	}
	f.cause = context.Cause(ctx)
	for x := f.first; x != nil; x = x.next {
		if x.member {
			x.end(f.cause)
		}
	}
}

// remove notes that an exchange is over: afterwards nothing here ends it. It reports false if its own function may.
func (f *inFlight) remove(x *exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.previous == nil {
		f.first = x.next
	} else {
		x.previous.next = x.next
	}
	if x.next == nil {
		f.last = x.previous
	} else {
		x.next.previous = x.previous
	}
	if x.member {
		f.members--
	}
	return x.forget == nil || x.forget()
}

// arm has the timer fire after d, unless it is set: it was for an exchange that began before.
func (f *inFlight) arm(d time.Duration) {
	switch {
	case f.set:
		return
	case f.timer == nil:
		f.timer = time.AfterFunc(d, f.expire)
	default:
		f.timer.Reset(d)
	}
	f.set = true
}

// expire ends the exchanges whose time is over, and sets the timer for the next one.
func (f *inFlight) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set = false
	now := f.clock()
	for x := f.first; x != nil; x = x.next {
		if x.due > now {
			f.arm(time.Duration(x.due - now))
			return
		}
		x.end(ErrTimeout)
	}
}

// leave forgets the context. f.mu is held.
func (f *inFlight) leave() {
	if f.forget != nil {
		f.forget()
	}
	f.ctx, f.forget = nil, nil
}

// close ends what waits for a context or a time.
func (f *inFlight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first != nil {
		return
	}
	if f.timer != nil {
		f.timer.Stop()
	}
	f.set = false
	f.leave()
}
