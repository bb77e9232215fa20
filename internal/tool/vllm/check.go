package vllm

import (
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

// Check reports everything for which the command line cannot be run: what the
// tool itself would refuse, and what is not built here, each by its flag.
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
