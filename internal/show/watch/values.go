package watch

import (
	"fmt"
	"math"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// unknown stands for what is not known.
const unknown = "-"

// A quantity of a server.
type quantity struct {
	code  plan.Code // its name
	of    func(resources.LiveServer) *float64
	say   func(*float64) string
	drawn bool    // its course is
	most  float64 // of its course; 0: the largest of the last minute
}

var quantities = []quantity{
	{"watch.running", func(s resources.LiveServer) *float64 { return s.Running }, count, true, 0},
	{"watch.waiting", func(s resources.LiveServer) *float64 { return s.Waiting }, count, true, 0},
	{"watch.kv", func(s resources.LiveServer) *float64 { return s.KVUse }, percent, true, 1},
	{"watch.hits", func(s resources.LiveServer) *float64 { return s.CacheHits }, percent, false, 0},
	{"watch.preemptions", func(s resources.LiveServer) *float64 { return s.Preemptions }, count, false, 0},
	{"watch.prompt", func(s resources.LiveServer) *float64 { return s.Prompt }, perSecond, true, 0},
	{"watch.output", func(s resources.LiveServer) *float64 { return s.Output }, perSecond, true, 0},
	{"watch.step", func(s resources.LiveServer) *float64 { return s.StepTokens }, short, false, 0},
	{"watch.accepted", func(s resources.LiveServer) *float64 { return s.Accepted }, percent, false, 0},
}

// known is a value by a verb, "-" for none.
func known(v *float64, verb string, scale float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return unknown
	}
	return fmt.Sprintf(verb, *v*scale)
}

func count(v *float64) string   { return known(v, "%.0f", 1) }
func watts(v *float64) string   { return known(v, "%.0f W", 1) }
func celsius(v *float64) string { return known(v, "%.0f °C", 1) }
func mega(v *float64) string    { return known(v, "%.0f MHz", 1e-6) }

// percent is a share.
func percent(v *float64) string {
	if v != nil && *v > 0 && *v < 0.0995 {
		return known(v, "%.1f %%", 100)
	}
	return known(v, "%.0f %%", 100)
}

// short is a number in about three digits.
func short(v *float64) string {
	if v != nil && math.Abs(*v) < 100 {
		return known(v, "%.3g", 1)
	}
	return known(v, "%.0f", 1)
}

func perSecond(v *float64) string {
	if s := short(v); s != unknown {
		return s + " tok/s"
	}
	return unknown
}

// memory is what is used of what there is.
func memory(used, total *float64) string {
	const gib = 1.0 / (1 << 30)
	if total == nil {
		if s := known(used, "%.1f GiB", gib); s != unknown {
			return s
		}
		return unknown
	}
	return known(used, "%.1f", gib) + "/" + known(total, "%.1f GiB", gib)
}

// cpu is how many processors of a host are in use.
func cpu(h resources.LiveHost, code plan.Code, l *words.Language) string {
	if h.CPU == nil || h.CPUs == nil {
		return unknown
	}
	return l.Word(code, "used", known(h.CPU, "%.1f", 1), "all", known(h.CPUs, "%.0f", 1))
}

// pressure are the shares of the time in which tasks waited for processors, memory and disks.
func pressure(h resources.LiveHost) string {
	if h.CPUPressure == nil && h.MemoryPressure == nil && h.IOPressure == nil {
		return unknown
	}
	return known(h.CPUPressure, "%.0f", 100) + "/" + known(h.MemoryPressure, "%.0f", 100) + "/" + known(h.IOPressure, "%.0f", 100) + " %"
}

// bars are the heights of a course.
var bars = []rune("▁▂▃▄▅▆▇█")

// spark draws a course in at most width characters, the newest at the right: each is the mean of
// the values that it stands for, a blank where none is known.
func spark(course []*float64, width int, most float64) string {
	each := (len(course) + width - 1) / max(width, 1)
	if each == 0 {
		return ""
	}
	var means []float64 // from the newest
	for end := len(course); end > 0; end -= each {
		sum, n := 0.0, 0
		for _, v := range course[max(0, end-each):end] {
			if v != nil {
				sum, n = sum+*v, n+1
			}
		}
		means = append(means, sum/float64(n)) // NaN of none
	}
	if most == 0 {
		for _, m := range means {
			most = max(most, zeroIfNaN(m))
		}
	}
	drawn := make([]rune, len(means))
	for i, m := range means {
		drawn[len(means)-1-i] = bar(m, most)
	}
	return string(drawn)
}

func bar(v, most float64) rune {
	switch {
	case math.IsNaN(v):
		return ' '
	case most <= 0:
		return bars[0]
	}
	return bars[min(max(int(math.Round(v/most*float64(len(bars)-1))), 0), len(bars)-1)]
}

func zeroIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// largest is the largest value of a course, nil if none is known.
func largest(course []*float64) (most *float64) {
	for _, v := range course {
		if v != nil && (most == nil || *v > *most) {
			most = v
		}
	}
	return most
}
