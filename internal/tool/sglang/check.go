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

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Check reports everything for which the tool would not run a command line that its
// parser accepts, and what can never be served here, each by its flag.
func (a *Args) Check() error {
	var c python.Checklist
	a.checkBackend(&c)
	a.checkTraffic(&c)
	a.checkLoRA(&c)
	a.checkSource(&c)
	a.checkDataset(&c)
	return errors.Join(c...)
}

func (a *Args) checkBackend(c *python.Checklist) {
	c.Refuse(a.PrintRequests && a.Backend != "sglang-oai-chat", "--print-requests goes with --backend sglang-oai-chat only")
	c.Refuse(a.Backend == "gserver", "--backend gserver: sglang.bench_serving has no client for it either; the others are %s", strings.Join(a.clients(), ", "))
	c.Refuse(a.TokenizePrompt && a.Backend != "sglang", "--tokenize-prompt goes with --backend sglang only")
	c.Refuse((a.Backend == "trt" || a.Backend == "truss") && a.Model == nil, "--backend %s needs --model", a.Backend)
	_, err := a.extra()
	c.Add(err)
	tool.CheckHeaders(c, a.headers())
}

func (a *Args) clients() []string {
	return slices.DeleteFunc(slices.Clone(a.choices(backends)), func(s string) bool { return s == "gserver" })
}

func (a *Args) checkTraffic(c *python.Checklist) {
	c.Refuse(!(a.RequestRate > 0), "--request-rate %s: must be above 0", python.Float(a.RequestRate))
	c.Refuse(a.MaxConcurrency != nil && *a.MaxConcurrency < 0, "--max-concurrency %d: must not be negative; 0 is no limit", python.Value(a.MaxConcurrency))
	c.Refuse(a.Seed < 0 || int64(a.Seed) > math.MaxUint32, "--seed %d: must be between 0 and 2**32 - 1", a.Seed)
}

func (a *Args) checkLoRA(c *python.Checklist) {
	c.Refuse(a.LoraRequestDistribution != "uniform" && len(a.LoraName) < 2, "--lora-request-distribution %s needs two names or more in --lora-name", a.LoraRequestDistribution)
	c.Refuse(!(a.LoraZipfAlpha > 1), "--lora-zipf-alpha %s: must be above 1", python.Float(a.LoraZipfAlpha))
}

// checkSource is what datasets and backends must have in common.
func (a *Args) checkSource(c *python.Checklist) {
	pictures := a.DatasetName == "image" || a.DatasetName == "mmmu"
	c.Refuse(a.embedding() && (pictures || a.DatasetName == "mooncake"), "--dataset-name %s: not for --backend %s", a.DatasetName, a.Backend)
	c.Refuse(a.DatasetName == "mooncake" && a.Backend != "sglang", "--dataset-name mooncake goes with --backend sglang only")
	c.Refuse(pictures && a.TokenizePrompt, "--tokenize-prompt: not for --dataset-name %s", a.DatasetName)
	c.Refuse(a.TokenizePrompt && slices.Contains([]string{"sharegpt", "custom"}, a.DatasetName), "--tokenize-prompt: not for --dataset-name %s", a.DatasetName)
	c.Refuse(a.TokenizePrompt && !a.main() && a.DatasetName == "generated-shared-prefix", "--tokenize-prompt: not for --dataset-name generated-shared-prefix")
	turns := a.DatasetName == "agentic-trace" || a.DatasetName == "generated-shared-prefix" && a.GSPNumTurns > 1
	c.Refuse(turns && !a.chat(), "--dataset-name %s has conversations of several turns: they need --backend sglang-oai-chat, vllm-chat or lmdeploy-chat", a.DatasetName)
	c.Refuse(a.DatasetName == "openai" && !a.chat(), "--dataset-name openai holds messages: they need --backend sglang-oai-chat, vllm-chat or lmdeploy-chat")
}

// checkDataset is what the dataset finds wrong with its settings.
func (a *Args) checkDataset(c *python.Checklist) {
	c.Refuse(a.NumPrompts < 1 && a.requests() > 0, "--num-prompts %d: must be at least 1", a.NumPrompts)
	if len(*c) > 0 {
		return // perhaps already reported in other words
	}
	d, flags := a.dataset("")
	c.Add(tool.Named(d.Check(&workload.Source{Requests: a.requests(), Ask: workload.Ask{Protocol: a.protocol(), Silent: a.embedding()}}), flags))
}

// native tells whether the backend is SGLang's own /generate.
func (a *Args) native() bool { return a.Backend == "sglang" || a.Backend == "sglang-native" }

// chat tells whether the backend speaks chat completions.
func (a *Args) chat() bool { return strings.HasSuffix(a.Backend, "-chat") }

// streams tells whether answers come in pieces. Those of trt always do.
func (a *Args) streams() bool { return a.Backend == "trt" || !a.DisableStream && !a.embedding() }

// embedding tells whether the backend asks for no text.
func (a *Args) embedding() bool { return strings.HasSuffix(a.Backend, "-embedding") }

// toSGLang tells whether the tool takes the server for SGLang's.
func (a *Args) toSGLang() bool { return strings.Contains(a.Backend, "sglang") }

// protocol is what the backend speaks, in the names that plans have.
func (a *Args) protocol() string {
	switch {
	case a.native():
		return "generate"
	case a.chat():
		return "chat"
	case a.embedding():
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

// urls are the server's and that of the requests. --base-url is taken as it is.
func (a *Args) urls() (base, target string) {
	base = "http://" + net.JoinHostPort(strings.Trim(a.Host, "[]"), strconv.Itoa(a.port()))
	if a.BaseURL != nil && *a.BaseURL != "" {
		base = *a.BaseURL
	}
	return base, base + paths[a.protocol()]
}

// readyRoute is what has to answer before the run.
func (a *Args) readyRoute() string {
	if a.Backend == "trt" {
		return "/"
	}
	return "/v1/models"
}

// headers are the --header pairs in order. One without a name or without a value is
// dropped, as that tool drops it.
func (a *Args) headers() (out [][2]string) {
	for _, item := range a.Header {
		name, value, _ := strings.Cut(item, "=")
		if name != "" && value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	return out
}

func (a *Args) served() string {
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
		raw, _ := python.Loads(*a.ExtraRequestBody)
		if python.Unreal(raw) {
			return nil, fmt.Errorf("--extra-request-body: %w", python.ErrUnreal)
		}
		if err := json.Unmarshal(raw, &out); err != nil || out == nil {
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

// bodyFields are the fields that the tool sends other than prompt, model and output
// length: its constants, and --extra-request-body over most of them. sampling are
// the fields within sampling_params, nil where the protocol has no such object.
func (a *Args) bodyFields() (top, sampling map[string]json.RawMessage, err error) {
	extra, err := a.extra()
	if err != nil {
		return nil, nil, err
	}
	fields := map[string]any{}
	switch a.protocol() {
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
	top, err = tool.Fields(fields, extra)
	return top, nil, err
}

// nativeFields are those of /generate. Two of them nothing lies over.
func (a *Args) nativeFields(extra map[string]json.RawMessage) (top, sampling map[string]json.RawMessage, err error) {
	fixed := map[string]any{}
	if a.TopLogprobsNum > 0 {
		fixed["top_logprobs_num"] = a.TopLogprobsNum
	}
	if a.TokenIDsLogprob != nil {
		fixed["token_ids_logprob"] = a.TokenIDsLogprob
	}
	over, errFixed := tool.Fields(fixed, nil)
	maps.Copy(extra, over)
	top, errTop := tool.Fields(map[string]any{
		"lora_path": nil, "return_logprob": a.ReturnLogprob, "return_routed_experts": a.ReturnRoutedExperts, "logprob_start_len": a.LogprobStartLen,
	}, extra)
	params := map[string]any{"temperature": float(a.Temperature), "ignore_eos": !a.DisableIgnoreEOS}
	if a.TopP < 1 {
		params["top_p"] = float(a.TopP)
	}
	sampling, err = tool.Fields(params, nil)
	return top, sampling, errors.Join(errFixed, errTop, err)
}

// float is a number as Python writes it: 0.0, not 0.
func float(f float64) json.RawMessage { return python.AppendFloat(nil, f) }

// flushRoute is what empties the server's prefix cache.
func (a *Args) flushRoute() string {
	switch {
	case a.main() && strings.HasPrefix(a.Backend, "vllm"):
		return "/reset_prefix_cache"
	case a.main() && strings.HasPrefix(a.Backend, "sglang"):
		return "/flush_cache?timeout=" + python.Float(a.FlushCacheTimeout)
	}
	return "/flush_cache"
}
