package machine

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// MostProcs is how many processors the Go runtime is given at most: beyond, idle
	// ones that look for work cost more than they bring.
	MostProcs = 8
	heapRoom  = 1 << 30 // garbage that may pile up, in bytes
)

// Quiet says how the Go runtime keeps out of the way of a measurement. Its settings
// are those of the whole process.
type Quiet struct {
	Shared  bool  // the process is not the measurement's alone: nothing is changed
	Procs   int   // processors to use at once; 0: all, up to MostProcs
	Heap    int64 // bytes that the measurement will keep
	Collect bool  // the garbage collector runs as it does, by GOGC for example
}

// A QuietRuntime is a Go runtime that keeps out of the way.
type QuietRuntime struct {
	procs, before int
	percent       int
	limit         int64
	over          chan struct{}
	watching      sync.WaitGroup
}

// Start limits the processors and holds the garbage collector back until Stop: the heap
// may grow by a gigabyte and what the measurement keeps, unless half of the free memory
// is less. A collection costs a client milliseconds at any moment; a run that allocates
// next to nothing loses nothing without one.
func (q Quiet) Start() *QuietRuntime {
	r := &QuietRuntime{before: runtime.GOMAXPROCS(0)}
	r.procs = r.before
	if q.Shared {
		return r
	}
	if r.procs = q.Procs; r.procs == 0 {
		r.procs = min(r.before, MostProcs)
	}
	runtime.GOMAXPROCS(r.procs)
	if q.Collect {
		return r
	}
	free := freeMemory()
	room := min(heapRoom+q.Heap, free/2)
	r.limit = debug.SetMemoryLimit(memoryInUse() + room)
	r.percent = debug.SetGCPercent(-1)
	r.over = make(chan struct{})
	r.watching.Go(func() { r.watch(free) })
	return r
}

// watch gives the collector its way when so much is in use that the limit would have
// it run all the time.
func (r *QuietRuntime) watch(free int64) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if live := readMetric("/gc/heap/live:bytes"); live > debug.SetMemoryLimit(-1)/2 {
				debug.SetMemoryLimit(memoryInUse() + free/2)
				debug.SetGCPercent(100)
				return
			}
		case <-r.over:
			return
		}
	}
}

// Stop restores what was before and tells how many processors there were until then.
func (r *QuietRuntime) Stop() (procs int) {
	if r.over != nil {
		close(r.over)
		r.watching.Wait() // it may be setting the same
		debug.SetGCPercent(r.percent)
		debug.SetMemoryLimit(r.limit)
	}
	runtime.GOMAXPROCS(r.before)
	return r.procs
}

// memoryInUse is what the runtime has taken from the system and not given back.
func memoryInUse() int64 {
	return readMetric("/memory/classes/total:bytes") - readMetric("/memory/classes/heap/released:bytes")
}

func readMetric(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(min(s[0].Value.Uint64(), math.MaxInt64))
}
