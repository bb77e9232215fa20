package compare

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An Order is how the runs of a variant lie in time among those of the baseline. Whatever
// changed between them, such as the weather in the machine room, passes for the change where one
// variant came first; no test of the runs can see it, since it lies between the groups.
type Order struct {
	// U is the share of the pairs of a run of each in which the baseline's is the older one.
	U float64 `json:"u"`
	// Share is what part of a drift over all these runs counts as a change: 0 in A B B A, 0.6 in
	// A A A B B B, and negative where the variant came first.
	Share float64 `json:"share"`
	// Gap is the time, in seconds, from the last start of the one to the first start of the
	// other, where one came first; Inner is the longest between two starts of one.
	Gap   float64 `json:"gap_s,omitempty"`
	Inner float64 `json:"inner_gap_s,omitempty"`
	// Code is the warning, if there is one.
	Code plan.Code `json:"code,omitempty"`
	// Sessions are those that tell how sessions differ, by order.allowed.
	Sessions int `json:"sessions,omitempty"`
}

// Codes of an Order, and of the notes on it.
const (
	// OrderConfounded: all runs of one variant are older than all of the other.
	OrderConfounded plan.Code = "order.confounded"
	// OrderLopsided: most of them are.
	OrderLopsided plan.Code = "order.lopsided"
	// OrderSessions: all are, and so much time lies between them that they are of two sessions:
	// how much a server differs from one to the next is in no interval.
	OrderSessions plan.Code = "order.sessions"
	// OrderAllowed: the same, and intervals have in them how sessions differed that are stored.
	OrderAllowed plan.Code = "order.allowed"
)

// What makes an order lopsided, and two sessions of runs.
const (
	lopsided     = 0.8 // |2U-1|
	leastSession = time.Minute
)

// orderOf is how b lies among a; nil where no time was: of simulated runs, and of those that
// nobody knows the start of.
func orderOf(a, b *variant) *Order {
	for _, r := range slices.Concat(a.runs, b.runs) {
		if r.run.Started.IsZero() || r.simulated() {
			return nil
		}
	}
	halves := 0 // of pairs in which a run of a is older; one of a pair that began at once
	for _, ra := range a.runs {
		for _, rb := range b.runs {
			halves += 1 + rb.run.Started.Compare(ra.run.Started)
		}
	}
	na, nb := float64(len(a.runs)), float64(len(b.runs))
	o := &Order{U: float64(halves) / (2 * na * nb), Inner: max(a.longestGap(), b.longestGap()).Seconds()}
	// The mean rank is half of the others of the variant, and those of the other one before it.
	o.Share = ((nb-1)/2 + o.U*na - (na-1)/2 - (1-o.U)*nb) / (na + nb - 1)
	switch o.U {
	case 1:
		o.Gap = b.first().Sub(a.last()).Seconds()
	case 0:
		o.Gap = a.first().Sub(b.last()).Seconds()
	}
	switch separate := o.U == 0 || o.U == 1; {
	case len(a.runs) < 2 || len(b.runs) < 2:
	case separate && o.Gap > 3*o.Inner && o.Gap > leastSession.Seconds():
		o.Code = OrderSessions
	case separate:
		o.Code = OrderConfounded
	case math.Abs(2*o.U-1) >= lopsided:
		o.Code = OrderLopsided
	}
	return o
}

// starts are those of its runs, in order.
func (v *variant) starts() (all []time.Time) {
	for _, r := range v.runs {
		all = append(all, r.run.Started)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

func (v *variant) first() time.Time { return v.starts()[0] }
func (v *variant) last() time.Time  { return v.starts()[len(v.runs)-1] }

func (v *variant) longestGap() (longest time.Duration) {
	all := v.starts()
	for i := 1; i < len(all); i++ {
		longest = max(longest, all[i].Sub(all[i-1]))
	}
	return longest
}

// A Past is a stored run that may tell how sessions of a server differ.
type Past struct {
	ID      string
	Started time.Time
	Figures []trace.ReportedFigure // by Pitot's definitions
}

// sessions are those of stored runs of the same server, model and load that are as far from each
// other as the two variants are, each with as many runs at most as the smaller of these has. None
// has a run that is compared.
func (t *table) sessions(a, b *variant) (all [][]Past) {
	o := b.order
	if t.o.Past == nil || o == nil || o.Code != OrderSessions {
		return nil
	}
	var compared []trace.Run
	for _, r := range slices.Concat(a.runs, b.runs) {
		compared = append(compared, r.run)
	}
	past := slices.SortedFunc(slices.Values(t.o.Past(compared)), func(p, q Past) int { return p.Started.Compare(q.Started) })
	for i, p := range past {
		if i == 0 || p.Started.Sub(past[i-1].Started).Seconds() > o.Gap/2 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], p)
	}
	all = slices.DeleteFunc(all, func(s []Past) bool {
		return slices.ContainsFunc(s, func(p Past) bool {
			return slices.ContainsFunc(compared, func(r trace.Run) bool { return r.ID == p.ID })
		})
	})
	for i, s := range all {
		all[i] = s[:min(len(s), len(a.runs), len(b.runs))]
	}
	return all
}

// leastSessions is from how many on they tell how sessions differ.
const leastSessions = 4

// An sessionVariance is the variance of the means of sessions, on the scale of logarithms.
type sessionVariance struct {
	variance float64
	sessions int
}

// allowanceOf is that of a figure, by sessions; the zero one where these are too few.
func allowanceOf(sessions [][]Past, name string) sessionVariance {
	var means []float64
	for _, s := range sessions {
		var logs []float64
		for _, p := range s {
			i := slices.IndexFunc(p.Figures, func(f trace.ReportedFigure) bool { return f.Name == name })
			if i >= 0 && p.Figures[i].Value > 0 && p.Figures[i].Value < most {
				logs = append(logs, math.Log(p.Figures[i].Value))
			}
		}
		if logs != nil {
			means = append(means, stats.Mean(logs))
		}
	}
	if len(means) < leastSessions {
		return sessionVariance{}
	}
	sd, _ := stats.PooledSD(means)
	return sessionVariance{sd * sd, len(means)}
}

// estimate is that of a difference of two sessions, where sessions differ by more than runs of
// one explain.
func (w sessionVariance) estimate(of stats.Estimate) stats.Estimate {
	if own := math.Sqrt(2 * w.variance); own > of.Error {
		return stats.Estimate{Value: of.Value, Error: own, DF: float64(w.sessions - 1)}
	}
	return of
}

// allows reports whether stored sessions tell how a figure differs from one to the next.
func (v *variant) allows(name, definition string) (w sessionVariance, ok bool) {
	if v.sessions != nil && definition == metrics.Pitot {
		w = allowanceOf(v.sessions, name)
	}
	return w, w.sessions > 0
}

// allow gives changes to a variant, which was measured in another session than the baseline, the
// noise between sessions.
func (v *variant) allow(findings []*finding) {
	for _, f := range findings {
		if !f.judged() || f.plain {
			continue
		}
		w, ok := v.allows(f.quantity.Name, f.definition)
		if e := w.estimate(f.estimate); ok && e != f.estimate {
			f.estimate, f.between, f.interval = e, true, plan.Msg("method.sessions", "sessions", w.sessions)
		}
	}
}

// noteOrders says how the runs of variants lie in time, where that is to be minded.
func (t *table) noteOrders() {
	var said []plan.Message
	for i, v := range t.variants[1:] {
		o := v.order
		if t.out.Variants[i+1].Order = o; o == nil || o.Code == "" || !t.bestBasis(i+1).Decides() {
			continue
		}
		args := t.tentative(i+1, o)
		first, second := t.variants[0].name, v.name
		if o.Share < 0 {
			first, second = second, first
		}
		m := plan.Msg(o.Code, append(args, "first", first, "second", second, "share", math.Abs(o.Share), "gap", span(o.Gap), "inner", span(o.Inner))...)
		if !slices.ContainsFunc(said, func(other plan.Message) bool { return equal(other, m) }) {
			said = append(said, m)
			t.out.Notes = append(t.out.Notes, m)
		}
	}
}

// tentative marks the verdicts on two sessions with unknown differences, and returns the arguments
// for the note, on the figure of the highest rank.
func (t *table) tentative(column int, o *Order) (args []any) {
	if o.Code != OrderSessions {
		return nil
	}
	nearest := math.MaxInt
	for _, row := range t.out.Rows {
		c := row.Cells[column].Change
		if c == nil || c.Verdict == NotJudged || row.Constant {
			continue
		}
		w, ok := t.variants[column].allows(row.Quantity.Name, row.Definition.ID)
		if c.Tentative = !ok && c.Verdict != CannotTell; !ok {
			continue
		}
		place := cmp.Or(row.Quantity.Rank(), math.MaxInt-1)
		if o.Code, o.Sessions = OrderAllowed, max(o.Sessions, w.sessions); place < nearest {
			nearest = place
			reach := w.estimate(stats.Estimate{}).Interval(t.o.Level).High
			args = []any{"sessions", w.sessions, "figure", row.Quantity.Title(), "sd", math.Expm1(math.Sqrt(w.variance)), "below", math.Expm1(reach)}
		}
	}
	return args
}

// span is a time in seconds as a message in a fitting unit.
func span(s float64) plan.Message {
	unit, of := plan.Code("order.seconds"), 1.0
	switch {
	case s >= 2*86400:
		unit, of = "order.days", 86400
	case s >= 2*3600:
		unit, of = "order.hours", 3600
	case s >= 2*60:
		unit, of = "order.minutes", 60
	}
	return plan.Msg(unit, "n", math.Round(s/of))
}
