package search

import (
	"math"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An Answer is the result of a search, maybe unfinished, as stored and as printed for programs.
type Answer struct {
	Result
	Search     string      `json:"search"`
	By         LoadUnit    `json:"by"`
	Objectives []string    `json:"objectives"`
	Binding    string      `json:"binding"` // objective; empty: none is known to bind
	Runs       []AnswerLeg `json:"legs"`
	// Budget and Wanted are those of the Settings.
	Budget time.Duration `json:"budget"`
	Wanted float64       `json:"wanted"`
	// Tightest are the objectives with the limits that the lightest load just met, if it misses those asked for.
	Tightest []string `json:"tightest,omitempty"`
	// Flags are those that a search goes on with, as they were given.
	Flags []Flag `json:"flags,omitempty"`
	// Cost is that of tokens in a leg that passed, of the load CostLoad; nil without a price.
	Cost     *metrics.Cost `json:"cost,omitempty"`
	CostLoad float64       `json:"cost_load,omitempty"`
	// Text is the answer in words.
	Text []plan.Message `json:"says"`
}

// A Flag is one of the command line of a search.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Known reports whether a search found a capacity, or that the heaviest load is below it.
func (a *Answer) Known() bool { return a.Load > 0 && a.End != Client || a.End == Everything }

// An AnswerLeg is a leg in an Answer. One that is under way has a number, a load and a purpose.
type AnswerLeg struct {
	Number   int        `json:"number"`
	Load     float64    `json:"load"`
	By       LoadUnit   `json:"by"`
	Why      LegPurpose `json:"why"`
	Requests int        `json:"requests"`
	Failed   int        `json:"failed"`
	Attained []float64  `json:"attained"` // by objective: the share of requests within the limit
	// Limited are the figures that the objectives limit, in seconds; 0: not known.
	Limited []float64 `json:"limited"`
	Verdict Verdict   `json:"verdict"`         // empty: it is under way
	Clear   bool      `json:"clear,omitempty"` // the leg alone decides
	Reason  plan.Code `json:"reason,omitempty"`
	Seconds float64   `json:"seconds"`
}

// Begun is a leg that is under way.
func Begun(l Leg) AnswerLeg {
	return AnswerLeg{Number: l.Number, Load: l.Load, By: l.By, Why: l.Why, Attained: []float64{}, Limited: []float64{}}
}

// NewAnswerLeg is a leg that was made, with the figures of Limited.
func NewAnswerLeg(l MeasuredLeg, limited []float64, objectives []metrics.Objective) AnswerLeg {
	out := Begun(l.Leg)
	out.Requests, out.Failed, out.Clear, out.Reason, out.Seconds = l.Requests, l.Failed, l.Clear(objectives), l.Reason(), l.Spent.Seconds()
	out.Verdict, _ = l.Judge(objectives)
	for i := range objectives {
		out.Attained = append(out.Attained, l.Attained(i))
	}
	for _, v := range limited {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			v = 0
		}
		out.Limited = append(out.Limited, v)
	}
	return out
}

// NewAnswer is the answer of a search by a name, of a result with its legs.
func NewAnswer(name string, r *Result, s Settings, legs []AnswerLeg) *Answer {
	a := &Answer{Result: *r, Search: name, By: s.By, Objectives: []string{}, Runs: legs, Budget: s.Budget, Wanted: s.Precision}
	for _, o := range s.Objectives {
		a.Objectives = append(a.Objectives, o.String())
	}
	if r.End != "" || r.Load > 0 {
		a.Binding = s.Objectives[r.Binds].String()
	}
	say := describer{r, s}
	a.Text = say.all()
	none := r.End == Nothing || r.End == OutOfTime && r.Load+r.Passes == 0
	if lightest := say.lightest(); none && lightest.Number > 0 && lightest.Number <= len(legs) {
		if a.Tightest = tightest(legs[lightest.Number-1], s.Objectives); a.Tightest != nil {
			a.Text = append(a.Text, plan.Msg("capacity.tightest", "load", LoadWords(lightest.By, lightest.Load), "requests", lightest.Requests, "slo", strings.Join(a.Tightest, ",")))
		}
	}
	return a
}

// tightest are objectives that a leg just met; nil if too much of it was not answered.
func tightest(l AnswerLeg, objectives []metrics.Objective) (out []string) {
	for i, o := range objectives {
		if i >= len(l.Limited) || l.Limited[i] <= 0 {
			return nil
		}
		o.Limit = upwards(seconds(l.Limited[i]))
		out = append(out, o.String())
	}
	return out
}

// upwards is a limit of three digits that is not below d.
func upwards(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return (d + unit - 1) / unit * unit
}

type describer struct {
	*Result
	Settings
}

// LoadWords is a load in words.
func LoadWords(by LoadUnit, v float64) plan.Message {
	if by == Concurrency {
		return plan.Msg("capacity.in-flight", "load", v)
	}
	return plan.Msg("capacity.per-second", "load", v)
}

func (a describer) load(v float64) plan.Message { return LoadWords(a.By, v) }

func (a describer) all() (out []plan.Message) {
	out = append(out, a.answer()...)
	if a.End == Found && a.aboveMet() {
		out = append(out, plan.Msg("capacity.clusters", "load", a.load(a.Fails)))
	}
	if reason := a.Above.Reason; reason != "" {
		out = append(out, plan.Msg("capacity.other-reason", "load", a.load(a.Fails), "reason", plan.Msg(reason)))
	}
	for _, p := range a.Odd {
		low, high := a.Legs[p[0]-1], a.Legs[p[1]-1]
		out = append(out, plan.Msg("capacity.odd", "failed", p[0], "low", a.load(low.Load), "passed", p[1], "high", a.load(high.Load)))
	}
	return out
}

// answer is the first sentence, with its details.
func (a describer) answer() []plan.Message {
	load, passes, fails := a.load(a.Load), a.load(a.Passes), a.load(a.Fails)
	basis := plan.Msg("capacity.by-counting")
	if a.Result.Twin {
		basis = plan.Msg("capacity.by-model")
	}
	binding := strings.Replace(a.Objectives[a.Binds].String(), "=", "≤", 1)
	switch {
	case a.End == "" && a.Load+a.Passes+a.Fails == 0:
		return []plan.Message{plan.Msg("capacity.none-judged")}
	case a.End == "" && a.Load == 0:
		return []plan.Message{plan.Msg("capacity.so-far", "known", a.bounds())}
	case a.End == "":
		return []plan.Message{plan.Msg("capacity.so-far", "known", plan.Msg("capacity.about", "load", load, "passes", passes, "fails", fails))}
	case a.End == Nothing:
		return a.lightestFails()
	case a.End == Client:
		return a.clientLimit()
	case a.End == Everything:
		return []plan.Message{plan.Msg("capacity.everything", "load", passes)}
	case a.Load == 0:
		return []plan.Message{plan.Msg("capacity.unknown", "known", a.bounds())}
	case a.End == Found:
		found := plan.Code("capacity.found")
		if a.aboveMet() {
			found = "capacity.found-above"
		}
		return []plan.Message{
			plan.Msg(found, "load", load, "precision", a.Result.Precision, "passes", passes, "fails", fails),
			plan.Msg("capacity.binds", "binding", binding, "precision", a.Result.Precision, "basis", basis),
		}
	}
	known := plan.Msg("capacity.out-of-time", "binding", binding, "precision", a.Result.Precision, "wanted", a.Settings.Precision, "basis", basis)
	if a.Result.Precision <= a.Settings.Precision {
		known = plan.Msg("capacity.unconfirmed", "binding", binding, "precision", a.Result.Precision, "basis", basis)
	}
	out := []plan.Message{plan.Msg("capacity.approximate", "known", plan.Msg("capacity.about", "load", load, "passes", passes, "fails", fails)), known}
	if i := a.missed(); i >= 0 {
		s := a.Below
		out = append(out, plan.Msg("capacity.below-missed", "load", a.load(s.Load), "objective", a.Objectives[i].String(),
			"share", s.Attained[i], "low", s.Low[i], "high", s.High[i], "goal", a.Objectives[i].Goal()))
	}
	return out
}

// missed is the objective that the runs of the lower side are furthest from having met, as they were
// counted; -1: they met all.
func (a describer) missed() (worst int) {
	worst = -1
	most := 1 + 1e-9
	for i, share := range a.Below.Attained {
		if beyond := (1 - share) / allowed(a.Objectives[i]); a.Below.Legs > 0 && beyond > most {
			most, worst = beyond, i
		}
	}
	return worst
}

// clientLimit reports how the client was in the way, and the bounds known nevertheless.
func (a describer) clientLimit() []plan.Message {
	last := a.Legs[len(a.Legs)-1]
	e := metrics.Explain(trace.Verdict{Reasons: last.Client})
	out := []plan.Message{plan.Msg("capacity.client", "load", LoadWords(last.By, last.Load), "run", last.Number, "causes", e.Causes)}
	if len(e.Remedies) > 0 {
		out = append(out, plan.Msg("report.remedy", "remedies", e.Remedies))
	}
	if len(e.Effects) > 0 {
		out = append(out, plan.Msg("report.effects", "effects", e.Effects))
	}
	if a.Passes > 0 || a.Fails > 0 {
		out = append(out, plan.Msg("capacity.so-far", "known", a.bounds()))
	}
	return out
}

func (a describer) lightest() (out MeasuredLeg) {
	for _, l := range a.Legs {
		if len(l.Client) == 0 && (out.Number == 0 || out.By != a.By || l.By == a.By && l.Load < out.Load) {
			out = l
		}
	}
	return out
}

// aboveMet reports whether the requests at the upper side met all objectives.
func (a describer) aboveMet() bool {
	for i, o := range a.Objectives {
		if a.Above.Attained[i] < o.Goal() {
			return false
		}
	}
	return a.Above.Legs > 0 && a.Above.Reason == ""
}

// lightestFails says by how much the lightest load fails.
func (a describer) lightestFails() []plan.Message {
	last := a.lightest()
	o := a.Objectives[a.Binds]
	out := []plan.Message{plan.Msg("capacity.nothing", "load", LoadWords(last.By, last.Load), "share", last.Attained(a.Binds),
		"metric", strings.ToUpper(string(o.Metric)), "limit", o.Limit, "goal", o.Goal())}
	if reason := last.Reason(); reason != "" {
		out = append(out, plan.Msg(reason))
	}
	return out
}

func (a describer) bounds() plan.Message {
	passes, fails := a.load(a.Passes), a.load(a.Fails)
	switch {
	case a.Passes == 0 && a.Fails == 0:
		return plan.Msg("capacity.bounds-none")
	case a.Fails == 0:
		return plan.Msg("capacity.bounds-passed", "load", passes)
	case a.Passes == 0:
		return plan.Msg("capacity.bounds-failed", "load", fails)
	}
	return plan.Msg("capacity.bounds-both", "passes", passes, "fails", fails)
}
