package endpoint

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/plan/nesting"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A delta is what one event, or one whole answer, says.
type delta struct {
	token  bool // it belongs to the answer: for OpenAI, its choices are not empty
	kind   trace.Kind
	text   string // visible text
	hidden string // reasoning, and the arguments of tool calls
	finish string
	used   bool // usage is there
	usage  trace.Usage
	err    string // the server's error message
	last   bool   // nothing of the answer follows

	// raw is the text of a protocol that repeats it, as it stands between its quotes:
	// all of the answer so far, of servers that repeat it indeed.
	raw    []byte
	tokens int               // that it carries, where the protocol says so without usage
	accept float64           // tokens a step of speculative decoding
	tiers  *trace.CacheTiers // from where cached tokens came, if that is told beside usage
}

var errNotJSON = errors.New("not a JSON object")

// object reads data that must be a JSON object.
func object(data []byte) (gjson.Result, error) {
	root, err := anyJSON(data)
	if err == nil && !root.IsObject() {
		err = fmt.Errorf("%w: %s", errNotJSON, begin(data))
	}
	return root, err
}

func anyJSON(data []byte) (gjson.Result, error) {
	if err := nesting.Check(data); err != nil {
		return gjson.Result{}, err
	}
	if !gjson.ValidBytes(data) {
		return gjson.Result{}, fmt.Errorf("%w: %s", errNotJSON, begin(data))
	}
	return gjson.ParseBytes(data), nil
}

// begin is the beginning of data, quoted: data may be too large to be quoted whole.
func begin(data []byte) string { return fmt.Sprintf("%.200q", data[:min(len(data), 1000)]) }

// of decodes an event, or a whole answer, that is a JSON object.
func of(read func(root gjson.Result) delta) func(data []byte) (delta, error) {
	return func(data []byte) (delta, error) {
		root, err := object(data)
		if err != nil {
			return delta{}, err
		}
		return read(root), nil
	}
}

// The forms of OpenAI's two older protocols, and of those that took after them.
func completion(root gjson.Result) delta { return openAI(Completions, false, root) }
func chatEvent(root gjson.Result) delta  { return openAI(Chat, false, root) }
func chatAnswer(root gjson.Result) delta { return openAI(Chat, true, root) }

// openAI reads an event of a stream, or with whole the body of an answer that
// is not streamed.
func openAI(p Protocol, whole bool, root gjson.Result) delta {
	d := delta{err: serverError(root)}
	d.use(openAICounts, root.Get("usage"))
	d.tiers = tiers(root.Get("sglext.cached_tokens_details"))
	choice := root.Get("choices.0")
	if !choice.Exists() {
		return d
	}
	d.token = true
	d.finished(choice.Get("finish_reason"))
	said := false
	if p == Completions {
		said = d.say(choice.Get("text"), trace.Text)
	} else {
		said = d.message(choice, whole)
	}
	if !said {
		d.kind |= trace.Bare
	}
	return d
}

// finished notes a finish reason, if there is one.
func (d *delta) finished(reason gjson.Result) {
	if reason.Type == gjson.String && reason.Str != "" {
		d.finish = reason.Str
		d.kind |= trace.Finish
	}
}

// message reads choices[0] of the chat protocol and tells whether it has a field
// for output. Some servers leave the delta out where they have nothing to say.
func (d *delta) message(choice gjson.Result, whole bool) (said bool) {
	m := choice.Get("delta")
	if whole {
		m = choice.Get("message")
	}
	said = d.say(m.Get("content"), trace.Text)
	said = d.say(m.Get("refusal"), trace.Text) || said
	said = d.say(m.Get("reasoning_content"), trace.Reasoning) || said
	if d.kind&trace.Reasoning == 0 { // its other name; some servers send both
		said = d.say(m.Get("reasoning"), trace.Reasoning) || said
	}
	for _, call := range m.Get("tool_calls").Array() {
		said = d.call(call.Get("function"))
	}
	if f := m.Get("function_call"); f.IsObject() {
		said = d.call(f)
	}
	if m.Get("role").Type == gjson.String && d.kind&(trace.Text|trace.Reasoning|trace.ToolCall) == 0 {
		d.kind |= trace.Role
	}
	return said
}

// say adds the text of a field and tells whether the field is there; it may be
// empty.
func (d *delta) say(field gjson.Result, kind trace.Kind) bool {
	if field.Type != gjson.String {
		return false
	}
	if field.Str == "" {
		return true
	}
	d.kind |= kind
	if kind == trace.Text {
		d.text += field.Str
	} else {
		d.hidden += field.Str
	}
	return true
}

// call adds a part of a function call.
func (d *delta) call(function gjson.Result) bool {
	d.kind |= trace.ToolCall
	d.hidden += function.Get("name").Str + function.Get("arguments").Str
	return true
}

// counts are the names that a protocol has for the numbers of usage; "" for those that
// it does not tell.
type counts struct{ prompt, completion, cached, reasoning string }

var openAICounts = &counts{"prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens", "completion_tokens_details.reasoning_tokens"}

// of reads them.
func (c *counts) of(u gjson.Result) trace.Usage {
	n := func(name string) int {
		if name == "" {
			return 0
		}
		return whole(u.Get(name))
	}
	told := c.cached != "" && u.Get(c.cached).Exists()
	return trace.Usage{Prompt: n(c.prompt), Completion: n(c.completion), Cached: n(c.cached), CachedTold: told, Reasoning: n(c.reasoning), At: trace.Never}
}

// use takes the counts of an object of usage, if it is there.
func (d *delta) use(c *counts, u gjson.Result) {
	if u.IsObject() {
		d.usage, d.used = c.of(u), true
	}
}

// serverError is the message of an error object: {"error": {"message": ...}},
// {"error": "..."}, or {"object": "error", "message": ...}.
func serverError(root gjson.Result) string {
	e := root.Get("error")
	switch {
	case e.IsObject():
		if m := e.Get("message"); m.Exists() {
			return m.String()
		}
		return e.Raw
	case e.Exists() && e.Type != gjson.Null:
		return e.String()
	case root.Get("object").Str == "error":
		return root.Get("message").String()
	}
	return ""
}
