package driver

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// usage is the resource usage of this process so far.
type usage struct {
	cpu time.Duration
	gc  debug.GCStats

	contention machine.ContentionWatch
}

func processUsage() usage {
	u := usage{cpu: machine.OwnCPU(), contention: machine.WatchContention()}
	debug.ReadGCStats(&u.gc)
	return u
}

// since returns the difference from an earlier reading. Only the newest 256 pauses
// are known individually.
func (u usage) since(before usage) trace.Client {
	lost := before.contention.Contention()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := trace.Client{
		CPU:        u.cpu - before.cpu,
		GCCycles:   int(u.gc.NumGC - before.gc.NumGC),
		GCPause:    u.gc.PauseTotal - before.gc.PauseTotal,
		Memory:     m.Sys,
		Contention: &trace.Contention{Waited: lost.Waited, Others: lost.Others, Steal: lost.Steal, Pressure: lost.Pressure},
	}
	for _, pause := range u.gc.Pause[:min(c.GCCycles, len(u.gc.Pause))] {
		c.GCMax = max(c.GCMax, pause)
	}
	return c
}
