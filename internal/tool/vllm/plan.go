package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Check reports everything for which the command line cannot be run: what the
// tool itself would refuse, and what is not built here, each by its flag.
func (a *Args) Check() error {
	var c argparse.Checklist
	a.checkBuilt(&c)
	a.checkLoad(&c)
	a.checkOutput(&c)
	return errors.Join(c...)
}

func (a *Args) checkBuilt(c *argparse.Checklist) {
	c.Refuse(a.PlotTimeline, "--plot-timeline is not built yet; leave it out, `pitot runs export` has the data")
	c.Refuse(a.PlotDatasetStats, "--plot-dataset-stats is not built yet; leave it out, `pitot runs export` has the data")
	c.Refuse(!slices.Contains([]string{"auto", "hf", "slow", "custom"}, a.TokenizerMode), "--tokenizer-mode %s is not built yet; use auto", a.TokenizerMode)
	c.Refuse(a.SelfTimed != nil && !a.is("timed_trace"), "--self-timed/--no-self-timed is only allowed with --dataset-name timed_trace")
}

func (a *Args) checkLoad(c *argparse.Checklist) {
	a.checkRoute(c)
	c.Refuse(a.MaxConcurrency != nil && *a.MaxConcurrency <= 0, "--max-concurrency must be greater than 0")
	c.Refuse(!(a.RequestRate > 0), "--request-rate %s: must be positive", python.Float(a.RequestRate))
	c.Refuse(!(a.Burstiness > 0), "--burstiness %s: must be positive", python.Float(a.Burstiness))
	c.Refuse(math.IsInf(a.ProbeRequestRate, 1), "--probe-request-rate inf: must be a number of requests per second")
	c.Refuse(a.Seed < 0 || int64(a.Seed) > math.MaxUint32, "--seed %d: must be between 0 and 2**32 - 1", a.Seed)
	a.checkRampUp(c)
	_, err := a.Headers()
	c.Add(err)
	a.checkDataset(c)
}

func (a *Args) checkRampUp(c *argparse.Checklist) {
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

func (a *Args) checkOutput(c *argparse.Checklist) {
	_, err := a.percentiles()
	c.Add(err)
	_, err = a.GoodputLimits()
	c.Add(err)
	_, err = a.metadata()
	c.Add(err)
	_, err = a.ExtraFields()
	c.Add(err)
}

// Chat reports whether the backend speaks chat completions.
func (a *Args) Chat() bool { return a.Backend == "openai-chat" }

// URLs are the server's and that of the requests. The route is put behind the
// base as it is.
func (a *Args) URLs() (base, target string) {
	base = "http://" + net.JoinHostPort(strings.Trim(a.Host, "[]"), strconv.Itoa(a.Port))
	if a.BaseURL != nil {
		base = *a.BaseURL
	}
	return base, base + a.Endpoint
}

// Headers are the --header pairs in order.
func (a *Args) Headers() ([][2]string, error) {
	headers, err := pairs("--header", a.Header)
	if err != nil {
		return nil, err
	}
	for _, h := range headers {
		if !httpguts.ValidHeaderFieldName(h[0]) {
			return nil, fmt.Errorf("--header %q: not a name that HTTP allows", h[0])
		}
		if !httpguts.ValidHeaderFieldValue(h[1]) {
			return nil, fmt.Errorf("--header %s: its value, not shown here, has a character that HTTP does not allow", h[0])
		}
	}
	return headers, nil
}

func (a *Args) metadata() ([][2]string, error) { return pairs("--metadata", a.Metadata) }

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

// percentiles of --metric-percentiles.
func (a *Args) percentiles() ([]float64, error) {
	var out []float64
	for item := range strings.SplitSeq(a.MetricPercentiles, ",") {
		p, err := python.ParseFloat(item)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, fmt.Errorf("--metric-percentiles %q: must be numbers from 0 to 100, separated by commas", a.MetricPercentiles)
		}
		out = append(out, p)
	}
	return out, nil
}

// GoodputLimits are the --goodput pairs, in milliseconds.
func (a *Args) GoodputLimits() (map[string]float64, error) {
	limits := map[string]float64{}
	for _, item := range a.Goodput {
		name, value, ok := strings.Cut(item, ":")
		limit, err := python.ParseFloat(value)
		switch {
		case !ok || err != nil:
			return nil, fmt.Errorf("--goodput %q: must be NAME:MILLISECONDS", item)
		case !slices.Contains([]string{"ttft", "tpot", "e2el"}, name):
			return nil, fmt.Errorf("--goodput %q: the name must be ttft, tpot or e2el", item)
		case !(limit >= 0):
			return nil, fmt.Errorf("--goodput %q: must not be negative", item)
		}
		limits[name] = limit
	}
	return limits, nil
}

// Objectives are the goodput limits in Pitot's form.
func (a *Args) Objectives() ([]trace.SLO, error) {
	limits, err := a.GoodputLimits()
	var out []trace.SLO
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		ms := min(limits[name], math.MaxInt64/1e7)
		out = append(out, trace.SLO{Metric: name, Limit: time.Duration(ms * float64(time.Millisecond))})
	}
	return out, err
}

// sections are the metrics to print, as they were named; unknown names print
// nothing.
func (a *Args) sections() []string {
	if a.PercentileMetrics == nil || *a.PercentileMetrics == "" {
		if a.Pooling() {
			return []string{"e2el"}
		}
		return []string{"ttft", "tpot", "itl"}
	}
	return strings.Split(*a.PercentileMetrics, ",")
}

// options of the figures.
func (a *Args) figures() Options {
	percentiles, _ := a.percentiles() // checked
	limits, _ := a.GoodputLimits()
	return Options{
		Version: Version(a.DialectVersion), NoTokenizer: a.SkipTokenizerInit, CountsPrompts: a.countsPrompts(), Percentiles: percentiles, Goodput: limits,
	}
}

// SendIgnoreEOS reports whether requests ask for answers of the full length: when
// told so, for random datasets and for traces.
func (a *Args) SendIgnoreEOS() bool {
	return a.IgnoreEOS || a.is("random", "random-mm", "timed_trace")
}

// Random is the dataset "random".
func (a *Args) Random() (workload.Random, error) {
	input, output, err := rangeRatio(a.RandomRangeRatio)
	r := workload.Random{
		Requests: a.NumPrompts, Input: a.RandomInputLen, Output: a.RandomOutputLen, Prefix: a.RandomPrefixLen, Names: a.randomNames(), Batch: a.RandomBatchSize,
		InputRange: input, OutputRange: output, Seed: uint64(a.Seed), IDPrefix: a.RequestIDPrefix,
	}
	if a.InputLen != nil {
		r.Input = *a.InputLen
	}
	if a.OutputLen != nil {
		r.Output = *a.OutputLen
	}
	r.Output = max(r.Output, 1) // it asks for one token where none is wanted
	return r, err
}

// randomNames are the flags of the settings of a random workload.
func (a *Args) randomNames() map[string]string {
	names := map[string]string{
		"requests": "--num-prompts", "input length": "--random-input-len", "batch": "--random-batch-size", "prefix length": "--random-prefix-len",
		"input range": "--random-range-ratio (input)", "output range": "--random-range-ratio (output)",
		"items": "--random-mm-base-items-per-request", "items range": "--random-mm-num-mm-items-range-ratio",
		"buckets": "--random-mm-bucket-config", "limits": "--random-mm-limit-mm-per-prompt",
	}
	if a.InputLen != nil {
		names["input length"] = "--input-len"
	}
	return names
}

// rangeRatio reads --random-range-ratio: a number for both, or an object.
func rangeRatio(s string) (input, output float64, err error) {
	if f, err := python.ParseFloat(s); err == nil {
		return f, f, nil
	}
	var both struct{ Input, Output *float64 }
	if json.Unmarshal([]byte(s), &both) != nil || both.Input == nil || both.Output == nil {
		return 0, 0, fmt.Errorf(`--random-range-ratio %q: must be a number, or an object such as {"input": 0.2, "output": 0}`, s)
	}
	return *both.Input, *both.Output, nil
}

// RandomMM is the dataset "random-mm".
func (a *Args) RandomMM() (workload.RandomMM, error) {
	random, err := a.Random()
	if err != nil {
		return workload.RandomMM{}, err
	}
	r := workload.RandomMM{Random: random, Items: a.MMBaseItems, ItemsRange: a.MMItemsRange, Buckets: a.MMBuckets}
	if err := json.Unmarshal(a.MMLimit, &r.Limits); err != nil {
		return r, fmt.Errorf("--random-mm-limit-mm-per-prompt: %w", err)
	}
	return r, nil
}

// ShareGPT is the dataset "sharegpt".
func (a *Args) ShareGPT() workload.ShareGPT {
	s := workload.ShareGPT{
		Requests: a.NumPrompts, Seed: uint64(a.Seed), NoShuffle: a.DisableShuffle, NoOversample: a.NoOversample, IDPrefix: a.RequestIDPrefix, Media: a.Chat(),
	}
	for _, n := range []*int{a.ShareGPTOutputLen, a.OutputLen} {
		if n != nil {
			s.Output = *n
		}
	}
	return s
}

// Custom is the dataset "custom".
func (a *Args) Custom() workload.Custom {
	return workload.Custom{
		Requests: max(a.NumPrompts, 0), Output: max(a.customOutput(), 0), Shuffle: !a.DisableShuffle,
		Seed: uint64(a.Seed), NoOversample: a.NoOversample, IDPrefix: a.RequestIDPrefix, AsVLLM: true,
	}
}

// customOutput is the output length of every request, or -1 for the row's. A
// prompt that nothing counts asks for one token, whatever the flags say.
func (a *Args) customOutput() int {
	switch {
	case a.SkipTokenizerInit:
		return 1
	case a.OutputLen != nil:
		return *a.OutputLen
	}
	return a.CustomOutputLen
}

// Finish gives the requests of a workload what the tool adds to its dataset's:
// the length of a prompt that is not counted, and adapters. An output length of
// 0 is sent like any other, not left to the server.
func (a *Args) Finish(w workload.Workload) {
	limit := a.limitField()
	fields, _ := a.ExtraFields() // checked
	for i := range w.Requests {
		r := &w.Requests[i]
		if a.SkipTokenizerInit {
			r.PromptTokens = 1
		}
		if r.OutputTokens == 0 && limit != "" && fields[limit] == nil {
			extra := map[string]json.RawMessage{limit: json.RawMessage("0")}
			maps.Copy(extra, r.Extra)
			r.Extra = extra
		}
		a.shape(r)
	}
	a.assignLoRA(w)
}

// assignLoRA gives each request its adapter: in turn, or each by random.choice,
// from where the drawing of the dataset left the generator.
func (a *Args) assignLoRA(w workload.Workload) {
	n := len(a.LoraModules)
	if n == 0 {
		return
	}
	rng := w.Python
	if rng == nil {
		rng = pyrand.NewRandom(int64(a.Seed))
	}
	for i := range w.Requests {
		pick := i % n
		if a.LoraAssignment == "random" {
			pick = rng.Below(n)
		}
		w.Requests[i].Model = a.LoraModules[pick]
	}
}

// Schedule is when the requests of w are sent: numpy's draws from the seed, or from
// where drawing prompts left its generator, summed up, and stretched so that the last
// is sent after n/rate seconds. Under a ramp the rate follows the position of the
// request and nothing is stretched. A trace has its own times, of which none is
// waited for that has gone by.
func (a *Args) Schedule(w workload.Workload) arrival.Schedule {
	offsets := a.offsets(w)
	return func(yield func(time.Duration) bool) {
		for _, s := range offsets {
			if !yield(time.Duration(math.Round(s * 1e9))) {
				return
			}
		}
	}
}

// offsets are in seconds.
func (a *Args) offsets(w workload.Workload) []float64 {
	n := len(w.Requests)
	out := make([]float64, n)
	sum := 0.0
	if a.OwnTimes() {
		for i, r := range w.Requests {
			sum = max(sum, r.At.Seconds())
			out[i] = sum
		}
		return out
	}
	rng := w.Numpy
	if rng == nil {
		rng = pyrand.NewLegacy(uint32(a.Seed))
	}
	for i := range out {
		switch rate := a.rate(i, n); {
		case math.IsInf(rate, 1):
		case math.IsInf(a.Burstiness, 1):
			sum += 1 / rate
		default:
			sum += rng.Gamma(a.Burstiness, 1/float64(rate*a.Burstiness))
		}
		out[i] = sum
	}
	if a.RampUpStrategy == nil && sum != 0 {
		factor := float64(n) / a.RequestRate / sum
		for i := range out {
			out[i] *= factor
		}
	}
	return out
}

// rate is the request rate at position i of n.
func (a *Args) rate(i, n int) float64 {
	if a.RampUpStrategy == nil {
		return a.RequestRate
	}
	from, to := float64(*a.RampUpStartRPS), float64(*a.RampUpEndRPS)
	progress := float64(i) / float64(max(n-1, 1))
	if *a.RampUpStrategy == "linear" {
		return from + float64((to-from)*progress)
	}
	return from * math.Pow(to/from, progress)
}
