package dialect

import "github.com/pitot-bench/pitot/internal/judge/metrics"

// vllmLayout is that of `vllm bench serve` in a form. Forms differ in the rows that
// they have, which is for the report to say, and in how they spell one label.
func vllmLayout(form metrics.VLLMVersion) layout {
	total := "Total token throughput (tok/s):"
	if form != "" && !form.Since(metrics.VLLM2512) {
		total = "Total Token throughput (tok/s):"
	}
	return layout{
		{title, "=", []row{
			count("Successful requests:", "requests.ok"),
			count("Failed requests:", "requests.failed"),
			said("Maximum request concurrency:"),
			said("Request rate configured (RPS):"),
			number("Benchmark duration (s):", "duration"),
			count("Total input tokens:", "tokens.input"),
			count("Total generated tokens:", "tokens.output"),
			number("Request throughput (req/s):", "throughput.requests"),
			number("Input throughput (inputs/s):", "throughput.inputs"),
			number("Request goodput (req/s):", "goodput"),
			number("Input token throughput (tok/s):", "throughput.input"),
			number("Output token throughput (tok/s):", "throughput.output"),
			number("Peak output token throughput (tok/s):", "peak.output"),
			number("Peak concurrent requests:", "peak.concurrency"),
			number("RTFx (Inverse Real-Time Factor):", "rtfx"),
			number(total, "throughput.total"),
		}},
		{"Probe Requests", "-", []row{
			count("Probe requests completed:", "probe.requests.ok"),
			count("Probe requests failed:", "probe.requests.failed"),
			{"Median probe E2EL (ms):", "probe.median", hundredths, 1000},
			{"P* probe E2EL (ms):", "probe.p*", hundredths, 1000},
			{"Max probe E2EL (ms):", "probe.max", hundredths, 1000},
		}},
		latency("Time to First Token", "TTFT", "ttft"),
		latency("Time per Output Token (excl. 1st token)", "TPOT", "tpot"),
		latency("Inter-token Latency", "ITL", "itl"),
		latency("End-to-end Latency", "E2EL", "e2el"),
		latency("Client-side Queueing", "Client Queue Time", "queue"),
		latency("Queue-inclusive End-to-end Latency", "E2EL incl. Client Queue", "e2el_queue"),
		{"Diffusion Decoding", "-", []row{
			number("Committed throughput (tok/s):", "diffusion.throughput"),
			number("Denoising steps per canvas:", "diffusion.steps_per_canvas"),
			number("Committed per denoising step:", "diffusion.committed_per_step"),
			count("Committed tokens:", "diffusion.committed_tokens"),
			count("Denoising steps:", "diffusion.denoising_steps"),
			count("Canvas positions evaluated:", "diffusion.canvas_positions"),
		}},
		{"Speculative Decoding", "-", []row{
			{"Acceptance rate (%):", "spec_decode.acceptance_rate", hundredths, 100},
			number("Acceptance length:", "accept_length"),
			count("Drafts:", "spec_decode.drafts"),
			count("Draft tokens:", "spec_decode.draft_tokens"),
			count("Accepted tokens:", "spec_decode.accepted_tokens"),
		}},
		{"Per-position acceptance (%):", "", []row{
			{"  Position *:", "spec_decode.position.*", hundredths, 100},
		}},
	}
}
