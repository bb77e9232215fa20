// Package fleettest runs the tests of a fleet over both kinds of NATS server: the one inside this
// process, which users get who have none, and a nats-server process.
package fleettest

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/test/natsserver"
)

// A Server is a NATS server of either kind.
type Server interface {
	URL() string // the same after a restart
	Restart()
	Kill()
}

// Options are those that both kinds have.
type Options struct {
	Token         string
	NKeys         []string
	CA, Cert, Key string
}

// Each runs a test over each kind of server, as subtests.
func Each(t *testing.T, o Options, test func(t *testing.T, s Server)) {
	t.Run("embedded", func(t *testing.T) { test(t, Embedded(t, o)) })
	t.Run("process", func(t *testing.T) { test(t, Process(t, o)) })
}

// Process starts a nats-server process, which ends with the test.
func Process(t testing.TB, o Options) *natsserver.Server {
	t.Helper()
	return natsserver.Start(t, natsserver.Options{Token: o.Token, NKeys: o.NKeys, CA: o.CA, Cert: o.Cert, Key: o.Key})
}

// Embedded starts a server in this process, which ends with the test.
func Embedded(t testing.TB, o Options) Server {
	t.Helper()
	s := &embedded{t: t, options: bus.ServerOptions{Listen: "127.0.0.1:" + natsserver.Port(t), Dir: t.TempDir(), Token: o.Token, NKeys: o.NKeys, CA: o.CA, Cert: o.Cert, Key: o.Key}}
	s.start()
	t.Cleanup(s.Kill)
	return s
}

type embedded struct {
	t       testing.TB
	options bus.ServerOptions
	*bus.Server
}

func (s *embedded) start() {
	s.t.Helper()
	var err error
	if s.Server, err = bus.StartServer(s.options); err != nil {
		s.t.Fatal(err)
	}
}

// Restart ends the server, if it runs, and starts it on the same address and folder.
func (s *embedded) Restart() {
	s.t.Helper()
	s.Close()
	s.start()
}

// Kill ends the server.
func (s *embedded) Kill() { s.Close() }
