package endpoint

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// decodePooling reads an answer that is no text: embeddings, what a model has pooled,
// or scores. The forms are OpenAI's and vLLM's (data), those of Jina and Cohere
// (results), Cohere's own of embeddings, and SGLang's list of scores.
func decodePooling(data []byte) (delta, error) {
	root, err := anyJSON(data)
	if err != nil {
		return delta{}, err
	}
	if root.IsArray() {
		return scores(root), nil
	}
	if !root.IsObject() {
		return delta{}, fmt.Errorf("%w: %s", errNotJSON, begin(data))
	}
	d := delta{err: serverError(root)}
	for _, name := range []string{"data", "results", "embeddings"} {
		if list := root.Get(name); list.IsObject() || list.Get("0").Exists() {
			d.token, d.kind = true, trace.Bare
		}
	}
	d.read(root.Get("usage"), root.Get("meta"))
	return d, nil
}

// read takes the prompt's length from OpenAI's usage, or from Cohere's.
func (d *delta) read(usage, meta gjson.Result) {
	n := usage.Get("prompt_tokens")
	for _, other := range []gjson.Result{
		usage.Get("total_tokens"), meta.Get("tokens.input_tokens"), meta.Get("billed_units.input_tokens"),
	} {
		if n.Type != gjson.Number {
			n = other
		}
	}
	if n.Type == gjson.Number {
		d.used, d.usage = true, trace.Usage{Prompt: integerOf(n), At: trace.Never}
	}
}

// scores reads SGLang's answer to rerank, each score with the usage of its prompt.
func scores(list gjson.Result) delta {
	d := delta{}
	list.ForEach(func(_, score gjson.Result) bool {
		d.token, d.kind = true, trace.Bare
		if n := score.Get("meta_info.prompt_tokens"); n.Type == gjson.Number {
			d.used = true
			d.usage.Prompt += integerOf(n)
		}
		return true
	})
	if d.used {
		d.usage.At = trace.Never
	}
	return d
}

// packedPooling is an answer of which the body is the numbers alone, and a header
// tells the rest, if anything does.
func packedPooling(metadata []byte) delta {
	d := delta{token: true, kind: trace.Bare}
	if plan.Check(metadata) == nil && gjson.ValidBytes(metadata) {
		d.read(gjson.GetBytes(metadata, "usage"), gjson.Result{})
	}
	return d
}
