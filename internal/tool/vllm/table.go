package vllm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Table is how the tool prints a run.
func Table() result.Tool {
	return result.Tool{
		Name: "vllm", Layout: layout, Forms: []string{string(V2507), string(V2611)},
		Form: formOf, Setting: setting,
	}
}

// layout is that of `vllm bench serve` in a form. Forms differ in the rows that
// they have, which is for the report to say, and in how they spell one label.
func layout(form string) result.Layout {
	total := "Total token throughput (tok/s):"
	if form != "" && !Version(form).Since(V2512) {
		total = "Total Token throughput (tok/s):"
	}
	return result.Layout{
		{Title: result.Title, Fill: "=", Rows: []result.Row{
			result.Count("Successful requests:", "requests.ok"),
			result.Count("Failed requests:", "requests.failed"),
			result.Words("Maximum request concurrency:"),
			result.Words("Request rate configured (RPS):"),
			result.NumberRow("Benchmark duration (s):", "duration"),
			result.Count("Total input tokens:", "tokens.input"),
			result.Count("Total generated tokens:", "tokens.output"),
			result.NumberRow("Request throughput (req/s):", "throughput.requests"),
			result.NumberRow("Input throughput (inputs/s):", "throughput.inputs"),
			result.NumberRow("Request goodput (req/s):", "goodput"),
			result.NumberRow("Input token throughput (tok/s):", "throughput.input"),
			result.NumberRow("Output token throughput (tok/s):", "throughput.output"),
			result.NumberRow("Peak output token throughput (tok/s):", "peak.output"),
			result.NumberRow("Peak concurrent requests:", "peak.concurrency"),
			result.NumberRow("RTFx (Inverse Real-Time Factor):", "rtfx"),
			result.NumberRow(total, "throughput.total"),
		}},
		{Title: "Probe Requests", Fill: "-", Rows: []result.Row{
			result.Count("Probe requests completed:", "probe.requests.ok"),
			result.Count("Probe requests failed:", "probe.requests.failed"),
			result.TableMilliseconds("Median probe E2EL (ms):", "probe.median"),
			result.TableMilliseconds("P* probe E2EL (ms):", "probe.p*"),
			result.TableMilliseconds("Max probe E2EL (ms):", "probe.max"),
		}},
		result.LatencySection("Time to First Token", "TTFT", "ttft"),
		result.LatencySection("Time per Output Token (excl. 1st token)", "TPOT", "tpot"),
		result.LatencySection("Inter-token Latency", "ITL", "itl"),
		result.LatencySection("End-to-end Latency", "E2EL", "e2el"),
		result.LatencySection("Client-side Queueing", "Client Queue Time", "queue"),
		result.LatencySection("Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue", "e2el_queue"),
		{Title: "Diffusion Decoding", Fill: "-", Rows: []result.Row{
			result.NumberRow("Committed throughput (tok/s):", "diffusion.throughput"),
			result.NumberRow("Denoising steps per canvas:", "diffusion.steps_per_canvas"),
			result.NumberRow("Committed per denoising step:", "diffusion.committed_per_step"),
			result.Count("Committed tokens:", "diffusion.committed_tokens"),
			result.Count("Denoising steps:", "diffusion.denoising_steps"),
			result.Count("Canvas positions evaluated:", "diffusion.canvas_positions"),
		}},
		{Title: "Speculative Decoding", Fill: "-", Rows: []result.Row{
			result.Percent("Acceptance rate (%):", "spec_decode.acceptance_rate"),
			result.NumberRow("Acceptance length:", "accept_length"),
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
var newestRows = []string{"probe.", "queue.", "e2el_queue.", "spec_decode.", "accept_length", "diffusion.", "rtfx", "throughput.inputs"}

// formOf is the oldest form that has such rows.
func formOf(r *result.TableReading, rows []result.Match) string {
	old := slices.ContainsFunc(rows, func(m result.Match) bool { return strings.HasPrefix(m.Label, "Total Token") })
	switch {
	case old && r.Has("throughput.total"):
		return string(V2507)
	case r.Has(newestRows...):
		return string(V2608)
	case r.Has("requests.ok") && !r.Has("requests.failed", "peak.", "throughput.total"):
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
