package capacity

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
	// Below and Above are what was counted at both sides, pooled.
	Below, Above Side
	Spent        time.Duration `json:"spent"`
	Legs         []Made        `json:"-"`
	// Odd are pairs of legs, by number: the first failed clearly, the second passed clearly
	// under a load at least a tenth higher.
	Odd [][2]int `json:"odd,omitempty"`
}

// A Side is what the legs at one side of the capacity showed, together: those at the load named
// and up to a tenth further away from the other side.
type Side struct {
	Load     float64   `json:"load"`
	Legs     int       `json:"legs"`
	Requests int       `json:"requests"`
	Attained []float64 `json:"attained"` // by objective: the share of requests within the limit
	Reason   plan.Code `json:"reason,omitempty"`
}

func (x *search) result(end End) *Result {
	r := &Result{End: end, Spent: x.Spent(), Legs: x.legs, Odd: x.odd()}
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

// sideOf pools the legs of a side.
func (x *search) sideOf(why Why, load float64) Side {
	s := Side{Load: load, Attained: make([]float64, len(x.Objectives))}
	tails := make([]Tail, len(x.Objectives))
	for _, l := range x.legsOf(why, load) {
		s.Legs++
		s.Requests += l.Requests
		if reason := l.Reason(); reason != "" {
			s.Reason = reason
		}
		for k := range tails {
			tails[k] = tails[k].plus(l.Tail(k))
		}
	}
	for k, t := range tails {
		if t.N > 0 {
			s.Attained[k] = 1 - float64(t.Above[centre])/float64(t.N)
		}
	}
	return s
}

// legsOf are the legs of a side.
func (x *search) legsOf(why Why, load float64) (out []Made) {
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

// odd are legs that contradict each other.
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
