package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/worker"
	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// WorkerCmd is `pitot fleet worker`.
type WorkerCmd struct {
	Server
	Name     string `placeholder:"NAME" help:"Name of the worker, for people. Default: that of the host."`
	Zone     string `placeholder:"ZONE" help:"Where the worker is, such as a rack or a region."`
	Capacity string `default:"measure" placeholder:"N" help:"Chunks per second that this machine can read: measure, at the start, in half a second; a number; or none (${default})."`
	Folder   string `placeholder:"DIR" help:"Folder for files that a controller sends, such as datasets, and for records that cannot be delivered. Default: pitot/fleet/inputs in the user's data folder."`
	Held     bool   `hidden:"" help:"End when standard input does."`
}

// Help explains it.
func (WorkerCmd) Help() string {
	return "A worker prepares each run that a controller asks for, and sends its share of the requests. It works on one run at a time and stores none. " +
		"The first interrupt ends the sending: what is in flight is waited for and delivered. The second one cancels that, and the third one ends the process at once."
}

// Run works until it is interrupted.
func (c WorkerCmd) Run(sess *session.Session) error {
	if err := c.check(sess); err != nil {
		return err
	}
	capacity, err := c.capacity()
	if err != nil {
		return err
	}
	folder, err := sess.Folder(c.Folder, "fleet", "inputs")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	w := &working{sess: sess, soon: make(chan struct{}), ended: make(chan error, 3)}
	w.watch(end)
	if c.Held {
		w.hold(end)
	}
	say := func(line string) { fmt.Fprintln(sess.Stderr, "pitot:", line) }
	self := c.self(sess)
	b, err := c.connect(ctx, sess, "pitot worker "+self.Name, say)
	if err != nil {
		return session.Cause(ctx, err)
	}
	defer b.Close()
	if self.Capacity, err = capacity(ctx); err != nil {
		return session.Cause(ctx, err)
	}
	fmt.Fprintf(sess.Stderr, "worker %s is there%s\n", self.Name, capacityText(self.Capacity))
	go func() {
		w.ended <- worker.Serve(ctx, worker.Options{Self: self, Key: fleet.NewKey(), Bus: b, Deps: func() run.Deps { return sess.DepsOfShare(folder) }, Folder: folder, Log: say, Soon: w.soon})
	}()
	if err = <-w.ended; err == nil {
		err = w.why(ctx)
	}
	return err
}

// errHolder says that the process that had started this one has ended.
var errHolder = errors.New("the process that started this worker has ended")

// A working is the life of a worker process.
type working struct {
	sess  *session.Session
	soon  chan struct{} // closed by the first interrupt
	ended chan error    // the error of Serve, or why nobody waits for it any more
}

// watch lets a first interrupt end the sending, a second one cancel requests in flight, and a third one end the
// process.
func (w *working) watch(end func(error)) {
	go func() {
		<-w.sess.Signals
		fmt.Fprintln(w.sess.Stderr, "pitot: interrupted: the worker ends when what is in flight is answered; interrupt again to cancel that")
		close(w.soon)
		<-w.sess.Signals
		end(session.ErrInterrupted)
		<-w.sess.Signals
		w.ended <- session.ErrInterrupted
	}()
}

// hold ends the work when standard input does. Nobody is left to take records then.
func (w *working) hold(end func(error)) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end(errHolder)
		time.AfterFunc(session.Grace/2, func() { w.ended <- errHolder })
	}()
}

// why is the error of a worker that was asked to end; nil: nobody is left to read it.
func (w *working) why(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errHolder) {
		return nil
	}
	return session.ErrInterrupted
}

func (c *WorkerCmd) check(sess *session.Session) error {
	for _, one := range []struct{ flag, text string }{{"--name", c.Name}, {"--zone", c.Zone}} {
		const most = 100
		if len(one.text) > most || strings.ContainsFunc(one.text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return session.Usagef("%s %q: must be at most %d printable characters", one.flag, one.text, most)
		}
	}
	return c.settle(sess)
}

// capacity returns the function that measures how much the machine can read.
func (c WorkerCmd) capacity() (func(context.Context) (float64, error), error) {
	switch c.Capacity {
	case "none":
		return func(context.Context) (float64, error) { return 0, nil }, nil
	case "measure":
		return doctor.Capacity, nil
	}
	n, err := strconv.ParseFloat(c.Capacity, 64)
	if err != nil || !(n > 0 && n < 1e12) {
		return nil, session.Usagef("--capacity %q: must be measure, none, or a number of chunks per second", c.Capacity)
	}
	return func(context.Context) (float64, error) { return n, nil }, nil
}

func capacityText(chunks float64) string {
	if chunks == 0 {
		return ""
	}
	return fmt.Sprintf("; it can read about %s chunks/s", short(chunks))
}

// self describes this process.
func (c WorkerCmd) self(sess *session.Session) fleet.Worker {
	here := machine.Here()
	w := fleet.Worker{
		Name: c.Name, Zone: c.Zone, Protocol: fleet.Protocol, Pitot: sess.Version,
		Host: here.Host, OS: here.OS, PID: os.Getpid(), CPUs: here.CPUs, Files: here.FileLimit, State: fleet.Idle,
	}
	if w.Name == "" {
		w.Name = here.Host
	}
	return w
}
