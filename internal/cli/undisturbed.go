package cli

import (
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	mostProcs  = 8       // beyond, idle processors looking for work cost more than they bring
	heapRoom   = 1 << 30 // garbage that may pile up, in bytes
	chunkBytes = 24      // of a chunk in memory, with what a growing slice wastes
)

// A solitude is a stretch of time in which the runtime keeps out of the way.
type solitude struct {
	procs, before int
	percent       int
	limit         int64
	over          chan struct{}
	watching      sync.WaitGroup
}

// undisturbed holds the garbage collector back until end: the heap may grow by a
// gigabyte and what the chunks take, unless half of the free memory is less. A
// collection costs a client milliseconds at any moment; without one nothing of a
// run's is lost, since it allocates next to nothing. GOGC in the environment has the
// last word.
func (p *Process) undisturbed(procs, chunks int) *solitude {
	s := &solitude{before: runtime.GOMAXPROCS(0), over: make(chan struct{})}
	s.procs = s.before
	if !p.Alone {
		close(s.over)
		return s
	}
	if procs == 0 {
		procs = min(s.before, mostProcs)
	}
	s.procs = procs
	runtime.GOMAXPROCS(procs)
	if p.getenv("GOGC") != "" {
		close(s.over)
		return s
	}
	free := freeMemory()
	room := min(heapRoom+int64(chunks)*chunkBytes, free/2)
	s.limit = debug.SetMemoryLimit(memoryInUse() + room)
	s.percent = debug.SetGCPercent(-1)
	s.watching.Go(func() { s.watch(free) })
	return s
}

// watch gives the collector its way when so much is in use that the limit would have
// it run all the time.
func (s *solitude) watch(free int64) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if live := liveHeap(); live > debug.SetMemoryLimit(-1)/2 {
				debug.SetMemoryLimit(memoryInUse() + free/2)
				debug.SetGCPercent(100)
				return
			}
		case <-s.over:
			return
		}
	}
}

// end restores what was before and tells how many processors the client had.
func (s *solitude) end() (procs int) {
	select {
	case <-s.over: // nothing was changed but the processors
	default:
		close(s.over)
		s.watching.Wait() // it may be setting the same
		debug.SetGCPercent(s.percent)
		debug.SetMemoryLimit(s.limit)
	}
	runtime.GOMAXPROCS(s.before)
	return s.procs
}

// memoryInUse is what the runtime has taken from the system and not given back.
func memoryInUse() int64 {
	return readMetric("/memory/classes/total:bytes") - readMetric("/memory/classes/heap/released:bytes")
}

// liveHeap is what the last collection found in use.
func liveHeap() int64 { return readMetric("/gc/heap/live:bytes") }

func readMetric(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(min(s[0].Value.Uint64(), math.MaxInt64))
}

// unknownMemory is taken to be free where the system does not tell.
const unknownMemory = 4 << 30

// freeMemory is what this process can still have: of the machine, and of its control
// group.
func freeMemory() int64 {
	free := int64(unknownMemory)
	if kB, ok := field("/proc/meminfo", "MemAvailable:"); ok {
		free = kB << 10
	}
	const group = "/sys/fs/cgroup"
	if limit, ok := number(path.Join(group, "memory.max")); ok {
		used, _ := number(path.Join(group, "memory.current"))
		free = min(free, max(0, limit-used))
	}
	return free
}

// field is the number behind a word in a file of words.
func field(file, word string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(text), word)
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	return n, err == nil
}

// number is the number that a file holds.
func number(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
