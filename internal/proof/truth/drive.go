package truth

import (
	"bytes"
	"time"
)

// drive writes a stream on its own: where there is no raw socket. It waits for
// the client like any writer to a net.Conn.
func (s *Server) drive(st *stream) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var buf, write []byte
	for {
		timer.Reset(time.Duration(st.due - s.now()))
		select {
		case <-timer.C:
		case <-s.stop:
			s.finish(st, Stopped)
			return
		}
		if buf, write = st.render(buf); len(write) == 0 {
			s.finish(st, st.fault)
			return
		}
		if ending := s.write(st, s.now(), write); ending != Open {
			s.finish(st, ending)
			return
		}
	}
}

// write makes a write, or the rest of one that began at before, and waits
// until the client has taken it.
func (s *Server) write(st *stream, before int64, p []byte) Ending {
	if _, err := st.conn.Write(p); err != nil {
		return ClientGone
	}
	return st.wrote(before, s.now())
}

// unblock makes the rest of a write that found the socket full, in a
// goroutine that waits for the client, and hands the stream back to the writer.
func (s *Server) unblock(st *stream, before int64, rest []byte) {
	rest = bytes.Clone(rest) // the buffer is the writer's
	st.pending.Blocked = true
	s.running.Go(func() {
		if ending := s.write(st, before, rest); ending != Open {
			s.finish(st, ending)
			return
		}
		st.conn.writer.add(st)
	})
}
