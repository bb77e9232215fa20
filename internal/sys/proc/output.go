package proc

import (
	"cmp"
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

// A Question is a short process; its output is the answer.
type Question struct {
	Args  []string
	Env   []string // NAME=VALUE, in addition to the environment of this process
	Dir   string
	Input string
	Limit int // bytes of output at most; 0: 8 MiB
	// Tied means that it is killed when this process dies, where the system can do that (Linux).
	Tied bool
}

// Limits of the output of a process. Only the end of stderr is stored: its limit saves the processor time of
// reading it.
const (
	answerBytes = 8 << 20
	stderrBytes = 64 << 20
)

// Ask runs a process in its own group, so that an interrupt on the terminal does not reach it, and returns its
// output. Its error has the last line of stderr. When ctx ends, or the process writes more than its limit, the
// group is killed; the output until then is returned with the error.
func Ask(ctx context.Context, q Question) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, q.Args[0], q.Args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Env = q.Dir, strings.NewReader(q.Input), append(os.Environ(), q.Env...)
	out, stderr := &head{most: cmp.Or(q.Limit, answerBytes), flood: cancel}, &tail{most: stderrBytes, flood: cancel}
	cmd.Stdout, cmd.Stderr = out, stderr
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
	return string(out.text), withLastLine(err, stderr)
}

// withLastLine adds the last line that a process wrote to stderr to the error that it ended with.
// One that was ended for how much it wrote is not quoted.
func withLastLine(err error, stderr *tail) error {
	if stderr.size > stderr.most {
		return floodError(stderr.most)
	}
	lines := strings.FieldsFunc(strings.TrimSpace(string(stderr.text)), func(r rune) bool { return r == '\n' })
	if err == nil || len(lines) == 0 || errors.As(err, new(floodError)) {
		return err
	}
	last := lines[len(lines)-1]
	return fmt.Errorf("%w: %s", err, strings.ToValidUTF8(last[:min(len(last), lineBytes)], ""))
}

// A floodError is the end of a process that wrote more than so many bytes.
type floodError int

func (e floodError) Error() string { return fmt.Sprintf("it printed more than %d bytes", int(e)) }

// A head stores the beginning of the bytes written to it. With more than that it calls flood and
// takes no more, which closes the pipe of the process too.
//
// Neither head nor tail embeds a buffer: os/exec fills a writer that has a ReadFrom through that,
// and not through Write.
type head struct {
	text  []byte
	most  int
	flood func(error)
}

func (h *head) Write(p []byte) (int, error) {
	room := min(len(p), h.most-len(h.text))
	if h.text = append(h.text, p[:room]...); room < len(p) {
		h.flood(floodError(h.most))
		return room, floodError(h.most)
	}
	return room, nil
}

// A tail stores the end of the bytes written to it, and calls flood like a head.
type tail struct {
	text  []byte
	size  int // of all that was written
	most  int
	flood func(error)
}

func (t *tail) Write(p []byte) (int, error) {
	t.size += len(p)
	t.text = append(t.text, p...)
	if beyond := len(t.text) - tailBytes; beyond > 0 {
		t.text = t.text[:copy(t.text, t.text[beyond:])]
	}
	if t.size > t.most {
		t.flood(floodError(t.most))
		return 0, floodError(t.most)
	}
	return len(p), nil
}
