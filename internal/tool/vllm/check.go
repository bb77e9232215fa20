package vllm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Check reports everything for which the command line cannot be run: options that the tool itself
// would refuse, and those that are not supported here, each by its flag.
func (a *Args) Check() error {
	var c python.Checklist
	a.checkBuilt(&c)
	a.checkLoad(&c)
	a.checkOutput(&c)
	return errors.Join(c...)
}

func (a *Args) checkBuilt(c *python.Checklist) {
	c.Refuse(!slices.Contains([]string{"auto", "hf", "slow", "custom"}, a.TokenizerMode), "--tokenizer-mode %s is not built yet; use auto", a.TokenizerMode)
	c.Refuse(a.SelfTimed != nil && !a.is("timed_trace"), "--self-timed/--no-self-timed is only allowed with --dataset-name timed_trace")
}

func (a *Args) checkLoad(c *python.Checklist) {
	a.checkRoute(c)
	c.Refuse(a.MaxConcurrency != nil && *a.MaxConcurrency <= 0, "--max-concurrency must be greater than 0")
	c.Refuse(!(a.RequestRate > 0), "--request-rate %s: must be positive", python.Float(a.RequestRate))
	c.Refuse(!(a.Burstiness > 0), "--burstiness %s: must be positive", python.Float(a.Burstiness))
	c.Refuse(math.IsInf(a.ProbeRequestRate, 1), "--probe-request-rate inf: must be a number of requests per second")
	c.Refuse(a.Seed < 0 || int64(a.Seed) > math.MaxUint32, "--seed %d: must be between 0 and 2**32 - 1", a.Seed)
	a.checkRampUp(c)
	headers, err := a.headers()
	c.Add(err)
	tool.CheckHeaders(c, headers)
	a.checkDataset(c)
}

func (a *Args) checkRampUp(c *python.Checklist) {
	if a.RampUpStrategy == nil {
		return
	}
	c.Refuse(!math.IsInf(a.RequestRate, 1), "--ramp-up-strategy sets the request rate; remove --request-rate")
	from, to := a.RampUpStartRPS, a.RampUpEndRPS
	if from == nil || to == nil {
		c.Refuse(true, "--ramp-up-strategy needs --ramp-up-start-rps and --ramp-up-end-rps")
		return
	}
	c.Refuse(*from < 0 || *to < 0, "--ramp-up-start-rps and --ramp-up-end-rps must not be negative")
	c.Refuse(*from > *to, "--ramp-up-start-rps must not be greater than --ramp-up-end-rps")
	c.Refuse(*from == 0, "--ramp-up-start-rps 0: the first request would never be sent")
}

func (a *Args) checkOutput(c *python.Checklist) {
	s := a.settings()
	_, err := s.percentiles()
	c.Add(err)
	_, err = s.limits()
	c.Add(err)
	_, err = s.metadata()
	c.Add(err)
	_, err = a.extraFields()
	c.Add(err)
	if a.PlotTimeline {
		_, err = a.TimelineLimits()
		c.Add(err)
	}
}

// TimelineLimits are those of --timeline-itl-thresholds, in seconds.
func (a *Args) TimelineLimits() (limits [2]float64, err error) {
	items := strings.Split(a.TimelineITLThresholds, ",")
	for i, item := range items {
		ms, err := python.ParseFloat(item)
		if err != nil || len(items) != len(limits) {
			return limits, fmt.Errorf("--timeline-itl-thresholds %q: must be two numbers of milliseconds, separated by a comma", a.TimelineITLThresholds)
		}
		limits[i] = ms / 1000
	}
	return limits, nil
}

// Leaves reports whether the run leaves a file.
func (a *Args) Leaves() bool {
	return a.SaveResult || a.AppendResult || a.PlotTimeline || a.PlotDatasetStats
}

// chat reports whether the backend speaks chat completions.
func (a *Args) chat() bool { return a.Backend == "openai-chat" }

// urls are the server's and that of the requests. The route is put behind the
// base as it is.
func (a *Args) urls() (base, target string) {
	base = "http://" + net.JoinHostPort(strings.Trim(a.Host, "[]"), strconv.Itoa(a.Port))
	if a.BaseURL != nil {
		base = *a.BaseURL
	}
	return base, base + a.Endpoint
}

// headers are the --header pairs in order.
func (a *Args) headers() ([][2]string, error) { return pairs("--header", a.Header) }

func pairs(name string, items []string) ([][2]string, error) {
	var out [][2]string
	for _, item := range items {
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			return nil, fmt.Errorf("%s %q: must be KEY=VALUE", name, key)
		}
		out = append(out, [2]string{strings.TrimSpace(key), strings.TrimSpace(value)})
	}
	return out, nil
}

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
		instead = cmp.Or(instead, "nothing; leave it out")
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
