package steps

import (
	"maps"
	"slices"
	"time"
)

// atLimit is the number of steps at a limit that make it one.
const atLimit = 15

// sequences is the largest number of streams that ran at once, if that many did so often while
// others waited, and the client was not what held it; else 0.
func sequences(logs []*steplog, most int) int {
	n := 0
	for _, l := range logs {
		if l.Limit > 0 && l.Limit <= most {
			continue
		}
		for k := range l.steps {
			if l.steps[k].waiting > 0 && l.steps[k].running() == most {
				n++
			}
		}
	}
	if n < atLimit {
		return 0
	}
	return most
}

// mostPrompts is the largest number of first tokens in a step that counts as a limit of prompts.
const mostPrompts = 16

// prompts is the largest number of first tokens in a step, if that many came often while others
// waited; else 0.
func prompts(logs []*steplog) int {
	n := map[int]int{}
	most := 0
	for _, l := range logs {
		for k := range l.steps {
			if s := &l.steps[k]; s.waiting > 0 && s.active > 0 {
				n[len(s.firsts)]++
				most = max(most, len(s.firsts))
			}
		}
	}
	if most > mostPrompts || n[most] < atLimit {
		return 0
	}
	return most
}

// memory is the most that the cache held, if it held nearly that often while others waited and
// places were left; else 0.
func memory(logs []*steplog, mostRunning int) float64 {
	most := 0.0
	for _, l := range logs {
		for k := range l.steps {
			most = max(most, l.steps[k].held())
		}
	}
	var near []float64
	for _, l := range logs {
		for k := range l.steps {
			if s := &l.steps[k]; s.waiting > 0 && s.held() > 0.96*most && float64(s.running()) < 0.95*float64(mostRunning) {
				near = append(near, s.held())
			}
		}
	}
	if len(near) < atLimit {
		return 0
	}
	slices.Sort(near)
	return near[len(near)*9/10]
}

// chunk is the time between two tokens of a step: by how much a step of more tokens is wider.
func chunk(logs []*steplog) time.Duration {
	wide := map[int][]float64{}
	for _, l := range logs {
		for i := range l.steps {
			if s := &l.steps[i]; s.running() >= 4 {
				wide[s.running()] = append(wide[s.running()], (s.last - s.end).Seconds())
			}
		}
	}
	var n, sx, sy, sxx, sxy float64
	for _, size := range slices.Sorted(maps.Keys(wide)) {
		widths := wide[size]
		x, y, w := float64(size), median(widths), float64(len(widths))
		n, sx, sy, sxx, sxy = n+w, sx+w*x, sy+w*y, sxx+w*x*x, sxy+w*x*y
	}
	if d := n*sxx - sx*sx; d > 0 {
		return time.Duration(max(0, (n*sxy-sx*sy)/d) * float64(time.Second))
	}
	return 0
}

// delayOf is what the first token of a request to an idle engine takes beyond its step, or
// the delay of the schedule, and false, if there are too few such requests.
func delayOf(logs []*steplog, t *try) (delay time.Duration, seen bool) {
	var over []float64
	for _, l := range logs {
		for i, s := range l.Streams {
			k := l.first[i]
			n := float64(s.Prompt - s.Cached)
			if n > float64(t.budget) || k == 0 || l.steps[k].active > 0 || len(l.steps[k].firsts) > 1 || l.steps[k-1].last > s.Sent+time.Millisecond {
				continue
			}
			step := t.c.of(&t.form, &row{tokens: n, pair: n * (float64(s.Cached) + n/2)})
			over = append(over, (s.At[0]-s.Sent).Seconds()-step)
		}
	}
	if len(over) < 3 {
		return t.work + t.delay, false
	}
	return time.Duration(max(0, median(over)) * float64(time.Second)), true
}
