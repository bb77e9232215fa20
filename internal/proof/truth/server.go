package truth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A Server answers generation requests and logs its writes.
type Server struct {
	cfg     Config
	clock   *clock.Clock
	writers []*writer      // of raw sockets; accept adds them
	running sync.WaitGroup // all that Serve started
	stop    chan struct{}  // closed when Serve has to return

	mu       sync.Mutex // guards what follows
	records  []*record
	arrivals uint64
	conns    map[*conn]struct{}
	stopped  bool
}

// New checks cfg and makes a server, and room for the descriptors of its connections. It starts nothing.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	machine.ReserveDescriptors()
	cfg = cfg.withDefaults()
	return &Server{cfg: cfg, clock: cfg.Clock, stop: make(chan struct{}), conns: map[*conn]struct{}{}}, nil
}

// Serve answers the requests of the connections that l accepts until ctx is
// done. Then it cuts open connections and returns nil after everything it
// started has ended. It closes l. A server serves once.
//
// The process should have two processors for goroutines at least, on however
// many cores: one of them writes all the time when there is much to write.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	keepStamping(l)
	failed := make(chan error, 1)
	s.running.Go(func() { failed <- s.accept(l) })
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	s.halt()
	_ = l.Close() // there is nothing to do about it
	s.running.Wait()
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("accept a connection: %w", err)
}

// accept serves connections until it cannot.
func (s *Server) accept(l net.Listener) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return err
		}
		c := newConn(s, nc)
		if c.raw != nil {
			c.writer = s.least()
			c.writer.conns.Add(1)
		}
		s.mu.Lock()
		s.conns[c] = struct{}{}
		if s.stopped {
			_ = nc.Close()
		}
		s.mu.Unlock()
		s.running.Go(func() {
			c.serve()
			_ = nc.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
			if c.writer != nil {
				c.writer.conns.Add(-1)
			}
		})
	}
}

// perWriter is how many connections a writer has before another one is made.
const perWriter = 512

// least is the writer with the fewest connections, or a new one. Half of the processors have a
// writer at most: the rest is for reading requests.
func (s *Server) least() *writer {
	var least *writer
	for _, w := range s.writers {
		if least == nil || w.conns.Load() < least.conns.Load() {
			least = w
		}
	}
	if least != nil && (least.conns.Load() < perWriter || len(s.writers) >= runtime.GOMAXPROCS(0)/2) {
		return least
	}
	w := &writer{srv: s, alarm: clock.NewAlarm()}
	s.writers = append(s.writers, w)
	s.running.Go(w.run)
	s.running.Go(func() {
		<-s.stop
		w.alarm.Ring()
	})
	return w
}

func (s *Server) halt() {
	close(s.stop)
	s.mu.Lock()
	s.stopped = true
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close() // this ends its goroutine
	}
}

// number is that of a request that arrives: 0, 1, …
func (s *Server) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrivals++
	return s.arrivals - 1
}

// publish adds a request to the log.
func (s *Server) publish(rec *record) {
	s.mu.Lock()
	s.records = append(s.records, rec)
	s.mu.Unlock()
}

// run starts a stream with a known first write.
func (s *Server) run(st *stream) {
	if st.conn.raw == nil {
		s.running.Go(func() { s.drive(st) })
		return
	}
	st.conn.writer.add(st)
}

// finish ends a stream, and lets its connection go on or end.
func (s *Server) finish(st *stream, e Ending) {
	select {
	case <-s.stop:
		if e == ClientGone { // because of halt
			e = Stopped
		}
	default:
	}
	st.end(e)
	switch c := st.conn; e {
	case Reset:
		s.running.Go(c.reset)
	case ClientGone, Stopped:
		s.running.Go(func() { _ = c.Close() })
	}
	st.conn.idle <- struct{}{}
}

// Log describes the requests so far. It may be called at any time; open
// requests are there as far as they came. The stamps of a write follow it within
// microseconds, so that a client may know of it first.
func (s *Server) Log() Log {
	s.mu.Lock()
	records := slices.Clone(s.records)
	s.mu.Unlock()
	return newLog(records)
}

func (s *Server) now() int64 { return s.clock.Now() }

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
