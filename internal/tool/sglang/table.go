package sglang

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Table is how the tool prints a run.
func Table() result.Tool {
	return result.Tool{
		Name: "sglang", Layout: layout, Forms: []string{string(Main)},
		Form: formOf, Setting: setting, Unprinted: unprinted,
	}
}

// layout is that of sglang.bench_serving. Its forms differ in the rows that
// they have, which is for the report to say.
func layout(string) result.Layout {
	return result.Layout{
		{Title: result.Title, Fill: "=", Rows: []result.Row{
			result.Words("Backend:"),
			result.Words("Traffic request rate:"),
			result.Words("Max request concurrency:"),
			result.Count("Successful requests:", "requests.ok"),
			result.NumberRow("Benchmark duration (s):", "duration"),
			result.Count("Total input tokens:", "tokens.input"),
			result.Count("Total input text tokens:", "tokens.input_text"),
			result.Count("Total input vision tokens:", "tokens.input_vision"),
			result.Count("Total generated tokens:", "tokens.output"),
			result.Count("Total generated tokens (retokenized):", "tokens.output_retokenized"),
			result.NumberRow("Request throughput (req/s):", "throughput.requests"),
			result.NumberRow("Input token throughput (tok/s):", "throughput.input"),
			result.NumberRow("Output token throughput (tok/s):", "throughput.output"),
			result.NumberRow("Peak output token throughput (tok/s):", "peak.output"),
			result.Count("Peak concurrent requests:", "peak.concurrency"),
			result.NumberRow("Total token throughput (tok/s):", "throughput.total"),
			result.NumberRow("Concurrency:", "concurrency"),
			result.NumberRow("Accept length:", "accept_length"),
		}},
		{Title: "Goodput", Fill: "-", Rows: []result.Row{
			result.Words("SLOs (ms):"),
			result.NumberRow("Request goodput (req/s):", "goodput"),
			result.Percent("SLO attainment (%):", "slo.attainment"),
			result.Percent("* SLO attainment (%):", "slo.attainment.*"),
		}},
		result.LatencySection("End-to-End Latency", "E2E Latency", "e2el"),
		result.LatencySection("Time to First Token", "TTFT", "ttft"),
		result.LatencySection("Time per Output Token (excl. 1st token)", "TPOT", "tpot"),
		result.LatencySection("Inter-Token Latency", "ITL", "itl", "Max"),
		{Title: "Cache Hit Details", Fill: "-", Rows: []result.Row{
			result.Count("Total prompt tokens:", "cache.prompt_tokens"),
			result.Count("Total cached tokens:", "cache.cached_tokens"),
			result.Count("  Device:", "cache.device"),
			result.Count("  Host:", "cache.host"),
			result.Count("  Storage:", "cache.storage"),
			result.Count("  Storage (*):", "cache.storage.*"),
			result.Share("Cache hit rate:", "cache.hit_rate"),
			result.Share("  Device:", "cache.device_share"),
			result.Share("  Host:", "cache.host_share"),
			result.Share("  Storage:", "cache.storage_share"),
			result.Share("  Storage (*):", "cache.storage_share.*"),
		}},
	}
}

// formOf is the oldest form that has such rows.
func formOf(r *result.TableReading, _ []result.Match) string {
	if r.Has("cache.", "e2el.p", "ttft.p90", "ttft.p95") || !r.Has("ttft.") && r.Has("e2el.") {
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
func unprinted(o *trace.Origin, figure string) bool {
	images := o.Setup["dataset_name"] == "image" || o.Setup["dataset_name"] == "mmmu"
	return figure == "tokens.input_vision" && o.Detail != trace.Table && !images
}
