package transport

import (
	"sync"
	"time"
)

// A sweep periodically checks the connections that are being read. Its goroutine
// lives while there are any.
type sweep struct {
	mu      sync.Mutex
	conns   map[*Conn]struct{}
	running bool
}

// add has a connection checked until remove.
func (s *sweep) add(c *Conn) {
	if !c.raw.stamps() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[*Conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	if !s.running {
		s.running = true
		go s.run()
	}
}

func (s *sweep) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *sweep) run() {
	tick := time.NewTicker(quietPeriod)
	defer tick.Stop()
	var conns []*Conn
	probe := newProbe()
	for range tick.C {
		if conns = s.list(conns[:0]); len(conns) == 0 {
			return
		}
		for _, c := range conns {
			c.check(probe, c.clock.Now())
		}
	}
}

// list appends the connections; if there are none the goroutine must end.
func (s *sweep) list(to []*Conn) []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = len(s.conns) > 0
	for c := range s.conns {
		to = append(to, c)
	}
	return to
}

// quietPeriod is the time after a read before the connection is checked.
const quietPeriod = 250 * time.Millisecond
