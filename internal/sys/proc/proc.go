// Package proc starts processes and watches them: clients and servers that are measured.
//
// A process has a process group of its own, so that whatever it starts ends with it. When
// the context ends, the group is asked to end, and is killed after a time of grace. What a
// process writes goes into files. It can be kept on a processor that this process stays
// away from.
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
	Path           string   // the program; empty: Args[0], looked up as a shell does
	Args           []string // the name that the program is told, and its arguments
	Env            []string // NAME=VALUE, beside the environment of this process
	Stdout, Stderr string   // files for what it writes; empty: nothing is kept
	Grace          time.Duration
	On             Placement
	Now            func() int64 // the clock of Usage.Samples; nil: there are none
}

// A Process has been started.
type Process struct {
	cmd   *exec.Cmd
	began time.Time
	watch *watch
}

// Start starts a process. When ctx ends, its group gets a SIGTERM, and Grace later it is
// killed. The caller waits for it.
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
		defer f.Close() // the process has it open on its own
		*out.stream = f
	}
	p := &Process{cmd: cmd, began: time.Now()}
	if err := c.On.start(cmd); err != nil {
		return nil, err
	}
	p.watch = startWatch(cmd.Process.Pid, c.Now)
	return p, nil
}

// Usage is what a process used, with all those that it started and waited for.
type Usage struct {
	CPU     time.Duration
	Wall    time.Duration
	Memory  int64    // bytes, peak of the largest process
	Samples []Sample // of the processor time
}

// Wait returns when the process has ended, and kills what is left of its group. The error
// is that of its end, as exec.Cmd has it.
func (p *Process) Wait() (Usage, error) {
	err := p.cmd.Wait()
	state, seen := p.cmd.ProcessState, p.watch.stop()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // what it left behind, or what did not end when asked to
	u := Usage{CPU: state.UserTime() + state.SystemTime(), Wall: time.Since(p.began), Memory: seen.peak, Samples: seen.samples}
	// The peak that Linux tells at the end begins with that of the process that started
	// it, here this one.
	if r, ok := state.SysUsage().(*syscall.Rusage); ok && runtime.GOOS != "linux" {
		u.Memory = r.Maxrss
	}
	return u, err
}

// LendFileLimit lets the processes that are started open as many files as this one may.
// The Go runtime raises its own limit to the hard one, and would give what it starts the
// old one back.
func LendFileLimit() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) // without it, they have the limit of the shell
	}
}

// tailLines and tailBytes bound LastLines.
const (
	tailLines = 5
	tailBytes = 4 << 10
)

// LastLines are the last lines of a file that are not blank, five at most; nil if there
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
