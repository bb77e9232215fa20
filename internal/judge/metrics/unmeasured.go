package metrics

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Unmeasured are the figures of another tool that are 0 for want of a measurement, or were made of
// such zeros. SGLang's benchmark prints a TTFT and an ITL of 0 where it saw no text, and makes
// TPOT and the peak of its events all the same; vLLM's prints them where no answer had a second
// token, or none succeeded. No latency is 0: only gaps between chunks that came together are, of
// which the mean is not.
func Unmeasured(figures []trace.ReportedFigure) (names []string) {
	at := func(name string) (v float64, has bool) {
		i := slices.IndexFunc(figures, func(f trace.ReportedFigure) bool { return f.Name == name })
		if i < 0 {
			return 0, false
		}
		return figures[i].Value, true
	}
	zero := func(name string) bool { v, has := at(name); return has && v <= 0 }
	missing, void := map[figure.Metric]bool{}, map[string]bool{}
	for _, m := range []figure.Metric{figure.TTFT, figure.E2EL, figure.TPOT, figure.ITL, figure.ICL} {
		missing[m] = zero(m.Mean()) || zero(m.Median()) && m != figure.ITL && m != figure.ICL
	}
	if missing[figure.TTFT] { // which these are made of
		missing[figure.TPOT], void[figure.PeakOutput] = true, true
	}
	gaps, _ := at(figure.ITL.Mean())
	output, _ := at(figure.OutputTokens)
	for _, name := range []string{figure.OutputTokens, figure.OutputThroughput} { // of answers that came in pieces
		void[name] = gaps > 0 && zero(name)
	}
	for _, name := range []string{figure.RetokenizedTokens, figure.PeakOutput} {
		void[name] = void[name] || output > 0 && zero(name)
	}
	for _, f := range figures {
		if void[f.Name] || missing[figure.MetricOf(f.Name)] {
			names = append(names, f.Name)
		}
	}
	return names
}
