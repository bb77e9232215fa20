package live

import (
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
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
	{"watch.running", func(s resources.LiveServer) *float64 { return s.Running }, Count, true, 0},
	{"watch.waiting", func(s resources.LiveServer) *float64 { return s.Waiting }, Count, true, 0},
	{"watch.kv", func(s resources.LiveServer) *float64 { return s.KVUse }, Percent, true, 1},
	{"watch.hits", func(s resources.LiveServer) *float64 { return s.CacheHits }, Percent, false, 0},
	{"watch.preemptions", func(s resources.LiveServer) *float64 { return s.Preemptions }, Count, false, 0},
	{"watch.prompt", func(s resources.LiveServer) *float64 { return s.Prompt }, perSecond, true, 0},
	{"watch.output", func(s resources.LiveServer) *float64 { return s.Output }, perSecond, true, 0},
	{"watch.step", func(s resources.LiveServer) *float64 { return s.StepTokens }, Short, false, 0},
	{"watch.accepted", func(s resources.LiveServer) *float64 { return s.Accepted }, Percent, false, 0},
}

func celsius(v *float64) string { return Known(v, "%.0f °C", 1) }
func mega(v *float64) string    { return Known(v, "%.0f MHz", 1e-6) }

func perSecond(v *float64) string {
	if s := Short(v); s != Unknown {
		return s + " tok/s"
	}
	return Unknown
}

// memory is what is used of what there is.
func memory(used, total *float64) string {
	const gib = 1.0 / (1 << 30)
	if total == nil {
		if s := Known(used, "%.1f GiB", gib); s != Unknown {
			return s
		}
		return Unknown
	}
	return Known(used, "%.1f", gib) + "/" + Known(total, "%.1f GiB", gib)
}

// cpu is how many processors of a host are in use.
func cpu(h resources.LiveHost, code plan.Code, l *words.Language) string {
	if h.CPU == nil || h.CPUs == nil {
		return Unknown
	}
	return l.Word(code, "used", Known(h.CPU, "%.1f", 1), "all", Known(h.CPUs, "%.0f", 1))
}

// pressure are the shares of the time in which tasks waited for processors, memory and disks.
func pressure(h resources.LiveHost) string {
	if h.CPUPressure == nil && h.MemoryPressure == nil && h.IOPressure == nil {
		return Unknown
	}
	return Known(h.CPUPressure, "%.0f", 100) + "/" + Known(h.MemoryPressure, "%.0f", 100) + "/" + Known(h.IOPressure, "%.0f", 100) + " %"
}
