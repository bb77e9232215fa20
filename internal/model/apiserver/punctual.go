package apiserver

import (
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A punctuality is how long after they were due tokens were written: on the wall clock the
// engine is as late as its machine is busy, and a client measures that too.
type punctuality struct {
	mu     sync.Mutex
	delays trace.Delays
}

func (p *punctuality) add(late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delays.Add(int64(late))
}

// TakeLateness sums up how long after they were due tokens were written since the last
// call. Answers with faults are not in it: these are late on purpose.
func (s *Server) TakeLateness() trace.Lag {
	s.punctual.mu.Lock()
	defer s.punctual.mu.Unlock()
	lag := s.punctual.delays.Lag()
	s.punctual.delays = trace.Delays{}
	return lag
}

// written notes that tokens are about to be written: of a stream the oldest waiting one, of an
// unstreamed answer its last.
func (x *exchange) written(now time.Duration) {
	oldest, newest := x.ticket.oldest.Swap(0), x.ticket.newest.Load()
	due := newest
	if x.req.Stream {
		due = oldest
	}
	if due > 0 && x.faults.fatal == nil && len(x.traits) == 0 {
		x.s.punctual.add(now - time.Duration(due))
	}
}
