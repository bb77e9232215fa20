package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// localWorkers are processes of this binary on this machine. One that dies is started again, unless
// it goes on dying.
type localWorkers struct {
	program    string // empty: this binary
	url, token string
	more       []string // flags of each worker
	folder     string   // for their logs
	say        func(string)
	heard      func(worker, line string) // gets each line that a worker prints; may be nil
	pause      time.Duration             // before a worker is started again

	stop  context.CancelFunc
	over  sync.WaitGroup
	alive sync.WaitGroup // workers that have not been given up
}

// unmeasured keeps a worker from taking all processors for a while when it starts.
var unmeasured = []string{"--capacity", "none"}

// How often a worker is started again, and when.
const (
	mostStarts = 4           // within
	startsIn   = time.Minute // this time
)

// hire starts n workers. It is an error if the first start of one fails.
func (c *localWorkers) hire(n int) error {
	if c.program == "" {
		var err error
		if c.program, err = os.Executable(); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	host := proc.Host()
	for i := range n {
		name := fmt.Sprintf("%s-%d", host, i+1)
		first, err := c.start(name, slices.Concat(c.more, unmeasured)...)
		if err != nil {
			c.release()
			return fmt.Errorf("start worker %s: %w", name, err)
		}
		c.alive.Add(1)
		c.over.Go(func() {
			defer c.alive.Done()
			c.keep(ctx, name, first)
		})
	}
	return nil
}

func (c *localWorkers) start(name string, more ...string) (*proc.Held, error) {
	h := proc.HeldCommand{
		Args: append([]string{c.program, "fleet", "worker", "--held", "--join", c.url, "--name", name}, more...),
		Env:  []string{flags.FleetTokenVariable + "=" + c.token, flags.FleetVariable + "="}, Log: c.log(name),
	}
	if c.heard != nil {
		h.Said = func(line string) { c.heard(name, line) }
	}
	return proc.StartHeld(h)
}

func (c *localWorkers) log(name string) string { return filepath.Join(c.folder, "worker-"+name+".log") }

// keep has one worker go on until the context ends, or until it dies too often.
func (c *localWorkers) keep(ctx context.Context, name string, up *proc.Held) {
	starts := []time.Time{time.Now()}
	for {
		select {
		case <-ctx.Done():
			up.End(grace)
			return
		case <-up.Ended():
		}
		why := up.State().String()
		if last := proc.LastLines(c.log(name)); last != nil {
			why += ": " + last[len(last)-1]
		}
		if len(starts) == mostStarts && time.Since(starts[0]) < startsIn {
			c.say(fmt.Sprintf("worker %s has ended again (%s); it is not started any more, its log is %s", name, why, c.log(name)))
			return
		}
		c.say(fmt.Sprintf("worker %s has ended (%s); it is started again", name, why))
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.pause):
		}
		next, err := c.start(name, slices.Concat(c.more, unmeasured)...)
		if err != nil {
			c.say(fmt.Sprintf("worker %s cannot be started again: %v", name, err))
			return
		}
		up, starts = next, append(starts, time.Now())
		starts = starts[max(0, len(starts)-mostStarts):]
	}
}

// release ends the workers, and returns when they have ended.
func (c *localWorkers) release() {
	c.stop()
	c.over.Wait()
}

// gone is closed when every worker was given up.
func (c *localWorkers) gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		c.alive.Wait()
		close(gone)
	}()
	return gone
}
