package machine

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// MostProcs is the maximum number of processors for the Go runtime: beyond it,
	// idle ones that look for work cost more than they contribute.
	MostProcs = 8
	heapRoom  = 1 << 30  // garbage that may accumulate, in bytes
	sideRoom  = 64 << 20 // of that, for garbage of telemetry and the like
)

// Quiet says how the Go runtime avoids disturbing a measurement. Its settings apply to the entire process.
type Quiet struct {
	Shared  bool  // the process also does other work: nothing is changed
	Procs   int   // processors to use at once; 0: all, up to MostProcs
	Heap    int64 // bytes that the measurement will retain
	Collect bool  // the garbage collector keeps its settings, such as GOGC
}

// A QuietRuntime is a Go runtime during a measurement.
type QuietRuntime struct {
	procs, before int
	percent       int
	limit         int64
	over          chan struct{}
	watching      sync.WaitGroup
	discarded     atomic.Int64
	collect       chan struct{}
}

// quiet is the runtime during a measurement that holds the collector back, else nil.
var quiet atomic.Pointer[QuietRuntime]

// Discard counts n bytes that something alongside a measurement leaves as garbage: a page of metrics, a line of a
// program. While the collector is held back, it runs once for each 64 MiB of them; the rest of the limit is for the
// measurement itself. Discard does not wait for it.
func Discard(n int) {
	r := quiet.Load()
	if r == nil || r.discarded.Add(int64(n)) < sideRoom {
		return
	}
	r.discarded.Store(0)
	select {
	case r.collect <- struct{}{}:
	default: // it is about to run
	}
}

// Allocated is the memory that the process has allocated since its start, garbage included, in bytes.
func Allocated() int64 { return readMetric("/gc/heap/allocs:bytes") }

// Start limits the processors, makes room for descriptors, and holds back the garbage collector until Stop: the
// heap may grow by a gigabyte plus the memory that the measurement retains, or by
// half of the free memory if that is less. A collection can delay a client by
// milliseconds at any time; a run that allocates next to nothing does not need one.
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
	ReserveDescriptors()
	if q.Collect {
		return r
	}
	free := freeMemory()
	room := min(heapRoom+q.Heap, free/2)
	r.limit = debug.SetMemoryLimit(memoryInUse() + room)
	r.percent = debug.SetGCPercent(-1)
	r.over, r.collect = make(chan struct{}), make(chan struct{}, 1)
	quiet.Store(r)
	r.watching.Go(func() { r.watch(free) })
	return r
}

// watch runs the collector when Discard asks for it, and releases it when so much memory is in use
// that the limit would make it run all the time.
func (r *QuietRuntime) watch(free int64) {
	defer quiet.CompareAndSwap(r, nil)
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
		case <-r.collect:
			runtime.GC()
		case <-r.over:
			return
		}
	}
}

// Stop restores the previous settings and returns the number of processors used until then. It collects the garbage
// of the measurement, so that the next steps find memory instead of asking for more.
func (r *QuietRuntime) Stop() (procs int) {
	if r.over != nil {
		close(r.over)
		r.watching.Wait() // it may be changing the same settings
		debug.SetGCPercent(r.percent)
		debug.SetMemoryLimit(r.limit)
		runtime.GC()
	}
	runtime.GOMAXPROCS(r.before)
	return r.procs
}

// memoryInUse is the memory that the runtime has taken from the system and not
// returned.
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
