package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

func thisProcess() experiment.Owner {
	pid := os.Getpid()
	return experiment.Owner{Host: proc.Host(), PID: pid, Birth: proc.Birth(pid)}
}

// endOrphans looks at the experiments of the store before another one begins: servers that a killed one has left
// running are ended with --yes, and else an error; one that is under way is reported.
func (c *experimentFlags) endOrphans(sess *session.Session, s *store.Store, name string) error {
	rows, err := s.Experiments()
	if err != nil {
		return err
	}
	var errs []error
	for _, row := range rows {
		j, err := session.ReadJournal(row)
		switch {
		case row.Name == name && (err != nil || j.Status != experiment.Running):
			return exists(name)
		case err != nil:
			fmt.Fprintf(sess.Stderr, "pitot: %v; whether it has left a server running is not known\n", err)
		case j.Status == experiment.Running && j.Name == name:
			return underWay(j)
		case j.Status == experiment.Running && j.Owner.Host == proc.Host() && !c.Quiet:
			fmt.Fprintf(sess.Stderr, "pitot: experiment %s is under way in process %d: two at once disturb each other\n", plain.Line(j.Name), j.Owner.PID)
		case j.Status != experiment.Running:
			errs = append(errs, c.clearServers(sess, s, j, row.Changed))
		}
	}
	return errors.Join(errs...)
}

// exists is the error for a new experiment with the name of another one.
func exists(name string) error {
	return usagef("experiment %s is in the store; go on with `pitot experiment resume %s`, or give this one another --name", name, shell.Quote(name))
}

// underWay is the error for an experiment that a process carries out.
func underWay(j *experiment.Journal) error {
	if j.Owner.Host != proc.Host() {
		return usagef("experiment %s is under way in process %d of %s; if that has ended, `pitot experiment resume %s --yes` goes on with it here", plain.Line(j.Name), j.Owner.PID, j.Owner.Host, shell.Quote(j.Name))
	}
	return usagef("experiment %s is under way in process %d", plain.Line(j.Name), j.Owner.PID)
}

// clearServers ends the servers that an experiment has left running, if there are any and
// --yes is given.
func (c *experimentFlags) clearServers(sess *session.Session, s *store.Store, j *experiment.Journal, changed time.Time) error {
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	o := server.Options{Secrets: sess.Secrets, Dial: sess.Dial, Hurry: ctx.Done()}
	var errs []error
	gone := false
	for _, l := range comparing.Orphans(j) {
		there, what, err := server.Leftover(ctx, *l.Handle, o)
		text := sess.Words().Say(what)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("whether a server that experiment %s has started still runs is not known: %w", plain.Line(j.Name), err))
			continue
		case there && !c.Yes:
			errs = append(errs, fmt.Errorf("experiment %s has left a server running: %s; --yes ends it", plain.Line(j.Name), text))
			continue
		case there:
			fmt.Fprintf(sess.Stderr, "pitot: ending what experiment %s has left running: %s\n",
				plain.Line(j.Name), text)
			if err := server.EndLeftover(ctx, *l.Handle, o); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		l.Handle, gone = nil, true
	}
	if gone {
		err := (&experimentRunner{sess: sess, store: s, changed: changed}).keep(j)
		if errors.Is(err, store.ErrExperimentChanged) { // by a process that does the same
			err = nil
		}
		errs = append(errs, err)
	}
	if ctx.Err() != nil {
		errs = append(errs, errInterrupted)
	}
	return errors.Join(errs...)
}

// loadForResume is the journal of an experiment that can go on, and when it was stored.
func (c *experimentFlags) loadForResume(s *store.Store, name string) (j *experiment.Journal, changed time.Time, err error) {
	row, err := rowOf(s, name)
	if err != nil {
		return nil, changed, err
	}
	if j, err = session.ReadJournal(row); err != nil {
		return nil, changed, err
	}
	elsewhere := j.Owner.Host != proc.Host()
	switch {
	case j.Status == experiment.Done:
		err = usagef("experiment %s is complete; see `pitot compare %s`", j.Name, shell.Quote(j.Name))
	case j.Status == experiment.Running && (!elsewhere || !c.Yes):
		err = underWay(j)
	}
	return j, row.Changed, err
}

// read reads the file of an experiment that goes on, and reports changes.
func (c *experimentFlags) read(
	sess *session.Session, j *experiment.Journal,
) (*design.Experiment, *plan.Document, error) {
	say := func(format string, a ...any) {
		if !c.Quiet {
			fmt.Fprintln(sess.Stderr, "pitot:", plain.Line(fmt.Sprintf(format, a...)))
		}
	}
	if c.Folder != "" {
		dir, err := filepath.Abs(c.Folder)
		if err != nil {
			return nil, nil, err
		}
		j.Folder = dir
	}
	file := fileOf(j)
	given, err := sess.ReadSettings(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		say("%s is not there: what follows is kept in a new folder, unless --folder names the one it was moved to", file)
		if given, err = nil, makeFolder(j); err != nil {
			return nil, nil, err
		}
	case err != nil:
		return nil, nil, usage(err)
	case !j.Withheld && string(given) != j.File:
		say("%s was changed: experiment %s goes on as it began; what the file says now is another experiment", file, j.Name)
	}
	e, doc, err := j.Read(file, given)
	if err != nil {
		return nil, nil, usagef("experiment %s: %w", j.Name, err)
	}
	experiment.AddSecrets(sess.Secrets, e)
	return e, doc, nil
}

// dropLostLegs gives up the legs of which a run was removed from the store, and says so.
func (c *experimentFlags) dropLostLegs(sess *session.Session, s *store.Store, j *experiment.Journal) error {
	gone, err := j.Without(func(id string) (bool, error) {
		_, err := s.Run(id)
		if errors.Is(err, store.ErrNoRun) || sess.ReportDamage(err) {
			return false, nil
		}
		return err == nil, err
	})
	for _, l := range gone {
		again := sess.Word("experiment.leg-again", "leg", comparing.LegName(j, l), "why", l.Why)
		fmt.Fprintln(sess.Stderr, "pitot:", again)
	}
	return err
}

func (x *experimentRunner) start(
	ctx context.Context, s design.ServerSetup, o server.Options,
) (experiment.Server, error) {
	o.Secrets, o.Dial, o.TrimCommand = x.sess.Secrets, x.sess.Dial, session.TrimLogCommand()
	return server.Start(ctx, s, o)
}

// trimLogCmd keeps the log of a server short after the process that started the server was killed.
type trimLogCmd struct {
	Args string `arg:""`
}

// Run waits until that has happened, or is not to be expected any more.
func (c trimLogCmd) Run(*session.Session) error { return proc.TrimLog(c.Args) }

// freePort is a port of the loopback that nobody listens on.
func (x *experimentRunner) freePort() (int, error) {
	l, err := x.sess.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
