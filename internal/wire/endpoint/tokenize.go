package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Meta are the fields of a model that llama.cpp's server adds to those of OpenAI.
type Meta struct {
	Vocab int // ids of the vocabulary, 0 = not reported
}

// maxVocab is more ids than any vocabulary has: what a server says beyond it is no size.
const maxVocab = 1 << 24

// UnmarshalJSON reads n_vocab, and takes anything else for nothing: other servers may have
// a meta of their own.
func (m *Meta) UnmarshalJSON(b []byte) error {
	var told struct {
		Vocab json.RawMessage `json:"n_vocab"`
	}
	var n int
	if plan.Unmarshal(b, &told) == nil && json.Unmarshal(told.Vocab, &n) == nil && n > 0 && n <= maxVocab {
		m.Vocab = n
	}
	return nil
}

// A Tokenizer is the one behind /tokenize and /detokenize of a server. It speaks as vLLM
// does, which SGLang understands, until the server turns out to want the words of llama.cpp.
type Tokenizer struct {
	Server
	Model   string      // by the name that the server serves it under
	content atomic.Bool // the text goes under "content", as llama.cpp has it
}

// Encode counts a text as the server does. llama.cpp reads past a "prompt" and gives no
// tokens: then the text is sent once more under the other name.
func (t *Tokenizer) Encode(ctx context.Context, text string, special bool) ([]int32, error) {
	if t.content.Load() {
		return t.encode(ctx, map[string]any{"model": t.Model, "content": text, "add_special": special})
	}
	ids, err := t.encode(ctx, map[string]any{"model": t.Model, "prompt": text, "add_special_tokens": special})
	if err != nil || len(ids) > 0 || text == "" {
		return ids, err
	}
	ids, err = t.encode(ctx, map[string]any{"model": t.Model, "content": text, "add_special": special})
	if err == nil && len(ids) > 0 {
		t.content.Store(true)
	}
	return ids, err
}

func (t *Tokenizer) encode(ctx context.Context, in map[string]any) ([]int32, error) {
	var out struct {
		Tokens []int32 `json:"tokens"`
	}
	err := t.callJSON(ctx, http.MethodPost, "/tokenize", in, &out)
	return out.Tokens, err
}

// Decode turns ids into the server's text: vLLM's /detokenize calls it prompt, SGLang's
// text, llama.cpp's content.
func (t *Tokenizer) Decode(ctx context.Context, ids []int32) (string, error) {
	in := map[string]any{"model": t.Model, "tokens": ids}
	var out struct {
		Prompt  *string `json:"prompt"`
		Text    *string `json:"text"`
		Content *string `json:"content"`
	}
	if err := t.callJSON(ctx, http.MethodPost, "/detokenize", in, &out); err != nil {
		return "", err
	}
	for _, text := range []*string{out.Prompt, out.Text, out.Content} {
		if text != nil {
			return *text, nil
		}
	}
	return "", fmt.Errorf("%s/detokenize gave no text: neither prompt nor text nor content", t.URL)
}
