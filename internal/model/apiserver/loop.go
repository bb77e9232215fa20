package apiserver

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A loop drives a model on the wall clock and hands its emissions to the
// handlers that wait for them.
//
// Its goroutine lives while there are jobs: it starts with the first and ends
// after the last, so an idle server has none and nothing has to be closed.
// Handlers leave orders in the inbox and never touch the model.
type loop struct {
	start   time.Time
	precise bool // wakes within microseconds: not in virtual time
	heads   bool // the model says when the head of a response leaves
	meters  *meters
	wake    chan struct{} // capacity 1: the inbox is not empty
	done    sync.WaitGroup

	mu      sync.Mutex
	inbox   []order
	running bool

	// Owned by the goroutine; mu passes them from one to the next.
	model   engine.Model
	tickets map[uint64]*ticket
	due     []engine.Emission
}

// An order adds a job, cancels one when ticket is nil, or visits the model.
type order struct {
	job    engine.Job
	ticket *ticket
	visit  func()
}

// A ticket is a handler's claim to the tokens of one job.
type ticket struct {
	mailbox
	head      chan struct{} // closed when the head of the response leaves; nil: it does at once
	finish    string        // the reason the metrics count it under
	maxTokens int           // as asked for
	cached    int           // prompt tokens a prefix cache spared; to be read once there is a token
	steps     int           // that gave tokens; to be read once all are there

	// The loop's own notes, for the metrics.
	prompt  int // tokens
	arrived time.Duration
	first   time.Duration
	last    time.Duration
	emitted int // tokens
}

func newLoop(model engine.Model, start time.Time, precise bool, m *meters) *loop {
	h, ok := model.(interface{ Heads() bool })
	return &loop{
		start:   start,
		precise: precise,
		heads:   ok && h.Heads(),
		meters:  m,
		wake:    make(chan struct{}, 1),
		model:   model,
		tickets: make(map[uint64]*ticket),
	}
}

func (l *loop) now() time.Duration { return time.Since(l.start) }

// add starts a job; its tokens arrive in t.
func (l *loop) add(j engine.Job, t *ticket) {
	t.prompt = j.PromptTokens
	t.wake = make(chan struct{}, 1)
	if l.heads {
		t.head = make(chan struct{})
	}
	l.send(order{job: j, ticket: t})
}

// cancel ends a job early; one that has ended is no matter.
func (l *loop) cancel(id uint64) { l.send(order{job: engine.Job{ID: id}}) }

// visit has the loop's goroutine call f with the model as it is now, and waits.
func (l *loop) visit(f func(engine.Model)) {
	done := make(chan struct{})
	l.send(order{visit: func() {
		defer close(done)
		f(l.model)
	}})
	<-done
}

func (l *loop) send(o order) {
	l.mu.Lock()
	l.inbox = append(l.inbox, o)
	if !l.running {
		l.running = true
		l.done.Go(l.run)
	}
	l.mu.Unlock()
	signal(l.wake)
}

// signal fills a channel of capacity 1 and never waits.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (l *loop) run() {
	timer := clock.NewTimer()
	if l.precise {
		timer = clock.NewPrecise()
	}
	defer timer.Close()
	var spare []order
	for {
		orders, more := l.nextOrders(spare)
		if !more {
			return
		}
		now := l.now()
		if len(orders) > 0 {
			l.step(now)
		}
		for _, o := range orders {
			l.apply(now, o)
		}
		clear(orders)
		spare = orders[:0]
		l.step(now)
		l.rest(timer)
	}
}

// step hands out the tokens due until now.
func (l *loop) step(now time.Duration) {
	l.due = l.model.Step(now, l.due[:0])
	l.deliver(now)
}

// nextOrders empties the inbox, leaving spare in its place, and ends the goroutine
// when there is nothing to do and nothing to wait for.
func (l *loop) nextOrders(spare []order) (orders []order, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inbox) == 0 && len(l.tickets) == 0 {
		l.running = false
		return nil, false
	}
	orders, l.inbox = l.inbox, spare
	return orders, true
}

func (l *loop) apply(now time.Duration, o order) {
	if o.visit != nil {
		o.visit()
		return
	}
	if o.ticket != nil {
		o.ticket.arrived = now
		l.tickets[o.job.ID] = o.ticket
		l.model.Add(now, o.job)
		return
	}
	if l.tickets[o.job.ID] != nil {
		delete(l.tickets, o.job.ID)
		l.model.Cancel(now, o.job.ID)
		l.meters.abort()
	}
}

// deliver puts due tokens into the mailboxes. The metrics are locked once per step.
func (l *loop) deliver(now time.Duration) {
	l.meters.mu.Lock()
	for _, e := range l.due {
		t := l.tickets[e.ID]
		if e.Tokens == 0 {
			close(t.head)
			continue
		}
		if t.emitted == 0 {
			t.cached = int(e.Cached)
		}
		t.steps++
		l.meters.emitted(t, e, now)
		if e.Done {
			delete(l.tickets, e.ID)
		}
		t.put(int(e.Tokens), e.At)
	}
	l.meters.mu.Unlock()
}

// rest waits for the model's next instant or for an order. With tickets out but
// nothing due, only an order can bring news.
func (l *loop) rest(timer *clock.Timer) {
	at, ok := l.model.Next()
	if !ok {
		if len(l.tickets) > 0 {
			<-l.wake
		}
		return
	}
	wait := at - l.now()
	if wait <= 0 {
		return
	}
	timer.Reset(wait)
	select {
	case <-timer.C:
	case <-l.wake:
	}
}

// begun waits until the head of the response leaves; false when done closes first.
func (t *ticket) begun(done <-chan struct{}) bool {
	if t.head == nil {
		return true
	}
	select {
	case <-t.head:
		return true
	case <-done:
		return false
	}
}

// A mailbox counts the tokens that have left the engine for one job. Putting
// never waits; a reader that comes late finds the sum.
type mailbox struct {
	tokens atomic.Int64
	wake   chan struct{} // capacity 1
	// When the oldest token that is not written was due, and the newest of all; 0: none. A
	// token put while another is taken may go uncounted.
	oldest, newest atomic.Int64
}

func (m *mailbox) put(n int, due time.Duration) {
	m.oldest.CompareAndSwap(0, int64(due))
	m.newest.Store(int64(due))
	m.tokens.Add(int64(n))
	signal(m.wake)
}

// wait returns the number of tokens so far once it is at least want, or false
// when done closes first.
func (m *mailbox) wait(want int, done <-chan struct{}) (int, bool) {
	for {
		if n := int(m.tokens.Load()); n >= want {
			return n, true
		}
		select {
		case <-m.wake:
		case <-done:
			return 0, false
		}
	}
}
