package sglang

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

// Check reports everything for which the tool would not run a command line that its
// parser accepts, and what can never be served here, each by its flag.
func (a *Args) Check() error {
	var c argparse.Checklist
	a.checkBackend(&c)
	a.checkTraffic(&c)
	a.checkLoRA(&c)
	a.checkSource(&c)
	return errors.Join(c...)
}

func (a *Args) checkBackend(c *argparse.Checklist) {
	c.Refuse(a.PrintRequests && a.Backend != "sglang-oai-chat", "--print-requests goes with --backend sglang-oai-chat only")
	c.Refuse(a.Backend == "gserver", "--backend gserver: sglang.bench_serving has no client for it either; the others are %s", strings.Join(a.served(), ", "))
	c.Refuse(a.TokenizePrompt && a.Backend != "sglang", "--tokenize-prompt goes with --backend sglang only")
	c.Refuse((a.Backend == "trt" || a.Backend == "truss") && a.Model == nil, "--backend %s needs --model", a.Backend)
	_, err := a.extra()
	c.Add(err)
	for _, h := range a.Headers() {
		c.Refuse(!httpguts.ValidHeaderFieldName(h[0]), "--header %q: not a name that HTTP allows", h[0])
		c.Refuse(!httpguts.ValidHeaderFieldValue(h[1]), "--header %s: its value, not shown here, has a character that HTTP does not allow", h[0])
	}
}

// served are the backends that there is a client for.
func (a *Args) served() []string {
	return slices.DeleteFunc(slices.Clone(a.choices(backends)), func(s string) bool { return s == "gserver" })
}

func (a *Args) checkTraffic(c *argparse.Checklist) {
	c.Refuse(!(a.RequestRate > 0), "--request-rate %s: must be above 0", python.Float(a.RequestRate))
	c.Refuse(a.MaxConcurrency != nil && *a.MaxConcurrency < 0, "--max-concurrency %d: must not be negative; 0 is no limit", pointee(a.MaxConcurrency))
	c.Refuse(a.Seed < 0 || int64(a.Seed) > math.MaxUint32, "--seed %d: must be between 0 and 2**32 - 1", a.Seed)
}

func pointee(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func (a *Args) checkLoRA(c *argparse.Checklist) {
	c.Refuse(a.LoraRequestDistribution != "uniform" && len(a.LoraName) < 2, "--lora-request-distribution %s needs two names or more in --lora-name", a.LoraRequestDistribution)
	c.Refuse(!(a.LoraZipfAlpha > 1), "--lora-zipf-alpha %s: must be above 1", python.Float(a.LoraZipfAlpha))
}

// checkSource is what datasets and backends must have in common.
func (a *Args) checkSource(c *argparse.Checklist) {
	pictures := a.DatasetName == "image" || a.DatasetName == "mmmu"
	c.Refuse(a.Embedding() && (pictures || a.DatasetName == "mooncake"), "--dataset-name %s: not for --backend %s", a.DatasetName, a.Backend)
	c.Refuse(a.DatasetName == "mooncake" && a.Backend != "sglang", "--dataset-name mooncake goes with --backend sglang only")
	c.Refuse(pictures && a.TokenizePrompt, "--tokenize-prompt: not for --dataset-name %s", a.DatasetName)
	c.Refuse(a.TokenizePrompt && slices.Contains([]string{"sharegpt", "custom"}, a.DatasetName), "--tokenize-prompt: not for --dataset-name %s", a.DatasetName)
	c.Refuse(a.TokenizePrompt && !a.main() && a.DatasetName == "generated-shared-prefix", "--tokenize-prompt: not for --dataset-name generated-shared-prefix")
	turns := a.DatasetName == "agentic-trace" || a.DatasetName == "generated-shared-prefix" && a.GSPNumTurns > 1
	c.Refuse(turns && !a.Chat(), "--dataset-name %s has conversations of several turns: they need --backend sglang-oai-chat, vllm-chat or lmdeploy-chat", a.DatasetName)
	c.Refuse(a.DatasetName == "openai" && !a.Chat(), "--dataset-name openai holds messages: they need --backend sglang-oai-chat, vllm-chat or lmdeploy-chat")
}

// Native tells whether the backend is SGLang's own /generate.
func (a *Args) Native() bool { return a.Backend == "sglang" || a.Backend == "sglang-native" }

// Chat tells whether the backend speaks chat completions.
func (a *Args) Chat() bool { return strings.HasSuffix(a.Backend, "-chat") }

// Streams tells whether answers come in pieces. Those of trt always do.
func (a *Args) Streams() bool { return a.Backend == "trt" || !a.DisableStream && !a.Embedding() }

// Embedding tells whether the backend asks for no text.
func (a *Args) Embedding() bool { return strings.HasSuffix(a.Backend, "-embedding") }

// SGLang tells whether the tool takes the server for SGLang's.
func (a *Args) SGLang() bool { return strings.Contains(a.Backend, "sglang") }

// Protocol is what the backend speaks, in the names that plans have.
func (a *Args) Protocol() string {
	switch {
	case a.Native():
		return "generate"
	case a.Chat():
		return "chat"
	case a.Embedding():
		return "embeddings"
	case a.Backend == "trt" || a.Backend == "truss":
		return a.Backend
	}
	return "completions"
}

// paths are where the protocols are served.
var paths = map[string]string{
	"generate": "/generate", "completions": "/v1/completions", "chat": "/v1/chat/completions", "embeddings": "/v1/embeddings",
	"trt": "/v2/models/ensemble/generate_stream", "truss": "/v1/models/model:predict",
}

// ports are the ports of backends that have not 30000.
var ports = map[string]int{"lmdeploy": 23333, "vllm": 8000, "vllm-embedding": 8000, "trt": 8000, "gserver": 9988, "truss": 8080}

// Resolve fills in what the tool fills in before it prints its arguments again: the
// port of the backend, the model that was found, and the chat template of pictures.
func (a *Args) Resolve(model string) {
	port := a.port()
	a.Port = &port
	if a.Model == nil {
		a.Model = &model
	}
	if a.DatasetName == "image" || a.DatasetName == "mmmu" {
		a.ApplyChatTemplate = true
	}
}

func (a *Args) port() int {
	switch port, ok := ports[a.Backend]; {
	case a.Port != nil:
		return *a.Port
	case ok:
		return port
	}
	return 30000
}

// URLs are the server's and that of the requests. --base-url is taken as it is.
func (a *Args) URLs() (base, target string) {
	base = "http://" + net.JoinHostPort(strings.Trim(a.Host, "[]"), strconv.Itoa(a.port()))
	if a.BaseURL != nil && *a.BaseURL != "" {
		base = *a.BaseURL
	}
	return base, base + paths[a.Protocol()]
}

// ReadyURL is what has to answer before the run.
func (a *Args) ReadyURL() string {
	base, _ := a.URLs()
	if a.Backend == "trt" {
		return base
	}
	return base + "/v1/models"
}

// Headers are the --header pairs in order. One without a name or without a value is
// dropped, as that tool drops it.
func (a *Args) Headers() (out [][2]string) {
	for _, item := range a.Header {
		name, value, _ := strings.Cut(item, "=")
		if name != "" && value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	return out
}

// Concurrency is how many requests are in flight at most, 0 for no limit.
func (a *Args) Concurrency() int { return pointee(a.MaxConcurrency) }

// ServedModel is the model that requests name.
func (a *Args) ServedModel() string {
	for _, name := range []*string{a.ServedModelName, a.Model} {
		if name != nil && *name != "" {
			return *name
		}
	}
	return ""
}

// extra are the body fields of --extra-request-body, and those that other flags add
// to them.
func (a *Args) extra() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if a.ExtraRequestBody != nil && *a.ExtraRequestBody != "" {
		if err := json.Unmarshal([]byte(*a.ExtraRequestBody), &out); err != nil || out == nil {
			return nil, fmt.Errorf(`--extra-request-body: must be a JSON object such as {"top_k": 1}, not %.60q`, *a.ExtraRequestBody)
		}
	}
	if a.CacheReport && strings.HasPrefix(a.Backend, "sglang-oai") {
		out["return_cached_tokens_details"] = json.RawMessage("true")
	}
	if a.FakePrefill {
		out["bootstrap_host"], out["bootstrap_room"] = json.RawMessage(`"2.2.2.2"`), json.RawMessage("0")
	}
	return out, nil
}

// BodyFields are what the tool sends beside prompt, model and output length: its
// constants, and --extra-request-body over most of them. sampling are the fields
// within sampling_params, nil where the protocol has no such object.
func (a *Args) BodyFields() (top, sampling map[string]json.RawMessage, err error) {
	extra, err := a.extra()
	if err != nil {
		return nil, nil, err
	}
	fields := map[string]any{}
	switch a.Protocol() {
	case "generate":
		return a.nativeFields(extra)
	case "completions":
		fields["best_of"], fields["temperature"], fields["ignore_eos"] = 1, float(0), !a.DisableIgnoreEOS
		if a.ReturnLogprob && a.TopLogprobsNum > 0 {
			fields["logprobs"] = a.TopLogprobsNum
		}
	case "chat":
		fields["temperature"], fields["ignore_eos"] = float(0), !a.DisableIgnoreEOS
	case "truss":
		fields["best_of"], fields["temperature"], fields["ignore_eos"] = 1, float(0), !a.DisableIgnoreEOS
	case "trt":
		fields["accumulate_tokens"], fields["temperature"], fields["top_p"] = true, float(1e-6), float(1)
	}
	top, err = encodeFields(fields, extra)
	return top, nil, err
}

// nativeFields are those of /generate. Three of them nothing lies over.
func (a *Args) nativeFields(extra map[string]json.RawMessage) (top, sampling map[string]json.RawMessage, err error) {
	if top, err = encodeFields(map[string]any{
		"lora_path": nil, "return_logprob": a.ReturnLogprob, "return_routed_experts": a.ReturnRoutedExperts, "logprob_start_len": a.LogprobStartLen,
	}, extra); err != nil {
		return nil, nil, err
	}
	fixed := map[string]any{}
	if a.TopLogprobsNum > 0 {
		fixed["top_logprobs_num"] = a.TopLogprobsNum
	}
	if a.TokenIDsLogprob != nil {
		fixed["token_ids_logprob"] = a.TokenIDsLogprob
	}
	over, err := encodeFields(fixed, nil)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(top, over)
	params := map[string]any{"temperature": float(a.Temperature), "ignore_eos": !a.DisableIgnoreEOS}
	if a.TopP < 1 {
		params["top_p"] = float(a.TopP)
	}
	sampling, err = encodeFields(params, nil)
	return top, sampling, err
}

// float is a number as Python writes it: 0.0, not 0.
func float(f float64) json.RawMessage { return python.AppendFloat(nil, f) }

func encodeFields(fields map[string]any, over map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for name, v := range fields {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("body field %s: %w", name, err)
		}
		out[name] = b
	}
	maps.Copy(out, over)
	return out, nil
}

// Traffic is when requests are sent, and how long the tool waits after the last.
type Traffic struct {
	Schedule arrival.Schedule
	// End is when the tool would have stopped waiting if the last request was answered
	// at once: it draws a gap after every request, also after the last.
	End time.Duration
}

// Dispatch draws what the tool draws while it sends: the adapter of each request, and
// the gap after it, from where the drawing of the dataset left the generators. Of a
// conversation only the first request is drawn for; the others follow it.
func (a *Args) Dispatch(requests []workload.Request, numpy *pyrand.Legacy, stdlib *pyrand.Random, timed bool) Traffic {
	var due []time.Duration
	at := 0.0
	adapter := make([]string, len(requests))
	for i := range requests {
		r := &requests[i]
		if r.After > 0 {
			adapter[i] = adapter[r.After-1]
			continue
		}
		adapter[i] = a.adapter(len(due), numpy, stdlib)
		if timed {
			due = append(due, r.At)
			continue
		}
		due = append(due, time.Duration(math.Round(at*1e9)))
		if !math.IsInf(a.RequestRate, 1) {
			at += numpy.Exponential(1 / a.RequestRate)
		}
	}
	for i := range requests {
		a.adapt(&requests[i], adapter[i])
	}
	return Traffic{Schedule: slices.Values(due), End: time.Duration(math.Round(at * 1e9))}
}

// adapter is the LoRA adapter of the i-th request, empty for none.
func (a *Args) adapter(i int, numpy *pyrand.Legacy, stdlib *pyrand.Random) string {
	n := len(a.LoraName)
	if n == 0 {
		return ""
	}
	switch a.LoraRequestDistribution {
	case "distinct":
		return a.LoraName[i%n]
	case "skewed":
		return a.LoraName[weighted(a.loraShares(), numpy.Float64())]
	}
	return a.LoraName[stdlib.Below(n)]
}

// loraShares are the cumulative shares of the adapters, each 1/alpha of the one before.
func (a *Args) loraShares() []float64 {
	weights := make([]float64, len(a.LoraName))
	sum := 0.0
	for i := range weights {
		weights[i] = math.Pow(a.LoraZipfAlpha, -float64(i))
		sum += weights[i]
	}
	total := 0.0
	for i := range weights {
		total += weights[i] / sum
		weights[i] = total
	}
	for i := range weights {
		weights[i] /= total
	}
	return weights
}

// weighted is where x falls among cumulative shares.
func weighted(shares []float64, x float64) int {
	i, equal := slices.BinarySearch(shares, x)
	if equal {
		i++
	}
	return min(i, len(shares)-1)
}

// adapt gives a request its adapter, in the way that its backend has for that.
func (a *Args) adapt(r *workload.Request, name string) {
	if name == "" || a.Backend == "trt" || a.Backend == "truss" {
		return
	}
	extra, _ := a.extra() // checked
	own := maps.Clone(r.Extra)
	if own == nil {
		own = map[string]json.RawMessage{}
	}
	quoted := python.AppendString(nil, name)
	put := func(field string, over bool) {
		if over || extra[field] == nil && own[field] == nil {
			own[field] = quoted
		}
	}
	put("lora_path", !a.Native() && !a.Embedding())
	if !a.Native() {
		put("model", !a.Embedding())
	}
	r.Extra = own
}

// Warmup is what is sent ahead of the run: one request, or one conversation, as often
// as asked for, with at most 32 tokens of output and nothing that is the request's
// alone.
func (a *Args) Warmup(first []workload.Request) (out []workload.Request) {
	for range max(a.WarmupRequests, 0) {
		begin := len(out)
		for _, r := range first {
			r.ID, r.Extra, r.Header, r.At = "", nil, nil, 0
			r.OutputTokens = min(r.OutputTokens, 32)
			if r.After > 0 {
				r.After = begin + r.Number
			}
			if len(a.LoraName) > 0 {
				a.adapt(&r, a.LoraName[0])
			}
			out = append(out, r)
		}
	}
	return out
}

// FlushRoute is what empties the server's prefix cache.
func (a *Args) FlushRoute() string {
	switch {
	case a.main() && strings.HasPrefix(a.Backend, "vllm"):
		return "/reset_prefix_cache"
	case a.main() && strings.HasPrefix(a.Backend, "sglang"):
		return "/flush_cache?timeout=" + python.Float(a.FlushCacheTimeout)
	}
	return "/flush_cache"
}

// ProfileURLs are the workers to profile apart, with their names.
func (a *Args) ProfileURLs() (out [][2]string) {
	for i, url := range a.ProfilePrefillURL {
		out = append(out, [2]string{"Prefill-" + strconv.Itoa(i), url})
	}
	for i, url := range a.ProfileDecodeURL {
		out = append(out, [2]string{"Decode-" + strconv.Itoa(i), url})
	}
	return out
}

// ConstantRate is the rate if it is one number, else 0.
func (a *Args) ConstantRate() float64 {
	if math.IsInf(a.RequestRate, 1) || a.DatasetName == "mooncake" {
		return 0
	}
	return a.RequestRate
}

// Objectives are the limits of --goodput in Pitot's form.
func (a *Args) Objectives() (out []trace.SLO) {
	for _, l := range a.Goodput {
		out = append(out, trace.SLO{Metric: l.Name, Limit: time.Duration(min(l.MS, math.MaxInt64/1e7) * float64(time.Millisecond))})
	}
	return out
}
