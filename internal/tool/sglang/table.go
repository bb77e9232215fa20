package sglang

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/table"
)

// Table is how the tool prints a run.
func Table() table.Tool {
	return table.Tool{
		Name: "sglang", Layout: layout, Forms: []string{string(Main)},
		Form: formOf, Setting: setting, Unprinted: unprinted,
	}
}

// layout is that of sglang.bench_serving. Its forms differ in the rows that
// they have, which is for the report to say.
func layout(string) table.Layout {
	return table.Layout{
		{Title: table.Title, Fill: "=", Rows: []table.Row{
			table.Words("Backend:"),
			table.Words("Traffic request rate:"),
			table.Words("Max request concurrency:"),
			table.Count("Successful requests:", "requests.ok"),
			table.Number("Benchmark duration (s):", "duration"),
			table.Count("Total input tokens:", "tokens.input"),
			table.Count("Total input text tokens:", "tokens.input_text"),
			table.Count("Total input vision tokens:", "tokens.input_vision"),
			table.Count("Total generated tokens:", "tokens.output"),
			table.Count("Total generated tokens (retokenized):", "tokens.output_retokenized"),
			table.Number("Request throughput (req/s):", "throughput.requests"),
			table.Number("Input token throughput (tok/s):", "throughput.input"),
			table.Number("Output token throughput (tok/s):", "throughput.output"),
			table.Number("Peak output token throughput (tok/s):", "peak.output"),
			table.Count("Peak concurrent requests:", "peak.concurrency"),
			table.Number("Total token throughput (tok/s):", "throughput.total"),
			table.Number("Concurrency:", "concurrency"),
			table.Number("Accept length:", "accept_length"),
		}},
		{Title: "Goodput", Fill: "-", Rows: []table.Row{
			table.Words("SLOs (ms):"),
			table.Number("Request goodput (req/s):", "goodput"),
			table.Percent("SLO attainment (%):", "slo.attainment"),
			table.Percent("* SLO attainment (%):", "slo.attainment.*"),
		}},
		table.Latency("End-to-End Latency", "E2E Latency", "e2el"),
		table.Latency("Time to First Token", "TTFT", "ttft"),
		table.Latency("Time per Output Token (excl. 1st token)", "TPOT", "tpot"),
		table.Latency("Inter-Token Latency", "ITL", "itl", "Max"),
		{Title: "Cache Hit Details", Fill: "-", Rows: []table.Row{
			table.Count("Total prompt tokens:", "cache.prompt_tokens"),
			table.Count("Total cached tokens:", "cache.cached_tokens"),
			table.Count("  Device:", "cache.device"),
			table.Count("  Host:", "cache.host"),
			table.Count("  Storage:", "cache.storage"),
			table.Count("  Storage (*):", "cache.storage.*"),
			table.Share("Cache hit rate:", "cache.hit_rate"),
			table.Share("  Device:", "cache.device_share"),
			table.Share("  Host:", "cache.host_share"),
			table.Share("  Storage:", "cache.storage_share"),
			table.Share("  Storage (*):", "cache.storage_share.*"),
		}},
	}
}

// formOf is the oldest form that has such rows.
func formOf(r *table.Reading, _ []table.Match) string {
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
