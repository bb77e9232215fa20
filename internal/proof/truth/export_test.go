package truth

import (
	"runtime"
	"slices"
)

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
