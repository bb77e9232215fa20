package calibrate

import (
	"maps"
	"slices"
	"time"
)

// atLimit is the number of steps at a limit that make it one.
const atLimit = 15

// A plateau is so many steps near the highest number of streams, and that share of all since the
// first of them, while others wait. Meanwhile so many streams begin that their number would
// have wandered off, if memory, or the budget of prompts, were what holds it.
const (
	plateauSteps = 15
	plateauShare = 0.8
	plateauWidth = 0.03 // of the highest number, for prompts that are not complete and have no token to show
	plateauBegun = 0.25 // of the highest number
)

// sequences is the largest number of streams that ran at once, if that many did so often while
// others waited, or nearly that many nearly always, and the client was not what held it; else 0.
func sequences(logs []*steplog, most int) int {
	n, flat := 0, false
	for _, l := range logs {
		if l.Limit == 0 || l.Limit > most {
			n += l.crowded(most)
			flat = flat || l.flat(most)
		}
	}
	if n >= atLimit || flat {
		return most
	}
	return 0
}

// crowded counts steps with so many streams while others wait.
func (l *steplog) crowded(most int) (n int) {
	for k := range l.steps {
		if l.steps[k].waiting > 0 && l.steps[k].running() == most {
			n++
		}
	}
	return n
}

// flat reports whether there is a plateau below so many streams.
func (l *steplog) flat(most int) bool {
	low := most - max(1, int(plateauWidth*float64(most)))
	near, since, begun := 0, 0, 0
	for k := range l.steps {
		s := &l.steps[k]
		if s.waiting == 0 {
			continue
		}
		if s.running() >= low {
			near++
		}
		if near > 0 {
			since++
			begun += len(s.firsts)
		}
	}
	return near >= plateauSteps && float64(near) >= plateauShare*float64(since) && float64(begun) >= plateauBegun*float64(most)
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
	var over, before []float64
	for _, l := range logs {
		for i, s := range l.Streams {
			before = append(before, (s.known - s.Sent).Seconds())
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
		return t.work + t.delay + time.Duration(median(before)*float64(time.Second)), false
	}
	return time.Duration(max(0, median(over)) * float64(time.Second)), true
}
