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

// A HeldCommand is a process that belongs to this one.
type HeldCommand struct {
	Args []string
	Env  []string          // NAME=VALUE, in addition to the environment of this process
	Log  string            // file that its output is appended to, kept short as a Log
	Said func(line string) // gets each line of its output too, cut at 500 bytes; may be nil
}

// A Held is a background process of the same priority that gets no signals from
// the terminal. It reads from a pipe that this process holds open: its end of file says that this
// process has ended, however it did.
type Held struct {
	cmd   *exec.Cmd
	held  io.Closer
	ended chan struct{} // closed when the process has ended
}

// StartHeld starts a process.
func StartHeld(c HeldCommand) (*Held, error) {
	log, err := OpenLog(c.Log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = append(cmd.Environ(), c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	out := &spoken{log: log.out, said: c.Said}
	cmd.Stdout, cmd.Stderr = out, out // one pipe, one goroutine
	held, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		log.Close()
		return nil, err
	}
	h := &Held{cmd: cmd, held: held, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // State tells how it ended
		out.end()
		log.Close()
		close(h.ended)
	}()
	return h, nil
}

// PID is the id of the process.
func (h *Held) PID() int { return h.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (h *Held) Ended() <-chan struct{} { return h.ended }

// State is how the process ended, once Ended is closed.
func (h *Held) State() Exit {
	<-h.ended
	return exitOf(h.cmd.ProcessState)
}

// End lets the process know that this one does not need it any more, and kills its group if it has
// not ended after a grace period.
func (h *Held) End(grace time.Duration) {
	_ = h.held.Close()
	select {
	case <-h.ended:
	case <-time.After(grace):
		_ = syscall.Kill(-h.PID(), syscall.SIGKILL)
		<-h.ended
	}
}

// spoken writes lines to a log, and tells them.
type spoken struct {
	log  io.Writer
	said func(string)
	rest []byte // of a line that has no end yet
}

func (s *spoken) Write(p []byte) (int, error) {
	_, _ = s.log.Write(p) // a full disk is no reason to end the process
	if s.said == nil {
		return len(p), nil
	}
	s.rest = append(s.rest, p...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole && len(s.rest) < lineBytes {
			return len(p), nil
		}
		s.tell(line)
		s.rest = slices.Clone(rest)
	}
}

// end tells what has no end.
func (s *spoken) end() {
	if s.said != nil {
		s.tell(s.rest)
	}
}

func (s *spoken) tell(line []byte) {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), lineBytes)]), "")); text != "" {
		s.said(text)
	}
}
