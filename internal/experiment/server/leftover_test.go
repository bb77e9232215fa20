package server

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func fifo(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

// killed starts the server of a stage by another process, kills that one, and returns the
// handle that it kept.
func (g *stage) killed(t *testing.T, env ...string) (h Handle, pitot *exec.Cmd) {
	t.Helper()
	b, err := json.Marshal(g.s)
	if err != nil {
		t.Fatal(err)
	}
	name := g.pipe + ".handle"
	fifo(t, name)
	pitot = exec.Command(os.Args[0])
	pitot.Env = append(append(os.Environ(), "TEST_AS=pitot", "TEST_SERVER="+string(b), "TEST_URL="+g.o.URL, "TEST_LOG="+g.o.Log, "TEST_HANDLE="+name), env...)
	if err := pitot.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	secretless(t, json.RawMessage(line))
	if err := json.Unmarshal(line, &h); err != nil {
		t.Fatal(err)
	}
	return h, pitot
}

func kill(t *testing.T, pitot *exec.Cmd) {
	t.Helper()
	if err := pitot.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = pitot.Wait() // it was killed
}

// What a kill -9 of Pitot leaves is found by another process, and ended.
func TestKillOfPitot(t *testing.T) {
	g := newStage(t)
	h, pitot := g.killed(t)
	out := g.up(t)
	kill(t, pitot)
	alive, what, err := Leftover(t.Context(), h, g.o)
	if !alive || err != nil || what.Code != "server.leftover" {
		t.Fatalf("%v, %v, %v", alive, what, err)
	}
	if found := what.Args["what"].([]string); len(found) != 1 || !strings.HasPrefix(found[0], "process ") {
		t.Errorf("%v", found)
	}
	if err := EndLeftover(t.Context(), h, g.o); err != nil {
		t.Error(err)
	}
	gone(t, out)
	g.nothing(t, h)
	if err := EndLeftover(t.Context(), h, g.o); err != nil { // there is nothing to end
		t.Error(err)
	}
}

// keepers counts the processes that keep a log short.
func keepers(t *testing.T, log string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		words, _ := os.ReadFile(name) // of a process that may have ended
		if args := strings.Split(string(words), "\x00"); len(args) > 2 && args[1] == "keep-log" && strings.Contains(args[2], log) {
			n++
		}
	}
	return n
}

// await polls until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// After a kill -9 of Pitot the log of its server is kept short for as long as the server lives.
func TestTheLogAfterAKillOfPitot(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked for in /proc")
	}
	g := newStage(t)
	turn := g.pipe + ".turn"
	fifo(t, turn)
	g.s.Command = `exec 3>` + g.pipe + `; echo first; echo up >&3; read -r go <` + turn + `; head -c 200000000 /dev/zero; echo flooded >&3; read -r go <` + turn
	h, pitot := g.killed(t)
	out := g.up(t)
	kill(t, pitot)
	if n := keepers(t, g.o.Log); n != 1 {
		t.Errorf("%d processes keep the log short", n)
	}
	if err := os.WriteFile(turn, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); err != nil || line != "flooded\n" {
		t.Fatalf("%q, %v", line, err)
	}
	await(t, "the log is not shortened", func() bool {
		info, err := os.Stat(g.o.Log)
		return err == nil && info.Size() <= 64<<20
	})
	if err := EndLeftover(t.Context(), h, g.o); err != nil {
		t.Error(err)
	}
	gone(t, out)
	await(t, "what keeps the log short has not ended", func() bool { return keepers(t, g.o.Log) == 0 })
	if log := text(t, g.o.Log); !strings.HasPrefix(log, "first\n") || !strings.Contains(log, " bytes left out ...\n") {
		t.Errorf("%d bytes, which begin with %.100q", len(log), log)
	}
}

// A kill -9 between the start of the process and the end of SaveHandle leaves nothing behind.
func TestKillOfPitotBeforeTheServerBegins(t *testing.T) {
	g := newStage(t)
	h, pitot := g.killed(t, "TEST_HANG=1")
	kill(t, pitot)
	for {
		alive, _, err := Leftover(t.Context(), h, g.o)
		if err != nil {
			t.Fatal(err)
		}
		if !alive {
			break // it had the end of a pipe to read
		}
	}
	if log := text(t, g.o.Log); log != "" {
		t.Errorf("it began: %q", log)
	}
}

// kill -9 of Pitot and of the server leaves the children of the server, which are found.
func TestKillOfBoth(t *testing.T) {
	g := newStage(t)
	g.s.Command = `sh -c 'exec 3>"` + g.pipe + `"; sleep 600 & echo up >&3; wait' & wait`
	h, pitot := g.killed(t)
	out := g.up(t)
	kill(t, pitot)
	if err := syscall.Kill(h.Tree.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	alive, _, err := Leftover(t.Context(), h, g.o)
	if !alive || err != nil {
		t.Fatalf("%v, %v", alive, err)
	}
	if err := EndLeftover(t.Context(), h, g.o); err != nil {
		t.Error(err)
	}
	gone(t, out)
}

// A process with the number of a server that has ended is not taken for it.
func TestAnotherProcessWithItsNumber(t *testing.T) {
	g := newStage(t)
	r := g.start(t)
	out := g.up(t)
	h := r.Handle()
	other := Handle{Runner: h.Runner, Machine: h.Machine}
	other.Tree.PID, other.Tree.Began, other.Tree.Mark, other.Tree.Log = h.Tree.PID, "another boot/1", "another mark", "another log"
	if alive, what, err := Leftover(t.Context(), other, g.o); alive || err != nil {
		t.Errorf("%v, %v", what, err)
	}
	if err := EndLeftover(t.Context(), other, g.o); err != nil {
		t.Error(err)
	}
	if alive, _, err := Leftover(t.Context(), h, g.o); !alive || err != nil {
		t.Errorf("it was ended: %v", err)
	}
	if _, err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	gone(t, out)
	other.Machine = "another machine"
	if _, _, err := Leftover(t.Context(), other, g.o); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("%v", err)
	}
	if _, _, err := Leftover(t.Context(), Handle{Runner: "x"}, g.o); err == nil {
		t.Error("there is no such runner")
	}
}
