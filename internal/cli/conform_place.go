package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/conform"
)

// A placement says which processors are whose.
type placement struct {
	client int // -1: whichever the system gives it
	server []int
}

// choosePlacement reads --cpu.
func choosePlacement(text string) (placement, error) {
	free := placement{client: -1}
	usable, err := usableCPUs()
	switch {
	case text == "any":
		return free, nil
	case err != nil && text == "":
		return free, nil // this system cannot
	case err != nil:
		return free, usagef("--cpu %s: %w", text, err)
	case text == "" && len(usable) < 2:
		return free, nil
	case text == "":
		text = fmt.Sprint(usable[len(usable)-1])
	}
	place := free
	for _, cpu := range usable {
		if fmt.Sprint(cpu) == text {
			place.client = cpu
		} else {
			place.server = append(place.server, cpu)
		}
	}
	if place.client < 0 {
		return free, usagef("--cpu %s: there are %v, or any", text, usable)
	}
	if place.server == nil {
		return free, usagef("--cpu %s: it is the only one, and the server needs another: --cpu any", text)
	}
	return place, nil
}

// takeServer moves this process, in which the server runs, off the client's
// processor; release undoes it. The server wants two processors for goroutines
// (truth.Server), and the runtime would soon go down to one with those of the system,
// unless it is told.
func (p placement) takeServer() (release func(), err error) {
	before := runtime.GOMAXPROCS(0)
	back := func() { runtime.GOMAXPROCS(before) }
	runtime.GOMAXPROCS(min(max(2, before), mostProcs))
	if p.client < 0 {
		return back, nil
	}
	if err := moveSelf(p.server); err != nil {
		back()
		return nil, fmt.Errorf("keep the server off processor %d: %w", p.client, err)
	}
	return func() {
		back()
		_ = moveSelf(append([]int{p.client}, p.server...))
	}, nil
}

// start starts a process on the client's processor.
func (p placement) start(cmd *exec.Cmd) error {
	if p.client < 0 {
		return cmd.Start()
	}
	return startOn([]int{p.client}, p.server, cmd.Start)
}

// restless is a process that never rests as long as another one is there.
func restless(pid int) *exec.Cmd {
	return exec.Command("/bin/sh", "-c", `while kill -0 "$1" 2>/dev/null; do :; done`, "-", strconv.Itoa(pid))
}

// disturb starts a process that never rests where the client is going to be;
// quiet ends it and tells what it used.
func (p placement) disturb(busy bool) (quiet func() time.Duration, err error) {
	if !busy {
		return func() time.Duration { return 0 }, nil
	}
	cmd := restless(os.Getpid())
	if err := p.start(cmd); err != nil {
		return nil, fmt.Errorf("start a busy neighbour: %w", err)
	}
	return func() time.Duration {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}, nil
}

// others watches what processes use that have no part in a run.
type others struct {
	began     time.Time
	all, self time.Duration // processor time used until then; all is 0 where it is not known
}

func watchOthers() others {
	return others{began: time.Now(), all: processorTime(), self: ownTime()}
}

// used is how many processors others took in the mean, beside the client and its
// neighbour; -1 where it is not known.
func (o others) used(client conform.Usage, neighbour time.Duration) float64 {
	all := processorTime()
	if o.all == 0 || all == 0 {
		return -1
	}
	rest := all - o.all - (ownTime() - o.self) - client.CPU - neighbour
	return max(0, rest.Seconds()/time.Since(o.began).Seconds())
}

// ownTime is what this process has used.
func ownTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processorTime is what all processes have used, and what the machine's host
// kept from them; 0 where /proc does not tell. Interrupts are not in it: those
// of the loopback are the run's own.
func processorTime() time.Duration {
	const tick = time.Second / 100 // of /proc, on every machine
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	fields := bytes.Fields(line) // cpu user nice system idle iowait irq softirq steal
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return 0
	}
	ticks := 0
	for _, i := range []int{1, 2, 3, 8} {
		n, err := strconv.Atoi(string(fields[i]))
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}
