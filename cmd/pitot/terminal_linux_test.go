package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal is a pseudo terminal of 100 columns and 30 rows: ours is the side of who looks and
// types, its that of a program.
type terminal struct {
	ours, its *os.File

	mu      sync.Mutex
	printed bytes.Buffer
	more    *sync.Cond
	closed  bool
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	fd := int(ours.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: 100, Row: 30}))
	}
	if err != nil {
		t.Fatal(err)
	}
	its, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{ours: ours, its: its}
	term.more = sync.NewCond(&term.mu)
	go term.read()
	return term
}

func (t *terminal) read() {
	var b [4096]byte
	for {
		n, err := t.ours.Read(b[:])
		t.mu.Lock()
		t.printed.Write(b[:n])
		t.closed = err != nil
		t.more.Broadcast()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until a text has been printed n times.
func (t *terminal) await(test *testing.T, text string, n int) {
	test.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for strings.Count(t.printed.String(), text) < n {
		if t.closed {
			test.Fatalf("closed without %d times %q: %q", n, text, t.printed.String())
		}
		t.more.Wait()
	}
}

// all is what was printed, once its side is closed.
func (t *terminal) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed {
		t.more.Wait()
	}
	return t.printed.String()
}

// start starts a program as the only job of the terminal, which alone has its side from then on.
func (t *terminal) start(test *testing.T, cmd *exec.Cmd) {
	test.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.its, t.its, t.its
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := cmd.Start()
	if err := errors.Join(err, t.its.Close()); err != nil {
		test.Fatal(err)
	}
}

var (
	lines = regexp.MustCompile(`\d failed  \d in flight`)
	up    = regexp.MustCompile(`\x1b\[[0-9]+A`)
	moves = regexp.MustCompile(`\x1b\[[0-9]*A|\x1b\[[JK]|\x1b\[[0-9;]*m`)
)

// However a run ends, the terminal is as it was: it echoes, takes lines, has its cursor, and the
// report stands on a page without the view.
func TestARunLeavesTheTerminalAsItWas(t *testing.T) {
	pitot := build(t)
	for name, end := range map[string]struct {
		do      func(term *terminal, p *os.Process)
		code    int // of the exit, -1: a signal's
		reports bool
		blocks  int // that stay
	}{
		"by itself": {func(*terminal, *os.Process) {}, 0, true, 0},
		"ctrl-c":    {func(term *terminal, _ *os.Process) { _, _ = term.ours.WriteString("\x03") }, 130, true, 0},
		"ctrl-c twice": {func(term *terminal, _ *os.Process) {
			_, _ = term.ours.WriteString("\x03")
			term.await(t, "interrupt again", 1)
			_, _ = term.ours.WriteString("\x03")
		}, 130, true, 0},
		"term":     {func(_ *terminal, p *os.Process) { _ = p.Signal(syscall.SIGTERM) }, 130, true, 0},
		"kill":     {func(_ *terminal, p *os.Process) { _ = p.Kill() }, -1, false, 1},
		"a crash":  {func(_ *terminal, p *os.Process) { _ = p.Signal(syscall.SIGQUIT) }, 2, false, 1},
		"a stop":   {stopAndGoOn, 0, true, 1},
		"narrower": {func(term *terminal, _ *os.Process) { term.narrower(t) }, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := openTerminal(t)
			defer func() { _ = term.ours.Close() }()
			before, err := unix.IoctlGetTermios(int(term.ours.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			before.Lflag |= unix.NOFLSH // so that ctrl-c discards nothing that is to be counted
			if err := unix.IoctlSetTermios(int(term.ours.Fd()), unix.TCSETS, before); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, filepath.Join(t.TempDir(), "runs.db"), pitot, strings.Fields("bench -n 9 --rate 6 --arrival constant --output-len 4 --warmup 0 --ready-timeout 0 --collect none")...)
			cmd.Env = append(cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=")
			term.start(t, cmd)
			term.await(t, "in flight", 2)
			end.do(term, cmd.Process)
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != end.code {
				t.Errorf("exit code %d, want %d", code, end.code)
			}
			after, err := unix.IoctlGetTermios(int(term.ours.Fd()), unix.TCGETS)
			if err != nil || *after != *before {
				t.Errorf("%v: %+v, was %+v", err, after, before)
			}
			all := term.all()
			if kept, line := strings.Contains(all, "is kept"), lines.MatchString(all); kept != end.reports || line != (name == "narrower") {
				t.Errorf("kept: %v, a line: %v: %q", kept, line, all)
			}
			if n := strings.Count(all, "\x1b[2mrandom 256") - len(up.FindAllString(all, -1)); n != end.blocks {
				t.Errorf("%d views stay, want %d: %q", n, end.blocks, all)
			}
			if strings.Contains(moves.ReplaceAllString(all, ""), "\x1b") {
				t.Errorf("not only moves and colours: %q", all)
			}
			if _, report, ok := strings.Cut(all, "whole run"); ok != end.reports || strings.Contains(report, "\x1b") {
				t.Errorf("report: %q", all)
			}
		})
	}
}

// stopAndGoOn is ctrl-z and fg: what was drawn stays above what the shell says, and is drawn anew
// below it.
func stopAndGoOn(_ *terminal, p *os.Process) {
	_ = p.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	_, _ = syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
	_ = p.Signal(syscall.SIGCONT)
}

// narrower makes the terminal so narrow that there is only a line.
func (t *terminal) narrower(test *testing.T) {
	if err := unix.IoctlSetWinsize(int(t.ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 50, Row: 30}); err != nil {
		test.Error(err)
	}
}

// A terminal that is closed ends the run like an interrupt, and the run is kept.
func TestATerminalIsClosed(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("hangups are ignored here, as under nohup, and by what is started here too")
	}
	term := openTerminal(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	pitot := build(t)
	cmd := command(t, store, pitot, strings.Fields("bench -n 600 --rate 10 --output-len 4 --warmup 0 --ready-timeout 0 --collect none --name closed")...)
	term.start(t, cmd)
	term.await(t, "in flight", 2)
	_ = term.ours.Close()
	_ = cmd.Wait()
	out, err := command(t, store, pitot, "runs", "show", "closed").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("interrupted")) {
		t.Errorf("%v: %s", err, out)
	}
}
