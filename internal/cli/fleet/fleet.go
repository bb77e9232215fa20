// Package fleet is `pitot fleet`: workers on many machines that send the requests of one run, the server between
// them, and manifests to run them in a cluster. Other commands have a Link from it: a connection to a server, from
// which each run gets its workers, or a server and workers on this machine that live as long as the command.
//
// A worker process on this machine is held by the process that started it: it ends when that one
// does, however it ends. It has the token in its environment and not on its command line, which every
// user of the machine can read.
package fleet

import (
	"context"

	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/session"
)

// Cmd is `pitot fleet`.
type Cmd struct {
	Up        UpCmd     `cmd:"" help:"Run the NATS server of a fleet, and workers on this machine."`
	Worker    WorkerCmd `cmd:"" help:"Run a worker: send a share of the requests of each run."`
	Status    StatusCmd `cmd:"" help:"List the workers of a fleet: version, state, capacity, clock."`
	Resume    ResumeCmd `cmd:"" help:"Complete a run whose controller was killed."`
	Manifests Manifests `cmd:"" help:"Print a fleet as YAML for Kubernetes."`
}

// Server says how the server of a fleet is reached.
type Server struct {
	Join  string `placeholder:"URL" help:"NATS server of the fleet, such as nats://TOKEN@10.0.0.1:4222. The token may be in PITOT_FLEET_TOKEN instead. Default: PITOT_FLEET."`
	Creds string `placeholder:"FILE" help:"Credentials file of NATS, with a JWT and a seed."`
	NKey  string `name:"nkey" placeholder:"FILE" help:"File with the seed of an nkey of NATS."`
	CA    string `name:"ca" placeholder:"FILE" help:"PEM file of the certificate authorities to trust for the server, in place of the system's."`
	Cert  string `name:"tls-cert" aliases:"cert" placeholder:"FILE" help:"PEM certificate of this client, for a server that asks for one."`
	Key   string `name:"tls-key" aliases:"key" placeholder:"FILE" help:"PEM key of this client."`
}

// settle takes the server from the environment if no flag names it, and validates the flags.
func (s *Server) settle(sess *session.Session) error {
	by := "--join"
	if s.Join == "" {
		s.Join, by = sess.Getenv(session.FleetVariable), session.FleetVariable
	}
	if s.Join == "" || s.Join == session.LocalFleet {
		return session.Usagef("--join is missing: name the NATS server of the fleet, or set %s", session.FleetVariable)
	}
	if err := session.CheckFleetURL(by, s.Join); err != nil {
		return err
	}
	if (s.Cert == "") != (s.Key == "") {
		return session.Usagef("--tls-cert and --tls-key belong together")
	}
	for _, one := range []struct{ flag, name string }{{"--creds", s.Creds}, {"--nkey", s.NKey}, {"--ca", s.CA}, {"--tls-cert", s.Cert}, {"--tls-key", s.Key}} {
		if err := session.CheckFile(one.flag, one.name); err != nil {
			return err
		}
	}
	return nil
}

// connect connects to the server under the name of a client; say receives changes of the connection.
func (s *Server) connect(ctx context.Context, sess *session.Session, name string, say func(string)) (*bus.Bus, error) {
	if err := s.settle(sess); err != nil {
		return nil, err
	}
	return bus.Connect(ctx, bus.Options{
		URL: s.Join, Token: sess.Getenv(session.FleetTokenVariable), Creds: s.Creds, NKey: s.NKey, CA: s.CA, Cert: s.Cert, Key: s.Key, Name: name, Dial: sess.Dial, Log: say,
	})
}
