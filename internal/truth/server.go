package truth

import (
	"context"
	"net"
)

// A Server answers generation requests and logs what it wrote.
type Server struct {
	cfg Config
}

// New checks cfg and makes a server. It starts nothing.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Server{cfg: cfg}, nil
}

// Serve answers the requests of the connections that l accepts until ctx is
// done. Then it cuts what is open and returns nil after everything it started
// has ended. It closes l. A server serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	<-ctx.Done()
	return l.Close()
}

// Log tells of the requests so far. It may be called at any time; what is open
// is there as far as it came.
func (s *Server) Log() Log { return Log{} }

// Reset forgets the requests so far and arms Hold again; the next request is
// the first. One that is open runs on and is not told of any more.
func (s *Server) Reset() {}
