package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Standstill is a time in which requests waited for the first output of their answers, far
// longer than requests of the run do: the server compiled kernels, or had not begun.
type Standstill struct {
	From     float64 `json:"from"` // seconds since the start of the run
	To       float64 `json:"to"`
	Requests int     `json:"requests"`        // that waited, at most at once
	Of       int     `json:"of"`              // requests in flight then
	Longest  float64 `json:"longest"`         // seconds: the longest wait of one of them
	Usual    float64 `json:"usual"`           // seconds: the median wait of the requests after the first wave
	First    bool    `json:"first,omitempty"` // of the first wave, which a warm-up would have met
	// Harm is by how much that makes figures of the whole run wrong: the share of its duration,
	// or the share by which the mean wait is longer. 0 of others than the first wave.
	Harm float64 `json:"harm,omitempty"`
}

// Limits of a standstill. The bound of a natural wait is generous, see usualWaits.bound; what
// few requests have is less evidence.
const (
	standstillLength = time.Second
	standstillTimes  = 3 // the natural wait
	standstillFew    = 4 // requests: of fewer it is
	standstillLone   = 10
	firstWaveShare   = 0.25 // of the first wave, where that is few
	firstWaveChance  = 0.05 // that a few are the first of the run
	referenceLeast   = 8    // requests after the first wave
	cachedMost       = 0.1  // share of the prompt tokens: with more a first wave is slow by nature
)

// begun is when an answer was under way: with its second chunk of output, for which both
// phases of the model have run, or at its end.
func begun(r *trace.Record) trace.Instant {
	seen := 0
	for _, c := range r.Chunks {
		if !c.Kind.Output() {
			continue
		}
		if seen++; seen == 2 && c.At <= r.Done {
			return min(earliest(r, c), r.Done)
		}
	}
	return r.Done
}

// A wait is that of a request for its answer to be under way.
type wait struct {
	from, to trace.Instant // released, under way
	sent     trace.Instant // behind the set-up of a connection, which is no wait for the model
	done     trace.Instant
	size     float64 // tokens to compute until it is under way
	judged   bool    // it succeeded, and has no history
}

func (w wait) seconds() float64        { return Between(w.sent, w.to) }
func (w wait) released() trace.Instant { return w.from }
func (w wait) begun() trace.Instant    { return w.to }
func (w wait) ended() trace.Instant    { return w.done }

// waitOf is that of a request; false of one that was not released, or has no end.
func waitOf(h *head) (w wait, ok bool) {
	if !h.released.Happened() || h.done < h.released {
		return w, false
	}
	w = wait{from: h.released, sent: max(h.released, h.sent), to: h.done, done: h.done, size: float64(h.size), judged: h.ok && h.turn == 0}
	if h.begun >= w.from {
		w.to = h.begun
	}
	return w, true
}

// allWaits are those of the run, in the order of their release.
func (x *observed) allWaits() (all []wait) {
	for h := range x.heads.all {
		if w, ok := waitOf(h); ok {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b wait) int { return cmp.Compare(a.from, b.from) })
	return all
}

// usualWaits are the waits after the first wave.
type usualWaits struct {
	median float64
	each   float64 // wait of a request divided by how many waited when its answer began, median
	e2el   float64 // mean
	size   float64 // mean
	closed bool    // a closed loop
}

// usual is found in the judged waits that began after an instant; false: too few did.
func usual(all []wait, after trace.Instant, closed bool) (u usualWaits, ok bool) {
	froms, tos := sortedWaits(all, wait.released), sortedWaits(all, wait.begun)
	var waits, each []float64
	for _, w := range all {
		if !w.judged || w.from <= after {
			continue
		}
		waiting := upTo(froms, w.to) - before(tos, w.to)
		waits, each = append(waits, w.seconds()), append(each, w.seconds()/float64(max(1, waiting)))
		u.e2el, u.size = u.e2el+Between(w.from, w.done), u.size+w.size
	}
	n := len(waits)
	if n < referenceLeast {
		return u, false
	}
	slices.Sort(waits)
	slices.Sort(each)
	u.median, u.each, u.e2el, u.size, u.closed = waits[n/2], each[n/2], u.e2el/float64(n), u.size/float64(n), closed
	return u, true
}

// bound is how long a request may wait by nature where so many do: for the prefill of all of
// them. In the mean time that an answer takes a closed loop is served once, prefill and all.
func (u usualWaits) bound(waiting int) float64 {
	queue := float64(waiting) * u.each
	if u.closed {
		queue = min(queue, u.e2el)
	}
	return max(u.median, queue)
}

// limit is the wait beyond which the server stood still, of so many requests that waited.
func (u usualWaits) limit(waiting, still int) float64 {
	times := float64(standstillTimes)
	if still < standstillFew {
		times = standstillLone
	}
	return max(standstillLength.Seconds(), times*u.bound(waiting))
}

// upTo is how many of some sorted instants are at most t, before how many are less.
func upTo(sorted []trace.Instant, t trace.Instant) int { return before(sorted, t+1) }

func before(sorted []trace.Instant, t trace.Instant) int {
	i, _ := slices.BinarySearch(sorted, t)
	return i
}

// A stillness is the waits of a run, and those that are usual, as soon as somebody asks.
type stillness struct {
	x    *observed     // nil: waits say nothing
	full trace.Instant // when the load had built up

	loaded bool
	all    []wait
	usualWaits
	known bool // they can be judged
}

func (x *observed) stillness(full trace.Instant) (s stillness) {
	undated := x.run.Origin != nil && x.run.Origin.Detail == trace.Undated
	if x.came != nil && !undated && !x.cacheHelps() {
		s.x, s.full = x, full
	}
	return s
}

// load makes the waits.
func (u *stillness) load() {
	if u.x == nil || u.loaded {
		return
	}
	u.loaded, u.all = true, u.x.allWaits()
	u.usualWaits, u.known = usual(u.all, u.full, u.x.run.Plan.Concurrency > 0 && !u.x.scheduled())
}

// possible reports whether a request waited, or nothing came, for as long as a standstill takes.
func (u *stillness) possible() bool {
	if u.x == nil || u.x.waiting.n == 0 {
		return false
	}
	u.x.came.at(max(1, u.x.waiting.first))
	if len(u.x.came.silences(standstillLength.Seconds())) > 0 {
		return true
	}
	for h := range u.x.heads.all {
		if w, ok := waitOf(h); ok && w.judged && w.seconds() > standstillLength.Seconds() {
			return true
		}
	}
	return false
}

// standstills finds them, in order. The first wave are the requests that were released up to
// the instant full, at which the load had built up.
//
//	a loop of 3   │──── waits ────│││   │─││││  │─││││
//	              │──── waits ────│││   │─││││  │─││││
//	              │─│││││  │─│││││  │─│││││  │─│││││
//	              ├─ standstill ──┤     of 2 of 3 requests
func (u *stillness) standstills() (out []Standstill) {
	if !u.possible() {
		return nil
	}
	if u.load(); !u.known {
		return nil
	}
	found := u.firstWave()
	if u.x.run.Plan.Concurrency > 0 {
		found = append(found, u.together(u.all)...)
	}
	last := u.all[len(u.all)-1].from.Seconds() // then the load drains, and the slowest remain
	if found = append(found, u.silences()...); len(found) == 0 {
		return nil
	}
	natural := u.natural()
	for _, s := range found {
		if s.From > last || slices.ContainsFunc(out, func(o Standstill) bool { return o.From < s.To && s.From < o.To }) {
			continue
		}
		s.Usual, s.Longest = u.median, s.longest(u.all)
		s.First = s.From <= (u.full + trace.Instant(atOnce)).Seconds() // sent a little later
		switch {
		case !s.First && natural(s.From, s.To):
			continue
		case s.First:
			s.Harm = s.harm(u.all, u.x.duration().Seconds())
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Standstill) int { return cmp.Compare(a.From, b.From) })
	return out
}

// cacheHelps reports whether prompts were found in the server's cache so often that later
// requests are faster by that, where it is not known of which requests that is.
func (x *observed) cacheHelps() bool {
	s := x.server()
	return s != nil && !x.cache.some && float64(s.PrefixHit) > cachedMost*float64(s.PrefixQueried)
}

// firstWave is the standstill of at least a quarter of the requests released up to full, of as
// many as are no few, or of few that are the first of the run by no chance. In a closed loop
// those that take their places, and stand still as well, belong to it.
func (u *stillness) firstWave() []Standstill {
	n := slices.IndexFunc(u.all, func(w wait) bool { return w.from > u.full })
	wave, limit := u.all[:n], u.limit(n, standstillFew)
	still := u.still(wave, limit)
	if len(still) < standstillFew && !u.early(n, limit) {
		limit = u.limit(n, len(still))
		still = u.still(wave, limit)
		if len(still) < min(standstillFew, max(1, int(firstWaveShare*float64(n)))) {
			return nil
		}
	}
	for more := still; u.closed && len(more) > 0; {
		last := slices.MaxFunc(more, func(a, b wait) int { return cmp.Compare(a.done, b.done) }).done
		next := n
		for next < len(u.all) && u.all[next].from <= last+trace.Instant(atOnce) {
			next++
		}
		if more = u.still(u.all[n:next], limit); len(more) > 0 {
			still, n = append(still, more...), next
		}
	}
	from, to := still[0].sent, still[0].to
	for _, w := range still {
		from, to = min(from, w.sent), max(to, w.to)
	}
	return []Standstill{{From: from.Seconds(), To: to.Seconds(), Requests: len(still), Of: max(len(wave), len(still))}}
}

// early reports whether the waits of a run that are longer than a limit are among the first of
// it, beginning in a first wave of n, by no chance: any order of the requests would be as likely
// as another, and no other wait is a third as long.
func (u *stillness) early(n int, limit float64) bool {
	judged, slow, prefix, first := 0, 0, 0, false // prefix: judged ones up to the last slow one, and all of the wave
	shortest, other := math.Inf(1), 0.0
	for i, w := range u.all {
		if !w.judged {
			continue
		}
		judged++
		if relative := w.seconds() / u.times(w); relative > limit {
			slow, prefix, shortest, first = slow+1, judged, min(shortest, relative), first || i < n
		} else {
			other = max(other, relative)
		}
		if i < n {
			prefix = judged
		}
	}
	chance := 1.0
	for i := range slow {
		chance *= float64(prefix-i) / float64(judged-i)
	}
	return first && chance <= firstWaveChance && shortest > standstillTimes*other
}

// times is how many times the usual size a request has, at least 1.
func (u usualWaits) times(w wait) float64 { return max(1, w.size/u.size) }

// still are the waits that are longer than a limit, which holds for the usual size.
func (u usualWaits) still(all []wait, limit float64) (still []wait) {
	for _, w := range all {
		if w.judged && w.seconds() > limit*u.times(w) {
			still = append(still, w)
		}
	}
	return still
}

// together finds the times in which at least half of the requests in flight, and two, are in
// waits that are too long even for the most in flight.
func (u usualWaits) together(all []wait) (out []Standstill) {
	var changes []turning
	for _, w := range all {
		changes = append(changes, turning{at: w.from, streams: 1}, turning{at: w.done, streams: -1})
	}
	slices.SortFunc(changes, byTime)
	peak, level := 0, 0
	for _, c := range changes {
		level += int(c.streams)
		peak = max(peak, level)
	}
	for _, w := range u.still(all, u.limit(peak, standstillFew)) {
		changes = append(changes, turning{at: w.sent, silent: 1}, turning{at: w.to, silent: -1})
	}
	slices.SortFunc(changes, byTime)
	spans, _ := sharedSpans(changes, trace.Instant(standstillLength))
	for _, s := range spans {
		if s.Streams >= standstillFew || s.To-s.From > u.limit(peak, s.Streams) {
			out = append(out, Standstill{From: s.From, To: s.To, Requests: s.Streams, Of: s.Of})
		}
	}
	return out
}

// silences finds the times in which nothing came for any request though some waited, and no
// stream had begun. Between those a server may be idle.
func (u *stillness) silences() (out []Standstill) {
	gaps := u.x.came.silences(standstillLength.Seconds())
	if len(gaps) == 0 {
		return nil
	}
	froms, tos, ends := sortedWaits(u.all, wait.released), sortedWaits(u.all, wait.begun), sortedWaits(u.all, wait.ended)
	for _, gap := range gaps {
		next, over := upTo(froms, gap[0]), upTo(ends, gap[0])
		if upTo(tos, gap[0]) > over {
			continue // streams have begun: that is a Stall
		}
		from, waiting := gap[0], next-over
		if waiting == 0 && next < len(froms) { // idle until then
			from = froms[next]
		}
		queue := waiting + upTo(froms, from+seconds(u.median)) - next
		most := waiting + before(froms, gap[1]) - next
		limit := u.limit(queue, queue)
		if most <= 0 || Between(from, gap[1]) <= limit {
			continue
		}
		since, times := u.waiting(u.all, gap[1])
		if from = max(from, since); Between(from, gap[1]) > limit*times {
			out = append(out, Standstill{From: from.Seconds(), To: gap[1].Seconds(), Requests: most, Of: most})
		}
	}
	return out
}

// waiting is since when a request waits at an instant, and how many times the usual size the
// largest of those has, at least 1. Where no wait is judged it is infinite.
func (u usualWaits) waiting(all []wait, at trace.Instant) (since trace.Instant, times float64) {
	since = at
	for _, w := range all {
		if w.judged && w.sent < at && w.to >= at {
			since, times = min(since, w.sent), max(times, u.times(w))
		}
	}
	if times == 0 {
		times = math.Inf(1)
	}
	return since, times
}

// sortedWaits are instants of all waits, sorted.
func sortedWaits(all []wait, of func(wait) trace.Instant) []trace.Instant {
	out := make([]trace.Instant, len(all))
	for i, w := range all {
		out[i] = of(w)
	}
	slices.Sort(out)
	return out
}

// longest computes Longest.
func (s Standstill) longest(all []wait) (longest float64) {
	for _, w := range all {
		if w.judged && w.from.Seconds() < s.To && w.to.Seconds() > s.From {
			longest = max(longest, w.seconds())
		}
	}
	return longest
}

// harm computes Harm.
func (s Standstill) harm(all []wait, duration float64) float64 {
	excess, total, n := 0.0, 0.0, 0
	for _, w := range all {
		if !w.judged {
			continue
		}
		total, n = total+w.seconds(), n+1
		if w.from.Seconds() < s.To && w.to.Seconds() > s.From {
			excess += max(0, w.seconds()-s.Usual)
		}
	}
	return max(over(1, duration)*(s.To-s.From-s.Usual), over(1, total-excess)*excess)
}

// args are those of messages about it.
func (s Standstill) args() []any {
	return []any{
		"from", s.From, "to", s.To, "length", s.To - s.From, "requests", s.Requests, "of", s.Of,
		"longest", s.Longest, "usual", s.Usual, "harm", s.Harm,
	}
}
