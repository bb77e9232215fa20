package conform

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Run is what there is to say of one run of a cell when it has ended.
type Run struct {
	Cell    Cell
	Log     truth.Log
	Claim   *Claim // nil if the client gave none
	Usage   Usage
	StartUp Usage
	Samples []Sample // of the client's CPU time, in order; none where it is not known
	Others  float64  // processors that others used meanwhile; -1 if it is not known
	// Records are the client's own of every request, nil if it keeps none that can
	// be read.
	Records []*trace.Record
}

// Compare holds a client's claim against the log.
func Compare(r Run) Result {
	out := Result{Cell: r.Cell, Claim: r.Claim, Usage: r.Usage, Server: serverOf(r.Cell, r.Log), Others: r.Others}
	set := measuredBy(r.Cell, r.Log.Requests, r.Claim)
	out.Requests, out.Notes = set.counts, set.notes
	out.Tokens = Tokens{Claimed: -1}
	for _, q := range set.whole {
		out.Tokens.Written += q.Tokens
	}
	out.Rate = Rate{Asked: r.Cell.Rate, Offered: pace(set.all)}
	if n := written(r.Log.Requests); n > 0 {
		out.Usage.PerToken = max(0, r.Usage.CPU-r.StartUp.CPU).Seconds() / float64(n)
	}
	out.Usage.Share = shareOf(r.Samples, set.all)
	if n := blocked(set.all); n > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d writes found the socket full: the client did not read, and so delayed what it was to measure", n))
	}
	if out.Disturbed() {
		out.Notes = append(out.Notes, fmt.Sprintf("other processes used %.1f processors meanwhile", r.Others))
	}
	if r.Claim == nil {
		return out
	}
	out.Tokens.Claimed = r.Claim.Output
	out.Figures = figures(*r.Claim, set.whole)
	out.Precision = precision(r.Records, set.whole)
	out.Notes = append(out.Notes, r.Claim.Notes...)
	return out
}

// blocked are the writes that had to wait for the client.
func blocked(requests []*truth.Request) (n int) {
	for _, r := range requests {
		for _, w := range r.Writes {
			if w.Blocked {
				n++
			}
		}
	}
	return n
}

// written are the tokens of all answers.
func written(requests []truth.Request) (n int) {
	for _, r := range requests {
		n += r.Tokens
	}
	return n
}

// figures are those that the claim has, beside what they are by the same
// definitions.
func figures(c Claim, requests []*truth.Request) (out []Figure) {
	f, _ := FormatNamed(c.Format)
	for _, m := range Metrics() {
		claimed, defined := c.Latencies[m], f.Define[m]
		if len(claimed) == 0 || defined.add == nil {
			continue
		}
		var s sample
		for _, r := range requests {
			defined.add(&s, r)
		}
		if len(s.values) == 0 {
			continue
		}
		true := f.rule(s)
		for _, statistic := range Statistics() {
			v, ok := claimed[statistic]
			if !ok {
				continue
			}
			figure := Figure{Metric: m, Statistic: statistic, Claimed: v, True: true[statistic], N: len(s.values)}
			if bound, ok := c.Bounds[m][statistic]; ok {
				figure.Bound = &bound
			}
			figure.Void = statistic != Mean && slices.Contains(c.Void, m)
			out = append(out, figure)
		}
	}
	return out
}

// A measured set are the requests that the client's figures are about.
type measured struct {
	all    []*truth.Request // in the order of their arrival
	whole  []*truth.Request // of all, those that were answered to the end
	counts Requests
	notes  []string
}

func (m *measured) notef(format string, a ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, a...))
}

// measuredBy finds the requests that a client measured among all that came.
// Trials and warm-up come before them, and may ask for another length. So the
// measured ones are the last, as many as the client counts, of those that ask
// for the length of the cell.
func measuredBy(c Cell, requests []truth.Request, claim *Claim) (m measured) {
	all := asking(requests, c.Output)
	if len(all) == 0 {
		if all = asking(requests, 0); len(all) > 0 {
			m.notef("no request asked for %d tokens, as the cell wants: the first asked for %d", c.Output, all[0].Wanted)
		}
	}
	m.all = all
	sent := c.Requests
	if claim != nil && claim.OK >= 0 && claim.Failed >= 0 {
		sent = claim.Sent()
	}
	if sent < len(all) {
		m.all = all[len(all)-sent:]
	}
	m.counts = Requests{Asked: c.Requests, OK: -1, Failed: -1, SetAside: len(asking(requests, 0)) - len(m.all), Peak: peak(m.all)}
	for _, r := range m.all {
		if r.Ended == truth.Complete {
			m.whole = append(m.whole, r)
		}
	}
	m.counts.Served = len(m.whole)
	m.counts.Broken = len(m.all) - len(m.whole)
	if claim != nil {
		m.counts.OK, m.counts.Failed = claim.OK, claim.Failed
		m.disagree(c, sent)
	}
	return m
}

// disagree notes where client and server count differently, and where the load
// was not the cell's.
func (m *measured) disagree(c Cell, sent int) {
	n := m.counts
	if got := len(m.all); sent > got {
		m.notef("the client counts %d requests, the server got %d", sent, got)
	}
	if sent != n.Asked {
		m.notef("the client made %d requests, the cell asks for %d", sent, n.Asked)
	}
	if !c.Open() && n.Peak < c.Streams*9/10 {
		m.notef("at most %d of %d streams were open at once", n.Peak, c.Streams)
	}
	switch {
	case n.OK > n.Served:
		m.notef("the client counts %d whole answers, the server wrote %d to the end: figures of the others are in its samples", n.OK, n.Served)
	case n.OK >= 0 && n.OK < n.Served:
		m.notef("the client counts %d whole answers, the server wrote %d to the end", n.OK, n.Served)
	}
}

// asking are the requests for so many tokens, or with 0 for any; those that the
// server refused are no load.
func asking(requests []truth.Request, tokens int) (out []*truth.Request) {
	for i := range requests {
		if r := &requests[i]; r.Ended != truth.Refused && (tokens == 0 || r.Wanted == tokens) {
			out = append(out, r)
		}
	}
	return out
}

// peak is how many requests were open at once, at most.
func peak(requests []*truth.Request) int {
	var starts, ends []int64
	for _, r := range requests {
		starts = append(starts, r.Received)
		end := r.Received
		if n := len(r.Writes); n > 0 {
			end = r.Writes[n-1].Before
		}
		ends = append(ends, end)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	most, ended := 0, 0
	for i, at := range starts {
		for ended < len(ends) && ends[ended] <= at {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}

// pace is the rate of arrivals: of the gaps between them, one less than they
// are.
func pace(requests []*truth.Request) float64 {
	if len(requests) < 2 {
		return 0
	}
	span := seconds(requests[0].Received, requests[len(requests)-1].Received)
	if span <= 0 {
		return 0
	}
	return float64(len(requests)-1) / span
}

// maxBusy is the share of the time that the server may take for its writes, and
// not be the limit.
const maxBusy = 0.90

func serverOf(c Cell, l truth.Log) Server {
	s := Server{LatenessP50: l.Lateness.P50, LatenessP99: l.Lateness.P99, LatenessMax: l.Lateness.Max}
	if from, to := stretch(asking(l.Requests, 0)); to > from {
		s.CPU = l.WriteCPU.Seconds() / seconds(from, to)
	}
	step := c.Step
	if c.Output == 1 { // there is only the first token
		step = c.First
	}
	part, late := "a tenth", step/10
	if c.Arrivals == Lockstep { // the last of a burst waits for the others
		part, late = "half", step/2
	}
	switch {
	case s.CPU > maxBusy:
		s.Limit = fmt.Sprintf("the server was writing for %.0f %% of the time", 100*s.CPU)
	case step > 0 && s.LatenessP99 > late:
		s.Limit = fmt.Sprintf("the server wrote late: P99 %v, more than %s of the step", s.LatenessP99.Round(10*time.Microsecond), part)
	}
	return s
}

// stretch is from the first request to the last write.
func stretch(requests []*truth.Request) (from, to int64) {
	for i, r := range requests {
		if i == 0 {
			from, to = r.Received, r.Received
		}
		from = min(from, r.Received)
		if n := len(r.Writes); n > 0 {
			to = max(to, r.Writes[n-1].After)
		}
	}
	return from, to
}

// shareOf is what a client used of one processor while requests were open. What it
// does before, such as to make prompts, and after, is not in it.
func shareOf(samples []Sample, requests []*truth.Request) float64 {
	from, to := stretch(requests)
	if len(samples) < 2 || to <= from {
		return 0
	}
	return (usedBy(samples, to) - usedBy(samples, from)) / seconds(from, to)
}

// usedBy is the CPU time that was used by an instant, in seconds: between two samples
// in proportion.
func usedBy(samples []Sample, at int64) float64 {
	i, _ := slices.BinarySearchFunc(samples, at, func(s Sample, at int64) int { return cmp.Compare(s.At, at) })
	switch i {
	case 0:
		return samples[0].CPU.Seconds()
	case len(samples):
		return samples[i-1].CPU.Seconds()
	}
	a, b := samples[i-1], samples[i]
	return a.CPU.Seconds() + (b.CPU-a.CPU).Seconds()*float64(at-a.At)/float64(b.At-a.At)
}
