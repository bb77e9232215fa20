package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
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

// A StallFinder finds stalls in a sequence of records without storing them. It remembers gaps
// that are long enough to matter and, for each tenth of a second, when something arrived. Its
// zero value is ready.
//
//	stream 1   ││││││            ││││││       silent ├──────────┤
//	stream 2    ││││││             │││││              ├──────────┤
//	stream 3   │││││││││││││││││││││││││
//	                  ├─ stall ─┤             where at least half of them are
type StallFinder struct {
	// Most is how many gaps are remembered, 0 for all. Where there are more, the threshold rises
	// and the shorter ones are dropped.
	Most int
	// Grid is the unit, in ns, to which inexact instants of streams are rounded down.
	Grid trace.Instant

	least    trace.Instant // of gaps that are remembered; 0: stallLength
	gaps     [][2]trace.Instant
	arrivals arrivals
}

// A Stream has the instants of a request that a StallFinder needs a second time: when it was
// released, when its first chunk of output came, Never if none did, and when it was done.
type Stream struct{ Released, First, Done trace.Instant }

// Add takes a record.
func (f *StallFinder) Add(r *trace.Record) {
	f.arrivals.add(r)
	first, _, n := r.Output()
	if n == 0 || r.Done < first {
		return
	}
	f.least = max(f.least, trace.Instant(stallLength))
	for from, to := range gapsOf(r) {
		if to-from >= f.least && from >= 0 {
			f.gaps = append(f.gaps, [2]trace.Instant{from, to})
		}
	}
	for f.Most > 0 && len(f.gaps) > f.Most {
		f.least *= 2
		f.gaps = slices.DeleteFunc(f.gaps, func(g [2]trace.Instant) bool { return g[1]-g[0] < f.least })
	}
}

// Stalls are those of the streams of the records, in order. itl is the median gap in seconds.
func (f *StallFinder) Stalls(streams iter.Seq[Stream], itl float64) []Stall {
	many := f.shared(streams, max(f.least, seconds(max(stallLength.Seconds(), stallGaps*itl))))
	for _, s := range f.lone(streams, max(loneLength.Seconds(), loneGaps*itl)) {
		if !slices.ContainsFunc(many, func(o Stall) bool { return o.From < s.To && s.From < o.To }) {
			many = append(many, s)
		}
	}
	slices.SortFunc(many, func(a, b Stall) int { return cmp.Compare(a.From, b.From) })
	return many
}

// Bursts are the stalls of buffered streams: silence between bursts is not a stall.
func (f *StallFinder) Bursts(streams iter.Seq[Stream]) []Stall {
	return f.lone(streams, loneLength.Seconds())
}

// rounded is an instant as streams have it, so that what was at the same instant stays so.
func (f *StallFinder) rounded(t trace.Instant) trace.Instant { return t - t%max(1, f.Grid) }

// streams are those of the run, for the second pass of a finder.
func (x *observed) streams(yield func(Stream) bool) {
	for h := range x.heads.all {
		if !yield(Stream{h.released, h.first, h.done}) {
			return
		}
	}
}

// A stallPass has a finder take all records.
type stallPass struct{ *StallFinder }

func (p stallPass) add(r *trace.Record) { p.Add(r) }
func (p stallPass) next() bool          { return false }

// bursts replaces the stalls of a run with answers that were held back.
func (x *observed) bursts(s *Summary) (err error) {
	if x.stalls == nil {
		x.stalls = new(StallFinder)
		err = x.records.read(stallPass{x.stalls})
	}
	s.Stalls, s.Unstalled = x.stalls.Bursts(x.streams), nil
	return err
}

func seconds(s float64) trace.Instant { return trace.Instant(s * 1e9) }

// A turning is an instant at which the number of streams, or of those that are silent,
// changes.
type turning struct {
	at              trace.Instant
	streams, silent int8
}

// shared finds the times of at least that length in which at least half of the streams, and
// two, are within a gap of that length. A gap ends when its chunk can have come at the
// earliest: what the client read late is not the server's.
func (f *StallFinder) shared(all iter.Seq[Stream], length trace.Instant) []Stall {
	out, spans := sharedSpans(f.turnings(all, length), length)
	for i, n := range through(spans, all, func(s Stream) trace.Instant { return s.Released }) {
		out[i].InFlight = n
	}
	return out
}

// sharedSpans are the times of at least that length in which at least half of the streams, and
// two, are silent.
func sharedSpans(turnings []turning, length trace.Instant) (out []Stall, spans [][2]trace.Instant) {
	streams, silent, from, most, of := 0, 0, trace.Never, 0, 0
	for i, t := range turnings {
		streams, silent = streams+int(t.streams), silent+int(t.silent)
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
				out = append(out, Stall{From: from.Seconds(), To: t.at.Seconds(), Streams: most, Of: of})
				spans = append(spans, [2]trace.Instant{from, t.at})
			}
			from, most = trace.Never, 0
		}
	}
	return out, spans
}

// turnings are those of the streams in the order of time, where enough of them are silent for the
// length at once: elsewhere nobody stands still, and how many streams there are does not matter. A
// stream lasts from its first chunk of output to the end of the answer.
func (f *StallFinder) turnings(streams iter.Seq[Stream], length trace.Instant) (all []turning) {
	for _, gap := range f.gaps {
		if gap[1]-gap[0] >= length {
			all = append(all, turning{at: f.rounded(gap[0]), silent: 1}, turning{at: f.rounded(gap[1]), silent: -1})
		}
	}
	quiet := quietSpans(all)
	if quiet == nil {
		return nil
	}
	for s := range streams {
		if s.First == trace.Never || s.Done < s.First {
			continue
		}
		i := sort.Search(len(quiet), func(i int) bool { return quiet[i][1] > s.First })
		for ; i < len(quiet) && quiet[i][0] < s.Done; i++ {
			all = append(all, turning{at: max(s.First, quiet[i][0]), streams: 1}, turning{at: min(s.Done, quiet[i][1]), streams: -1})
		}
	}
	slices.SortFunc(all, byTime)
	return all
}

func byTime(a, b turning) int { return cmp.Compare(a.at, b.at) }

// quietSpans are the times in which so many streams are silent that it may be a stall. It sorts the
// turnings.
func quietSpans(all []turning) (spans [][2]trace.Instant) {
	slices.SortFunc(all, byTime)
	silent := 0
	for i, t := range all {
		if silent += int(t.silent); i+1 < len(all) && all[i+1].at == t.at {
			continue
		}
		open := len(spans) > 0 && spans[len(spans)-1][1] == trace.Never
		switch {
		case silent >= stallStreams && !open:
			spans = append(spans, [2]trace.Instant{t.at, trace.Never})
		case silent < stallStreams && open:
			spans[len(spans)-1][1] = t.at
		}
	}
	return spans
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

// mostStalls is how many are named.
const mostStalls = 3

// StallNotes name the standstill of the first wave, and of the stalls and the other standstills
// the longest, in order.
func (s Summary) StallNotes() (out []plan.Message) {
	first, others := s.standstills()
	lengths := make([]float64, len(others))
	for i, o := range others {
		lengths[i] = o.to - o.from
	}
	slices.Sort(lengths)
	for _, n := range first {
		out = append(out, n.note)
	}
	unnamed := 0
	for _, o := range others {
		if o.to-o.from >= lengths[max(0, len(lengths)-mostStalls)] {
			out = append(out, o.note)
		} else {
			unnamed++
		}
	}
	if unnamed > 0 {
		out = append(out, plan.Msg("report.stalled-more", "times", unnamed))
	}
	return out
}

// A noted is a time and the note on it.
type noted struct {
	from, to float64
	note     plan.Message
}

// standstills are the notes on those of the first wave, and on the other ones and the stalls,
// in order. A time that is both is noted once.
func (s Summary) standstills() (first, others []noted) {
	overlaps := func(n noted) func(noted) bool {
		return func(o noted) bool { return o.from < n.to && n.from < o.to }
	}
	add := func(n noted) {
		if !slices.ContainsFunc(first, overlaps(n)) && !slices.ContainsFunc(others, overlaps(n)) {
			others = append(others, n)
		}
	}
	warm := s.Run.WarmUp != nil && !s.Run.WarmUp.Brief
	cold := s.Run.Kind == trace.Measured && !warm && s.Run.Plan.Dialect == Pitot
	for _, st := range s.Standstills {
		if st.First {
			first = append(first, noted{st.From, st.To, plan.Msg("report.first-wave", append(st.args(), "cold", cold)...)})
		}
	}
	for _, st := range s.Stalls {
		add(noted{st.From, st.To, plan.Msg("report.stalled", "from", st.From, "length", st.To-st.From,
			"streams", st.Streams, "of", st.Of, "all", st.Streams == st.Of, "flight", st.InFlight)})
	}
	for _, st := range s.Standstills {
		add(noted{st.From, st.To, plan.Msg("report.standstill", st.args()...)})
	}
	slices.SortFunc(others, func(a, b noted) int { return cmp.Compare(a.from, b.from) })
	return first, others
}

// Unstalled is a run without the requests that were in flight during its stalls, or during the
// standstills after the first wave. Stalls that no prompts explain come by chance: n of them in
// a run are n ± √n in another, and the share of the run that they make up is as uncertain.
type Unstalled struct {
	Touched int       `json:"touched"` // requests left out
	Service Latencies `json:"service"` // of the others
	Chance  struct {
		Times  int     `json:"times"`
		Length float64 `json:"length"` // seconds; of half of the streams half of the time
		Share  float64 `json:"share"`  // of the run that is
		Rate   float64 `json:"rate"`   // answers a second outside of these times
	} `json:"chance"`
}

// random is the standard deviation between runs of the share of the time that stalls by chance
// make up.
func (u Unstalled) random() float64 {
	return over(1, math.Sqrt(float64(u.Chance.Times))) * u.Chance.Share
}

// An outage is a time in which requests got nothing, and the share of them.
type outage struct {
	from, to, share float64
	natural         bool // prompts that were computed in it may have taken as long
}

// outages are the stalls, and the standstills after the first wave in other times, in order.
func (w *window) outages(stalls []Stall) (out []outage) {
	if len(stalls) > 0 {
		natural := w.waits.natural()
		for _, s := range stalls {
			out = append(out, outage{s.From, s.To, over(s.Streams, float64(s.Of)), natural(s.From, s.To)})
		}
	}
	for _, s := range w.still {
		if !s.First && !slices.ContainsFunc(stalls, func(o Stall) bool { return o.From < s.To && s.From < o.To }) {
			out = append(out, outage{s.From, s.To, over(s.Requests, float64(s.Of)), false})
		}
	}
	slices.SortFunc(out, func(a, b outage) int { return cmp.Compare(a.from, b.from) })
	return slices.DeleteFunc(out, func(o outage) bool {
		return slices.ContainsFunc(w.still, func(s Standstill) bool { return s.First && o.from < s.To && s.From < o.to })
	})
}

// natural reports whether the prompts that waited in a time may have been computed in it.
func (u *stillness) natural() func(from, to float64) bool {
	if u.load(); !u.known {
		return func(float64, float64) bool { return true }
	}
	type sum struct { // of what the first waits cost
		at   trace.Instant
		cost float64
	}
	ended, began := make([]sum, len(u.all)+1), make([]float64, len(u.all)+1)
	for i, w := range u.all {
		cost := u.each * u.times(w)
		ended[i+1], began[i+1] = sum{w.to, cost}, began[i]+cost
	}
	slices.SortFunc(ended[1:], func(a, b sum) int { return cmp.Compare(a.at, b.at) })
	for i := range u.all {
		ended[i+1].cost += ended[i].cost
	}
	return func(from, to float64) bool {
		i, _ := slices.BinarySearchFunc(u.all, to, func(w wait, at float64) int { return cmp.Compare(w.from.Seconds(), at) })
		j := sort.Search(len(u.all), func(j int) bool { return ended[j+1].at.Seconds() > from })
		return to-from <= standstillTimes*(began[i]-ended[j].cost)
	}
}

// unstalled finds the stalls, and adds the figures without the requests that were in flight during outages.
func (x *observed) unstalled(s *Summary, w *window, percentiles []float64) error {
	if x.stalls != nil {
		s.Stalls = x.stalls.Stalls(x.streams, s.Service.ITL.Median)
	}
	outages := w.outages(s.Stalls)
	if len(outages) == 0 {
		return nil
	}
	touches := func(released, done trace.Instant) bool { return released.Happened() && within(outages, released, done) }
	var gaps *gapSample
	if x.run.Plan.Stream {
		gaps = newGapSample(percentiles, func(r *trace.Record) bool { return Owns(r) && !touches(r.Released, r.Done) })
		if err := x.records.read(gaps); err != nil {
			return err
		}
	}
	u := &Unstalled{Service: x.latencies(func(h *head) bool { return !touches(h.released, h.done) }, sent, gaps, nil, percentiles)}
	chance := slices.DeleteFunc(slices.Clone(outages), func(o outage) bool { return o.natural })
	silent, outside := 0.0, 0
	for _, o := range chance {
		u.Chance.Length += o.share * (o.to - o.from)
		silent += o.to - o.from
	}
	for h := range x.heads.all {
		if touches(h.released, h.done) {
			u.Touched++
		}
		if h.ok && !within(chance, h.done, h.done) {
			outside++
		}
	}
	u.Chance.Times, u.Chance.Share, u.Chance.Rate = len(chance), over(1, s.Duration)*u.Chance.Length, over(outside, s.Duration-silent)
	s.Unstalled = u
	return nil
}

// within reports whether one of the outages, which are sorted, was between two instants.
func within(outages []outage, from, to trace.Instant) bool {
	next, _ := slices.BinarySearchFunc(outages, from.Seconds(), endsAfter)
	return next < len(outages) && to.Seconds() > outages[next].from
}

// endsAfter compares an outage with an instant: one that ends then is over.
func endsAfter(s outage, at float64) int {
	if s.to <= at {
		return -1
	}
	return 1
}
