package machine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// UsableCPUs returns the processors that this process may run on, in order.
func UsableCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus, nil
}

func setOf(cpus []int) *unix.CPUSet {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return &set
}

// KeepOn pins all threads of this process to these processors. A thread inherits
// the affinity of the one that starts it, so after two passes no thread is left
// elsewhere.
func KeepOn(cpus []int) error {
	for range 2 {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return fmt.Errorf("/proc/self/task: %w", err)
			}
			if err := unix.SchedSetaffinity(id, setOf(cpus)); err != nil && !errors.Is(err, unix.ESRCH) { // ended
				return err
			}
		}
	}
	return nil
}

// StartOn calls start on a thread pinned to these processors, so that a process it
// starts inherits that; then the thread is pinned to back.
func StartOn(cpus, back []int, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedSetaffinity(0, setOf(cpus)); err != nil {
		return err
	}
	err := start()
	return errors.Join(err, unix.SchedSetaffinity(0, setOf(back)))
}
