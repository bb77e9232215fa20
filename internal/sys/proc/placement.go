package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// A Placement divides the processors between started processes and this one. The
// zero value leaves it to the system.
type Placement struct {
	Started []int
	Own     []int
}

// Place reserves the processor with this number for started processes. An empty
// string stands for the last one, if there are others and the system supports it;
// "any" reserves none.
func Place(cpu string) (Placement, error) {
	usable, err := machine.UsableCPUs()
	switch {
	case cpu == "any" || cpu == "" && (err != nil || len(usable) < 2):
		return Placement{}, nil
	case err != nil:
		return Placement{}, err
	case cpu == "":
		cpu = fmt.Sprint(usable[len(usable)-1])
	}
	var p Placement
	for _, n := range usable {
		if fmt.Sprint(n) == cpu {
			p.Started = []int{n}
		} else {
			p.Own = append(p.Own, n)
		}
	}
	switch {
	case p.Started == nil:
		return Placement{}, fmt.Errorf("no such processor: choose one of %v, or any", usable)
	case p.Own == nil:
		return Placement{}, errors.New("it is the only processor, and this process needs another: choose any")
	}
	return p, nil
}

// MoveAway moves this process off the processors of started processes; undo lets it
// use all again.
func (p Placement) MoveAway() (undo func(), err error) {
	if p.Started == nil {
		return func() {}, nil
	}
	if err := machine.KeepOn(p.Own); err != nil {
		return nil, fmt.Errorf("keep this process off processor %v: %w", p.Started, err)
	}
	return func() { _ = machine.KeepOn(append(p.Started, p.Own...)) }, nil
}

func (p Placement) start(cmd *exec.Cmd) error {
	if p.Started == nil {
		return cmd.Start()
	}
	return machine.StartOn(p.Started, p.Own, cmd.Start)
}

// StartBusyLoop starts a process that keeps a processor busy, in the same place as
// other started processes. It ends with this process at the latest; stop ends it
// and returns its CPU time.
func StartBusyLoop(on Placement) (stop func() time.Duration, err error) {
	cmd := busyLoop(os.Getpid())
	if err := on.start(cmd); err != nil {
		return nil, fmt.Errorf("start a busy loop: %w", err)
	}
	return func() time.Duration {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}, nil
}

// busyLoop keeps a processor busy while another process exists.
func busyLoop(pid int) *exec.Cmd {
	return exec.Command("/bin/sh", "-c", `while kill -0 "$1" 2>/dev/null; do :; done`, "-", strconv.Itoa(pid))
}
