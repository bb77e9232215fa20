package machine

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// A measurement controls the runtime, and restores it. (Not parallel: the settings
// apply to the whole process.)
func TestQuietRuntime(t *testing.T) {
	percent, limit, procs := debug.SetGCPercent(100), debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0)
	defer debug.SetGCPercent(percent)
	r := Quiet{Procs: 1, Heap: 24000}.Start()
	during, ceiling := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	if got := runtime.GOMAXPROCS(0); got != 1 || during != -1 || ceiling <= memoryInUse() || ceiling == math.MaxInt64 {
		t.Errorf("%d processors, collection at %d %%, a limit of %d bytes", got, during, ceiling)
	}
	if used := r.Stop(); used != 1 {
		t.Errorf("%d processors were used", used)
	}
	after := debug.SetGCPercent(100)
	if got := runtime.GOMAXPROCS(0); got != procs || after != 100 || debug.SetMemoryLimit(-1) != limit {
		t.Errorf("left with %d processors, collection at %d %%, a limit of %d", got, after, debug.SetMemoryLimit(-1))
	}
}

// Garbage of what runs alongside a measurement is collected once there is much of it, and not
// before. Outside of a measurement the collector runs by itself.
func TestGarbageAlongsideIsCollected(t *testing.T) {
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	Discard(2 * sideRoom)
	r := Quiet{}.Start()
	defer r.Stop()
	collections := func() int64 { return readMetric("/gc/cycles/forced:gc-cycles") }
	before := collections()
	for range 63 {
		Discard(sideRoom / 64)
	}
	if r.discarded.Load() != sideRoom/64*63 || collections() != before {
		t.Errorf("%d bytes counted, %d collections", r.discarded.Load(), collections()-before)
	}
	Discard(sideRoom / 64)
	for deadline := time.Now().Add(time.Minute); collections() == before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("no collection")
		}
	}
}

// A collector with its own setting, and one in a process that also does other work,
// are not changed.
func TestTheCollectorIsLeftAlone(t *testing.T) {
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	for _, q := range []Quiet{{Collect: true}, {Shared: true}} {
		r := q.Start()
		if got := debug.SetGCPercent(100); got != 100 {
			t.Errorf("%+v: collection at %d %%", q, got)
		}
		r.Stop()
	}
}

func TestNumbersInFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(file, []byte("MemTotal:  8 kB\nMemAvailable:    1234 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, ok := Field(file, "MemAvailable:"); n != 1234 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	for _, word := range []string{"Nothing:", "kB\n"} {
		if n, ok := Field(file, word); ok {
			t.Errorf("%q is followed by %d", word, n)
		}
	}
	if _, ok := number(file); ok {
		t.Error("words are no number")
	}
	if _, ok := Field(file+"x", "MemTotal:"); ok {
		t.Error("a file that is not there has a number")
	}
	if free := freeMemory(); free <= 0 {
		t.Errorf("%d bytes are free", free)
	}
}
