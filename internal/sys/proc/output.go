package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A Question is a short process, whose output is an answer.
type Question struct {
	Args  []string
	Env   []string // NAME=VALUE, in addition to the environment of this process
	Dir   string
	Input string
	// Tied means that it is killed when this process dies, where the system can do that (Linux).
	Tied bool
}

// answerBytes bounds what is kept of an answer, and of what is said about it.
const answerBytes = 1 << 20

// Ask runs a process in its own group, so that an interrupt on the terminal does not reach
// it, and returns its output. Its error has the last line of what it wrote to stderr. When
// ctx ends, the group is killed.
func Ask(ctx context.Context, q Question) (string, error) {
	cmd := exec.CommandContext(ctx, q.Args[0], q.Args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Env = q.Dir, strings.NewReader(q.Input), append(os.Environ(), q.Env...)
	out, said := &bounded{}, &bounded{}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if q.Tied {
		runtime.LockOSThread() // the signal comes when the thread ends that started it
		defer runtime.UnlockOSThread()
		tie(cmd.SysProcAttr)
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ended := ctx.Err(); err != nil && ended != nil {
		err = context.Cause(ctx)
	}
	return out.String(), withLastLine(err, said)
}

// withLastLine adds the last line that a process wrote to stderr to the error that it ended with.
func withLastLine(err error, said *bounded) error {
	lines := strings.FieldsFunc(strings.TrimSpace(said.String()), func(r rune) bool { return r == '\n' })
	if err == nil || len(lines) == 0 {
		return err
	}
	last := lines[len(lines)-1]
	return fmt.Errorf("%w: %s", err, strings.ToValidUTF8(last[:min(len(last), lineBytes)], ""))
}

// ExitCode is the exit code that an error of Ask tells of, -1 if it tells of none.
func ExitCode(err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, answerBytes-b.Len()))])
	return len(p), nil
}
