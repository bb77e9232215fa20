package metrics

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Part is what the requests of one tenant, of one part of a mix, or of one place in
// conversations got.
type Part struct {
	Name   string  `json:"name"`
	Sent   int     `json:"sent"`
	OK     int     `json:"ok"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"`   // that succeeded, per second of the run
	Output float64 `json:"output"` // their output tokens, per second of the run
	Prompt float64 `json:"prompt"` // mean tokens of their prompts, with all that a turn remembers
	// Cached is the share of these tokens that the server had in its prefix cache, as
	// far as it says.
	Cached  float64   `json:"cached"`
	Service Latencies `json:"service"`
}

// A part counts some of the requests.
type part struct {
	number           int // among the tenants, or the first of some turns
	sent, ok         int
	input, output    int // tokens
	cached, prompted int // of prompts, as far as the server counts them
	turn             bool
	name             string
	heads            heads
	gaps             *gapSample
}

func (p *part) add(r *trace.Record) {
	if p.sent++; !r.OK() {
		return
	}
	u := r.Credible()
	p.ok++
	p.input, p.output = p.input+PromptTokens(r), p.output+r.OutputTokens
	p.cached, p.prompted = p.cached+u.Cached, p.prompted+u.Prompt
}

// part counts a record with its tenant, and with the requests of the same place in a conversation: the first four by
// themselves, then as many together as there were before.
func (x *observed) part(r *trace.Record) (tenant int) {
	of := x.tenants[r.Tenant]
	if of == nil {
		of = &part{number: len(x.tenants), name: r.Tenant}
		x.tenants[r.Tenant] = of
	}
	of.add(r)
	if r.Session == "" {
		return of.number
	}
	first, last := group(r.Turn)
	turn := x.turns[first]
	if turn == nil {
		turn = &part{number: first, turn: true, name: fmt.Sprint(first + 1)}
		if last > first {
			turn.name = fmt.Sprintf("%d–%d", first+1, last+1)
		}
		x.turns[first] = turn
	}
	turn.add(r)
	return of.number
}

// partsAtOnce is how many parts are summed up together: the gaps of each take some megabytes.
const partsAtOnce = 64

// partsOf are the parts of the run by tenant and by turn, in order. There are none by tenant if requests have none, and none by
// turn without conversations of several.
func (x *observed) partsOf(percentiles []float64) (all []*part) {
	if len(x.tenants) > 1 || x.tenants[""] == nil {
		for _, name := range slices.Sorted(maps.Keys(x.tenants)) {
			p := x.tenants[name]
			p.gaps = newGapSample(percentiles, func(r *trace.Record) bool { return Owns(r) && r.Tenant == name })
			all = append(all, p)
		}
	}
	if len(x.turns) > 1 || len(x.turns) == 1 && x.turns[0] == nil {
		for _, first := range slices.Sorted(maps.Keys(x.turns)) {
			p := x.turns[first]
			p.gaps = newGapSample(percentiles, func(r *trace.Record) bool {
				of, _ := group(r.Turn)
				return Owns(r) && r.Session != "" && of == first
			})
			all = append(all, p)
		}
	}
	return all
}

// gapsOfParts are the passes that the parts of a run with streams take.
func (x *observed) gapsOfParts(some []*part) (all []pass) {
	for _, p := range some {
		if x.run.Plan.Stream {
			all = append(all, p.gaps)
		}
	}
	return all
}

// group is the first and the last of the turns that are counted together with turn n;
// all count from 0.
func group(n int) (first, last int) {
	if n < 4 {
		return n, n
	}
	first, last = 4, 7
	for n > last {
		first, last = last+1, 2*last+1
	}
	return first, last
}

// summarizeParts adds the parts of the run to a summary. The passes of the first ones were made.
func (x *observed) summarizeParts(s *Summary, parts []*part, percentiles []float64) error {
	for i, some := range slices.Collect(slices.Chunk(parts, partsAtOnce)) {
		if i > 0 {
			if err := x.records.read(x.gapsOfParts(some)...); err != nil {
				return err
			}
		}
		x.divide(some)
		for _, p := range some {
			own := observed{run: x.run, heads: p.heads}
			out := Part{Name: p.name, Sent: p.sent, OK: p.ok, Failed: p.sent - p.ok}
			out.Rate, out.Output = over(p.ok, s.Duration), over(p.output, s.Duration)
			out.Prompt, out.Cached = over(p.input, float64(p.ok)), over(p.cached, float64(p.prompted))
			out.Service = own.latencies(func(*head) bool { return true }, sent, p.gaps, nil, percentiles)
			if p.heads = (heads{}); p.turn {
				s.Turns = append(s.Turns, out)
			} else {
				s.Tenants = append(s.Tenants, out)
			}
		}
	}
	return nil
}

// divide gives parts their heads.
func (x *observed) divide(some []*part) {
	tenants, turns := map[int]*part{}, map[int]*part{}
	for _, p := range some {
		if p.turn {
			turns[p.number] = p
		} else {
			tenants[p.number] = p
		}
	}
	for h := range x.heads.all {
		if p := tenants[h.tenant]; p != nil {
			p.heads.add(*h)
		}
		if first, _ := group(h.turn); h.inSession && turns[first] != nil {
			turns[first].heads.add(*h)
		}
	}
}

// over is a number by something, 0 by nothing.
func over[T int | float64](n T, by float64) float64 {
	if by <= 0 {
		return 0
	}
	return float64(n) / by
}
