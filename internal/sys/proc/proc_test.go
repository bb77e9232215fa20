package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// shell is a command for sh in its own folder.
func shell(t *testing.T, script string, args ...string) Command {
	dir := t.TempDir()
	return Command{
		Args: append([]string{"sh", "-c", script, "-"}, args...), Env: []string{"PROC_TEST=set"},
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"), Grace: time.Minute,
	}
}

func TestAProcessWritesIntoFiles(t *testing.T) {
	c := shell(t, `echo "$PROC_TEST $1"; echo; for n in 1 2 3 4 5 6; do echo "line $n" >&2; done; exit 3`, "and told")
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	used, err := p.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 3 || used.Wall <= 0 || used.CPU <= 0 {
		t.Errorf("%v, %+v", err, used)
	}
	if got := LastLines(c.Stdout); !slices.Equal(got, []string{"set and told"}) {
		t.Errorf("stdout %q", got)
	}
	if got, want := LastLines(c.Stderr), strings.Split("line 2|line 3|line 4|line 5|line 6",
		"|"); !slices.Equal(got, want) {
		t.Errorf("stderr %q", got)
	}
	if got := LastLines(c.Stdout + ".none"); got != nil {
		t.Errorf("%q", got)
	}
}

func TestProgramsThatAreNotThere(t *testing.T) {
	if _, err := Start(t.Context(), Command{Args: []string{"no-such-program"}}); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
	c := shell(t, "true")
	c.Stdout = filepath.Join(c.Stdout, "no", "such", "folder")
	if _, err := Start(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The end of the context ends the whole group: the child of the shell holds the
// pipe too.
func TestAGroupEndsWithTheContext(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		grace  time.Duration
		signal syscall.Signal
	}{
		"asked":  {`exec 3>"$1"; sleep 600 & echo up >&3; wait`, time.Minute, syscall.SIGTERM},
		"killed": {`trap "" TERM; exec 3>"$1"; sleep 600 & echo up >&3; wait`, time.Millisecond, syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			command := shell(t, c.script, pipe)
			command.Grace = c.grace
			looks := make(chan struct{})
			command.Now = func() int64 {
				select {
				case looks <- struct{}{}:
				default:
				}
				return 0
			}
			p, err := Start(ctx, command)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(pipe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if up, err := io.ReadAll(io.LimitReader(f, 3)); err != nil || string(up) != "up\n" {
				t.Fatalf("%q, %v", up, err)
			}
			<-looks
			<-looks // the one before is complete
			cancel()
			used, err := p.Wait()
			if runtime.GOOS == "linux" && used.Memory <= 0 {
				t.Errorf("%+v", used)
			}
			exit := (*exec.ExitError)(nil)
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != c.signal {
				t.Errorf("it ended with %v", err)
			}
			if rest, err := io.ReadAll(f); err != nil || len(rest) > 0 { // until no process has the pipe open
				t.Errorf("%q, %v", rest, err)
			}
		})
	}
}

func TestAPlaceMustBeUsable(t *testing.T) {
	if p, err := Place("any"); err != nil || p.Started != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := Place("4000"); err == nil {
		t.Errorf("%+v", p)
	}
}

// The usage of this process in /proc equals that of the system call, in whole
// ticks.
func TestWatchedTime(t *testing.T) {
	used := func() time.Duration {
		var children syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children); err != nil {
			t.Fatal(err)
		}
		return machine.OwnCPU() + time.Duration(children.Utime.Nano()+children.Stime.Nano())
	}
	for used() < 10*machine.Tick { // so that there is something to measure
	}
	before := used()
	got := timeOf(os.Getpid())
	after := used()
	if runtime.GOOS != "linux" {
		before, after = 0, 0
	}
	if got < before-4*machine.Tick || got > after {
		t.Errorf("%v, want %v to %v", got, before, after)
	}
	if got := family(os.Getpid()); got[0] != os.Getpid() {
		t.Errorf("%v", got)
	}
}

// The last processor is reserved for started processes, if there are others.
func TestPlacement(t *testing.T) {
	usable, err := machine.UsableCPUs()
	if err != nil { // not on this system
		usable = nil
	}
	place, err := Place("")
	if err != nil {
		t.Fatal(err)
	}
	if len(usable) < 2 {
		if place.Started != nil {
			t.Errorf("%+v of %v", place, usable)
		}
		return
	}
	last := len(usable) - 1
	if !slices.Equal(place.Started, usable[last:]) || !slices.Equal(place.Own, usable[:last]) {
		t.Errorf("%+v of %v", place, usable)
	}
	undo, err := place.MoveAway()
	if err != nil {
		t.Fatal(err)
	}
	if now, err := machine.UsableCPUs(); err != nil || !slices.Equal(now, place.Own) {
		t.Errorf("this process is on %v, %v", now, err)
	}
	undo()
	if now, err := machine.UsableCPUs(); err != nil || !slices.Equal(now, usable) {
		t.Errorf("it is on %v afterwards, %v", now, err)
	}
}

// Killing a process also ends its busy loop.
func TestTheNeighbourEndsWithUs(t *testing.T) {
	us := exec.Command("cat")
	end, err := us.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	neighbour := busyLoop(us.Process.Pid)
	if err := errors.Join(neighbour.Start(), end.Close(), us.Wait(), neighbour.Wait()); err != nil {
		t.Error(err)
	}
}
