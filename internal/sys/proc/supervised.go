package proc

import (
	"bytes"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A SupervisedCommand is a process that belongs to this one.
type SupervisedCommand struct {
	Args   []string
	Env    []string          // NAME=VALUE, in addition to the environment of this process
	Log    string            // file that its output is appended to, bounded like a Log
	OnLine func(line string) // gets each line of its output too, cut at 500 bytes; may be nil
}

// A Supervised is a background process of the same priority that gets no signals from
// the terminal. It reads from a pipe that this process holds open: its end of file says that this
// process has ended, however it did.
type Supervised struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when the process has ended
}

// StartSupervised starts a process.
func StartSupervised(c SupervisedCommand) (*Supervised, error) {
	log, err := OpenLog(c.Log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = append(cmd.Environ(), c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	out := &lineTee{log: log.out, onLine: c.OnLine}
	cmd.Stdout, cmd.Stderr = out, out // one pipe, one goroutine
	held, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	h := &Supervised{cmd: cmd, stdin: held, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // State says how it ended
		out.end()
		log.Close()
		close(h.ended)
	}()
	return h, nil
}

// PID is the id of the process.
func (h *Supervised) PID() int { return h.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (h *Supervised) Ended() <-chan struct{} { return h.ended }

// State is how the process ended, once Ended is closed.
func (h *Supervised) State() Exit {
	<-h.ended
	return exitOf(h.cmd.ProcessState)
}

// End lets the process know that this one does not need it any more, and kills its group if it has
// not ended after a grace period.
func (h *Supervised) End(grace time.Duration) {
	_ = h.stdin.Close()
	select {
	case <-h.ended:
	case <-time.After(grace):
		_ = syscall.Kill(-h.PID(), syscall.SIGKILL)
		<-h.ended
	}
}

// lineTee writes lines to a log, and passes them to onLine.
type lineTee struct {
	log    io.Writer
	onLine func(string)
	rest   []byte // of a line that has no end yet
}

func (s *lineTee) Write(p []byte) (int, error) {
	_, _ = s.log.Write(p) // a full disk is no reason to end the process
	if s.onLine == nil {
		return len(p), nil
	}
	s.rest = append(s.rest, p...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole && len(s.rest) < lineBytes {
			return len(p), nil
		}
		s.emit(line)
		s.rest = slices.Clone(rest)
	}
}

// end reports a last line without a newline.
func (s *lineTee) end() {
	if s.onLine != nil {
		s.emit(s.rest)
	}
}

func (s *lineTee) emit(line []byte) {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), lineBytes)]), "")); text != "" {
		s.onLine(text)
	}
}
