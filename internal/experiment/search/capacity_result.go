package search

import (
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Result is the answer of a search.
type Result struct {
	End End `json:"end"` // empty: it goes on
	// Passes and Fails are the loads between which the capacity lies, at 95 % on each side;
	// 0: there is none.
	Passes float64 `json:"passes"`
	Fails  float64 `json:"fails"`
	// Load is the capacity, the most likely one; 0: unknown. Precision is the half-width of its
	// 90 % interval, as a share of it.
	Load      float64 `json:"load"`
	Precision float64 `json:"precision"`
	Binds     int     `json:"-"` // the objective that is met up to the least load
	Twin      bool    `json:"by_model"`
	// Below and Above are the pooled counts at both sides.
	Below, Above Side
	Spent        time.Duration `json:"spent"`
	Legs         []MeasuredLeg `json:"-"`
	// Odd are pairs of legs, by number: the first failed clearly, the second passed clearly
	// under a load at least a tenth higher.
	Odd [][2]int `json:"odd,omitempty"`
}

// A Side pools the legs at one side of the capacity: those at the load named and up to a tenth further away from
// the other side.
type Side struct {
	Load     float64   `json:"load"`
	Legs     int       `json:"legs"`
	Requests int       `json:"requests"`
	Attained []float64 `json:"attained"` // by objective: the share of requests within the limit
	// Low and High are the interval of 95 % of each share.
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
	Met    bool      `json:"met"` // every objective, as it was counted
	Reason plan.Code `json:"reason,omitempty"`
}

func (x *search) result(end End) *Result {
	r := &Result{End: end, Spent: x.Spent(), Legs: x.all, Odd: x.odd()}
	e, objective := x.binding()
	r.Binds = objective
	up, down, _ := x.bracket()
	switch {
	case end == Nothing || end == Everything:
		r.Passes, r.Fails = up, down
		r.Binds = x.worst()
	case math.IsInf(e.sd, 1):
		r.Passes, r.Fails = up, down
	default:
		r.Load, r.Twin = math.Exp(e.log), e.twin
		r.Precision = e.sd * sureAt(e.df)
		r.Passes, r.Fails = round(r.Load*math.Exp(-r.Precision), x.By), round(r.Load*math.Exp(r.Precision), x.By)
		if end == Found {
			r.Passes, r.Fails = x.sides(e)
		} else if len(x.legs) > 0 && up == 0 {
			r.Passes = 0
		}
	}
	r.Below, r.Above = x.sideOf(Passes, r.Passes), x.sideOf(Fails, r.Fails)
	return r
}

// worst is the objective that is furthest beyond its goal in the last leg.
func (x *search) worst() int {
	if len(x.legs) == 0 {
		return 0
	}
	_, worst := x.legs[len(x.legs)-1].Judge(x.Objectives)
	return worst
}

func (x *search) sideOf(why LegPurpose, load float64) Side {
	s := Side{Load: load, Attained: make([]float64, len(x.Objectives))}
	parts := make([][]Tail, len(x.Objectives)) // blocks of all legs
	for _, l := range x.legsOf(why, load) {
		s.Legs++
		s.Requests += l.Requests
		if reason := l.Reason(); reason != "" {
			s.Reason = reason
		}
		for k := range parts {
			parts[k] = append(parts[k], l.Tails[k]...)
		}
	}
	for k := range parts {
		low, share, high := shareOf(parts[k])
		s.Attained[k], s.Low, s.High = share, append(s.Low, low), append(s.High, high)
	}
	s.Met = s.Legs > 0 && x.met(s)
	return s
}

// shareOf is the share within a limit, with its interval of 95 %, of parts of runs. Requests beyond a limit come in
// clusters, so that n requests are worth as many as the scatter between the parts says, and no more. The interval
// is that of E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
// American Statistical Association 22, 1927.
func shareOf(parts []Tail) (low, share, high float64) {
	n, beyond, scatter := 0.0, 0.0, 0.0
	for _, t := range parts {
		n, beyond = n+float64(t.N), beyond+float64(t.Above[centre])
	}
	if n == 0 {
		return 0, 0, 1
	}
	miss := beyond / n
	for _, t := range parts {
		scatter += square(float64(t.Above[centre]) - miss*float64(t.N))
	}
	if chance := miss * (1 - miss) * n * (1 - 1/float64(len(parts))); scatter > chance && chance > 0 {
		n *= chance / scatter
	}
	const z = 1.96
	middle, reach := (miss+z*z/2/n)/(1+z*z/n), z*math.Sqrt(miss*(1-miss)/n+z*z/4/n/n)/(1+z*z/n)
	return 1 - min(1, middle+reach), 1 - miss, 1 - max(0, middle-reach)
}

func (x *search) legsOf(why LegPurpose, load float64) (out []MeasuredLeg) {
	const most = 0.1
	for _, l := range x.legs {
		beyond := math.Log(l.Load / load)
		if why == Passes {
			beyond = -beyond
		}
		if l.By == x.By && beyond >= -1e-6 && beyond <= most && (l.Why == Passes || l.Why == Fails) {
			out = append(out, l)
		}
	}
	return out
}

// met reports whether a side meets all objectives, as it was counted.
func (x *search) met(s Side) bool {
	for i, o := range x.Objectives {
		if s.Attained[i] < o.Goal()-1e-9 {
			return false
		}
	}
	return s.Reason == ""
}

func (x *search) odd() (out [][2]int) {
	legs := byLoad(x.legs)
	for i := range legs {
		if legs[i].By != x.By || !legs[i].clearly(x.Objectives, surelyMissed) {
			continue
		}
		for k := i + 1; k < len(legs); k++ {
			if legs[k].Load > 1.1*legs[i].Load && legs[k].clearly(x.Objectives, surelyMet) {
				out = append(out, [2]int{legs[i].Number, legs[k].Number})
			}
		}
	}
	return out
}
