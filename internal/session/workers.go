package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// LocalWorkers are processes of this binary on this machine. One that dies is started again, unless
// it goes on dying.
type LocalWorkers struct {
	Program    string // empty: this binary
	URL, Token string
	More       []string // flags of each worker
	Folder     string   // for their logs
	Log        func(string)
	Heard      func(worker, line string) // gets each line that a worker prints; may be nil
	Pause      time.Duration             // before a worker is started again

	stop  context.CancelFunc
	over  sync.WaitGroup
	alive sync.WaitGroup // workers that have not been given up
}

// unmeasured keeps a worker from taking all processors for a while when it starts.
var unmeasured = []string{"--capacity", "none"}

// How often a worker is started again, and when.
const (
	MostStarts = 4           // within
	startsIn   = time.Minute // this time
)

// Hire starts n workers. It is an error if the first start of one fails.
func (c *LocalWorkers) Hire(n int) error {
	if c.Program == "" {
		var err error
		if c.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	host := proc.Host()
	for i := range n {
		name := fmt.Sprintf("%s-%d", host, i+1)
		first, err := c.start(name, slices.Concat(c.More, unmeasured)...)
		if err != nil {
			c.Release()
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

func (c *LocalWorkers) start(name string, more ...string) (*proc.Supervised, error) {
	h := proc.SupervisedCommand{
		Args: append([]string{c.Program, "fleet", "worker", "--held", "--join", c.URL, "--name", name}, more...),
		Env:  []string{FleetTokenVariable + "=" + c.Token, FleetVariable + "="}, Log: c.log(name),
	}
	if c.Heard != nil {
		h.OnLine = func(line string) { c.Heard(name, line) }
	}
	return proc.StartSupervised(h)
}

func (c *LocalWorkers) log(name string) string { return filepath.Join(c.Folder, "worker-"+name+".log") }

// keep has one worker go on until the context ends, or until it dies too often.
func (c *LocalWorkers) keep(ctx context.Context, name string, up *proc.Supervised) {
	starts := []time.Time{time.Now()}
	for {
		select {
		case <-ctx.Done():
			up.End(Grace)
			return
		case <-up.Ended():
		}
		why := up.State().String()
		if last := proc.LastLines(c.log(name)); last != nil {
			why += ": " + last[len(last)-1]
		}
		if len(starts) == MostStarts && time.Since(starts[0]) < startsIn {
			c.Log(fmt.Sprintf("worker %s has ended again (%s); it is not started any more, its log is %s", name, why, c.log(name)))
			return
		}
		c.Log(fmt.Sprintf("worker %s has ended (%s); it is started again", name, why))
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.Pause):
		}
		next, err := c.start(name, slices.Concat(c.More, unmeasured)...)
		if err != nil {
			c.Log(fmt.Sprintf("worker %s cannot be started again: %v", name, err))
			return
		}
		up, starts = next, append(starts, time.Now())
		starts = starts[max(0, len(starts)-MostStarts):]
	}
}

// Release ends the workers, and returns when they have ended.
func (c *LocalWorkers) Release() {
	c.stop()
	c.over.Wait()
}

// Gone is closed when every worker was given up.
func (c *LocalWorkers) Gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		c.alive.Wait()
		close(gone)
	}()
	return gone
}

// Grace is how long a process has to end when it is not needed any more.
const Grace = 2 * time.Second
