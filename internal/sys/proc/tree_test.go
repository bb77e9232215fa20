package proc

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// pipe is a named pipe that processes hold open, and its reader.
func pipe(t *testing.T) (name string, open func() *bufio.Reader) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, func() *bufio.Reader {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return bufio.NewReader(f)
	}
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	return strings.TrimSpace(text)
}

// killAll kills what there is of a tree until there is nothing.
func killAll(t *testing.T, tree Tree) {
	t.Helper()
	for {
		members, err := tree.Members()
		if err != nil {
			t.Fatal(err)
		}
		if len(members) == 0 {
			return
		}
		for _, m := range members {
			if err := m.Send(Kill); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A session is found again with all that it started: what stayed in the session, what left
// it, and what has another environment too.
func TestMembersOfATree(t *testing.T) {
	if _, err := Find("setsid"); err != nil {
		t.Skip("this system has no setsid")
	}
	name, open := pipe(t)
	log := filepath.Join(t.TempDir(), "log")
	s, err := StartSession(SessionCommand{
		Args: []string{"sh", "-c", `exec 3>"$1"
			sleep 601 & a=$!
			setsid sleep 602 & b=$!
			setsid env -i "$(command -v sleep)" 603 & c=$!
			echo $a $b $c >&3; wait`, "sh", name},
		Log: log, Mark: "members",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killAll(t, s.Tree) })
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
	started := []int{s.PID}
	r := open()
	for _, pid := range strings.Fields(line(t, r)) {
		n, _ := strconv.Atoi(pid)
		started = append(started, n)
	}
	slices.Sort(started)

	again := s.Tree // as another process has it
	again.Ours = false
	check := func(tree Tree, want []int) {
		t.Helper()
		var got []int
		for range 200 { // a shell may be about to become the program that it runs
			members, err := tree.Members()
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, m := range members {
				got = append(got, m.PID)
			}
			if slices.Sort(got); slices.Equal(got, want) {
				return
			}
		}
		t.Errorf("members %v, want %v", got, want)
	}
	check(s.Tree, started)
	check(again, started)

	if err := (Member{PID: s.PID, began: "another"}).Send(Kill); err != nil {
		t.Error(err)
	}
	if err := (Member{PID: s.PID, began: s.Began}).Send(Kill); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if got := s.State(); got != (Exit{-1, "SIGKILL"}) {
		t.Errorf("%+v", got)
	}
	rest := slices.DeleteFunc(slices.Clone(started), func(pid int) bool { return pid == s.PID })
	if runtime.GOOS == "linux" { // elsewhere what has no parent, mark or session is not found
		check(again, rest)
	}
	unmarked := Tree{PID: s.PID, Began: "another"}
	check(unmarked, nil)

	killAll(t, s.Tree)
	if _, err := io.ReadAll(r); err != nil { // no process holds it open
		t.Error(err)
	}
}

// A session that has not been released ends with the process that started it.
func TestASessionThatIsNotReleased(t *testing.T) {
	file := filepath.Join(t.TempDir(), "begun")
	s, err := StartSession(SessionCommand{Args: []string{"touch", file}, Log: file + ".log"})
	if err != nil {
		t.Fatal(err)
	}
	s.Cancel()
	<-s.Done()
	if _, err := os.Stat(file); err == nil || s.State().Code == 0 {
		t.Errorf("it began: %v, %v", err, s.State())
	}
}

func TestInputAndLogOfASession(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("older\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	input := strings.Repeat("x", pipeSize) + "\nannounced 7 8\nlast\n"
	s, err := StartSession(SessionCommand{Args: []string{"sh", "-c", "cat; exit 3"}, Log: log, Input: input})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if got := s.State().String(); got != "exit code 3" {
		t.Error(got)
	}
	lines := s.Output.Last(3)
	if len(lines) != 3 || len(lines[0]) != lineBytes || lines[2] != "last" {
		t.Errorf("%q", lines)
	}
	if got, ok := s.Output.LineAfter("announced "); !ok || got != "7 8" {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := s.Output.LineAfter("older"); ok {
		t.Errorf("%q stands ahead of the offset", got)
	}
	s.Output.Close()
	if all, left := s.Output.Written(); all != int64(len(input)) || left != 0 {
		t.Errorf("%d bytes, %d left out", all, left)
	}
	later, err := OpenLog(log)
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	if got := later.Last(3); got != nil {
		t.Errorf("%q", got)
	}
}

func TestAsk(t *testing.T) {
	out, err := Ask(t.Context(), Question{
		Args: []string{"sh", "-c", `cat; echo "$A" >&2; exit 4`}, Env: []string{"A=why"}, Input: "read",
	})
	if out != "read" || err == nil || !strings.HasSuffix(err.Error(), ": why") || exitCode(err) != 4 {
		t.Errorf("%q, %v, %d", out, err, exitCode(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	name, open := pipe(t)
	ended := make(chan error)
	go func() {
		_, err := Ask(ctx, Question{Args: []string{"sh", "-c", `exec 3>"$1"; echo up >&3; sleep 604`, "sh", name}})
		ended <- err
	}()
	r := open()
	line(t, r)
	cancel()
	if err := <-ended; err == nil {
		t.Error("it ended by itself")
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Error(err)
	}
}

func TestTheListenerOnAPort(t *testing.T) {
	if _, found := ListenerOn(t.Context(), 1); found {
		t.Skip("something listens on port 1")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells without a program of its own")
	}
	listener := listen(t)
	got, found := ListenerOn(t.Context(), listener)
	self, _ := exec.LookPath(os.Args[0])
	if !found || got.PID != os.Getpid() || !strings.Contains(got.Command, filepath.Base(self)) {
		t.Errorf("%+v, %v", got, found)
	}
}

func listen(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
