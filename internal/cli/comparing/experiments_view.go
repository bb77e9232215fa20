package comparing

import (
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A View writes the events of an experiment.
type View struct {
	Print func(line string)
	Draw  func(parts ...string) // shows a line until the next one, where a terminal can
	Lang  *words.Language

	now atomic.Pointer[legUnderWay]
}

type legUnderWay struct {
	experiment.LegBegins
	at time.Time
}

// Handle writes an event.
func (v *View) Handle(e experiment.Event) {
	say := func(code plan.Code, args ...any) { v.Print(v.Lang.Word(code, args...)) }
	switch e := e.(type) {
	case experiment.LegBegins:
		v.now.Store(&legUnderWay{e, time.Now()})
		say("experiment.leg", "leg", e.Number, "of", e.Of, "try", try(e.Leg), "block", e.Leg.Block, "variant", e.Leg.Variant, "confirms", e.Leg.Confirms, "time", v.time())
	case experiment.ServerStarts:
		v.Draw(v.Lang.Word("experiment.starting", "variant", e.Leg.Variant))
	case experiment.ServerReady:
		say("experiment.ready", "took", rounded(e.Took))
	case experiment.RunMade:
		say("experiment.made", "workload", e.Workload, "run", e.Result.Trace.Run.ID, "figures", brief(e.Result.Trace), "waves", waves(e.Result.Trace))
	case experiment.LegEnded:
		switch e.Leg.Status {
		case experiment.Interrupted:
			say("experiment.leg-stopped")
		case experiment.Failed:
			say("experiment.leg-lost", "why", cause(e.Leg, v.Lang), "again", e.Again)
		}
	case experiment.Waiting:
		v.Print(v.Lang.Say(e.What))
	case experiment.LogShortened:
		say("experiment.log-shortened", "written", e.Written, "left", e.LeftOut, "log", e.Leg.Log)
	case experiment.ServerUnstopped:
		v.unstopped(e)
	case experiment.Judged:
		settled, all := settled(e.Comparison)
		say("experiment.look", "look", e.Looks.Done, "of", e.Looks.Most, "settled", settled, "all", all)
	case experiment.Confirming:
		say("experiment.confirming", "variant", e.Variant, "blocks", e.Blocks)
	}
}

// Whole is how far the whole experiment is: the leg under way, time gone, time left, and its end. Any goroutine may
// call it during a leg.
func (v *View) Whole() string {
	e := v.now.Load()
	if e == nil {
		return ""
	}
	return v.Lang.Word("experiment.whole", "leg", e.Number, "of", e.Of, "time", v.time())
}

// time is the time of the experiment at this moment; its end has a date where that is another day.
func (v *View) time() plan.Message {
	e, now := v.now.Load(), time.Now()
	gone, left, end := e.Gone+now.Sub(e.at), e.Left-now.Sub(e.at), ""
	if left < time.Second { // unknown, or this leg takes longer than those before
		left = 0
	} else {
		at := now.Add(left)
		if end = at.Format("15:04"); at.YearDay() != now.YearDay() {
			end = at.Format("2006-01-02 15:04")
		}
	}
	if gone < time.Second {
		return plan.Message{}
	}
	return plan.Msg("experiment.time", "gone", gone.Round(time.Second), "left", left.Round(time.Second), "most", e.AtMost, "end", end)
}

// LegName names a leg by its number, and a repeated one by its try.
func LegName(j *experiment.Journal, l *experiment.Leg) plan.Message {
	return plan.Msg("experiment.leg-name", "leg", j.Number(l), "try", try(l))
}

// cause is why a leg failed, in a line: pitot experiment status has what to do and what it did to the figures.
func cause(l *experiment.Leg, lang *words.Language) string {
	return doc.Cut(doc.Clean(lang.SayAll("stop", metrics.ExplainLoss(l.Why).Causes)), lostColumns)
}

// lostColumns are those of why a leg failed.
const lostColumns = 180

// try is which try a leg is; nothing of the first.
func try(l *experiment.Leg) plan.Message {
	if l.Attempt < 2 {
		return plan.Message{}
	}
	return plan.Msg("experiment.try", "second", l.Attempt == 2, "attempt", l.Attempt)
}

func (v *View) unstopped(e experiment.ServerUnstopped) {
	if e.Err != nil {
		v.Print(v.Lang.Word("experiment.unstopped", "variant", e.Leg.Variant, "why", e.Err))
	}
	for _, m := range e.Unverified {
		v.Print(v.Lang.Say(m))
	}
}

// rounded is a duration that somebody reads.
func rounded(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// brief are the figures of a run that people look at first; those that it has not are 0.
func brief(t *trace.Trace) plan.Message {
	value := map[string]float64{}
	for _, f := range (metrics.Rules{}).Figures(t, "pitot", "") {
		value[f.Name] = f.Value
	}
	return plan.Msg("experiment.figures", "ttft", value[figure.TTFT.Mean()], "tpot", value[figure.TPOT.Mean()], "output", value[figure.OutputThroughput], "requests", value[figure.RequestThroughput])
}

// waves are those of the warm-up of a run; 0: it had none.
func waves(t *trace.Trace) int {
	if w := t.Run.WarmUp; w != nil {
		return len(w.Waves)
	}
	return 0
}

// settled is how many of the main changes have a verdict.
func settled(c compare.Comparison) (n, all int) {
	for _, w := range c.Workloads {
		for _, v := range w.Variants {
			if v.Tally == nil {
				continue
			}
			for _, row := range v.Tally.Main {
				all++
				for column := range w.Variants {
					if change := w.Rows[row].Cells[column].Change; w.Variants[column].Name == v.Name && change != nil && change.Verdict != compare.CannotTell {
						n++
					}
				}
			}
		}
	}
	return n, all
}
