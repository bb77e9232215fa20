package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A SessionCommand is a process that may outlive this one.
type SessionCommand struct {
	Args  []string
	Env   []string // NAME=VALUE, in addition to the environment of this process
	Dir   string   // empty: that of this process
	Log   string   // file that its output is appended to
	Mark  string   // what its members are found by
	Input string   // what it reads; short
}

// A Session is a process in a session of its own: what is typed on the terminal of this
// process does not reach it.
type Session struct {
	Tree
	cmd  *exec.Cmd
	gate *os.File
	done chan struct{}
}

// gated waits for a line before it becomes the command. If this process dies first, it ends.
const gated = `read -r go <&3 && exec 3<&- && exec "$@"`

// StartSession starts a process, which waits until it is released. It is not bound to this
// process afterwards: whoever starts it keeps its Tree, releases it, and ends it.
//
// It does not die with this process by itself, as PR_SET_PDEATHSIG would have it: that
// signal would reach the first process only, and leave what that one started without a
// parent. It would also be sent when the thread ends that made the process.
func StartSession(c SessionCommand) (*Session, error) {
	if _, err := os.Stat(c.Dir); c.Dir != "" && err != nil { // the system would not say which one is missing
		return nil, err
	}
	log, err := filepath.Abs(c.Log)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(log)); err == nil {
		log = filepath.Join(real, filepath.Base(log)) // as the system names it
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	wait, gate, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer wait.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", gated, "sh"}, c.Args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Dir, out, out, []*os.File{wait}
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
	s := &Session{Tree{cmd.Process.Pid, "", c.Mark, log, true}, cmd, gate, make(chan struct{})}
	if p, ok := lookUp(s.PID); ok {
		s.Began = p.began
	}
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // State tells how it ended
	}()
	return s, nil
}

// pipeSize is what a pipe holds on every system before its writer waits.
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
		syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP", syscall.SIGSEGV: "SIGSEGV",
		syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE", syscall.SIGILL: "SIGILL", syscall.SIGPIPE: "SIGPIPE",
	}
	if name, ok := names[s]; ok {
		return name
	}
	return s.String()
}

// LogSize is the size of a log, from which what is appended later can be read; 0 if there is
// none yet.
func LogSize(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// logBytes and lineBytes bound Lines.
const (
	logBytes  = 64 << 10
	lineBytes = 500
)

// Lines returns the last non-blank lines of a file behind an offset, at most n, each cut at
// 500 bytes; nil if there are none.
func Lines(file string, from int64, n int) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size <= from {
		return nil
	}
	start := max(from, size-logBytes)
	b := make([]byte, size-start)
	if _, err := f.ReadAt(b, start); err != nil {
		return nil
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(string(b), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "")); line != "" {
			lines = append(lines, strings.ToValidUTF8(line[:min(len(line), lineBytes)], ""))
		}
	}
	return lines[max(0, len(lines)-n):]
}

// LineAfter finds the first line behind an offset of a file that begins with a text, and
// returns the rest of it. It looks through no more than 1 MiB.
func LineAfter(file string, from int64, begin string) (rest string, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const most = 1 << 20
	b, _ := io.ReadAll(io.NewSectionReader(f, from, most)) // what cannot be read is not there yet
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, begin); ok && strings.HasSuffix(line, "\n") {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// Find is the path of a program, looked up like a shell does.
func Find(program string) (string, error) { return exec.LookPath(program) }

// Host is the name of this machine, empty if it is not known.
func Host() string {
	name, _ := os.Hostname()
	return name
}
