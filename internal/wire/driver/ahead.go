package driver

import (
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// Limits of what is made ahead of dispatch: as many requests as a fast client sends in a second, and no more bytes of
// bodies than do not matter beside the rest of a client. Of large bodies there are a few all the same.
const (
	mostAhead  = 8192
	bytesAhead = 16 << 20
	leastAhead = 64
)

// Making shares the processors with sending. Where at least restFrom requests are ready it rests after each spell, for
// as long as that took.
const (
	restFrom = 256
	spell    = time.Millisecond
)

// A window has the requests that are ready to be sent, in order.
type window struct {
	mu       sync.Mutex
	requests []encoded // a ring
	first    int       // position in it
	n        int
	made     int // so far
	bytes    int
	ended    bool          // no more are coming
	waiting  bool          // take waits for one
	came     chan struct{} // has an element for take when it waits
	room     chan struct{} // has an element when there may be room again
	begun    chan struct{} // is closed when the first few are ready, or all
}

// makeAhead makes, in order and ahead of dispatch, the requests that wait for no answer, until over is closed; done
// waits for its end.
func (r *run) makeAhead(over <-chan struct{}) (done *sync.WaitGroup) {
	w := &r.ahead
	w.came, w.room, w.begun = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	done = new(sync.WaitGroup)
	done.Go(func() {
		defer w.end()
		all, began := r.plan.Requests, time.Now()
		for i := range all.N {
			if all.Chained && all.Brief(i).After != 0 {
				continue
			}
			if !w.await(over) {
				return
			}
			ready := w.put(r.make(i))
			if took := time.Since(began); took > spell {
				if ready >= restFrom {
					time.Sleep(took)
				}
				began = time.Now()
			}
		}
	})
	return done
}

// awaitFirst waits until a few requests are made, unless the start is agreed with others.
func (r *run) awaitFirst() {
	if r.plan.Zero != 0 {
		return
	}
	select {
	case <-r.ahead.begun:
	case <-r.stop:
	case <-r.ctx.Done():
	}
}

// make makes request i and encodes it. One that is made as it is due can be made again, and is not stored, unless
// another one will remember it.
func (r *run) make(i int) encoded {
	req := r.plan.Requests.At(i)
	if req.Later == nil {
		return r.encode(i, req)
	}
	whole, err := r.litter.watch(req.Unspooled)
	if err != nil {
		return encoded{index: i, req: req, err: err, made: trace.Never}
	}
	machine.Discard(max(r.litter.each, size(whole)))
	if r.plan.Made != nil {
		r.plan.Made(i, whole)
	}
	e := r.encode(i, whole)
	if !req.Followed {
		later := *req
		later.PromptTokens = whole.PromptTokens
		e.req = &later
	}
	return e
}

// A litter is about how much memory the making of a request takes, most of it for steps on the way: of one of every
// litterEvery it is measured.
type litter struct{ made, each int }

const litterEvery = 64

// watch makes a request.
func (l *litter) watch(produce func() (*workload.Request, error)) (*workload.Request, error) {
	l.made++
	if l.made%litterEvery != 1 {
		return produce()
	}
	before := machine.Allocated()
	r, err := produce()
	took := int(machine.Allocated() - before)
	if l.made == 1 {
		l.each = took
	}
	l.each += (took - l.each) / 4
	return r, err
}

// size is about the memory of a request, in bytes.
func size(r *workload.Request) int {
	const itself = 512
	n := itself + len(r.Text) + len(r.Messages) + 4*len(r.Tokens)
	for i := range r.Media {
		n += len(r.Media[i].Data)
	}
	return n
}

// await waits for room; false means that there is no need for more.
func (w *window) await(over <-chan struct{}) bool {
	for {
		w.mu.Lock()
		full := w.n >= leastAhead && (w.n >= mostAhead || w.bytes >= bytesAhead)
		w.mu.Unlock()
		if !full {
			select {
			case <-over:
				return false
			default:
				return true
			}
		}
		select {
		case <-w.room:
		case <-over:
			return false
		}
	}
}

// put adds a request, and returns how many are ready.
func (w *window) put(e encoded) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n == len(w.requests) {
		larger := make([]encoded, max(leastAhead, 2*w.n))
		copy(larger[copy(larger, w.requests[w.first:]):], w.requests[:w.first])
		w.requests, w.first = larger, 0
	}
	w.requests[(w.first+w.n)%len(w.requests)] = e
	w.n++
	w.bytes += len(e.body)
	w.made++
	if w.made == leastAhead {
		close(w.begun)
	}
	w.wake()
	return w.n
}

// end says that no more are coming.
func (w *window) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.made < leastAhead {
		close(w.begun)
	}
	w.wake()
}

// wake ends the wait of take. w.mu is held.
func (w *window) wake() {
	if w.waiting {
		w.waiting = false
		w.came <- struct{}{}
	}
}

// take waits for the next request; false means that there are no more. One that it has waited for has the instant at
// which it came.
func (w *window) take(now func() trace.Instant) (e encoded, ok bool) {
	w.mu.Lock()
	waited := false
	for w.n == 0 && !w.ended {
		w.waiting, waited = true, true
		w.mu.Unlock()
		<-w.came
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	if w.n == 0 {
		return e, false
	}
	e, w.requests[w.first] = w.requests[w.first], encoded{}
	w.first = (w.first + 1) % len(w.requests)
	w.n--
	w.bytes -= len(e.body)
	select {
	case w.room <- struct{}{}:
	default:
	}
	if waited {
		e.made = now()
	}
	return e, true
}
