package vllm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Table is how the tool prints a run.
func Table() result.Tool {
	return result.Tool{
		Name: "vllm", Layout: reportLayout, Forms: []string{string(V2507), string(V2611)},
		Form: formOf, Setting: setting,
	}
}

// reportLayout is the layout of the report of `vllm bench serve` in a form. Forms differ in the rows that they
// have, which a report shows, and in the spelling of one label.
func reportLayout(form string) result.Layout {
	total := "Total token throughput (tok/s):"
	if form != "" && !Version(form).Since(V2512) {
		total = "Total Token throughput (tok/s):"
	}
	return result.Layout{
		{Title: result.Title, Fill: "=", Rows: []result.Row{
			result.Count("Successful requests:", figure.RequestsOK),
			result.Count("Failed requests:", figure.RequestsFailed),
			result.Words("Maximum request concurrency:"),
			result.Words("Request rate configured (RPS):"),
			result.NumberRow("Benchmark duration (s):", figure.Duration),
			result.Count("Total input tokens:", figure.InputTokens),
			result.Count("Total generated tokens:", figure.OutputTokens),
			result.NumberRow("Request throughput (req/s):", figure.RequestThroughput),
			result.NumberRow("Input throughput (inputs/s):", figure.TextThroughput),
			result.NumberRow("Request goodput (req/s):", figure.Goodput),
			result.NumberRow("Input token throughput (tok/s):", figure.InputThroughput),
			result.NumberRow("Output token throughput (tok/s):", figure.OutputThroughput),
			result.NumberRow("Peak output token throughput (tok/s):", figure.PeakOutput),
			result.NumberRow("Peak concurrent requests:", figure.PeakConcurrency),
			result.NumberRow("RTFx (Inverse Real-Time Factor):", figure.RTFx),
			result.NumberRow(total, figure.TotalThroughput),
		}},
		{Title: "Probe Requests", Fill: "-", Rows: []result.Row{
			result.Count("Probe requests completed:", "probe.requests.ok"),
			result.Count("Probe requests failed:", "probe.requests.failed"),
			result.TableMilliseconds("Median probe E2EL (ms):", figure.Probe.Median()),
			result.TableMilliseconds("P* probe E2EL (ms):", "probe.p*"),
			result.TableMilliseconds("Max probe E2EL (ms):", figure.Probe.Max()),
		}},
		result.LatencySection("Time to First Token", "TTFT", figure.TTFT),
		result.LatencySection("Time per Output Token (excl. 1st token)", "TPOT", figure.TPOT),
		result.LatencySection("Inter-token Latency", "ITL", figure.ITL),
		result.LatencySection("End-to-end Latency", "E2EL", figure.E2EL),
		result.LatencySection("Client-side Queueing", "Client Queue Time", figure.Queue),
		result.LatencySection("Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue", figure.E2ELQueue),
		{Title: "Diffusion Decoding", Fill: "-", Rows: []result.Row{
			result.NumberRow("Committed throughput (tok/s):", figure.DiffusionThroughput),
			result.NumberRow("Denoising steps per canvas:", figure.DiffusionSteps),
			result.NumberRow("Committed per denoising step:", figure.DiffusionPerStep),
			result.Count("Committed tokens:", "diffusion.committed_tokens"),
			result.Count("Denoising steps:", "diffusion.denoising_steps"),
			result.Count("Canvas positions evaluated:", "diffusion.canvas_positions"),
		}},
		{Title: "Speculative Decoding", Fill: "-", Rows: []result.Row{
			result.Percent("Acceptance rate (%):", figure.AcceptanceRate),
			result.NumberRow("Acceptance length:", figure.AcceptLength),
			result.Count("Drafts:", "spec_decode.drafts"),
			result.Count("Draft tokens:", "spec_decode.draft_tokens"),
			result.Count("Accepted tokens:", "spec_decode.accepted_tokens"),
		}},
		{Title: "Per-position acceptance (%):", Rows: []result.Row{
			result.Percent("  Position *:", "spec_decode.position.*"),
		}},
	}
}

// newestRows are the beginnings of names that the table has since 2026.
var newestRows = []string{"probe.", "queue.", "e2el_queue.", "spec_decode.", figure.AcceptLength, "diffusion.", figure.RTFx, figure.TextThroughput}

// formOf is the oldest form that has such rows.
func formOf(r *result.TableReading, rows []result.Match) string {
	old := slices.ContainsFunc(rows, func(m result.Match) bool { return strings.HasPrefix(m.Label, "Total Token") })
	switch {
	case old && r.Has(figure.TotalThroughput):
		return string(V2507)
	case r.Has(newestRows...):
		return string(V2608)
	case r.Has(figure.RequestsOK) && !r.Has(figure.RequestsFailed, "peak.", figure.TotalThroughput):
		return string(V2507)
	}
	return string(V2512)
}

// setting is what the tool writes of the load of an imported run.
func setting(run trace.Run, label string) string {
	switch p := run.Plan; {
	case strings.Contains(label, "concurrency") && p.Concurrency > 0:
		return strconv.Itoa(p.Concurrency)
	case strings.Contains(label, "rate") && p.Rate > 0:
		return strconv.FormatFloat(p.Rate, 'f', 2, 64)
	}
	return ""
}
