package phrase

import (
	"github.com/tidwall/gjson"
)

// Models lists a model, with its context, and its adapters, with none of their own, as
// vLLM does.
func Models(created int64, context int, model string, adapters ...string) []byte {
	type card struct {
		ID          string  `json:"id"`
		Object      string  `json:"object"`
		Created     int64   `json:"created"`
		OwnedBy     string  `json:"owned_by"`
		Root        string  `json:"root"`
		Parent      *string `json:"parent"`
		MaxModelLen *int    `json:"max_model_len"`
	}
	cards := []card{{model, "model", created, "pitot", model, nil, &context}}
	for _, name := range adapters {
		cards = append(cards, card{name, "model", created, "pitot", name, &model, nil})
	}
	return marshal(struct {
		Object string `json:"object"`
		Data   []card `json:"data"`
	}{"list", cards})
}

// Version is the answer of /version.
func Version(version string) []byte { return marshal(map[string]string{"version": version}) }

// ModelInfo is what SGLang's /get_model_info tells; the tokenizer goes by the model's
// name.
func ModelInfo(model string) []byte {
	return marshal(struct {
		Model      string  `json:"model_path"`
		Tokenizer  string  `json:"tokenizer_path"`
		Generates  bool    `json:"is_generation"`
		Preferred  *string `json:"preferred_sampling_params"`
		WeightsVer string  `json:"weight_version"`
	}{model, model, true, nil, "default"})
}

// A ServerInfo is what clients look for in SGLang's /get_server_info.
type ServerInfo struct {
	Model, Version string
	Context        int
	Seed           uint64
	Adapters       []string
	PrefixCache    bool
	KVTokens       int     // in all; 0: no limit
	Drafts         int     // of speculative decoding; 0: there is none
	AcceptLength   float64 // mean tokens of a step with it; 0: not reported
}

// Body words it. Of the server's arguments it has those that mean something here.
func (i ServerInfo) Body() []byte {
	state := map[string]any{}
	if i.AcceptLength > 0 {
		state["avg_spec_accept_length"] = i.AcceptLength
	}
	return marshal(map[string]any{
		"model_path": i.Model, "served_model_name": i.Model, "tokenizer_path": i.Model, "version": i.Version,
		"context_length": i.Context, "random_seed": i.Seed, "lora_paths": i.Adapters, "disable_radix_cache": !i.PrefixCache,
		"max_total_num_tokens": positive(i.KVTokens), "speculative_num_draft_tokens": positive(i.Drafts),
		"internal_states": []any{state},
	})
}

// positive is n, or nil for null.
func positive(n int) any {
	if n > 0 {
		return n
	}
	return nil
}

// A Tokenize is a request for the tokens of a prompt, or for the text of tokens.
type Tokenize struct {
	Model  string // empty if none is named
	Prompt        // to be tokenized, or ids to be turned into text
	Texts  bool   // the tokens' own texts are wanted too
	Opens  bool   // the prompt of a chat opens the answer
}

// ReadTokenize reads the body of /tokenize. The model is there even if it is refused.
func ReadTokenize(body []byte) (Tokenize, *Error) {
	r, object, err := readTool(body)
	if err != nil {
		return Tokenize{}, err
	}
	t := Tokenize{Model: r.req.Model, Opens: true}
	r.boolean("return_token_strs", object.Get("return_token_strs"), &t.Texts)
	prompt := object.Get("prompt")
	if messages := object.Get("messages"); prompt.Exists() || !messages.Exists() {
		r.str("prompt", prompt, &r.req.Text)
		if prompt.Type == gjson.Null {
			r.note("prompt", "missing", "Field required")
		}
	} else {
		r.boolean("add_generation_prompt", object.Get("add_generation_prompt"), &t.Opens)
		later(r, "messages", messages)
		r.conversation()
	}
	t.Prompt = r.req.Prompt
	return t, r.tool()
}

// ReadDetokenize reads the body of /detokenize.
func ReadDetokenize(body []byte) (Tokenize, *Error) {
	r, object, err := readTool(body)
	if err != nil {
		return Tokenize{}, err
	}
	t := Tokenize{Model: r.req.Model}
	switch v := object.Get("tokens"); {
	case v.Type == gjson.Null:
		r.note("tokens", "missing", "Field required")
	case !v.IsArray():
		r.note("tokens", "list_type", notList)
	default:
		t.IDs = r.ids("tokens", v)
	}
	return t, r.tool()
}

// readTool reads an object and the model it names, if any.
func readTool(body []byte) (*reader, gjson.Result, *Error) {
	object, err := parseObject(body)
	r := newReader(new(Protocol))
	if m := object.Get("model"); m.Type == gjson.String {
		r.req.Model = m.Str
	}
	return r, object, err
}

func (r *reader) tool() *Error {
	if err := r.err(); err != nil {
		return err
	}
	return r.refused
}

// Tokenized is the answer of /tokenize: ids, and the tokens' own texts or nil.
func Tokenized(context int, ids []int32, texts []string) []byte {
	return marshal(struct {
		Count       int      `json:"count"`
		MaxModelLen int      `json:"max_model_len"`
		Tokens      []int32  `json:"tokens"`
		TokenStrs   []string `json:"token_strs"`
	}{len(ids), context, ids, texts})
}

// Detokenized is the answer of /detokenize.
func Detokenized(text string) []byte { return marshal(map[string]string{"prompt": text}) }
