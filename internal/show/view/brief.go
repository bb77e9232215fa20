package view

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// A Brief is what a reader of a run looks for first, below its verdict.
type Brief struct {
	// Of says of which part of the run the figures are: of its steady state, or of all of it, and why.
	Of string `json:"of"`
	// Met says which share of the requests met the objectives, and MetShare has the share; empty and
	// null: there are none, or it is not known.
	Met      string   `json:"met"`
	MetShare *float64 `json:"met_share"`
	// Judged are the objectives of the run, not of each request, with their tone.
	Judged []Said `json:"judged"`
	// Figures are at most six. Their bounds are 95 % intervals, of a steady state that is long enough.
	Figures []Figure `json:"figures"`
}

// compared are the figures that people compare, in their order: of each line the first that a run has.
var compared = [][]string{
	{figure.RequestThroughput},
	{figure.RTFx, figure.TextThroughput, figure.OutputThroughput},
	{figure.TTFT.Mean()},
	{figure.TTFT.P(99)},
	{figure.TPOT.Mean()},
	{figure.E2EL.Mean()},
}

// brief is that of a run, of its steady state where there is one.
func (w writer) brief(k Known) Brief {
	b, s := Brief{Figures: []Figure{}, Judged: []Said{}}, k.Summary
	if s != nil {
		b.Judged = w.judged(*s)
	}
	b.Met, b.MetShare = w.met(k)
	switch {
	case k.Tool != "":
	case k.Listing.Status == trace.Running:
		b.Of = w.Word("view.brief.so-far")
	case s == nil:
		b.Of = w.Word("view.brief.large", "run", k.Listing.ID)
	case s.Steady.Found():
		b.Of = w.Word("view.brief.steady", "from", s.Steady.From, "to", s.Steady.To, "of", s.Duration)
		k.Figures, k.Service = s.SteadyFigures(), &s.Steady.Service
	default:
		b.Of = w.Word("view.brief.whole", "why", s.Steady.Why)
	}
	var six []trace.ReportedFigure
	for _, names := range compared {
		if f, ok := firstOf(k.Figures, names); ok {
			six = append(six, f)
		} else if unbelieved(k.Service, names[0]) {
			six = append(six, trace.ReportedFigure{Name: names[0], Value: math.NaN()})
		}
	}
	k.Figures = six
	b.Figures = w.figures(k)
	for i := range b.Figures {
		f := &b.Figures[i]
		f.Low, f.High = nil, nil
		if in := intervalOf(k.Service, f.Name); in != nil {
			f.Low, f.High = &in.Low, &in.High
		}
	}
	return b
}

// intervalOf is that of a figure in seconds; nil if it has none.
func intervalOf(all *metrics.Latencies, name string) *metrics.Interval {
	metric, statistic := figure.Split(name)
	d, _ := distributionOf(all, string(metric))
	if statistic == "mean" {
		return d.MeanInterval
	}
	for _, p := range d.Percentiles {
		if metric.P(p.P) == name {
			return p.Interval
		}
	}
	return nil
}

// judged are the objectives of a run: better, worse, or unclear where they cannot be judged.
func (w writer) judged(s metrics.Summary) []Said {
	out := []Said{}
	for i, text := range report.Judgements(s, w.Language) {
		tone := "unclear"
		switch j := s.Judgements[i]; {
		case j.Met:
			tone = "better"
		case j.Known:
			tone = "worse"
		}
		out = append(out, Said{Text: text, Tone: tone})
	}
	return out
}

// firstOf is the first of some figures that a run has; of a P99 that it has not, the highest percentile.
func firstOf(all []trace.ReportedFigure, names []string) (trace.ReportedFigure, bool) {
	for _, name := range names {
		if i := slices.IndexFunc(all, func(f trace.ReportedFigure) bool { return f.Name == name }); i >= 0 {
			return all[i], true
		}
	}
	if prefix, is := strings.CutSuffix(names[0], ".p99"); is {
		for _, f := range slices.Backward(all) {
			if p, is := strings.CutPrefix(f.Name, prefix+"."); is {
				if _, is := figure.ParsePercentile(p); is {
					return f, true
				}
			}
		}
	}
	return trace.ReportedFigure{}, false
}

// unbelieved reports whether a run has values of a latency from which the figure is not to be made.
func unbelieved(all *metrics.Latencies, name string) bool {
	metric, statistic := figure.Split(name)
	d, ok := distributionOf(all, string(metric))
	return ok && d.N > 0 && (d.Void || d.Invalid && statistic != "mean")
}

// met is which share of the requests met the objectives of a run. Of one whose requests were not all
// read, it comes from the goodput that is stored.
func (w writer) met(k Known) (string, *float64) {
	objectives := slices.DeleteFunc(slices.Clone(k.Run.Plan.Objectives), plan.Objective.OfRun)
	share, open := math.NaN(), plan.Message{}
	rate, has := firstOf(k.Figures, []string{figure.Goodput})
	seconds, dated := firstOf(k.Figures, []string{figure.Duration})
	switch sent := k.Listing.Records; {
	case len(objectives) == 0 || k.Tool != "":
		return "", nil
	case k.Summary != nil && k.Summary.Goodput != nil:
		share, open = k.Summary.Goodput.Share, k.Summary.Goodput.Unsettled
	case has && dated && sent > 0:
		share = math.Round(rate.Value*seconds.Value) / float64(sent)
	}
	if math.IsNaN(share) {
		return "", nil
	}
	still := w.wordIf(!open.IsZero(), "report.unsettled", "grows", metrics.QueueGrows(open))
	return w.Word("view.brief.met", "share", share, "limits", report.Objectives(objectives), "open", still), &share
}

// wordIf is Word under a condition, else "".
func (w writer) wordIf(is bool, code plan.Code, args ...any) string {
	if !is {
		return ""
	}
	return w.Word(code, args...)
}
