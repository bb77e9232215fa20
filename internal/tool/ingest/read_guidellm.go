package ingest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

func isGuideLLM(o *object) bool { return o.list("benchmarks") != nil }

// readGuideLLM reads benchmarks.json: one result for each load, told apart by its
// strategy.
func readGuideLLM(r *reading) {
	l := r.object.list("benchmarks")
	if l.items == nil && l.n > 0 {
		r.problem(&scanError{l.at, fmt.Sprintf("%d benchmarks are more than %d", l.n, keptItems)})
		return
	}
	if l.n == 0 {
		r.problem(&scanError{l.at, "it holds no benchmark: GuideLLM measured nothing"})
	}
	for i, item := range l.items {
		b, ok := item.(*object)
		if !ok || b.object("metrics") == nil {
			r.problem(&scanError{l.at, fmt.Sprintf("benchmark %d has no metrics", i+1)})
			continue
		}
		r.guideBenchmark(b)
	}
}

func (r *reading) guideBenchmark(b *object) {
	strategy := guideStrategy(b)
	words := strategyWords(strategy)
	f := r.draft("guidellm", words...)
	f.at = b.at
	f.guideFigures(b)
	f.settings("", r.object.object("metadata"), nil)
	f.settings("strategy.", strategy, nil)
	f.settings("", r.object.object("config", "spec"), func(name string) bool {
		root, _, _ := strings.Cut(name, ".")
		return !slices.Contains([]string{"backend", "data", "seed", "tokenizer", "constraints"}, root) || name == "backend.api_routes"
	})
	f.settings("args.", r.object.object("args"), func(name string) bool { return strings.HasPrefix(name, "args.output") })
	f.guidePlan(r.object, b, strategy, words)
}

// guideStrategy is where the versions since 0.2 keep it.
func guideStrategy(b *object) *object {
	for _, path := range [][]string{{"config", "strategy"}, {"scheduler", "strategy"}, {"args", "strategy"}} {
		if o := b.object(path...); o != nil {
			return o
		}
	}
	return nil
}

// strategyWords name a load: concurrent 4, poisson 20/s, throughput.
func strategyWords(s *object) []string {
	kind := s.text("type_")
	if kind == "" {
		return nil
	}
	if rate, ok := s.float("rate"); ok {
		return []string{kind + " " + strconv.FormatFloat(rate, 'g', 6, 64) + "/s"}
	}
	if n := s.int("streams"); n > 0 {
		return []string{fmt.Sprintf("%s %d", kind, n)}
	}
	return []string{kind}
}

// guideTerms are what GuideLLM calls the statistics; its median is the 50th
// percentile, its deviation that of the population.
var guideTerms = []naming{{"mean", "mean"}, {"median", "median"}, {"std_dev", "std"}, {"min", "min"}, {"max", "max"}}

// guideKnown are the metrics that have names here.
var guideKnown = []string{
	"time_to_first_token_ms", "time_per_output_token_ms", "inter_token_latency_ms", "request_latency",
	"requests_per_second", "request_concurrency", "prompt_tokens_per_second", "output_tokens_per_second", "tokens_per_second",
}

// guideFigures takes those of the requests that succeeded.
func (f *draft) guideFigures(b *object) {
	m := b.object("metrics")
	of := func(name string) *object { return m.object(name, "successful") }
	add := func(figure string, o *object, member string) {
		if v, ok := o.float(member); ok {
			f.figure(figure, v)
		}
	}
	totals := m.object("request_totals")
	if totals == nil { // before 0.4
		totals = b.object("request_totals")
	}
	add("requests.ok", totals, "successful")
	add("requests.failed", totals, "errored")
	add("requests.incomplete", totals, "incomplete")
	add("duration", b, "duration")
	add("tokens.input", of("prompt_token_count"), "total_sum")
	add("tokens.output", of("output_token_count"), "total_sum")
	add("throughput.requests", of("requests_per_second"), "mean")
	add("goodput", m, "request_goodput")
	add("throughput.input", of("prompt_tokens_per_second"), "mean")
	add("throughput.output", of("output_tokens_per_second"), "mean")
	add("throughput.total", of("tokens_per_second"), "mean")
	add("concurrency", of("request_concurrency"), "mean")
	add("peak.concurrency", of("request_concurrency"), "max")
	for _, d := range []struct {
		metric, name string
		unit         float64
	}{
		{"ttft", "time_to_first_token_ms", milliseconds},
		{"tpot", "time_per_output_token_ms", milliseconds},
		{"itl", "inter_token_latency_ms", milliseconds},
		{"e2el", "request_latency", 1},
	} {
		f.guideLatency(d.metric, of(d.name), d.unit)
	}
	for _, name := range m.names {
		bare, inMilliseconds := strings.CutSuffix(name, "_ms")
		if v, ok := of(name).float("mean"); ok && !slices.Contains(guideKnown, name) {
			f.figure(bare+".mean", v/unitOf(inMilliseconds))
		}
	}
}

func unitOf(inMilliseconds bool) float64 {
	if inMilliseconds {
		return milliseconds
	}
	return 1
}

// guideLatency adds a distribution. Of nothing GuideLLM writes zeros.
func (f *draft) guideLatency(metric string, o *object, unit float64) {
	if n, ok := o.float("count"); ok && n == 0 {
		return
	}
	f.distribution(metric, o, guideTerms, unit)
	percentiles := o.object("percentiles")
	if percentiles == nil {
		return
	}
	for _, name := range percentiles.names {
		v, isNumber := percentiles.float(name)
		if p, ok := guidePercentile(name); ok && isNumber {
			f.figure(metric+".p"+strconv.FormatFloat(p, 'f', -1, 64), v/unit)
		}
	}
}

// guidePercentile reads p05, p50, and p999 for 99.9, p001 for 0.1: two digits are
// ahead of the point.
func guidePercentile(name string) (float64, bool) {
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

func (f *draft) guidePlan(all, b, strategy *object, words []string) {
	p := &f.Run.Plan
	backend := all.object("config", "spec", "backend")
	for _, o := range []*object{backend, b.object("config", "backend"), b.object("worker"), all.object("args")} {
		for _, name := range []string{"model", "backend_model"} {
			if p.Model == "" {
				p.Model = o.text(name)
			}
		}
	}
	p.URL = maskValue(backend.text("target"))
	format := backend.text("request_format")
	switch {
	case strings.Contains(format, "chat"):
		p.Protocol = "chat"
	case strings.Contains(format, "completions"):
		p.Protocol = "completions"
	}
	p.Stream = len(f.origin.Figures) > 0 && backend.get("stream") != false
	p.Requests = f.requests()
	p.Rate, _ = strategy.float("rate")
	p.Concurrency = max(0, strategy.int("streams"))
	if strategy.text("type_") == "synchronous" {
		p.Concurrency = 1
	}
	p.Seed = uint64(max(0, strategy.int("random_seed")))
	p.Percentiles = f.percentiles()
	p.Arrival = plan.Text(strings.Join(words, ""))
	data := all.object("config", "spec").list("data").first()
	p.Workload = plan.Text(syntheticWorkload(data.text("kind"), data.int("prompt_tokens"), data.int("output_tokens"), p.Requests))
	f.guideTime(b)
}

// requests is how many there were, as the figures tell.
func (f *draft) requests() int {
	n := 0.0
	for _, name := range []string{"requests.ok", "requests.failed", "requests.incomplete"} {
		figure, _ := f.origin.Figure(name)
		n += figure.Value
	}
	return toInt(n, true)
}

func syntheticWorkload(name string, input, output, n int) string {
	switch {
	case name != "" && input > 0 && output > 0:
		return fmt.Sprintf("%s %d→%d tokens, %d requests", name, input, output, n)
	case name != "":
		return fmt.Sprintf("%s, %d requests", name, n)
	}
	return fmt.Sprintf("%d requests", n)
}

func (f *draft) guideTime(b *object) {
	if d, ok := b.float("duration"); ok && d >= 0 && d < maxRun {
		f.Run.End = instant(d)
	}
	if at, ok := b.float("start_time"); ok && at > 0 && at < 1e11 {
		whole, part := math.Modf(at)
		f.Run.Started = time.Unix(int64(whole), int64(part*1e9))
	}
}
