package capacity

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/capacity"
)

// line says what a leg showed.
func line(l capacity.Made, s capacity.Settings) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%2d  %-6s %12s  ", l.Number, l.Why, loadName(l.Leg))
	for i, o := range s.Objectives {
		fmt.Fprintf(&b, "%s ≤ %v: %s  ", o.Metric, o.Limit, percent(l.Attained(i)))
	}
	verdict, _ := l.Judge(s.Objectives)
	fmt.Fprintf(&b, "of %d  %s", l.Requests, verdict)
	if reason := l.Reason(); reason != "" {
		fmt.Fprintf(&b, ": %s", reason)
	}
	return b.String()
}

func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

// An answer is a result with the words that it needs.
type answer struct {
	*capacity.Result
	Search     string      `json:"search"`
	By         capacity.By `json:"by"`
	Objectives []string    `json:"objectives"`
	Binding    string      `json:"binding"`
	Runs       []leg       `json:"legs"`
	set        capacity.Settings
}

// A leg is one in the answer for programs.
type leg struct {
	Number   int              `json:"number"`
	Load     float64          `json:"load"`
	By       capacity.By      `json:"by"`
	Why      capacity.Why     `json:"why"`
	Requests int              `json:"requests"`
	Failed   int              `json:"failed"`
	Attained []float64        `json:"attained"`
	Verdict  capacity.Verdict `json:"verdict"`
	Reason   string           `json:"reason,omitempty"`
	Seconds  float64          `json:"seconds"`
}

func answerOf(r *capacity.Result, s capacity.Settings, name string) *answer {
	a := &answer{Result: r, Search: name, By: s.By, Objectives: names(s.Objectives), Binding: s.Objectives[r.Binds].String(), set: s}
	for i := range r.Legs {
		l := &r.Legs[i]
		v, _ := l.Judge(s.Objectives)
		one := leg{Number: l.Number, Load: l.Load, By: l.By, Why: l.Why, Requests: l.Requests, Failed: l.Failed, Verdict: v, Reason: l.Reason(), Seconds: l.Spent.Seconds()}
		for k := range s.Objectives {
			one.Attained = append(one.Attained, l.Attained(k))
		}
		a.Runs = append(a.Runs, one)
	}
	return a
}

func (a *answer) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(a)
}

// load is one in words.
func (a *answer) load(v float64) string {
	if a.By == capacity.Concurrency {
		return fmt.Sprintf("%.0f in flight", v)
	}
	return fmt.Sprintf("%.3g req/s", v)
}

func (a *answer) text(w io.Writer) error {
	for _, l := range a.sentences() {
		fmt.Fprintln(w, l)
	}
	if a.Below.Legs+a.Above.Legs > 0 {
		fmt.Fprintln(w)
		if err := a.table(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%d runs, %v of measuring; they are kept: pitot runs list '%s/*'\n", len(a.Legs), a.Spent.Round(time.Second), a.Search)
	return err
}

// sentences are the answer in words.
func (a *answer) sentences() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case a.End == capacity.Nothing:
		a.sayNothing(say)
	case a.End == capacity.Everything:
		say("every load up to %s meets the objectives: give tighter ones", a.load(a.Passes))
	case a.Load == 0:
		say("the time was over before the capacity was known: %s", a.bounds())
	case a.End == capacity.Found:
		say("capacity: %s (%s passes, %s fails)", a.load(a.Load), a.load(a.Passes), a.load(a.Fails))
		say("%s binds; known to ±%.1f %%, %s", a.Binding, 100*a.Precision, a.basis())
	default:
		say("capacity: about %s, between %s and %s", a.load(a.Load), a.load(a.Passes), a.load(a.Fails))
		say("%s binds; the time was over at ±%.1f %%, and ±%.0f %% was asked for, %s", a.Binding, 100*a.Precision, 100*a.set.Precision, a.basis())
	}
	if a.End == capacity.Found && a.aboveMet() {
		say("the runs at %s met the objectives as counted: misses come in clusters, and the model expects more of them", a.load(a.Fails))
	}
	if reason := a.Above.Reason; reason != "" {
		say("at %s it is not the latencies that fail: %s", a.load(a.Fails), reason)
	}
	for _, p := range a.Odd {
		low, high := a.Legs[p[0]-1], a.Legs[p[1]-1]
		say("doubt: run %d at %s clearly failed, and run %d at %s clearly passed: the server was not the same throughout", p[0], a.load(low.Load), p[1], a.load(high.Load))
	}
	return out
}

// aboveMet reports whether the requests at the upper side met all objectives.
func (a *answer) aboveMet() bool {
	for i, o := range a.set.Objectives {
		if a.Above.Attained[i] < o.Goal() {
			return false
		}
	}
	return a.Above.Legs > 0 && a.Above.Reason == ""
}

// sayNothing says by how much the lightest load fails.
func (a *answer) sayNothing(say func(string, ...any)) {
	last := a.Legs[len(a.Legs)-1]
	for _, l := range a.Legs { // the lightest
		if l.By == a.By && l.Load < last.Load {
			last = l
		}
	}
	o := a.set.Objectives[a.Binds]
	say("nothing meets the objectives: at %s, the lightest load, %s of the requests have %s within %v, and %s must",
		loadName(last.Leg), percent(last.Attained(a.Binds)), strings.ToUpper(o.Metric), o.Limit, percent(o.Goal()))
	if reason := last.Reason(); reason != "" {
		say("%s", reason)
	}
}

func (a *answer) bounds() string {
	switch {
	case a.Passes == 0 && a.Fails == 0:
		return "no load was judged; give a longer --budget"
	case a.Fails == 0:
		return a.load(a.Passes) + " passed, and nothing failed"
	case a.Passes == 0:
		return a.load(a.Fails) + " failed, and nothing passed"
	}
	return a.load(a.Passes) + " passed, and " + a.load(a.Fails) + " failed"
}

func (a *answer) basis() string {
	if a.Twin {
		return "with the luck of the runs taken off by a model"
	}
	return "by counting alone"
}

// table shows both sides.
func (a *answer) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "SIDE\tLOAD\tRUNS\tREQUESTS")
	for _, o := range a.set.Objectives {
		fmt.Fprintf(t, "\t%s", o)
	}
	fmt.Fprintln(t)
	for _, s := range []struct {
		name string
		capacity.Side
	}{{"passes", a.Below}, {"fails", a.Above}} {
		if s.Legs == 0 {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d", s.name, a.load(s.Load), s.Legs, s.Requests)
		for _, v := range s.Attained {
			fmt.Fprintf(t, "\t%s", percent(v))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
