// Package proc starts and monitors processes: measured clients and servers.
//
// A process has its own process group, so all its children end with it. When the
// context ends, the group gets a SIGTERM, and a SIGKILL after a grace period. Its
// output goes into files. It can be pinned to a processor that this process avoids.
package proc

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A Command is a process to start.
type Command struct {
	Path           string   // the program; empty: Args[0], looked up like a shell does
	Args           []string // the name passed to the program, and its arguments
	Env            []string // NAME=VALUE, in addition to the environment of this process
	Stdout, Stderr string   // files for its output; empty: discarded
	Grace          time.Duration
	On             Placement
	Now            func() int64 // the clock of Usage.Samples; nil: no samples
}

// A Process is a started process.
type Process struct {
	cmd   *exec.Cmd
	began time.Time
	watch *watch
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
	for _, out := range []struct {
		file   string
		stream *io.Writer
	}{{c.Stdout, &cmd.Stdout}, {c.Stderr, &cmd.Stderr}} {
		if out.file == "" {
			continue
		}
		f, err := os.Create(out.file)
		if err != nil {
			return nil, err
		}
		defer f.Close() // the process has its own descriptor
		*out.stream = f
	}
	p := &Process{cmd: cmd, began: time.Now()}
	if err := c.On.start(cmd); err != nil {
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
	u := Usage{CPU: state.UserTime() + state.SystemTime(), Wall: time.Since(p.began), Memory: seen.peak, Samples: seen.samples}
	// The peak that Linux reports at the end includes that of the parent before
	// exec, here this process.
	if r, ok := state.SysUsage().(*syscall.Rusage); ok && runtime.GOOS != "linux" {
		u.Memory = r.Maxrss
	}
	return u, err
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

// tailLines and tailBytes bound LastLines.
const (
	tailLines = 5
	tailBytes = 4 << 10
)

// LastLines returns the last non-blank lines of a file, at most five; nil if there
// are none.
func LastLines(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	b := make([]byte, min(size, tailBytes))
	if _, err := f.ReadAt(b, size-int64(len(b))); err != nil {
		return nil
	}
	var lines []string
	for line := range bytes.FieldsFuncSeq(b, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "")); text != "" {
			lines = append(lines, text)
		}
	}
	return lines[max(0, len(lines)-tailLines):]
}
