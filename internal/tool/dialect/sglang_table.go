package dialect

// sglangLayout is that of sglang.bench_serving. Its forms differ in the rows that
// they have, which is for the report to say.
func sglangLayout() layout {
	return layout{
		{title, "=", []row{
			said("Backend:"),
			said("Traffic request rate:"),
			said("Max request concurrency:"),
			count("Successful requests:", "requests.ok"),
			number("Benchmark duration (s):", "duration"),
			count("Total input tokens:", "tokens.input"),
			count("Total input text tokens:", "tokens.input_text"),
			count("Total input vision tokens:", "tokens.input_vision"),
			count("Total generated tokens:", "tokens.output"),
			count("Total generated tokens (retokenized):", "tokens.output_retokenized"),
			number("Request throughput (req/s):", "throughput.requests"),
			number("Input token throughput (tok/s):", "throughput.input"),
			number("Output token throughput (tok/s):", "throughput.output"),
			number("Peak output token throughput (tok/s):", "peak.output"),
			count("Peak concurrent requests:", "peak.concurrency"),
			number("Total token throughput (tok/s):", "throughput.total"),
			number("Concurrency:", "concurrency"),
			number("Accept length:", "accept_length"),
		}},
		{"Goodput", "-", []row{
			said("SLOs (ms):"),
			number("Request goodput (req/s):", "goodput"),
			{"SLO attainment (%):", "slo.attainment", hundredths, 100},
			{"* SLO attainment (%):", "slo.attainment.*", hundredths, 100},
		}},
		latency("End-to-End Latency", "E2E Latency", "e2el"),
		latency("Time to First Token", "TTFT", "ttft"),
		latency("Time per Output Token (excl. 1st token)", "TPOT", "tpot"),
		latency("Inter-Token Latency", "ITL", "itl", "Max"),
		{"Cache Hit Details", "-", []row{
			count("Total prompt tokens:", "cache.prompt_tokens"),
			count("Total cached tokens:", "cache.cached_tokens"),
			count("  Device:", "cache.device"),
			count("  Host:", "cache.host"),
			count("  Storage:", "cache.storage"),
			count("  Storage (*):", "cache.storage.*"),
			{"Cache hit rate:", "cache.hit_rate", percent, 100},
			{"  Device:", "cache.device_share", percent, 100},
			{"  Host:", "cache.host_share", percent, 100},
			{"  Storage:", "cache.storage_share", percent, 100},
			{"  Storage (*):", "cache.storage_share.*", percent, 100},
		}},
	}
}
