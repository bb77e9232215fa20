package sglang

import (
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
)

// Tool is sglang.bench_serving.
func Tool() tool.Tool {
	definitions := Definitions()
	return tool.Tool{
		Name: "sglang", Program: "sglang.bench_serving", Definitions: &definitions, Result: Format(),
		Plan: func(s argparse.Settings) trace.Plan { return s.Plan("sglang") },
		Log: &tool.Log{
			Table: Table(), Settings: tableSettings,
			Lines: []string{
				"#Input tokens:", "#Output tokens:", "#Input text tokens:", "#Input vision tokens:", "Starting warmup", "Warmup completed",
			},
			Commands: `\bsglang\.(?:bench_serving|launch_server)\b`,
		},
	}
}

// tableSettings are the arguments that a table tells.
func tableSettings(o *trace.Origin) argparse.Settings {
	s := argparse.Settings{}
	if limit := o.Setup["Max request concurrency"]; limit != "" && limit != "not set" {
		s["max_concurrency"] = limit
	}
	switch rate := o.Setup["Traffic request rate"]; rate {
	case "":
	case "trace":
		s["use_trace_timestamps"] = "True"
	default:
		s["request_rate"] = rate
	}
	if backend := o.Setup["Backend"]; backend != "" {
		s["backend"] = backend
	}
	return s
}
