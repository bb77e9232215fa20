// Package devices is programs that report devices, for tests: nvidia-smi, npu-smi and amd-smi
// whose devices have a known power, and which are as slow, as silent and as short-lived as a
// test wants them.
//
// A Fake is used in one of two ways:
//
//   - As a process. TestMain calls Main first; Install puts the test binary into PATH under the
//     names of the programs, and of an ssh whose every host is this machine. What starts
//     programs, be it the code under test or a built pitot, then starts the fakes.
//   - Within the process, by Start, in the time of a testing/synctest bubble: a minute of
//     samples takes no time. A Running has the methods of a collect.Process.
//
// The truth to hold samples against is Curve: power at an instant, energy between two.
package devices

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Programs are the names that Install knows, beside ssh.
var Programs = []string{"nvidia-smi", "npu-smi", "amd-smi"}

// A Fake is how a program behaves.
type Fake struct {
	Programs []string      // those that are installed; nil: all
	Fails    []string      // that only say that they cannot reach the driver
	Devices  int           // 0: one
	Power    Curve         // of each device; the second die of an NPU tells none
	Busy     int           // utilization in percent
	Others   int           // processes on device 0 (nvidia-smi)
	Offset   time.Duration // its wall clock less that of the test
	Old      bool          // a version without the fields and flags that came later
	Delay    time.Duration // before the first line
	Period   time.Duration // between samples; 0: as the arguments say
	Samples  int           // before Then
	Then     Then
	Replay   time.Time // the beginning of the log of H200, which nvidia-smi repeats in place of Power; zero: Power
	Text     string    // a recording, line by line at each period, in place of samples
	Starts   string    // a file that gets a line at each start of a process, its arguments
	Alive    string    // a named pipe that a process that samples holds open for writing as long as it lives
}

// Then is what a program does after some samples.
type Then string

// What a program can do.
const (
	GoOn    Then = ""
	Hang    Then = "hang"    // no line any more
	Die     Then = "die"     // exit code 3 and a line on stderr
	Garbage Then = "garbage" // lines of something else, ten in a period
	Long    Then = "long"    // a line of 10 MB, and on
)

// A Curve is power over time: straight between corners, constant before the first and after the
// last. It has at least one corner, except for a power of 0.
type Curve struct {
	From    time.Time // the instant of the corners
	Corners []Corner  // in order
}

// A Corner is a power at an instant.
type Corner struct {
	At time.Duration // since Curve.From
	W  float64
}

// Watts is the power at an instant.
func (c Curve) Watts(t time.Time) float64 {
	since := t.Sub(c.From)
	i, _ := slices.BinarySearchFunc(c.Corners, since, func(x Corner, at time.Duration) int { return cmp.Compare(x.At, at) })
	switch {
	case len(c.Corners) == 0:
		return 0
	case i == 0:
		return c.Corners[0].W
	case i == len(c.Corners):
		return c.Corners[i-1].W
	}
	a, b := c.Corners[i-1], c.Corners[i]
	return a.W + (b.W-a.W)*float64(since-a.At)/float64(b.At-a.At)
}

// Joules is the energy between two instants.
func (c Curve) Joules(from, to time.Time) (sum float64) {
	at := []time.Time{from}
	for _, x := range c.Corners {
		if t := c.From.Add(x.At); t.After(from) && t.Before(to) {
			at = append(at, t)
		}
	}
	at = append(at, to)
	for i := 1; i < len(at); i++ {
		sum += (c.Watts(at[i-1]) + c.Watts(at[i])) / 2 * at[i].Sub(at[i-1]).Seconds()
	}
	return sum
}

// variable is the environment variable with the Fake of a process.
const variable = "PITOT_FAKE_DEVICES"

// Install puts the programs into the PATH of the test and of what it starts, until it ends. Its
// TestMain calls Main.
func Install(t testing.TB, f Fake) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	names := f.Programs
	if names == nil {
		names = Programs
	}
	for _, name := range append([]string{"ssh"}, names...) {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(variable, string(text))
}

// Main is the program of that name, if this process was started as one; otherwise it returns.
func Main() {
	name := filepath.Base(os.Args[0])
	if name == "ssh" && os.Getenv(variable) != "" {
		ssh()
	}
	if !slices.Contains(Programs, name) {
		return
	}
	var f Fake
	if err := json.Unmarshal([]byte(os.Getenv(variable)), &f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	f.process(name)
}

// ssh runs the command on this machine, as the login shell of a host would.
func ssh() {
	i := slices.Index(os.Args, "--")
	if i < 0 || len(os.Args) < i+3 {
		fmt.Fprintln(os.Stderr, "ssh: no -- HOST COMMAND")
		os.Exit(255)
	}
	shell, err := exec.LookPath("sh")
	if err == nil {
		err = syscall.Exec(shell, []string{"sh", "-c", strings.Join(os.Args[i+2:], " ")}, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(255)
}

// process is a program as a process, to its end.
func (f Fake) process(name string) {
	if f.Starts != "" {
		if log, err := os.OpenFile(f.Starts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(log, name, strings.Join(os.Args[1:], " "))
			log.Close()
		}
	}
	if slices.Contains(f.Fails, name) {
		fmt.Println(name + " has failed because it cannot reach the driver")
		os.Exit(9)
	}
	args := append([]string{name}, os.Args[1:]...)
	if _, samples, _ := f.program(args); samples != nil && f.Alive != "" {
		if _, err := os.OpenFile(f.Alive, os.O_WRONLY, 0); err != nil { // open until the process ends
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	code := f.play(args, func(line string) bool {
		_, err := fmt.Println(line)
		return err == nil
	}, nil)
	if code != 0 {
		fmt.Fprintln(os.Stderr, name+": lost the device")
	}
	os.Exit(code)
}
