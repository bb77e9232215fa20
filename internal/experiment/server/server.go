package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// A Running server was started and has not been stopped.
type Running struct {
	o           Options
	server      design.ServerSetup
	handle      Handle
	session     *proc.Session
	baseline    Baseline
	portWasFree bool
	began       time.Time
	ended       time.Time // of the first process; read after Done
	left        int       // processes that it left behind; read after Done

	mu      sync.Mutex
	stopped *Stopped
	ready   time.Duration
	done    chan struct{}
}

// Start starts the server of a variant: the process exists when it returns, it need not be
// ready. It is an error if something answers at the URL already. If it fails, nothing is
// left of the server. Whoever starts one stops it, however it ends.
func Start(ctx context.Context, s design.ServerSetup, o Options) (*Running, error) {
	s.Runner = cmp.Or(s.Runner, design.Local)
	if err := Check(s).Err(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	o.Secrets.Add(Secrets(s)...)
	r, err := start(ctx, s, o)
	return r, o.Secrets.Error(err)
}

func start(ctx context.Context, s design.ServerSetup, o Options) (*Running, error) {
	r := &Running{o: o, server: s, handle: newHandle(s, o, time.Now()), done: make(chan struct{})}
	command, err := runners[s.Runner].command(s, r.handle)
	if err != nil {
		return nil, err
	}
	if err := r.findPortFree(ctx); err != nil {
		return nil, err
	}
	if o.Baseline == nil {
		r.baseline = o.look(ctx, r.handle)
	} else {
		r.baseline = *o.Baseline
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	command.Log, command.Mark = o.Log, r.handle.Tree.Mark
	command.TrimCommand = o.TrimCommand
	if r.session, err = proc.StartSession(command); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	r.handle.Tree, r.began = r.session.Tree, time.Now()
	go func() {
		<-r.session.Done()
		r.ended, r.left = time.Now(), r.orphans()
		close(r.done)
	}()
	if err := r.release(ctx); err != nil {
		_, failed := r.Stop(ctx)
		return nil, errors.Join(err, failed)
	}
	return r, nil
}

// release keeps the handle, then lets the server begin.
func (r *Running) release(ctx context.Context) error {
	if err := r.storeHandle(); err != nil {
		r.session.Cancel()
		return err
	}
	r.began = time.Now()
	if err := r.session.Release(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	if r.server.Runner != design.SSH {
		return nil
	}
	words, err := r.announcement(ctx, r.handle.Remote.Mark, r.o.Waits.Command)
	if err != nil {
		return fmt.Errorf("start the server on %s: %w", r.server.Host, err)
	}
	if err := r.handle.settle(words); err != nil {
		return err
	}
	return r.storeHandle()
}

func (r *Running) storeHandle() error {
	if r.o.SaveHandle == nil {
		return nil
	}
	if err := r.o.SaveHandle(r.handle); err != nil {
		return fmt.Errorf("keep what the server is found by: %w", err)
	}
	return nil
}

// findPortFree fails if something answers where the server will. A cluster may answer there
// as long as it forwards a port, server or not.
func (r *Running) findPortFree(ctx context.Context) error {
	_, port, err := address(r.o.URL)
	switch {
	case err != nil:
		return err
	case r.server.Runner == design.Kubectl:
		return nil
	case r.o.answers(ctx, r.o.URL):
		return &TakenError{r.o.clean(r.o.URL), port, r.o.clean(holder(r.server.Runner, port))}
	}
	r.portWasFree = true
	return nil
}

// holder names the process that holds a port, if that is one of this machine.
func holder(runner design.Runner, port string) string {
	if runner == design.SSH {
		return ""
	}
	return holderOf(port)
}

func joined(host, port string) string { return net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port) }

// announcement waits for the line of the log in which the runner reports, and returns the words behind the mark.
func (r *Running) announcement(ctx context.Context, mark string, limit time.Duration) (words []string, err error) {
	found := r.wait(ctx, limit, func() bool {
		line, ok := r.session.Output.LineAfter(announced + mark)
		words = strings.Fields(line)
		return ok
	})
	switch {
	case found == nil:
		return words, nil
	case errors.Is(found, errLimit):
		return nil, fmt.Errorf("nothing for %s%s", limit, logged(r.lines()))
	}
	return nil, found
}

var errLimit = errors.New("the limit has ended")

// wait polls until done reports true: an error if the server ends first, or the context, or
// the limit.
func (r *Running) wait(ctx context.Context, limit time.Duration, done func() bool) error {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(r.o.Waits.Poll)
	defer tick.Stop()
	for {
		select { // first of all: another process may answer
		case <-r.done:
			return &EndedError{r.Ended()}
		default:
		}
		if done() {
			return nil
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.o.Hurry:
			return context.Canceled
		case <-end.C:
			return errLimit
		case <-tick.C:
		}
	}
}

// Handle finds the server.
func (r *Running) Handle() Handle { return r.handle }

// Done is closed when the server has ended, by itself or by Stop.
func (r *Running) Done() <-chan struct{} { return r.done }

// logLines is the number of lines of a log that are shown and stored.
const logLines = 10

func (r *Running) lines() []string {
	return r.o.cleanAll(r.session.Output.Last(logLines))
}

// dyingTime is how long processes that end with the first one may take.
const dyingTime = 200 * time.Millisecond

// orphans is how many processes do not end with the first one.
func (r *Running) orphans() (n int) {
	r.o.until(dyingTime, func() bool {
		members, _ := r.session.Members() // unknown members are left out
		n = len(members)
		return n == 0
	})
	return n
}

// Ended is how the server ended, once Done is closed.
func (r *Running) Ended() End {
	select {
	case <-r.done:
	default:
		return End{}
	}
	exit := r.session.State()
	return End{&exit, r.ended.Sub(r.began), r.lines(), r.left}
}

// Stop ends the server: all of its processes get a TERM, after the stop timeout a KILL. Then it waits until the
// port is free and the memory of devices is back, and reports failures of that. An error means that something may
// be left, which the handle finds. It also works when ctx has ended, and then waits less to verify.
func (r *Running) Stop(ctx context.Context) (Stopped, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return *r.stopped, nil
	}
	limit := r.o.verifyLimit(ctx)
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	forced, err := ending{r.o, r.handle, runners[r.server.Runner]}.end(ctx)
	if err != nil {
		return Stopped{Took: time.Since(began), Forced: forced}, r.o.Secrets.Error(err)
	}
	<-r.done // it has no process any more
	r.session.Output.Close()
	took := time.Since(began)
	s := r.verify(ctx, limit)
	s.Took, s.Forced = took, forced || r.killedByBox()
	r.stopped = &s
	return s, nil
}

// killedByBox reports whether docker or podman had to kill the server, by its exit code.
func (r *Running) killedByBox() bool {
	const killed = 128 + 9
	return r.handle.Container != "" && r.session.State().Code == killed
}

// A Lifetime is the record of a server that is stored with its leg.
type Lifetime struct {
	Runner  design.Runner `json:"runner"`
	Command string        `json:"command"` // shortened, without secrets
	Started time.Time     `json:"started"`
	Ready   time.Duration `json:"ready_ns,omitempty"` // from the start; 0: it never was
	Lasted  time.Duration `json:"lasted_ns,omitempty"`
	Exit    *proc.Exit    `json:"exit,omitempty"` // nil: it has not ended
	Log     string        `json:"log"`
	// LogBytes is how much it has written there, and LogLeftOut how much of that was dropped.
	LogBytes   int64    `json:"log_bytes,omitempty"`
	LogLeftOut int64    `json:"log_left_out,omitempty"`
	Lines      []string `json:"lines,omitempty"` // the last of its log
	Before     Baseline `json:"before,omitzero"`
	Stopped    *Stopped `json:"stopped,omitempty"`
}

// Life is the lifetime of the server until now.
func (r *Running) Life() Lifetime {
	end := r.Ended()
	written, left := r.session.Output.Written()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := Lifetime{
		Runner: r.handle.Runner, Command: r.handle.Command, Started: r.handle.Started, Ready: r.ready, Lasted: end.After, Exit: end.Exit,
		Log: r.handle.Tree.Log, LogBytes: written, LogLeftOut: left, Lines: r.lines(), Before: r.baseline, Stopped: r.stopped,
	}
	return l
}
