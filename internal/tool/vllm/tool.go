package vllm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
)

// Tool is `vllm bench serve`.
func Tool() tool.Tool {
	definitions := Definitions()
	return tool.Tool{
		Name: "vllm", Program: "vllm bench serve", Definitions: &definitions, Result: Format(),
		Plan: func(s argparse.Settings) trace.Plan { return s.Plan("vllm") },
		Log: &tool.Log{
			Table: Table(), Settings: tableSettings, Load: readLoad,
			Lines: []string{
				"Starting initial single prompt test run", "Initial test run completed", "Traffic request rate:", "Traffic ramp-up strategy:",
				"Will increase RPS from", "Burstiness factor:", "Maximum request concurrency:", "vLLM API server version",
			},
			Commands: `\bvllm (?:bench )?serve\b|\bbenchmark_serving\.py\b|\bvllm\.entrypoints\b`,
		},
	}
}

// tableSettings are the arguments that a table tells. By which process requests arrived
// it does not.
func tableSettings(o *trace.Origin) argparse.Settings {
	s := argparse.Settings{"burstiness": argparse.Unknown}
	if limit := o.Setup["Maximum request concurrency"]; limit != "" {
		s["max_concurrency"] = limit
	}
	if rate := o.Setup["Request rate configured (RPS)"]; rate != "" {
		s["request_rate"] = rate
	} else if wouldTellRate(o) {
		s["request_rate"] = "inf"
	}
	return s
}

// wouldTellRate reports whether a table would tell a rate: it is whole where the row
// stands, and has rows that are younger.
func wouldTellRate(o *trace.Origin) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(o.Figures, func(f trace.Figure) bool { return f.Name == name })
	}
	return has("requests.ok") && has("duration") && (has("requests.failed") || has("peak.concurrency"))
}

// How the tool tells of a rate that rises.
var (
	ramp     = regexp.MustCompile(`^Traffic ramp-up strategy: (\w+)`)
	rampFrom = regexp.MustCompile(`(\d+) to (\d+) RPS`)
)

// readLoad reads what the tool says of the load ahead of a run.
func readLoad(line string, into argparse.Settings) {
	if m := ramp.FindStringSubmatch(line); m != nil {
		into["ramp_up_strategy"] = m[1]
	}
	if m := rampFrom.FindStringSubmatch(line); m != nil {
		into["ramp_up_start_rps"], into["ramp_up_end_rps"] = m[1], m[2]
	}
	label, value, _ := strings.Cut(line, ":")
	value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
	switch label {
	case "Traffic request rate":
		into["request_rate"] = strings.TrimSuffix(value, ".")
	case "Burstiness factor":
		into["burstiness"] = value
	}
}
