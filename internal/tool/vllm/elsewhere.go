package vllm

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool/python"
)

// ParseRust reads the arguments of the tool's client in Rust, vllm-rs bench serve, which
// chooses the route by the backend, and prints more by default.
func ParseRust(args []string, idPrefix string) (*Args, error) {
	own := []string{"--endpoint=", "--percentile-metrics=ttft,tpot,itl,e2el", "--metric-percentiles=99,90"}
	a, err := Parse(slices.Concat(own, args), idPrefix)
	if err != nil || a.Endpoint != "" {
		return a, err
	}
	a.Endpoint = "/v1/" + a.backend().routes[0]
	if a.protocol() == "pooling" {
		a.Endpoint = "/pooling"
	}
	return a, nil
}

// elsewhere is the error of arguments that belong to another form or client of the tool.
func elsewhere(args []string, form Version) error {
	var names, ways []string
	for _, arg := range args {
		flag, _, _ := strings.Cut(python.Canonical(arg), "=")
		instead, known := otherFlags[flag]
		if !known || flag == "--endpoint-type" && form == V2507 {
			continue
		}
		if instead == "" {
			instead = "nothing; leave it out"
		}
		names, ways = append(names, flag), append(ways, "in place of "+flag+" use "+instead)
	}
	if names == nil {
		return nil
	}
	return python.Usagef("unrecognized arguments: %s\n%s", strings.Join(names, " "), strings.Join(ways, "\n"))
}

// otherFlags are options of older forms, and of the client in Rust alone, with what does the
// same, if anything does.
var otherFlags = map[string]string{
	"--endpoint-type":             "--backend, as it is called since release 0.11, or --dialect-version 2025-07, which takes it",
	"--custom-skip-chat-template": "--skip-chat-template",

	"--speed-bench-config":                   "--speed-bench-dataset-subset",
	"--num-runs":                             "pitot bench --repeat N, or --num-runs of pitot vllm bench sweep serve",
	"--compare":                              "pitot compare A.json B.json",
	"--dry-run":                              "pitot plan -- vllm bench serve and the other flags",
	"--sweep-max-concurrency":                "pitot sweep --concurrency 1,10,50",
	"--sweep-request-rate":                   "pitot sweep --rate 1,10,50",
	"--sweep-num-prompts-factor":             "pitot sweep --concurrency 1,10 --requests 20,200 --link concurrency,requests",
	"--sweep-summary-percentiles":            "--metric-percentiles",
	"--reset-prefix-cache":                   "pitot bench --cache cold",
	"--multi-turn":                           "pitot bench --workload chat",
	"--multi-turn-num-turns":                 "pitot bench --workload chat --turns N",
	"--multi-turn-min-turns":                 "pitot bench --workload chat --turns 'uniform(2,8)'",
	"--multi-turn-max-turns":                 "pitot bench --workload chat --turns 'uniform(2,8)'",
	"--multi-turn-concurrency":               "pitot bench --workload chat --concurrency N --hold",
	"--multi-turn-delay-ms":                  "pitot bench --workload chat --think 500ms",
	"--per-turn-input-len":                   "pitot bench --workload chat --turn-len N",
	"--prompt-token-ids":                     "pitot bench --tokenizer none",
	"--max-model-len":                        "pitot bench --fit N, which shortens prompts instead of leaving them out",
	"--steady-state-threshold":               "pitot runs report, which has the steady part of every run",
	"--steady-state-min-window":              "pitot runs report, which has the steady part of every run",
	"--no-steady-state":                      "",
	"--profile-batch-threshold":              "--profile, which is of the whole run",
	"--profile-duration":                     "--profile, which is of the whole run",
	"--speed-bench-max-input-len":            "",
	"--hf-text-column":                       "",
	"--random-cache-hit-fraction":            "pitot bench --mix, with a --prefix-len for a share of the requests",
	"--random-cache-ratio":                   "pitot bench --mix, with a --prefix-len for a share of the requests",
	"--multi-turn-prefix-global-ratio":       "pitot bench --workload chat --prefix-len N",
	"--multi-turn-prefix-conversation-ratio": "",
}
