package truth

import (
	"runtime"
	"slices"
)

// forget makes the next request the first.
func (s *Server) forget() {
	s.mu.Lock()
	s.records, s.arrivals = nil, 0
	s.mu.Unlock()
}

// waitIdle waits until no request is open: what the client has read, the log
// tells an instant later.
func (s *Server) waitIdle() {
	for {
		log := s.Log()
		if !slices.ContainsFunc(log.Requests, func(r Request) bool { return r.Ended == Open }) {
			return
		}
		runtime.Gosched()
	}
}
