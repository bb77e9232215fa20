package vllm

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// A backend is what --backend chooses: how requests are written.
type backend struct {
	protocol string   // by Pitot's names
	routes   []string // one of which the URL must end with
	pooling  bool     // answers have no text
	chat     bool     // the text to embed is sent as a chat
	clip     bool     // a picture goes without its text
	vlm2vec  bool     // a picture goes first, and its text is an instruction
	infinity bool     // of the server of that name: a picture goes as the input itself
}

var backendsByName = map[string]backend{
	"vllm":                      {protocol: "completions", routes: []string{"completions"}},
	"openai":                    {protocol: "completions", routes: []string{"completions"}},
	"openai-chat":               {protocol: "chat", routes: []string{"chat/completions"}},
	"openai-responses":          {protocol: "responses", routes: []string{"responses"}},
	"openai-audio":              {protocol: "transcription", routes: []string{"transcriptions", "translations"}},
	"openai-embeddings":         {protocol: "embeddings", routes: []string{"embeddings"}, pooling: true},
	"openai-embeddings-chat":    {protocol: "embeddings", routes: []string{"embeddings"}, pooling: true, chat: true},
	"openai-embeddings-clip":    {protocol: "embeddings", routes: []string{"embeddings"}, pooling: true, chat: true, clip: true},
	"openai-embeddings-vlm2vec": {protocol: "embeddings", routes: []string{"embeddings"}, pooling: true, chat: true, vlm2vec: true},
	"infinity-embeddings":       {protocol: "embeddings", routes: []string{"embeddings"}, pooling: true, infinity: true},
	"infinity-embeddings-clip":  {protocol: "embeddings", routes: []string{"embeddings"}, pooling: true, infinity: true, clip: true},
	"vllm-pooling":              {protocol: "pooling", routes: []string{"pooling"}, pooling: true},
	"vllm-rerank":               {protocol: "rerank", routes: []string{"rerank"}, pooling: true},
}

func (a *Args) backend() backend { return backendsByName[a.Backend] }

// protocol is how requests are written and answers read, by Pitot's names.
func (a *Args) protocol() string { return a.backend().protocol }

// sampled reports whether the backend takes sampling parameters.
func (a *Args) sampled() bool {
	return slices.Contains([]string{"completions", "chat", "responses"}, a.protocol())
}

// sendIgnoreEOS reports whether requests ask for answers of the full length: with --ignore-eos, for
// random datasets and for traces.
func (a *Args) sendIgnoreEOS() bool {
	return a.IgnoreEOS || a.is("random", "random-mm", "timed_trace")
}

// asksIgnoreEOS reports whether requests ask for answers of the full length in the
// protocol's own way.
func (a *Args) asksIgnoreEOS() bool {
	return a.protocol() != "transcription" && !a.backend().pooling && (a.IgnoreEOS || a.sampled() && a.sendIgnoreEOS())
}

// checkRoute reports a route that the backend refuses, and options that it does not take.
func (a *Args) checkRoute(c *python.Checklist) {
	b := a.backend()
	_, target := a.urls()
	fits := slices.ContainsFunc(append(b.routes, "profile"), func(route string) bool { return strings.HasSuffix(target, route) })
	c.Refuse(!fits, "--backend %s needs an --endpoint that ends in %s, not %q", a.Backend, orQuoted(b.routes), a.Endpoint)
	c.Refuse(b.protocol == "completions" && strings.HasSuffix(target, "chat/completions"), "--backend %s sends completions, which %q refuses; use --backend openai-chat", a.Backend, a.Endpoint)
	if b.protocol == "transcription" {
		for name, v := range a.samplingFlags() {
			c.Refuse(v != nil, "--%s: --backend %s takes no sampling parameters; send it with --extra-body", strings.ReplaceAll(name, "_", "-"), a.Backend)
		}
		c.Refuse(a.TopK != nil, "--top-k: --backend %s takes no sampling parameters; send it with --extra-body", a.Backend)
		c.Refuse(!slices.Contains([]string{"custom_audio", "hf"}, a.DatasetName), "--backend %s transcribes sounds, of which --dataset-name %s has none; use custom_audio or hf", a.Backend, a.DatasetName)
		c.Refuse(a.ProbeRequestRate > 0, "--probe-request-rate: a probe is a text, and --backend %s transcribes sounds", a.Backend)
	}
	if b.protocol == "rerank" {
		c.Refuse(a.DatasetName != "random-rerank", "--backend %s ranks documents, of which --dataset-name %s has none; use random-rerank", a.Backend, a.DatasetName)
		c.Refuse(a.ProbeRequestRate > 0, "--probe-request-rate: a probe is a text, and --backend %s ranks documents", a.Backend)
	}
}

func orQuoted(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, " or ")
}

// backendFields are the constants that a backend sends.
func (a *Args) backendFields() map[string]any {
	b := a.backend()
	fields := map[string]any{}
	switch b.protocol {
	case "completions":
		fields["repetition_penalty"] = 1.0
		fields["logprobs"] = a.Logprobs
	case "responses":
		fields["store"] = false
	case "transcription":
		fields["language"] = "en"
		fields["response_format"] = nil
		for _, name := range []string{"stream", "stream_include_usage", "stream_continuous_usage_stats"} {
			fields[name] = true
		}
	}
	if b.pooling && !b.infinity {
		fields["truncate_prompt_tokens"] = -1
	}
	if a.IgnoreEOS && (b.pooling && b.protocol != "rerank" || b.protocol == "transcription") {
		fields["ignore_eos"] = true
	}
	return fields
}

// asForm makes the fields of a form such as Python writes them.
func asForm(fields map[string]json.RawMessage) {
	for name, value := range fields {
		for _, word := range [][2]string{{"true", `"True"`}, {"false", `"False"`}} {
			if string(value) == word[0] {
				fields[name] = json.RawMessage(word[1])
			}
		}
	}
}

// limitField is the name of the field that bounds an answer, empty if there is none.
func (a *Args) limitField() string {
	switch a.protocol() {
	case "completions":
		return "max_tokens"
	case "responses":
		return "max_output_tokens"
	case "chat", "transcription":
		return "max_completion_tokens"
	}
	return ""
}

// samplingFlags are the sampling parameters that are numbers with a fraction, by the
// names of their fields.
func (a *Args) samplingFlags() map[string]*float64 {
	return map[string]*float64{
		"top_p": a.TopP, "min_p": a.MinP, "temperature": a.Temperature, "frequency_penalty": a.FrequencyPenalty,
		"presence_penalty": a.PresencePenalty, "repetition_penalty": a.RepetitionPenalty,
	}
}

// extraFields are the body fields that the tool sends in addition to those of the
// protocol: its constants, sampling parameters, and --extra-body over all. A rerank
// has its constants alone.
func (a *Args) extraFields() (map[string]json.RawMessage, error) {
	fields := a.backendFields()
	if a.sampled() {
		for name, v := range a.samplingFlags() {
			if v != nil {
				fields[name] = *v
			}
		}
		if a.TopK != nil {
			fields["top_k"] = *a.TopK
		}
	}
	var extra map[string]json.RawMessage // of null: nothing
	if err := argument("--extra-body", a.ExtraBody, &extra); err != nil {
		return nil, err
	}
	if a.protocol() == "rerank" {
		extra = nil
	}
	out, err := tool.Fields(fields, extra)
	if err != nil {
		return nil, err
	}
	if a.protocol() == "transcription" {
		asForm(out)
	}
	return out, nil
}

// backendOf is the backend that a protocol of a run made otherwise amounts to.
func backendOf(protocol string) string {
	for _, name := range backends {
		if name != "vllm" && backendsByName[name].protocol == protocol {
			return name
		}
	}
	return "openai"
}
