package metrics

import (
	"cmp"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Stall is a time in which many streams got nothing: the server, or the way to it, stood
// still.
type Stall struct {
	From     float64 `json:"from"` // seconds since the start of the run
	To       float64 `json:"to"`
	Streams  int     `json:"streams"`   // that got nothing, at most at once
	Of       int     `json:"of"`        // streams that had begun and were not done then
	InFlight int     `json:"in_flight"` // requests, these streams included
}

// Limits of a stall. A long prompt can hold up every stream as well, so a stall is also long
// against the gaps between chunks. A single stream is less evidence than several.
const (
	stallLength  = 500 * time.Millisecond
	stallGaps    = 10  // times the median ITL
	stallShare   = 0.5 // of the streams
	stallStreams = 2
	loneLength   = time.Second // of a single stream
	loneGaps     = 20
)

// stalls finds them, in order. itl is the median gap in seconds.
//
//	stream 1   ││││││            ││││││       silent ├──────────┤
//	stream 2    ││││││             │││││              ├──────────┤
//	stream 3   │││││││││││││││││││││││││
//	                  ├─ stall ─┤             where at least half of them are
func stalls(records []*trace.Record, itl float64) []Stall {
	many := shared(records, seconds(max(stallLength.Seconds(), stallGaps*itl)))
	for _, s := range lone(records, max(loneLength.Seconds(), loneGaps*itl)) {
		if !slices.ContainsFunc(many, func(o Stall) bool { return o.From < s.To && s.From < o.To }) {
			many = append(many, s)
		}
	}
	slices.SortFunc(many, func(a, b Stall) int { return cmp.Compare(a.From, b.From) })
	return many
}

func seconds(s float64) trace.Instant { return trace.Instant(s * 1e9) }

// A turning is an instant at which the number of streams, or of those that are silent,
// changes.
type turning struct {
	at              trace.Instant
	streams, silent int
}

// shared finds the times of at least that length in which at least half of the streams, and
// two, are within a gap of that length. A gap ends when its chunk can have come at the
// earliest: what the client read late is not the server's.
func shared(records []*trace.Record, length trace.Instant) (out []Stall) {
	turnings := turnings(records, length)
	streams, silent, from, most, of := 0, 0, trace.Never, 0, 0
	for i, t := range turnings {
		streams, silent = streams+t.streams, silent+t.silent
		if i+1 < len(turnings) && turnings[i+1].at == t.at {
			continue
		}
		still := silent >= stallStreams && float64(silent) >= stallShare*float64(streams)
		if still && silent > most {
			most, of = silent, streams
		}
		switch {
		case still && from == trace.Never:
			from = t.at
		case still:
		case from != trace.Never:
			if t.at-from >= length {
				out = append(out, Stall{From: from.Seconds(), To: t.at.Seconds(), Streams: most, Of: of, InFlight: waiting(records, from, t.at)})
			}
			from, most = trace.Never, 0
		}
	}
	return out
}

// turnings are those of the streams in the order of time, nil if none of them is ever silent
// for the length. A stream lasts from its first chunk of output to the end of the answer.
func turnings(records []*trace.Record, length trace.Instant) (all []turning) {
	quiet := false
	for _, r := range records {
		first, _, n := r.Output()
		if n == 0 || r.Done < first {
			continue
		}
		all = append(all, turning{at: first, streams: 1}, turning{at: r.Done, streams: -1})
		for from, to := range gapsOf(r) {
			if to-from >= length && from >= 0 {
				quiet = true
				all = append(all, turning{at: from, silent: 1}, turning{at: to, silent: -1})
			}
		}
	}
	if !quiet {
		return nil
	}
	slices.SortFunc(all, func(a, b turning) int { return cmp.Compare(a.at, b.at) })
	return all
}

// gapsOf are the times between the chunks of a stream, and after the last of them.
func gapsOf(r *trace.Record) func(yield func(from, to trace.Instant) bool) {
	return func(yield func(from, to trace.Instant) bool) {
		prev := trace.Never
		for _, c := range r.Chunks {
			if prev != trace.Never && !yield(prev, min(earliest(r, c), r.Done)) {
				return
			}
			if prev != trace.Never || c.Kind.Output() {
				prev = c.At
			}
		}
		if prev != trace.Never {
			yield(prev, r.Done)
		}
	}
}

// waiting is how many requests are in flight from one instant to another.
func waiting(records []*trace.Record, from, to trace.Instant) (n int) {
	for _, r := range records {
		if r.Released.Happened() && r.Released <= from && r.Done >= to {
			n++
		}
	}
	return n
}

// lone finds the times in which nothing came for any request though a stream had begun.
func lone(records []*trace.Record, least float64) (out []Stall) {
	for _, gap := range silences(records) {
		if Between(gap[0], gap[1]) < least {
			continue
		}
		s := Stall{From: gap[0].Seconds(), To: gap[1].Seconds(), InFlight: waiting(records, gap[0], gap[1])}
		for _, r := range records {
			if first, _, n := r.Output(); n > 0 && r.Released.Happened() && first <= gap[0] && r.Done >= gap[1] {
				s.Streams++
			}
		}
		if s.Of = s.Streams; s.Streams > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Windows of looking for a time in which nothing came.
const (
	stallWindow = loneLength / 10
	mostWindows = 1 << 20
)

// silences are the times between two windows with arrivals that have a window without any
// between them, from the last arrival of the one to the first of the other.
func silences(records []*trace.Record) (gaps [][2]trace.Instant) {
	end := trace.Instant(0)
	for _, r := range records {
		end = max(end, r.Done)
	}
	width := max(trace.Instant(stallWindow), end/mostWindows+1)
	type window struct{ first, last trace.Instant } // arrivals; 0 for none
	windows := make([]window, end/width+1)
	arrives := func(at trace.Instant) {
		if i := int(at / width); at > 0 && i < len(windows) {
			w := &windows[i]
			if w.first == 0 || at < w.first {
				w.first = at
			}
			w.last = max(w.last, at)
		}
	}
	for _, r := range records {
		arrives(r.FirstByte)
		arrives(r.Done)
		for _, c := range r.Chunks {
			arrives(c.At)
		}
	}
	prev := -1
	for i, w := range windows {
		if w.first == 0 {
			continue
		}
		if prev >= 0 && i > prev+1 {
			gaps = append(gaps, [2]trace.Instant{windows[prev].last, w.first})
		}
		prev = i
	}
	return gaps
}

// mostStalls is how many are named.
const mostStalls = 3

// StallNotes name the longest of the stalls, in order.
func (s Summary) StallNotes() (out []plan.Message) {
	lengths := make([]float64, len(s.Stalls))
	for i, stall := range s.Stalls {
		lengths[i] = stall.To - stall.From
	}
	slices.Sort(lengths)
	for _, stall := range s.Stalls {
		if took := stall.To - stall.From; took >= lengths[max(0, len(lengths)-mostStalls)] {
			out = append(out, plan.Say("report.stalled", "from", stall.From, "length", took, "streams", stall.Streams, "of", stall.Of, "all", stall.Streams == stall.Of, "flight", stall.InFlight))
		}
	}
	if more := len(s.Stalls) - len(out); more > 0 {
		out = append(out, plan.Say("report.stalled-more", "times", more))
	}
	return out
}

// Unstalled is a run without the requests that stalls touched: those that were in flight
// during one.
type Unstalled struct {
	Touched int       `json:"touched"` // requests left out
	Service Latencies `json:"service"` // of the others
}

// unstalled leaves out the requests in flight during stalls; nil without any.
func unstalled(records []*trace.Record, stalls []Stall, percentiles []float64) *Unstalled {
	if len(stalls) == 0 {
		return nil
	}
	var others []*trace.Record
	for _, r := range records {
		next, _ := slices.BinarySearchFunc(stalls, r.Released.Seconds(), endsAfter)
		if !r.Released.Happened() || next == len(stalls) || r.Done.Seconds() <= stalls[next].From {
			others = append(others, r)
		}
	}
	return &Unstalled{Touched: len(records) - len(others), Service: latencies(others, true, percentiles, sent, nil)}
}

// endsAfter compares a stall with an instant: one that ends then is over.
func endsAfter(s Stall, at float64) int {
	if s.To <= at {
		return -1
	}
	return 1
}
