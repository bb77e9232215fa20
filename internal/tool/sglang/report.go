package sglang

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A Report is everything sglang.bench_serving prints of a run.
type Report struct {
	requestedRun
	Cache   *cacheHits // nil unless asked for
	Figures Figures
}

// NewReport computes the report of a run; a version other than "", one of Versions,
// replaces that of the run.
func NewReport(t *trace.Trace, version string) (*Report, error) {
	v := Version(version)
	if version != "" && !slices.Contains(Versions(), v) {
		return nil, fmt.Errorf("sglang.bench_serving has no form %s here: there are %v", v, Versions())
	}
	q, err := requestedRunOf(t)
	if err != nil {
		return nil, fmt.Errorf("read what was asked for in run %s: %w", t.Run.ID, err)
	}
	q.version = cmp.Or(v, q.version, Main)
	r := &Report{requestedRun: q}
	o := OptionsOf(t, q.version)
	if q.own {
		o.Turns = q.Turns
	} else if s := metrics.NewSpecDecode(t.Run.ServerCounters); s != nil && s.AcceptanceLength > 0 && t.Run.Kind != trace.Simulated {
		o.AcceptLength = s.AcceptanceLength
		o.Split = r.Backend == "sglang-oai" || r.Backend == "sglang-oai-chat"
	}
	r.Figures = NewFigures(t, o)
	if q.CacheReport && q.version.Since(Main) {
		r.Cache = newCacheHits(q.embedding(), r.Figures.Requests)
	}
	return r, nil
}

// WriteTable writes the "Serving Benchmark Result", byte for byte. That tool has
// an empty line ahead of it.
func (r *Report) WriteTable(w io.Writer) error {
	var e result.Entries
	r.totals(&e)
	newGoodput(r.limits(), r.Figures.Requests).entries(&e, r.Figures.Duration)
	for _, l := range r.latencies() {
		if l.Metric == figure.E2EL && !r.version.Since(Main) {
			l.Percentiles = nil // the file has one
		}
		if l.Metric == figure.E2EL || !r.embedding() {
			l.Rows(&e)
		}
	}
	if !r.embedding() {
		e.Add(figure.ITL.Max(), r.Figures.ITL.Max)
	}
	if r.Cache != nil {
		r.Cache.entries(&e)
	}
	return reportLayout(string(r.version)).Write(w, e)
}

// Unanswered is the error of a run without any success by that tool's rules, where there
// were failures.
func (r *Report) Unanswered() error {
	if f := r.Figures; f.Completed == 0 && f.Failed > 0 {
		return fmt.Errorf("none of %d requests was answered: %s", f.Failed, f.Requests[0].ErrorText)
	}
	return nil
}

// latencies are those of the report, with the percentiles that its form has.
func (r *Report) latencies() []result.MetricLatency {
	all := append([]result.MetricLatency{{Key: "e2e_latency", Metric: figure.E2EL, Distribution: r.e2el()}}, r.Figures.Metrics()[:3]...)
	for i, l := range all {
		all[i].Percentiles = slices.DeleteFunc(slices.Clone(l.Percentiles), func(p metrics.Percentile) bool {
			return !r.version.Since(Main) && p.P != 99 && (p.P != 95 || l.Metric != figure.ITL)
		})
	}
	return all
}

// e2el are the latencies; of no success at all they are no numbers to that tool,
// while it has zeros for the others.
func (r *Report) e2el() metrics.Distribution {
	d := r.Figures.E2EL
	if d.N > 0 || r.Figures.Failed == 0 {
		return d
	}
	nan := math.NaN()
	d.Mean, d.Median, d.Std, d.Percentiles = nan, nan, nan, slices.Clone(d.Percentiles)
	for i := range d.Percentiles {
		d.Percentiles[i].Value = nan
	}
	return d
}

func (r *Report) totals(e *result.Entries) {
	f := r.Figures
	e.AddText("Backend:", r.Backend)
	e.AddText("Traffic request rate:", r.rateText())
	limit := "not set"
	if n := python.Value(r.MaxConcurrency); n > 0 {
		limit = strconv.Itoa(n)
	}
	e.AddText("Max request concurrency:", limit)
	for _, t := range f.totals() {
		if !r.embedding() || !slices.Contains([]string{figure.OutputTokens, figure.OutputThroughput, figure.PeakOutput, figure.TotalThroughput}, t.Name) {
			e.Add(t.Name, t.Value)
		}
	}
	e.Add(figure.InputTextTokens, float64(f.TotalInputText))
	if r.pictures() || !r.version.Since(Main) {
		e.Add(figure.InputVisionTokens, float64(f.TotalInputVision))
	}
	if !r.embedding() {
		e.Add(figure.RetokenizedTokens, float64(f.TotalRetokenized))
	}
}
