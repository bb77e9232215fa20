package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Stopped is how a server was ended.
type Stopped struct {
	Took time.Duration `json:"took_ns"` // until nothing of it was there
	// Forced means that it was killed, since it did not end in its time when asked.
	Forced  bool     `json:"forced,omitempty"`
	Devices []Device `json:"devices,omitempty"` // afterwards, where they could be read
	// Unverified are failed checks: a port that is still taken, memory that is not back, devices that could not be
	// read.
	Unverified []plan.Message `json:"unverified,omitempty"`
}

type ending struct {
	Options
	handle Handle
	runner runner
}

func (e ending) stopTimeout() time.Duration { return orDefault(e.handle.StopTimeout, stopTimeout) }

func orDefault(d plan.Duration, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d.Std()
}

// end ends all that there is of a server. Without an error nothing is left of it.
func (e ending) end(ctx context.Context) (forced bool, err error) {
	forced, err = e.runner.end(ctx, e)
	if err != nil && e.hurried() {
		err = nil // sweep reports leftovers
	}
	if err == nil && e.handle.Runner != design.Local { // the client learns how the server ended, given time
		e.until(min(e.Waits.Killed, 2*time.Second), func() bool {
			members, failed := e.handle.Tree.Members()
			return failed != nil || len(members) == 0
		})
	}
	killed, failed := e.tree()
	return forced || killed, errors.Join(err, failed, e.runner.sweep(ctx, e))
}

func (e ending) tree() (forced bool, err error) {
	var refused error // of one that may yet end with the others, such as a child of sudo
	forced, err = e.signalAll(func(signal proc.Signal) (left []string, err error) {
		members, err := e.handle.Tree.Members()
		for _, m := range members {
			left = append(left, nameOfMember(m))
			if signal == 0 {
				continue
			}
			if failed := m.Send(signal); failed != nil {
				refused = fmt.Errorf("end process %d: %w", m.PID, failed)
			}
		}
		return left, err
	})
	if err != nil {
		err = errors.Join(err, refused)
	}
	return forced, err
}

// signalAll ends a group of processes: all of them get a TERM once, and when their time is over
// a KILL as long as there are any, since one may have been born meanwhile. send sends a
// signal, 0 for none, to all that there are, and names them.
func (e ending) signalAll(send func(proc.Signal) ([]string, error)) (forced bool, err error) {
	var left []string
	round := func(signal proc.Signal) bool {
		left, err = send(signal)
		return err != nil || len(left) == 0
	}
	if !e.hurried() {
		if round(proc.Term) {
			return false, err
		}
		e.warn("server.waiting-exit", "limit", e.stopTimeout())
		if e.until(e.stopTimeout(), func() bool { return round(0) }) {
			return false, err
		}
		if !e.hurried() {
			e.warn("server.killing", "limit", e.stopTimeout())
		}
	}
	e.Hurry = nil // from here on it is as quick as it can be
	if e.until(e.Waits.Killed, func() bool { return round(proc.Kill) }) {
		return true, err
	}
	return true, still(left)
}

// still is the error about processes that could not be ended.
func still(left []string) error {
	return fmt.Errorf("still running: %s", strings.Join(left[:min(len(left), 5)], ", "))
}

// orHurry ends a context when the user is in a hurry.
func (e ending) orHurry(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-e.Hurry:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// verifyLimit is how long to wait while verifying an end: an interrupt leaves less time.
func (o Options) verifyLimit(ctx context.Context) time.Duration {
	if ctx.Err() != nil {
		return min(o.Waits.Verify, 5*time.Second)
	}
	return o.Waits.Verify
}

// verify waits until port and memory are as before, and reports differences.
func (r *Running) verify(ctx context.Context, limit time.Duration) (s Stopped) {
	began := time.Now()
	if r.portWasFree && !r.untilPortFree(ctx, limit) {
		s.Unverified = append(s.Unverified, r.portHolder(limit))
	}
	if len(r.baseline.Devices) == 0 {
		if r.baseline.Unknown != "" {
			s.Unverified = append(s.Unverified, plan.Msg("server.memory-unknown", "why", r.baseline.Unknown))
		}
		return s
	}
	reported, unknown, more := false, "", []plan.Message(nil)
	r.o.until(limit-time.Since(began), func() bool {
		now := r.o.look(ctx, r.handle)
		s.Devices, unknown = now.Devices, now.Unknown
		more = exceeding(r.baseline.Devices, now.Devices)
		if len(more) > 0 && !reported {
			reported = true
			r.o.warn("server.waiting-memory", "devices", more)
		}
		return len(more) == 0
	})
	switch {
	case unknown != "":
		s.Unverified = append(s.Unverified, plan.Msg("server.memory-unknown", "why", unknown))
	case len(more) > 0:
		s.Unverified = append(s.Unverified, plan.Msg("server.memory-still-used", "devices", more, "limit", limit))
	}
	return s
}

func (r *Running) untilPortFree(ctx context.Context, limit time.Duration) bool {
	reported := false
	return r.o.until(limit, func() bool {
		taken := r.o.answers(ctx, r.handle.URL)
		if taken && !reported {
			reported = true
			_, port, _ := address(r.handle.URL)
			r.o.warn("server.waiting-port", "port", port)
		}
		return !taken
	})
}

// portHolder says who holds the port after the end.
func (r *Running) portHolder(limit time.Duration) plan.Message {
	_, port, _ := address(r.handle.URL)
	return plan.Msg("server.port-still-taken", "port", port, "holder", holder(r.handle.Runner, port), "limit", limit).Map(r.o.clean)
}
