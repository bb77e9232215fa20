package truth

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A writer makes the writes of streams with a raw socket, one after the other in
// the order in which they are due, from one goroutine. It never waits for a
// client: a stream with a full socket leaves until there is room.
type writer struct {
	srv   *Server
	conns atomic.Int64 // with streams in it
	queue arrival.Queue[*stream]
	buf   []byte
	alarm *clock.Alarm

	mu    sync.Mutex // guards inbox and ended
	inbox []*stream
	ended bool        // run has
	mail  atomic.Bool // there is something in inbox

	asleep atomic.Bool // run waits, and has to be woken for mail
}

// add hands a stream over. Any goroutine may call it.
func (w *writer) add(st *stream) {
	w.mu.Lock()
	ended := w.ended
	if !ended {
		w.inbox = append(w.inbox, st)
	}
	w.mu.Unlock()
	if ended {
		w.srv.finish(st, Stopped)
		return
	}
	w.mail.Store(true)
	if w.asleep.Load() {
		w.alarm.Ring()
	}
}

func (w *writer) collect() {
	if !w.mail.Load() {
		return
	}
	w.mu.Lock()
	w.mail.Store(false)
	for _, st := range w.inbox {
		w.queue.Push(time.Duration(st.due), int(st.arrival), st)
	}
	clear(w.inbox)
	w.inbox = w.inbox[:0]
	w.mu.Unlock()
}

// run writes until the server is stopped.
func (w *writer) run() {
	defer w.end()
	now := w.srv.now()
	for {
		select {
		case <-w.srv.stop:
			return
		default:
		}
		w.collect()
		_, due, ok := w.queue.First()
		if !ok || int64(due) > now {
			now = w.srv.now() // the reading may be old
		}
		if ok && int64(due) <= now {
			now = w.first()
			continue
		}
		w.rest(now)
		now = w.srv.now()
	}
}

// end stops the streams that are left, and those to come.
func (w *writer) end() {
	w.alarm.Close()
	w.mu.Lock()
	left := w.inbox
	w.inbox, w.ended = nil, true
	w.mu.Unlock()
	for w.queue.Len() > 0 {
		left = append(left, w.queue.Pop())
	}
	for _, st := range left {
		w.srv.finish(st, Stopped)
	}
}

// spin is the wait that is too short to sleep.
const spin = 10 * time.Microsecond

// rest waits until the first stream is due, or another is handed over.
func (w *writer) rest(now int64) {
	wait := time.Hour
	if _, due, ok := w.queue.First(); ok {
		wait = min(wait, due-time.Duration(now))
	}
	if wait <= spin {
		for w.srv.now() < now+int64(wait) && !w.mail.Load() {
		}
		return
	}
	if w.asleep.Store(true); !w.mail.Load() {
		w.alarm.Wait(wait)
	}
	w.asleep.Store(false)
}

// first makes the write of the stream that is due first, and those that follow
// it at once. It returns the instant after.
func (w *writer) first() (after int64) {
	st, _, _ := w.queue.First()
	for {
		var write []byte
		if w.buf, write = st.render(w.buf); len(write) == 0 {
			w.queue.Pop()
			w.srv.finish(st, st.fault)
			return w.srv.now()
		}
		before := w.srv.now()
		n, err := st.conn.raw.write(write)
		after = w.srv.now()
		var ending Ending
		switch {
		case err != nil:
			ending = ClientGone
		case n < len(write):
			w.queue.Pop()
			w.srv.unblock(st, before, write[n:])
			return after
		default:
			ending = st.wrote(before, after)
		}
		switch {
		case ending != Open:
			w.queue.Pop()
			w.srv.finish(st, ending)
			return after
		case st.due != st.pending.Planned:
			w.queue.Delay(time.Duration(st.due))
			return after
		}
	}
}
