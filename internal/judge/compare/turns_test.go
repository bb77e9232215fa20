package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// inTime are runs of A and B with a mean TTFT, in that order in time, started as many minutes after
// the first one.
func inTime(order string, minutes func(i int) float64) (runs []ComparedRun) {
	for i, variant := range order {
		r := named(string(variant), "ttft.mean", 1+0.01*float64(i%3), "tpot.mean", 1+0.01*float64(i%3))
		r.run.ID, r.run.Kind = fmt.Sprint("run-", i), trace.Measured
		r.run.Started = time.Unix(1_800_000_000, 0).Add(time.Duration(minutes(i) * float64(time.Minute)))
		runs = append(runs, r)
	}
	return runs
}

func evenly(i int) float64 { return float64(10 * i) }

func orderIn(t *testing.T, runs []ComparedRun) *Order {
	t.Helper()
	w := compared(t, Options{Baseline: "A"}, runs)
	return w.Variants[1].Order
}

// AAABBB: B is at 3, 4 and 5, A at 0, 1 and 2: (4 - 1)/5. ABBAAB: B at 1, 2 and 5, A at 0, 3 and 4:
// (8/3 - 7/3)/5.
func TestOrdersByHand(t *testing.T) {
	for _, c := range []struct {
		order    string
		u, share float64
		code     string
	}{
		{"AAABBB", 1, 0.6, "order.confounded"},
		{"BBBAAA", 0, -0.6, "order.confounded"},
		{"AAAAABBBBB", 1, 5.0 / 9, "order.confounded"},
		{"ABBA", 0.5, 0, ""},
		{"ABABAB", 6.0 / 9, 0.2, ""},
		{"ABBAAB", 5.0 / 9, 1.0 / 15, ""},
		{"AAAABABBBB", 24.0 / 25, 23.0 / 45, "order.lopsided"},
		{"ABBB", 1, 2.0 / 3, ""}, // one run is somewhere
	} {
		o := orderIn(t, inTime(c.order, evenly))
		about(t, c.order+": u", o.U, c.u, 1e-12)
		about(t, c.order+": share", o.Share, c.share, 1e-12)
		if string(o.Code) != c.code {
			t.Errorf("%s: %q, want %q", c.order, o.Code, c.code)
		}
	}
}

func TestNothingIsSaidOfTimeThatNobodyKnows(t *testing.T) {
	for name, change := range map[string]func(r *ComparedRun){
		"unknown": func(r *ComparedRun) { r.run.Started = time.Time{} }, "simulated": func(r *ComparedRun) { r.run.Kind = trace.Simulated },
	} {
		runs := inTime("AAABBB", evenly)
		for i := range runs {
			if change(&runs[i]); name == "unknown" && i == 0 {
				break
			}
		}
		if o := orderIn(t, runs); o != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	// Runs that began in one second are in no order.
	o := orderIn(t, inTime("AABB", func(int) float64 { return 0 }))
	about(t, "u", o.U, 0.5, 0)
	about(t, "share", o.Share, 0, 0)
}

// nextDay is 40 minutes from run to run, and 19 hours before the fourth.
func nextDay(i int) float64 { return float64(40*i + i/3*(19*60-40)) }

func TestSessions(t *testing.T) {
	runs := inTime("AAABBB", nextDay)
	for i := range runs[3:] {
		for j := range runs[3+i].figures {
			runs[3+i].figures[j].Value *= 1.2
		}
	}
	w := compared(t, Options{Baseline: "A"}, runs)
	o := w.Variants[1].Order
	if o.Code != OrderSessions || o.Gap != 19*3600 || o.Inner != 2400 {
		t.Errorf("%+v", o)
	}
	for _, c := range w.Changes() {
		if c.Verdict != Worse || !c.Tentative {
			t.Errorf("%+v", c)
		}
	}
	want := "all runs of A are older than all of B, and 19 h lie between them, at most 40 min within them: how much this server differs from one session to the next is in no interval (~). Runs in turns (`pitot ab`) take it out"
	if got := said(w.Notes...); !slices.Contains(got, want) {
		t.Errorf("%q", got)
	}
	// Twice as long as the longest pause within is the same session, and so is less than a minute.
	for _, minutes := range []func(i int) float64{
		func(i int) float64 { return float64(10*i + i/3*10) },
		func(i int) float64 { return float64(i)/60 + float64(i/3)/2 },
	} {
		if o := orderIn(t, inTime("AAABBB", minutes)); o.Code != OrderConfounded {
			t.Errorf("%+v", o)
		}
	}
}

// Means of five sessions, in percent: 0, 1.5, -0.5, 2 and -1: their variance is 6.7/4, the error of a
// difference of two √3.35 = 1.8303, t(0.975; 4) = 2.776445: 5.08 %.
func TestStoredSessionsAllowForTheirNoise(t *testing.T) {
	day := func(n int) time.Time { return time.Unix(1_800_000_000, 0).Add(-time.Duration(n) * 24 * time.Hour) }
	var past []Past
	for s, mean := range []float64{0, 1.5, -0.5, 2, -1} {
		for run, off := range []float64{-0.1, 0, 0.1, 40} { // the fourth is more than A and B have
			value := math.Exp((mean + off) / 100)
			past = append(past, Past{ID: fmt.Sprint(s, run), Started: day(s + 1).Add(time.Duration(run) * time.Minute), Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: value}, {Name: "tpot.mean", Value: value}}})
		}
	}
	compare := func(by float64, past []Past) Workload {
		runs := inTime("AAABBB", nextDay)
		for i := range runs {
			for j := range runs[i].figures {
				runs[i].figures[j].Value = math.Exp(0.001*float64(i%3) + by*float64(i/3))
			}
		}
		return compared(t, Options{Baseline: "A", Past: func(of []trace.Run) []Past {
			own := slices.Clone(past)
			for _, r := range of { // they are stored, too
				own = append(own, Past{ID: r.ID, Started: r.Started, Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: 99}}})
			}
			return own
		}}, runs)
	}
	w := compare(0.04, past)
	c, o := change(t, w, "ttft.mean"), w.Variants[1].Order
	about(t, "half width", (math.Log1p(c.Interval.High)-math.Log1p(c.Interval.Low))/2, 0.050816, 1e-5)
	if o.Code != OrderAllowed || o.Sessions != 5 || c.Verdict != CannotTell || c.Tentative || c.More != 0 {
		t.Errorf("%+v, %+v", o, c)
	}
	if got := strings.Join(said(w.Notes...), "\n"); !strings.Contains(got, "differ by 1.3 % in mean TTFT (5 stored sessions): a change below 5.2 % may be that") {
		t.Error(got)
	}
	if c := change(t, compare(0.3, past), "ttft.mean"); c.Verdict != Worse || c.Tentative {
		t.Errorf("%+v", c)
	}
	// Three are too few.
	w = compare(0.04, past[:12])
	if c, o := change(t, w, "ttft.mean"), w.Variants[1].Order; o.Code != OrderSessions || !c.Tentative || c.Verdict != Worse {
		t.Errorf("%+v, %+v", o, c)
	}
}
