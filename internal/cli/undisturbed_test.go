package cli

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

func nothingSet(string) (string, bool) { return "", false }

// A run has the runtime to itself, and leaves it as it was. (Not parallel: the
// settings are those of the whole process.)
func TestARunIsUndisturbed(t *testing.T) {
	percent, limit, procs := debug.SetGCPercent(100), debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0)
	defer debug.SetGCPercent(percent)
	p := &Process{Env: nothingSet, Alone: true}
	s := p.undisturbed(1, 1000)
	during, ceiling := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	if got := runtime.GOMAXPROCS(0); got != 1 || during != -1 || ceiling <= memoryInUse() || ceiling == math.MaxInt64 {
		t.Errorf("%d processors, collection at %d %%, a limit of %d bytes", got, during, ceiling)
	}
	if used := s.end(); used != 1 {
		t.Errorf("%d processors were used", used)
	}
	after := debug.SetGCPercent(100)
	if got := runtime.GOMAXPROCS(0); got != procs || after != 100 || debug.SetMemoryLimit(-1) != limit {
		t.Errorf("left with %d processors, collection at %d %%, a limit of %d", got, after, debug.SetMemoryLimit(-1))
	}
}

// GOGC in the environment, and a process that is not the run's alone, are left alone.
func TestTheCollectorIsLeftAlone(t *testing.T) {
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	for _, p := range []*Process{
		{Env: func(name string) (string, bool) { return "50", name == "GOGC" }, Alone: true},
		{Env: nothingSet},
	} {
		s := p.undisturbed(0, 0)
		if got := debug.SetGCPercent(100); got != 100 {
			t.Errorf("alone %v: collection at %d %%", p.Alone, got)
		}
		s.end()
	}
}

func TestNumbersInFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(file, []byte("MemTotal:  8 kB\nMemAvailable:    1234 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, ok := field(file, "MemAvailable:"); n != 1234 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	for _, word := range []string{"Nothing:", "kB\n"} {
		if n, ok := field(file, word); ok {
			t.Errorf("%q is followed by %d", word, n)
		}
	}
	if _, ok := number(file); ok {
		t.Error("words are no number")
	}
	if _, ok := field(file+"x", "MemTotal:"); ok {
		t.Error("a file that is not there has a number")
	}
	if free := freeMemory(); free <= 0 {
		t.Errorf("%d bytes are free", free)
	}
}
