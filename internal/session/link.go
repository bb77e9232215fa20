package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A Link is a command's connection to a fleet. Nil is none: this process sends.
type Link struct {
	session *Session
	flags   Fleet
	local   bool
	named   bool // by a flag, not by the environment
	bus     *bus.Bus
	log     atomic.Pointer[func(string)]
	end     []func() // the last first
}

// Join connects a command to the fleet that flags or the environment name; nil: they name none.
// Where all runs of the command are simulations, flags must name none, and the environment may.
func Join(s *Session, f Fleet, simulated bool) (*Link, error) {
	if err := f.Check(s.Getenv); err != nil {
		return nil, err
	}
	switch at, _ := f.Named(s.Getenv); {
	case at == "" || simulated && !f.HasFlag():
		return nil, nil
	case simulated:
		return nil, errSimulated
	default:
		l := &Link{session: s, flags: f, local: at == LocalFleet, named: f.HasFlag()}
		ctx, release := s.UntilInterrupt(context.Background())
		defer release()
		if err := Cause(ctx, l.open(ctx, at)); err != nil {
			l.Close()
			return nil, err
		}
		return l, nil
	}
}

var errSimulated = Usagef("--fleet: a simulation is made in virtual time by one process and sends nothing; leave the flag out, or name a server with --url")

// report says something where the run under way is shown.
func (l *Link) report(line string) {
	if say := l.log.Load(); say != nil {
		(*say)(line)
		return
	}
	fmt.Fprintln(l.session.Stderr, "pitot:", line)
}

func (l *Link) open(ctx context.Context, at string) error {
	f := l.flags
	o := bus.Options{
		URL: at, Token: l.session.Getenv(FleetTokenVariable), Creds: f.FleetCreds, NKey: f.FleetNKey, CA: f.FleetCA, Cert: f.FleetCert, Key: f.FleetKey,
		Name: "pitot controller", Dial: l.session.Dial, Log: l.report,
	}
	if l.local {
		if err := l.here(&o); err != nil {
			return fmt.Errorf("--fleet local: %w", err)
		}
	}
	b, err := bus.Connect(ctx, o)
	if err != nil {
		return err
	}
	l.bus, l.end = b, append(l.end, b.Close)
	return nil
}

// here starts a server and workers on this machine.
func (l *Link) here(o *bus.Options) error {
	l.session.RemoveStale()
	dir, remove, err := files.MakeTemporary(FleetFolder)
	if err != nil {
		return err
	}
	l.end = append(l.end, remove)
	o.Token = NewToken()
	l.session.Secrets.Add(o.Token)
	s, err := bus.StartServer(bus.ServerOptions{Listen: "127.0.0.1:0", Dir: filepath.Join(dir, "server"), Token: o.Token, Log: l.report})
	if err != nil {
		return err
	}
	l.end = append(l.end, s.Close)
	o.URL = s.URL()
	c := &LocalWorkers{Pause: time.Second, URL: o.URL, Token: o.Token, Folder: dir, Log: l.report}
	if err := c.Hire(l.flags.Count(LocalFleet)); err != nil {
		return err
	}
	l.end = append(l.end, c.Release)
	return nil
}

// FleetFolder begins the names of folders of local fleets.
const FleetFolder = "fleet"

// Into has the fleet send the requests of a run; say receives its progress. The environment names no fleet for a
// simulation.
func (l *Link) Into(d run.Deps, simulated bool, say func(string)) (run.Deps, error) {
	switch {
	case l == nil || simulated && !l.named:
		return d, nil
	case simulated:
		return d, errSimulated
	}
	l.log.Store(&say)
	o := l.options()
	o.Ledger = new(inputs.Ledger)
	d = o.Ledger.Watch(d)
	d.Fleet = control.New(o)
	return d, nil
}

func (l *Link) options() control.Options {
	at, _ := l.flags.Named(l.session.Getenv)
	return control.Options{
		Bus: l.bus, Pitot: l.session.Version, Workers: l.flags.Count(at), Wait: l.flags.Wait(), Fewer: l.flags.FleetFewer, Tolerate: l.flags.Tolerate, Log: l.report,
	}
}

// Close ends the connection, and the local server and workers.
func (l *Link) Close() {
	if l == nil {
		return
	}
	l.log.Store(nil)
	for i := len(l.end) - 1; i >= 0; i-- {
		l.end[i]()
	}
	l.end = nil
}

// NewToken is a token that nobody guesses.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Cause is why a context has ended, if it has.
func Cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
