package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A SessionCommand is a process that may outlive this one.
type SessionCommand struct {
	Args []string
	Env  []string // NAME=VALUE, in addition to the environment of this process
	Dir  string   // empty: that of this process
	Log  string   // file that its output is appended to, bounded like a Log
	// TrimCommand is the command line of this program that calls TrimLog, to keep the log short after this
	// process was killed; nil: nothing does.
	TrimCommand []string
	Mark        string // finds its members
	Input       string // its standard input; short
}

// A Session is a process that leads a new session: a signal from the terminal of this process does not reach it.
type Session struct {
	Tree
	Output *Log // the caller closes it when no process of the session is left
	cmd    *exec.Cmd
	gate   *os.File
	done   chan struct{}
}

// gated waits for a line before it becomes the command. If this process dies first, it ends.
const gated = `read -r go <&3 && exec 3<&- && exec "$@"`

// StartSession starts a process, which waits until it is released. It is not bound to this
// process afterwards: the caller stores its Tree, releases it, and ends it.
//
// It does not die with this process by itself, as PR_SET_PDEATHSIG would have it: that signal would reach the first
// process only, and leave its children without a parent. It would also be sent when the thread ends that made the
// process.
func StartSession(c SessionCommand) (*Session, error) {
	if _, err := os.Stat(c.Dir); c.Dir != "" && err != nil { // the system would not say which one is missing
		return nil, err
	}
	log, err := OpenLog(c.Log)
	if err != nil {
		return nil, err
	}
	s, err := startSession(c, log)
	if err != nil {
		log.Close()
	}
	return s, err
}

func startSession(c SessionCommand, log *Log) (*Session, error) {
	wait, gate, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer wait.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", gated, "sh"}, c.Args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Dir, log.out, log.out, []*os.File{wait}
	cmd.Env = append(append(os.Environ(), c.Env...), MarkName+"="+c.Mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	input, err := given(c.Input)
	if err != nil {
		gate.Close()
		return nil, err
	}
	if input != nil {
		defer input.Close()
		cmd.Stdin = input
	}
	if err := cmd.Start(); err != nil {
		gate.Close()
		return nil, err
	}
	s := &Session{Tree{cmd.Process.Pid, "", c.Mark, log.name, true}, log, cmd, gate, make(chan struct{})}
	if p, ok := lookUp(s.PID); ok {
		s.Began = p.began
	}
	if c.TrimCommand != nil {
		err = log.startTrimmer(c.TrimCommand, s.Tree)
	}
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // State says how it ended
	}()
	if err != nil {
		s.Cancel()
		<-s.done
		return nil, fmt.Errorf("start what keeps its log short: %w", err)
	}
	return s, nil
}

// pipeSize is how many bytes a pipe holds on every system before its writer waits.
const pipeSize = 16 << 10

// given is a file to read a text from, nil if it is empty. No process has to live on to
// write it: it fits into a pipe, or into a file that has no name any more.
func given(text string) (*os.File, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > pipeSize {
		return unnamed(text)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	_, err = io.WriteString(w, text)
	return r, err
}

func unnamed(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "pitot-*")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text)
	_, sought := f.Seek(0, io.SeekStart)
	return f, errors.Join(err, sought, os.Remove(f.Name()))
}

// Release lets the command begin.
func (s *Session) Release() error {
	_, err := s.gate.WriteString("\n")
	return errors.Join(err, s.gate.Close())
}

// Cancel ends a session that has not been released.
func (s *Session) Cancel() { s.gate.Close() }

// Done is closed when the first process has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// An Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`             // -1 if a signal ended it
	Signal string `json:"signal,omitempty"` // such as SIGKILL
}

// String is the exit as a shell would tell it.
func (e Exit) String() string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// State is how the first process ended, once Done is closed.
func (s *Session) State() Exit {
	<-s.done
	return exitOf(s.cmd.ProcessState)
}

func exitOf(state *os.ProcessState) Exit {
	e := Exit{Code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = signalName(status.Signal())
	}
	return e
}

// signalName is the name of a signal; the system's own words where it has none here.
func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP",
		syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
		syscall.SIGILL: "SIGILL", syscall.SIGPIPE: "SIGPIPE",
	}
	if name, ok := names[s]; ok {
		return name
	}
	return s.String()
}

// Find is the path of a program, looked up like a shell does.
func Find(program string) (string, error) { return exec.LookPath(program) }

// Host is the name of this machine, empty if it is not known.
func Host() string {
	name, _ := os.Hostname()
	return name
}
