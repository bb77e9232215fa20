package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/session"
)

func TestStatusTable(t *testing.T) {
	worker := func(name, version string, state fleet.State) control.Seen {
		return control.Seen{
			Worker:    fleet.Worker{Name: name, Host: "h", Pitot: version, Protocol: fleet.Protocol, State: state, CPUs: 8, Files: 1 << 20},
			RoundTrip: 1234567, Bound: 456789, WallAhead: -1500 * time.Millisecond,
		}
	}
	busy := worker("b\nINJECTED\x1b[2J", "v1", fleet.Sending)
	busy.Run, busy.Zone, busy.Capacity = "20261124-120000-abcd", "rack", 123456
	var out bytes.Buffer
	if err := writeTable(&out, []control.Seen{worker("a", "v2", fleet.Idle), busy}, "v2"); err != nil {
		t.Fatal(err)
	}
	want := `WORKER           ZONE  HOST  VERSION  STATE                         CPUS  FILES    CHUNKS/S  ROUND TRIP  CLOCK   WALL CLOCK
a                -     h     v2       idle                          8     1048576  -         1.23ms      ±457µs  -1.500 s
b INJECTED�[2J  rack  h     v1 *     sending 20261124-120000-abcd  8     1048576  120000    1.23ms      ±457µs  -1.500 s

* not the version of this program, v2: such a worker takes no run from it
`
	if got := out.String(); strings.Contains(got, "\nINJECTED") || strings.Count(got, "\n") != 5 || !strings.Contains(got, "v1 *") || !strings.Contains(got, strings.Split(want, "\n")[1][16:]) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A token is made once, is nobody else's to read, and a variable has precedence.
func TestToken(t *testing.T) {
	dir, env := t.TempDir(), map[string]string{}
	sess := &session.Session{Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	first, own, err := tokenIn(sess, dir)
	if err != nil || own || len(first) != 32 {
		t.Fatal(first, own, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again, _, err := tokenIn(sess, dir); err != nil || again != first {
		t.Errorf("the second time %q, %v", again, err)
	}
	env["PITOT_FLEET_TOKEN"] = "mine"
	if token, own, err := tokenIn(sess, dir); token != "mine" || !own || err != nil {
		t.Error(token, own, err)
	}
}

// A token that is a link, or a file of something else, is neither told nor changed.
func TestNoToken(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("a line of a file\nand another\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	sess := &session.Session{Env: func(string) (string, bool) { return "", false }}
	name := filepath.Join(dir, "token")
	for what, make := range map[string]func() error{
		"a link":    func() error { return os.Symlink(other, name) },
		"no token":  func() error { return os.Link(other, name) },
		"a folder":  func() error { return os.Mkdir(name, 0o755) },
		"too short": func() error { return os.WriteFile(name, []byte("x\n"), 0o644) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		token, _, err := tokenIn(sess, dir)
		if err == nil || token != "" || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, %v", what, token, err)
		}
		if info, err := os.Stat(other); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: the other file is now %v, %v", what, info.Mode(), err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// What is printed to be typed on other machines leads there, and has the token if it was made here.
func TestWhereOthersJoin(t *testing.T) {
	for _, tt := range []struct {
		listen, url string
		own         bool
		want        string
	}{
		{"127.0.0.1:0", "nats://127.0.0.1:4222", false, "nats://t0k@127.0.0.1:4222"},
		{"0.0.0.0:4222", "tls://127.0.0.1:4222", false, "tls://t0k@host:4222"},
		{":4222", "nats://127.0.0.1:4222", true, "nats://host:4222"},
		{"10.0.0.1:4222", "nats://10.0.0.1:4222", true, "nats://10.0.0.1:4222"},
	} {
		u := serving{UpCmd: UpCmd{Listen: tt.listen}, url: tt.url, token: "t0k", own: tt.own}
		if got := u.at("host", true); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
	}
}

// A worker that dies is started again, and given up when it goes on dying; one that lives ends with its input.
func TestCrew(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\necho up $7 $PITOT_FLEET_TOKEN\ncase $7 in *-1) exit 3;; esac\nexec cat\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { // it is run
		t.Fatal(err)
	}
	lines, heard := make(chan string, 20), make(chan string, 20)
	c := &session.LocalWorkers{
		Program: program, URL: "nats://h:1", Token: "t0k", Folder: dir, Log: func(line string) { lines <- line },
		Heard: func(worker, line string) { heard <- worker + ": " + line },
	}
	if err := c.Hire(2); err != nil {
		t.Fatal(err)
	}
	for i := range session.MostStarts {
		line, last := <-lines, i == session.MostStarts-1
		if !strings.Contains(line, "exit code 3: up ") || strings.Contains(line, "not started any more") != last {
			t.Errorf("said %q", line)
		}
	}
	select {
	case <-c.Gone():
		t.Error("a worker that lives is given up")
	default:
	}
	c.Release()
	<-c.Gone()
	if len(heard) != session.MostStarts+1 {
		t.Errorf("%d lines of workers, want %d", len(heard), session.MostStarts+1)
	}
	for range len(heard) {
		if line := <-heard; !strings.HasSuffix(line, " t0k") {
			t.Errorf("heard %q", line)
		}
	}
}
