package verify

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
)

// measuredBy finds the requests that a client measured among all that came.
// Trials and warm-up come before them, and may ask for another length. So the
// measured ones are the last, as many as the client counts, of those that ask
// for the length of the cell.
func measuredBy(c conform.Cell, requests []truth.Request, claim *conform.Claim) (m measured) {
	all := asking(requests, c.Output)
	if len(all) == 0 {
		if all = asking(requests, 0); len(all) > 0 {
			m.note("conform.other-length", "wanted", c.Output, "first", all[0].Wanted)
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
	m.counts = conform.Requests{Asked: c.Requests, OK: -1, Failed: -1, SetAside: len(asking(requests, 0)) - len(m.all), Peak: peak(m.all)}
	for _, r := range m.all {
		if r.Ended == truth.Complete {
			m.answered = append(m.answered, r)
		}
	}
	m.counts.Served = len(m.answered)
	m.counts.Broken = len(m.all) - len(m.answered)
	if claim != nil {
		m.counts.OK, m.counts.Failed = claim.OK, claim.Failed
		m.disagree(c, sent)
	}
	return m
}

// A measured set are the requests that the client's figures are about.
type measured struct {
	all      []*truth.Request // in the order of their arrival
	answered []*truth.Request // of all, those that were answered to the end
	counts   conform.Requests
	notes    []plan.Message
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

// disagree notes where client and server count differently, and where the load
// was not the cell's.
func (m *measured) disagree(c conform.Cell, sent int) {
	n := m.counts
	if got := len(m.all); sent > got {
		m.note("conform.requests-lost", "counted", sent, "got", got)
	}
	if sent != n.Asked {
		m.note("conform.requests-other", "made", sent, "asked", n.Asked)
	}
	if !c.Open() && n.Peak < c.Streams*9/10 {
		m.note("conform.streams-few", "open", n.Peak, "of", c.Streams)
	}
	switch {
	case n.OK > n.Served:
		m.note("conform.answers-broken", "counted", n.OK, "served", n.Served)
	case n.OK >= 0 && n.OK < n.Served:
		m.note("conform.answers-missed", "counted", n.OK, "served", n.Served)
	}
}

func (m *measured) note(code plan.Code, args ...any) {
	m.notes = append(m.notes, plan.Msg(code, args...))
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
