// Package proc starts and monitors processes: measured clients and servers.
//
// A process has its own process group, so all its children end with it. When the
// context ends, the group gets a SIGTERM, and a SIGKILL after a grace period. Its
// output goes into files. It can be pinned to a processor that this process avoids.
package proc

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Command is a process to start.
type Command struct {
	Path           string   // the program; empty: Args[0], looked up like a shell does
	Args           []string // the name passed to the program, and its arguments
	Env            []string // NAME=VALUE, in addition to the environment of this process
	Stdout, Stderr string   // files for its output, new ones, bounded like a Log; empty: discarded
	Grace          time.Duration
	On             Placement
	Now            func() int64 // the clock of Usage.Samples; nil: no samples
}

// A Process is a started process.
type Process struct {
	cmd   *exec.Cmd
	began time.Time
	watch *watch
	logs  []*Log
}

// Start starts a process. When ctx ends, its group gets a SIGTERM, and after Grace
// a SIGKILL. The caller waits for it.
func Start(ctx context.Context, c Command) (*Process, error) {
	path := c.Path
	if path == "" {
		path = c.Args[0]
	}
	cmd := exec.CommandContext(ctx, path, c.Args[1:]...)
	cmd.Args[0] = c.Args[0]
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = c.Grace
	p := &Process{cmd: cmd, began: time.Now()}
	for _, out := range []struct {
		file   string
		stream *io.Writer
	}{{c.Stdout, &cmd.Stdout}, {c.Stderr, &cmd.Stderr}} {
		if out.file == "" {
			continue
		}
		l, err := newLog(out.file)
		if err != nil {
			p.closeLogs()
			return nil, err
		}
		p.logs, *out.stream = append(p.logs, l), l.out
	}
	if err := c.On.start(cmd); err != nil {
		p.closeLogs()
		return nil, err
	}
	p.watch = startWatch(cmd.Process.Pid, c.Now)
	return p, nil
}

// Usage is the resource usage of a process, with all processes that it started and
// waited for.
type Usage struct {
	CPU     time.Duration
	Wall    time.Duration
	Memory  int64    // bytes, peak of the largest process
	Samples []Sample // of the CPU time
}

// Wait returns when the process has ended, and kills the rest of its group. The
// error is that of exec.Cmd.
func (p *Process) Wait() (Usage, error) {
	err := p.cmd.Wait()
	state, seen := p.cmd.ProcessState, p.watch.stop()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its children, or a process that ignored the SIGTERM
	p.closeLogs()
	u := Usage{
		CPU: state.UserTime() + state.SystemTime(), Wall: time.Since(p.began), Memory: seen.peak, Samples: seen.samples,
	}
	// The peak that Linux reports at the end includes that of the parent before
	// exec, here this process.
	if r, ok := state.SysUsage().(*syscall.Rusage); ok && runtime.GOOS != "linux" {
		u.Memory = r.Maxrss
	}
	return u, err
}

func (p *Process) closeLogs() {
	for _, l := range p.logs {
		l.Close()
	}
}

// LendFileLimit lets started processes open as many files as this one. The Go
// runtime raises its own limit to the hard one, and would give started processes
// the old one.
func LendFileLimit() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) // otherwise they have the limit of the shell
	}
}
