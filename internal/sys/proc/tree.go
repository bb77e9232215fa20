package proc

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
)

// MarkName is the environment variable by which the processes of a Tree are found again.
const MarkName = "PITOT_SERVER"

// A Tree is a process that leads a new session, and its descendants. It is plain data, so that another process can
// find the members: a process id alone may belong to another process by then, so each is checked against its start
// and its environment.
type Tree struct {
	PID int `json:"pid,omitempty"` // of the first process, which leads the session
	// Began is the boot of the system and the start of the first process, as the system reports them.
	Began string `json:"began,omitempty"`
	Mark  string `json:"mark,omitempty"` // value of MarkName in its environment
	Log   string `json:"log,omitempty"`  // the file that its output goes to
	// Ours means that this process has started it, so that its session is known to be the
	// one with the number PID, also when the first process has ended.
	Ours bool `json:"-"`
}

// A Member is a living process of a Tree.
type Member struct {
	PID     int
	Command string // its arguments, as the system reports them
	began   string
}

// process is a row of the table of processes.
type process struct {
	pid, parent, session int
	began                string
}

// Members are the living processes of a tree. A process is a member if
//
//   - it is the first one, by number and start;
//   - it is in the session of that one, which lives, or which this process has started;
//   - it has the mark in its environment;
//   - it writes to the log (Linux), which also finds processes that have overwritten their
//     environment with a title, as engines do;
//   - its parent is a member.
func (t Tree) Members() ([]Member, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	known := t.Ours && t.PID > 0 || slices.ContainsFunc(all, t.isFirst)
	member := map[int]bool{}
	for _, p := range all {
		member[p.pid] = p.pid != os.Getpid() && (known && p.session == t.PID || t.isFirst(p) || t.shows(p.pid))
	}
	for grown := true; grown; { // children of members; their own children may stand before them
		grown = false
		for _, p := range all {
			if !member[p.pid] && member[p.parent] && p.pid != os.Getpid() {
				member[p.pid], grown = true, true
			}
		}
	}
	var found []Member
	for _, p := range all {
		if member[p.pid] {
			found = append(found, Member{p.pid, commandOf(p.pid), p.began})
		}
	}
	return found, nil
}

func (t Tree) isFirst(p process) bool { return p.pid == t.PID && p.began == t.Began && t.Began != "" }

// shows reports whether a process has the mark, or writes to the log.
func (t Tree) shows(pid int) bool {
	if _, mark, marked := strings.Cut("\x00"+environment(pid)+"\x00", "\x00"+MarkName+"="); marked {
		return t.Mark != "" && strings.HasPrefix(mark, t.Mark+"\x00")
	}
	return t.Log != "" && writesTo(pid, t.Log)
}

// A Signal is sent to processes.
type Signal syscall.Signal

// The signals.
const (
	Term = Signal(syscall.SIGTERM)
	Kill = Signal(syscall.SIGKILL)
)

// Send sends a signal to a process, unless another one has its number by now. A process
// that has ended gets none, and that is no error.
func (m Member) Send(s Signal) error {
	p, err := os.FindProcess(m.PID) // on Linux a handle of this very process, from here on
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }() // it has no resource of which to lose anything
	if !m.Alive() {
		return nil
	}
	if err := p.Signal(syscall.Signal(s)); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Alive reports whether the process exists and has not ended.
func (m Member) Alive() bool {
	p, ok := lookUp(m.PID)
	return ok && p.began == m.began
}

// Birth distinguishes a living process from a later one with its number, as Tree.Began does; empty if there is
// none.
func Birth(pid int) string {
	p, ok := lookUp(pid)
	if !ok {
		return ""
	}
	return p.began
}
