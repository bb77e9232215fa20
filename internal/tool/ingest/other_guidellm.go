package ingest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

func guidellmIsResult(o *result.Object) bool { return o.List("benchmarks") != nil }

// guidellmRead reads benchmarks.json: one result for each load, distinguished by its strategy.
func guidellmRead(r *result.Reading) {
	l := r.Object.List("benchmarks")
	if l.Items == nil && l.N > 0 {
		r.ProblemAt(l.At, "%d benchmarks are more than %d", l.N, result.KeptItems)
		return
	}
	if l.N == 0 {
		r.ProblemAt(l.At, "it holds no benchmark: GuideLLM measured nothing")
	}
	for i, item := range l.Items {
		b, ok := item.(*result.Object)
		if !ok || b.Object("metrics") == nil {
			r.ProblemAt(l.At, "benchmark %d has no metrics", i+1)
			continue
		}
		guidellmBenchmark(r, b)
	}
}

func guidellmBenchmark(r *result.Reading, b *result.Object) {
	strategy := strategyOf(b)
	words := strategyWords(strategy)
	f := r.Draft("guidellm", words...)
	f.At = b.At
	guidellmFigures(f, b)
	f.Settings("", r.Object.Object("metadata"), nil)
	f.Settings("strategy.", strategy, nil)
	f.Settings("", r.Object.Object("config", "spec"), func(name string) bool {
		root, _, _ := strings.Cut(name, ".")
		return !slices.Contains([]string{"backend", "data", "seed", "tokenizer", "constraints"}, root) || name == "backend.api_routes"
	})
	f.Settings("args.", r.Object.Object("args"), func(name string) bool { return strings.HasPrefix(name, "args.output") })
	guidellmPlan(f, r.Object, b, strategy, words)
}

// strategyOf is where the versions since 0.2 keep it.
func strategyOf(b *result.Object) *result.Object {
	for _, path := range [][]string{{"config", "strategy"}, {"scheduler", "strategy"}, {"args", "strategy"}} {
		if o := b.Object(path...); o != nil {
			return o
		}
	}
	return nil
}

// strategyWords name a load: concurrent 4, poisson 20/s, throughput.
func strategyWords(s *result.Object) []string {
	kind := s.Text("type_")
	if kind == "" {
		return nil
	}
	if rate, ok := s.Float("rate"); ok {
		return []string{kind + " " + strconv.FormatFloat(rate, 'g', 6, 64) + "/s"}
	}
	if n := s.Int("streams"); n > 0 {
		return []string{fmt.Sprintf("%s %d", kind, n)}
	}
	return []string{kind}
}

// terms are what GuideLLM calls the statistics; its median is the 50th
// percentile, its deviation that of the population.
var guidellmTerms = result.Names{{"mean", "mean"}, {"median", "median"}, {"std_dev", "std"}, {"min", "min"}, {"max", "max"}}

// guidellmLatencies are the distributions that have names here, guidellmOthers the means.
var (
	guidellmLatencies = result.Names{
		{"time_to_first_token_ms", "ttft"}, {"time_per_output_token_ms", "tpot"}, {"inter_token_latency_ms", "itl"}, {"request_latency", "e2el"},
	}
	guidellmOthers = []string{"requests_per_second", "request_concurrency", "prompt_tokens_per_second", "output_tokens_per_second", "tokens_per_second"}
)

func guidellmFigures(f *result.PartialRun, b *result.Object) {
	m := b.Object("metrics")
	of := func(name string) *result.Object { return m.Object(name, "successful") }
	totals := m.Object("request_totals")
	if totals == nil { // before 0.4
		totals = b.Object("request_totals")
	}
	f.Add(figure.RequestsOK, totals, "successful")
	f.Add(figure.RequestsFailed, totals, "errored")
	f.Add("requests.incomplete", totals, "incomplete")
	f.Add(figure.Duration, b, "duration")
	f.Add(figure.InputTokens, of("prompt_token_count"), "total_sum")
	f.Add(figure.OutputTokens, of("output_token_count"), "total_sum")
	f.Add(figure.RequestThroughput, of("requests_per_second"), "mean")
	f.Add(figure.Goodput, m, "request_goodput")
	f.Add(figure.InputThroughput, of("prompt_tokens_per_second"), "mean")
	f.Add(figure.OutputThroughput, of("output_tokens_per_second"), "mean")
	f.Add(figure.TotalThroughput, of("tokens_per_second"), "mean")
	f.Add(figure.Concurrency, of("request_concurrency"), "mean")
	f.Add(figure.PeakConcurrency, of("request_concurrency"), "max")
	for _, l := range guidellmLatencies {
		guidellmLatency(f, l[1], of(l[0]), guidellmUnit(l[0]))
	}
	for _, name := range m.Names {
		if v, ok := of(name).Float("mean"); ok && !guidellmLatencies.Has(name) && !slices.Contains(guidellmOthers, name) {
			f.Figure(strings.TrimSuffix(name, "_ms")+".mean", v/guidellmUnit(name))
		}
	}
}

// guidellmUnit is how many of the unit of a metric a second has.
func guidellmUnit(name string) float64 {
	if strings.HasSuffix(name, "_ms") {
		return result.Milliseconds
	}
	return 1
}

// guidellmLatency adds a distribution. Of nothing GuideLLM writes zeros.
func guidellmLatency(f *result.PartialRun, metric string, o *result.Object, unit float64) {
	if n, ok := o.Float("count"); ok && n == 0 {
		return
	}
	f.Distribution(metric, o, guidellmTerms, unit)
	percentiles := o.Object("percentiles")
	for name := range percentiles.All() {
		v, isNumber := percentiles.Float(name)
		if p, ok := percentile(name); ok && isNumber {
			f.Figure(metric+".p"+strconv.FormatFloat(p, 'f', -1, 64), v/unit)
		}
	}
}

// percentile reads p05, p50, and p999 for 99.9, p001 for 0.1: two digits are
// ahead of the point.
func percentile(name string) (float64, bool) {
	digits, ok := strings.CutPrefix(name, "p")
	if !ok || len(digits) < 2 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	if len(digits) > 2 {
		digits = digits[:2] + "." + digits[2:]
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p, err == nil
}

func guidellmPlan(f *result.PartialRun, all, b, strategy *result.Object, words []string) {
	p := &f.Run.Plan
	backend := all.Object("config", "spec", "backend")
	for _, o := range []*result.Object{backend, b.Object("config", "backend"), b.Object("worker"), all.Object("args")} {
		for _, name := range []string{"model", "backend_model"} {
			if p.Model == "" {
				p.Model = o.Text(name)
			}
		}
	}
	p.URL = secret.Mask(backend.Text("target"))
	format := backend.Text("request_format")
	switch {
	case strings.Contains(format, "chat"):
		p.Protocol = "chat"
	case strings.Contains(format, "completions"):
		p.Protocol = "completions"
	}
	p.Stream = len(f.Origin.Figures) > 0 && backend.Get("stream") != false
	p.Requests = f.Requests()
	p.Rate, _ = strategy.Float("rate")
	p.Concurrency = max(0, strategy.Int("streams"))
	if strategy.Text("type_") == "synchronous" {
		p.Concurrency = 1
	}
	p.Seed = uint64(max(0, strategy.Int("random_seed")))
	p.Percentiles = f.Percentiles()
	p.Arrival = plan.Text(strings.Join(words, ""))
	data := all.Object("config", "spec").List("data").First()
	p.Workload = result.Synthetic(data.Text("kind"), data.Int("prompt_tokens"), data.Int("output_tokens"))
	guidellmTimes(f, b)
}

func guidellmTimes(f *result.PartialRun, b *result.Object) {
	f.Lasted(b.Float("duration"))
	if at, ok := b.Float("start_time"); ok && at > 0 && at < 1e11 {
		whole, part := math.Modf(at)
		f.Run.Started = time.Unix(int64(whole), int64(part*1e9))
	}
}

// GuideLLM is GuideLLM.
func GuideLLM() tool.Tool {
	return tool.Tool{Name: "guidellm", Program: "guidellm", Result: result.Format{Is: guidellmIsResult, Read: guidellmRead}, Definitions: metrics.Definitions{
		Tool: "guidellm",
		Descriptions: map[figure.Metric]plan.Code{
			figure.TTFT: "definition.request-to-token", figure.TPOT: "definition.whole-per-token",
			figure.ITL:  "definition.weighed-gap-mean",
			figure.E2EL: "definition.request-to-end",
		},
		Truth: map[figure.Metric]plan.Code{
			figure.TTFT: metrics.ToFirstToken, figure.ITL: metrics.WeighedGaps,
			figure.TPOT: metrics.WholeTokens, figure.E2EL: metrics.ToEnd,
		},
		Stepped: true,
	}}
}
