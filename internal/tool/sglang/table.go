package sglang

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Table is how the tool prints a run.
func Table() result.Tool {
	return result.Tool{
		Name: "sglang", Layout: reportLayout, Forms: []string{string(Main)},
		Form: formOf, Setting: setting, Unprinted: unprinted,
	}
}

// reportLayout is the layout of the report of sglang.bench_serving. Its forms differ in the rows that they have,
// which a report shows.
func reportLayout(string) result.Layout {
	return result.Layout{
		{Title: result.Title, Fill: "=", Rows: []result.Row{
			result.Words("Backend:"),
			result.Words("Traffic request rate:"),
			result.Words("Max request concurrency:"),
			result.Count("Successful requests:", figure.RequestsOK),
			result.NumberRow("Benchmark duration (s):", figure.Duration),
			result.Count("Total input tokens:", figure.InputTokens),
			result.Count("Total input text tokens:", figure.InputTextTokens),
			result.Count("Total input vision tokens:", figure.InputVisionTokens),
			result.Count("Total generated tokens:", figure.OutputTokens),
			result.Count("Total generated tokens (retokenized):", figure.RetokenizedTokens),
			result.NumberRow("Request throughput (req/s):", figure.RequestThroughput),
			result.NumberRow("Input token throughput (tok/s):", figure.InputThroughput),
			result.NumberRow("Output token throughput (tok/s):", figure.OutputThroughput),
			result.NumberRow("Peak output token throughput (tok/s):", figure.PeakOutput),
			result.Count("Peak concurrent requests:", figure.PeakConcurrency),
			result.NumberRow("Total token throughput (tok/s):", figure.TotalThroughput),
			result.NumberRow("Concurrency:", figure.Concurrency),
			result.NumberRow("Accept length:", figure.AcceptLength),
		}},
		{Title: "Goodput", Fill: "-", Rows: []result.Row{
			result.Words("SLOs (ms):"),
			result.NumberRow("Request goodput (req/s):", figure.Goodput),
			result.Percent("SLO attainment (%):", figure.SLOAttainment),
			result.Percent("* SLO attainment (%):", "slo.attainment.*"),
		}},
		result.LatencySection("End-to-End Latency", "E2E Latency", figure.E2EL),
		result.LatencySection("Time to First Token", "TTFT", figure.TTFT),
		result.LatencySection("Time per Output Token (excl. 1st token)", "TPOT", figure.TPOT),
		result.LatencySection("Inter-Token Latency", "ITL", figure.ITL, "Max"),
		{Title: "Cache Hit Details", Fill: "-", Rows: []result.Row{
			result.Count("Total prompt tokens:", "cache.prompt_tokens"),
			result.Count("Total cached tokens:", "cache.cached_tokens"),
			result.Count("  Device:", "cache.device"),
			result.Count("  Host:", "cache.host"),
			result.Count("  Storage:", "cache.storage"),
			result.Count("  Storage (*):", "cache.storage.*"),
			result.Share("Cache hit rate:", figure.CacheHitRate),
			result.Share("  Device:", "cache.device_share"),
			result.Share("  Host:", "cache.host_share"),
			result.Share("  Storage:", "cache.storage_share"),
			result.Share("  Storage (*):", "cache.storage_share.*"),
		}},
	}
}

// formOf is the oldest form that has such rows.
func formOf(r *result.TableReading, _ []result.Match) string {
	if r.Has("cache.", "e2el.p", figure.TTFT.P(90), figure.TTFT.P(95)) || !r.Has("ttft.") && r.Has("e2el.") {
		return string(Main)
	}
	return string(V2601)
}

// setting is what the tool writes of the load of an imported run.
func setting(run trace.Run, label string) string {
	p := run.Plan
	switch {
	case label == "Backend:" && run.Origin.Setup["backend"] != "":
		return run.Origin.Setup["backend"]
	case label == "Backend:":
		return backendOf(p.Protocol)
	case strings.Contains(label, "concurrency") && p.Concurrency > 0:
		return strconv.Itoa(p.Concurrency)
	case strings.Contains(label, "concurrency"):
		return "not set"
	case strings.Contains(label, "rate") && p.Rate > 0:
		return python.Float(p.Rate)
	case strings.Contains(label, "rate"):
		return "inf"
	}
	return ""
}

// unprinted: images are counted with datasets that have some.
func unprinted(o *trace.Origin, name string) bool {
	images := o.Setup["dataset_name"] == "image" || o.Setup["dataset_name"] == "mmmu"
	return name == figure.InputVisionTokens && o.Detail != trace.Table && !images
}
