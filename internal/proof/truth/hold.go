package truth

import "time"

// A hold keeps streams back until they are as many as wanted, see Config.Hold.
type hold struct {
	waiting []*stream
	met     bool        // they were that many
	timer   *time.Timer // of the first that waits
}

// keep keeps st back, unless it makes the number full. It returns those that
// are released.
func (h *hold) keep(st *stream, want int) []*stream {
	h.waiting = append(h.waiting, st)
	if len(h.waiting) < want {
		return nil
	}
	h.met = true
	return h.take()
}

// take empties h.
func (h *hold) take() []*stream {
	if h.timer != nil {
		h.timer.Stop()
	}
	waiting := h.waiting
	h.waiting, h.timer = nil, nil
	return waiting
}

// arrive starts a stream, or keeps it back.
func (s *Server) arrive(st *stream) {
	s.mu.Lock()
	if s.hold.met || s.cfg.Hold <= 1 {
		s.mu.Unlock()
		st.begin(st.head.Received)
		s.run(st)
		return
	}
	if s.stopped {
		s.mu.Unlock()
		s.finish(st, Stopped)
		return
	}
	released := s.hold.keep(st, s.cfg.Hold)
	if len(s.hold.waiting) == 1 {
		s.hold.timer = time.AfterFunc(s.cfg.HoldLimit, func() { s.expire(st) })
	}
	s.mu.Unlock()
	s.release(released)
}

// expire releases the streams that wait since first came.
func (s *Server) expire(first *stream) {
	s.mu.Lock()
	var released []*stream
	if len(s.hold.waiting) > 0 && s.hold.waiting[0] == first {
		released = s.hold.take()
	}
	s.mu.Unlock()
	s.release(released)
}

// release starts streams that were kept back.
func (s *Server) release(sts []*stream) {
	now := s.now()
	for _, st := range sts {
		st.begin(now)
	}
	s.run(sts...)
}
