package vllm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/table"
)

// Table is how the tool prints a run.
func Table() table.Tool {
	return table.Tool{
		Name: "vllm", Layout: layout, Forms: []string{string(V2507), string(V2611)},
		Form: formOf, Setting: setting,
	}
}

// layout is that of `vllm bench serve` in a form. Forms differ in the rows that
// they have, which is for the report to say, and in how they spell one label.
func layout(form string) table.Layout {
	total := "Total token throughput (tok/s):"
	if form != "" && !Version(form).Since(V2512) {
		total = "Total Token throughput (tok/s):"
	}
	return table.Layout{
		{Title: table.Title, Fill: "=", Rows: []table.Row{
			table.Count("Successful requests:", "requests.ok"),
			table.Count("Failed requests:", "requests.failed"),
			table.Words("Maximum request concurrency:"),
			table.Words("Request rate configured (RPS):"),
			table.Number("Benchmark duration (s):", "duration"),
			table.Count("Total input tokens:", "tokens.input"),
			table.Count("Total generated tokens:", "tokens.output"),
			table.Number("Request throughput (req/s):", "throughput.requests"),
			table.Number("Input throughput (inputs/s):", "throughput.inputs"),
			table.Number("Request goodput (req/s):", "goodput"),
			table.Number("Input token throughput (tok/s):", "throughput.input"),
			table.Number("Output token throughput (tok/s):", "throughput.output"),
			table.Number("Peak output token throughput (tok/s):", "peak.output"),
			table.Number("Peak concurrent requests:", "peak.concurrency"),
			table.Number("RTFx (Inverse Real-Time Factor):", "rtfx"),
			table.Number(total, "throughput.total"),
		}},
		{Title: "Probe Requests", Fill: "-", Rows: []table.Row{
			table.Count("Probe requests completed:", "probe.requests.ok"),
			table.Count("Probe requests failed:", "probe.requests.failed"),
			table.Milliseconds("Median probe E2EL (ms):", "probe.median"),
			table.Milliseconds("P* probe E2EL (ms):", "probe.p*"),
			table.Milliseconds("Max probe E2EL (ms):", "probe.max"),
		}},
		table.Latency("Time to First Token", "TTFT", "ttft"),
		table.Latency("Time per Output Token (excl. 1st token)", "TPOT", "tpot"),
		table.Latency("Inter-token Latency", "ITL", "itl"),
		table.Latency("End-to-end Latency", "E2EL", "e2el"),
		table.Latency("Client-side Queueing", "Client Queue Time", "queue"),
		table.Latency("Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue", "e2el_queue"),
		{Title: "Diffusion Decoding", Fill: "-", Rows: []table.Row{
			table.Number("Committed throughput (tok/s):", "diffusion.throughput"),
			table.Number("Denoising steps per canvas:", "diffusion.steps_per_canvas"),
			table.Number("Committed per denoising step:", "diffusion.committed_per_step"),
			table.Count("Committed tokens:", "diffusion.committed_tokens"),
			table.Count("Denoising steps:", "diffusion.denoising_steps"),
			table.Count("Canvas positions evaluated:", "diffusion.canvas_positions"),
		}},
		{Title: "Speculative Decoding", Fill: "-", Rows: []table.Row{
			table.Percent("Acceptance rate (%):", "spec_decode.acceptance_rate"),
			table.Number("Acceptance length:", "accept_length"),
			table.Count("Drafts:", "spec_decode.drafts"),
			table.Count("Draft tokens:", "spec_decode.draft_tokens"),
			table.Count("Accepted tokens:", "spec_decode.accepted_tokens"),
		}},
		{Title: "Per-position acceptance (%):", Rows: []table.Row{
			table.Percent("  Position *:", "spec_decode.position.*"),
		}},
	}
}

// newestRows are the beginnings of names that the table has since 2026.
var newestRows = []string{"probe.", "queue.", "e2el_queue.", "spec_decode.", "accept_length", "diffusion.", "rtfx", "throughput.inputs"}

// formOf is the oldest form that has such rows.
func formOf(r *table.Reading, rows []table.Match) string {
	old := slices.ContainsFunc(rows, func(m table.Match) bool { return strings.HasPrefix(m.Label, "Total Token") })
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
