package watch

import (
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/screen"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A quantity of a server.
type quantity struct {
	code  plan.Code // its name
	of    func(resources.LiveServer) *float64
	say   func(*float64) string
	drawn bool    // its course is
	most  float64 // of its course; 0: the largest of the last minute
}

var quantities = []quantity{
	{"watch.running", func(s resources.LiveServer) *float64 { return s.Running }, screen.Count, true, 0},
	{"watch.waiting", func(s resources.LiveServer) *float64 { return s.Waiting }, screen.Count, true, 0},
	{"watch.kv", func(s resources.LiveServer) *float64 { return s.KVUse }, screen.Percent, true, 1},
	{"watch.hits", func(s resources.LiveServer) *float64 { return s.CacheHits }, screen.Percent, false, 0},
	{"watch.preemptions", func(s resources.LiveServer) *float64 { return s.Preemptions }, screen.Count, false, 0},
	{"watch.prompt", func(s resources.LiveServer) *float64 { return s.Prompt }, perSecond, true, 0},
	{"watch.output", func(s resources.LiveServer) *float64 { return s.Output }, perSecond, true, 0},
	{"watch.step", func(s resources.LiveServer) *float64 { return s.StepTokens }, screen.Short, false, 0},
	{"watch.accepted", func(s resources.LiveServer) *float64 { return s.Accepted }, screen.Percent, false, 0},
}

func celsius(v *float64) string { return screen.Known(v, "%.0f °C", 1) }
func mega(v *float64) string    { return screen.Known(v, "%.0f MHz", 1e-6) }

func perSecond(v *float64) string {
	if s := screen.Short(v); s != screen.Unknown {
		return s + " tok/s"
	}
	return screen.Unknown
}

// memory is what is used of what there is.
func memory(used, total *float64) string {
	const gib = 1.0 / (1 << 30)
	if total == nil {
		if s := screen.Known(used, "%.1f GiB", gib); s != screen.Unknown {
			return s
		}
		return screen.Unknown
	}
	return screen.Known(used, "%.1f", gib) + "/" + screen.Known(total, "%.1f GiB", gib)
}

// cpu is how many processors of a host are in use.
func cpu(h resources.LiveHost, code plan.Code, l *words.Language) string {
	if h.CPU == nil || h.CPUs == nil {
		return screen.Unknown
	}
	return l.Word(code, "used", screen.Known(h.CPU, "%.1f", 1), "all", screen.Known(h.CPUs, "%.0f", 1))
}

// pressure are the shares of the time in which tasks waited for processors, memory and disks.
func pressure(h resources.LiveHost) string {
	if h.CPUPressure == nil && h.MemoryPressure == nil && h.IOPressure == nil {
		return screen.Unknown
	}
	return screen.Known(h.CPUPressure, "%.0f", 100) + "/" + screen.Known(h.MemoryPressure, "%.0f", 100) + "/" + screen.Known(h.IOPressure, "%.0f", 100) + " %"
}
