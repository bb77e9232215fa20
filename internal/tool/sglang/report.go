package sglang

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/table"
)

// A Report is everything sglang.bench_serving prints of a run.
type Report struct {
	asked
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
	q, err := askedOf(t)
	if err != nil {
		return nil, fmt.Errorf("read what was asked for in run %s: %w", t.Run.ID, err)
	}
	q.version = cmp.Or(v, q.version, Main)
	r := &Report{asked: q}
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
	var e table.Entries
	r.totals(&e)
	newGoodput(r.limits(), r.Figures.Requests).entries(&e, r.Figures.Duration)
	e2el, ttft, itl := r.percentiles()
	f := r.Figures
	addLatency(&e, "e2el", r.e2el(), e2el)
	if !r.embedding() {
		addLatency(&e, "ttft", f.TTFT, ttft)
		addLatency(&e, "tpot", f.TPOT, ttft)
		addLatency(&e, "itl", f.ITL, itl)
		e.Add("itl.max", f.ITL.Max*1000)
	}
	if r.Cache != nil {
		r.Cache.entries(&e)
	}
	return layout(string(r.version)).Write(w, e)
}

// percentiles are those that the form has, of E2E latencies, of TTFT and TPOT, and of
// ITL.
func (r *Report) percentiles() (e2el, ttft, itl []float64) {
	if r.version.Since(Main) {
		all := metrics.DefaultPercentiles()
		return all, all, all
	}
	return nil, []float64{99}, []float64{95, 99}
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

func (r *Report) totals(e *table.Entries) {
	f := r.Figures
	e.Say("Backend:", r.Backend)
	e.Say("Traffic request rate:", r.rateText())
	limit := "not set"
	if n := argparse.Value(r.MaxConcurrency); n > 0 {
		limit = strconv.Itoa(n)
	}
	e.Say("Max request concurrency:", limit)
	for _, t := range f.totals() {
		if !r.embedding() || !slices.Contains([]string{"tokens.output", "throughput.output", "peak.output", "throughput.total"}, t.Name) {
			e.Add(t.Name, t.Value)
		}
	}
	e.Add("tokens.input_text", float64(f.TotalInputText))
	if r.pictures() || !r.version.Since(Main) {
		e.Add("tokens.input_vision", float64(f.TotalInputVision))
	}
	if !r.embedding() {
		e.Add("tokens.output_retokenized", float64(f.TotalRetokenized))
	}
}

// latency adds the statistics of a metric in seconds.
func addLatency(e *table.Entries, metric string, d metrics.Distribution, percentiles []float64) {
	e.Add(metric+".mean", d.Mean*1000)
	e.Add(metric+".median", d.Median*1000)
	for _, p := range percentiles {
		e.Add(metric+".p"+table.Percentile(p), d.At(p)*1000)
	}
}
