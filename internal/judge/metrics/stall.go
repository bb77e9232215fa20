package metrics

import (
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Stall is a time in which no stream got anything though some had begun: the server,
// or the way to it, stood still.
type Stall struct {
	From     float64 `json:"from"` // seconds since the start of the run
	To       float64 `json:"to"`
	Streams  int     `json:"streams"`   // that had begun and were not done
	InFlight int     `json:"in_flight"` // requests, these streams included
}

// Limits of a stall. A long prompt can hold up every stream as well, so a stall is also
// long against the gaps between chunks.
const (
	stallLength = time.Second
	stallGaps   = 20               // times the median ITL
	stallWindow = stallLength / 10 // of looking for one
	mostWindows = 1 << 20
)

// stalls finds them, in order. itl is the median gap in seconds.
func stalls(records []*trace.Record, itl float64) (out []Stall) {
	least := max(stallLength.Seconds(), stallGaps*itl)
	for _, gap := range silences(records) {
		if Between(gap[0], gap[1]) < least {
			continue
		}
		s := Stall{From: gap[0].Seconds(), To: gap[1].Seconds()}
		for _, r := range records {
			if !r.Released.Happened() || r.Released > gap[0] || r.Done < gap[1] {
				continue
			}
			s.InFlight++
			if first, _, n := r.Output(); n > 0 && first <= gap[0] {
				s.Streams++
			}
		}
		if s.Streams > 0 {
			out = append(out, s)
		}
	}
	return out
}

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
			out = append(out, plan.Say("report.stalled", "from", stall.From, "length", took, "streams", stall.Streams, "flight", stall.InFlight))
		}
	}
	if more := len(s.Stalls) - len(out); more > 0 {
		out = append(out, plan.Say("report.stalled-more", "times", more))
	}
	return out
}
