package truth

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// A dialect is a form in which tokens are asked for and sent.
type dialect int

const (
	completions dialect = iota
	chat
	generate // SGLang's own
)

// An ask is what a client wants: the fields of its request that matter here.
type ask struct {
	id, model  string // empty if not given
	prompt     int    // tokens: as many as ids, or words
	tokens     int    // of the answer
	natural    bool   // nobody asked for so many
	stream     bool
	usage      bool // a last event tells the usage
	continuous bool // so does every event
}

// fields are those that parseAsk looks at, as they stand in the body.
type fields struct {
	n, stream, options, id, rid, model            gjson.Result
	prompt, messages, text, ids                   gjson.Result
	maxTokens, maxCompletionTokens, sampling, eos gjson.Result
}

// of is the place of a field, or nil. A prompt may be long, so that the body is
// walked once.
func (f *fields) of(name string) *gjson.Result {
	switch name {
	case "n":
		return &f.n
	case "stream":
		return &f.stream
	case "stream_options":
		return &f.options
	case "request_id":
		return &f.id
	case "model":
		return &f.model
	case "rid":
		return &f.rid
	case "prompt":
		return &f.prompt
	case "messages":
		return &f.messages
	case "text":
		return &f.text
	case "input_ids":
		return &f.ids
	case "max_tokens":
		return &f.maxTokens
	case "max_completion_tokens":
		return &f.maxCompletionTokens
	case "sampling_params":
		return &f.sampling
	case "ignore_eos":
		return &f.eos
	}
	return nil
}

// parseAsk reads the body of a generation request. Fields that change nothing
// here are ignored. An answer has natural tokens if the request does not say.
func parseAsk(d dialect, body []byte, natural int) (ask, error) {
	whole := string(body)
	if !gjson.Valid(whole) {
		return ask{}, errors.New("the body is not JSON")
	}
	object := gjson.Parse(whole)
	if !object.IsObject() {
		return ask{}, errors.New("the body is not a JSON object")
	}
	var f fields
	object.ForEach(func(key, value gjson.Result) bool {
		if field := f.of(key.Str); field != nil {
			*field = value
		}
		return true
	})
	a := ask{tokens: natural, natural: true, stream: f.stream.Type == gjson.True, id: strings.Clone(f.id.Str), model: strings.Clone(f.model.Str)}
	a.usage = a.stream && f.options.Get("include_usage").Bool()
	a.continuous = a.usage && f.options.Get("continuous_usage_stats").Bool()
	if f.n.Type != gjson.Null && f.n.Num != 1 {
		return ask{}, fmt.Errorf("n is %.40s: one choice is all there is", f.n.Raw)
	}
	var err error
	switch d {
	case completions:
		err = errors.Join(a.length("max_tokens", f.maxTokens), a.count("prompt", f.prompt))
	case chat:
		err = errors.Join(
			a.length("max_tokens", f.maxTokens),
			a.length("max_completion_tokens", f.maxCompletionTokens), // goes before
			a.converse(f.messages))
	case generate:
		if f.rid.Str != "" {
			a.id = strings.Clone(f.rid.Str)
		}
		f.eos = f.sampling.Get("ignore_eos")
		field, prompt := "text", f.text
		if f.ids.Type != gjson.Null {
			field, prompt = "input_ids", f.ids
		}
		err = errors.Join(a.length("max_new_tokens", f.sampling.Get("max_new_tokens")), a.count(field, prompt))
	}
	a.natural = a.natural && !f.eos.Bool()
	return a, err
}

// length takes how long the answer is to be.
func (a *ask) length(field string, v gjson.Result) error {
	if v.Type == gjson.Null {
		return nil
	}
	n := int(v.Num)
	if v.Type != gjson.Number || float64(n) != v.Num || n < 1 || n > MaxTokens {
		return fmt.Errorf("%s is %.40s: want 1 to %d", field, v.Raw, MaxTokens)
	}
	a.tokens, a.natural = n, false
	return nil
}

// count takes the length of the prompt.
func (a *ask) count(field string, v gjson.Result) (err error) {
	if a.prompt, err = promptTokens(v); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// promptTokens are those of a text, of a list of ids, or of one of them in a
// list.
func promptTokens(v gjson.Result) (int, error) {
	if v.Type == gjson.String {
		return words(v.Str), nil
	}
	first := v.Get("0")
	switch {
	case !v.IsArray() || !first.Exists():
		return 0, errors.New("want a text or token ids")
	case first.Type == gjson.Number:
		return strings.Count(v.Raw, ",") + 1, nil
	case v.Get("1").Exists():
		return 0, errors.New("one prompt per request is all that is answered")
	case first.IsArray() && first.Get("0").Type != gjson.Number:
		return 0, errors.New("want a text or token ids")
	}
	return promptTokens(first)
}

// converse takes the length of a chat: of all its text.
func (a *ask) converse(messages gjson.Result) error {
	if !messages.IsArray() || !messages.Get("0").IsObject() {
		return errors.New("messages: want a list of messages")
	}
	messages.ForEach(func(_, message gjson.Result) bool {
		content := message.Get("content")
		if content.Type == gjson.String {
			a.prompt += words(content.Str)
			return true
		}
		content.ForEach(func(_, part gjson.Result) bool {
			a.prompt += words(part.Get("text").Str)
			return true
		})
		return true
	})
	return nil
}

// words counts the runs of other bytes than white space.
func words(s string) (n int) {
	inside := false
	for i := range len(s) {
		blank := s[i] == ' ' || '\t' <= s[i] && s[i] <= '\r'
		if !blank && !inside {
			n++
		}
		inside = !blank
	}
	return n
}
