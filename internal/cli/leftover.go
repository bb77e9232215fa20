package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// owner is this process.
func owner() experiment.Owner {
	pid := os.Getpid()
	return experiment.Owner{Host: proc.Host(), PID: pid, Birth: proc.Birth(pid)}
}

// alive reports whether the process that runs an experiment exists. That of another machine,
// with which this one shares a store, is taken to.
func alive(o experiment.Owner) bool {
	return o.Host != proc.Host() || o.Birth != "" && proc.Birth(o.PID) == o.Birth
}

// clear looks at the experiments of the store before another one begins: servers that a killed
// one has left running are ended with --yes, and else an error; one that is under way is told.
func (c *conduct) clear(p *Process, s *store.Store, name string) error {
	rows, err := s.Experiments()
	if err != nil {
		return err
	}
	var errs []error
	for _, row := range rows {
		j, err := journal(row)
		switch {
		case err != nil: // `pitot experiment status` tells of it
		case j.Status == experiment.Running && j.Name == name:
			return usagef("experiment %s is under way in process %d", name, j.Owner.PID)
		case j.Name == name:
			return exists(name)
		case j.Status == experiment.Running && !c.Quiet:
			fmt.Fprintf(p.Stderr, "pitot: experiment %s is under way in process %d: two at once disturb each other\n", j.Name, j.Owner.PID)
		case j.Status != experiment.Running:
			errs = append(errs, c.clearServers(p, s, j))
		}
	}
	return errors.Join(errs...)
}

// exists is the error for a new experiment with the name of another one.
func exists(name string) error {
	return usagef("experiment %s is in the store; go on with `pitot experiment resume %s`, or give this one another --name", name, shellWord(name))
}

// clearServers ends the servers that an experiment has left running, if there are any and
// --yes is given.
func (c *conduct) clearServers(p *Process, s *store.Store, j *experiment.Journal) error {
	ctx, release := p.untilInterrupt(context.Background())
	defer release()
	o := server.Options{Secrets: p.secrets, Dial: p.Dial}
	var errs []error
	gone := false
	for _, l := range j.Legs {
		if l.Handle == nil || l.Handle.Machine != proc.Host() {
			continue
		}
		there, what, err := server.Leftover(ctx, *l.Handle, o)
		said := words.In(c.Lang).Say(what)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("experiment %s was killed, and whether its server still runs is not known: %w", j.Name, err))
		case there && !c.Yes:
			errs = append(errs, fmt.Errorf("experiment %s was killed and has left a server running: %s; --yes ends it", j.Name, said))
		case there:
			fmt.Fprintf(p.Stderr, "pitot: ending what experiment %s has left running: %s\n", j.Name, said)
			if err := server.EndLeftover(ctx, *l.Handle, o); err != nil {
				errs = append(errs, err)
				continue
			}
			fallthrough
		default:
			l.Handle, gone = nil, true
		}
	}
	if gone {
		errs = append(errs, (&conductor{p: p, store: s}).keep(j))
	}
	return errors.Join(errs...)
}

// start starts a server.
func (x *conductor) start(ctx context.Context, s design.Server, o server.Options) (experiment.Server, error) {
	o.Secrets, o.Dial = x.p.secrets, x.p.Dial
	return server.Start(ctx, s, o)
}

// freePort is a port of the loopback that nobody listens on.
func (x *conductor) freePort() (int, error) {
	l, err := x.p.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
