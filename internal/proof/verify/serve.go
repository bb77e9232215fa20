package verify

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// ErrCell says that there is no server for a cell.
var ErrCell = errors.New("no server can do this")

// Serving is the server of one run of a cell.
type Serving struct {
	Clock *clock.Clock // of its log

	server *truth.Server
	port   int
	cancel context.CancelFunc
	done   chan error
}

// Serve starts the server of a cell.
func Serve(cell conform.Cell, seed uint64) (*Serving, error) {
	cfg := Server(cell, seed)
	cfg.Clock = clock.New()
	server, err := truth.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCell, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Serving{server: server, Clock: cfg.Clock, port: l.Addr().(*net.TCPAddr).Port, cancel: cancel, done: make(chan error, 1)}
	go func() { s.done <- server.Serve(ctx, l) }()
	return s, nil
}

// Stop ends the server and returns its log, after the last write is in it: a client
// may have ended before the server had the instant after.
func (s *Serving) Stop() (truth.Log, error) {
	s.cancel()
	err := <-s.done
	return s.server.Log(), err
}

// Place is the server's address and model, for the client's command line.
func (s *Serving) Place() conform.Place {
	return conform.Place{Host: "127.0.0.1", Port: s.port, Model: Model}
}

// Model is the name that the server gives its model.
const Model = "truth"
