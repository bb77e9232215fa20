package endpoint

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// message reads choices[0] of the chat protocol and tells whether it has a field
// for output that is text. Some servers leave the delta out where they have nothing to say,
// some stream a message in its place.
func (d *delta) message(choice gjson.Result, whole bool) (hasText bool) {
	m := choice.Get("delta")
	if whole {
		m = choice.Get("message")
	}
	content := m.Get("content")
	hasText = d.add(m.Get("reasoning_content"), trace.Reasoning)
	if d.kind&trace.Reasoning == 0 { // its other name; some servers send both
		hasText = d.add(m.Get("reasoning"), trace.Reasoning) || hasText
	}
	hasText = d.add(content, trace.Text) || hasText
	for _, call := range m.Get("tool_calls").Array() {
		hasText = d.call(firstOf(call, "function", "custom"))
	}
	if f := m.Get("function_call"); f.IsObject() {
		hasText = d.call(f)
	}
	plain := d.kind & output
	if m.Get("role").Type == gjson.String && plain == 0 {
		d.kind |= trace.Role
	}
	d.strays = truthy(content) && content.Type != gjson.String
	d.elsewhere(choice, m)
	if plain == 0 && d.kind&output != 0 {
		d.kind |= trace.Elsewhere
	}
	return hasText
}

// output are the kinds of what a model gives.
const output = trace.Text | trace.Reasoning | trace.ToolCall

// The names, other than content, under which servers put output that is no plain text. Some
// servers use several of the names of thoughts for the same text.
var (
	otherText = []string{"refusal", "audio", "images", "text", "output_text"}
	thoughts  = []string{
		"reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks", "thought", "thoughts",
	}
)

// elsewhere reads the output of a message that is not in its plain text, and names unknown members
// that may be output.
func (d *delta) elsewhere(choice, m gjson.Result) {
	if content := m.Get("content"); content.Type != gjson.String {
		d.parts(content, trace.Text)
	}
	if m.Type == gjson.String {
		d.add(m, trace.Text)
	}
	for _, name := range otherText {
		d.parts(m.Get(name), trace.Text)
	}
	for _, from := range []gjson.Result{m, choice} {
		for _, name := range thoughts {
			if d.kind&trace.Reasoning == 0 {
				d.parts(from.Get(name), trace.Reasoning)
			}
		}
	}
	if other := firstOf(choice, "delta", "message"); d.kind&output == 0 && other.Raw != m.Raw {
		d.parts(other, trace.Text)
	}
	if d.kind&output == 0 {
		d.parts(choice.Get("text"), trace.Text)
	}
	if d.unread = unknownIn(m); d.unread == "" {
		d.unread = unknownIn(choice)
	}
}

// parts reads output that is a text, a part with a type, or a list of them:
//
//	[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"yes"}]
//
// Encrypted parts are not output: no user sees them.
func (d *delta) parts(v gjson.Result, kind trace.Kind) {
	switch {
	case v.Type == gjson.String:
		d.add(v, kind)
	case v.IsArray():
		for _, part := range v.Array() {
			d.parts(part, kind)
		}
	case v.IsObject():
		switch t := v.Get("type").Str; {
		case strings.Contains(t, "encrypted"), strings.Contains(t, "redacted"):
			return
		case strings.Contains(t, "reason"), strings.Contains(t, "think"):
			kind = trace.Reasoning
		}
		v.ForEach(func(key, part gjson.Result) bool {
			switch key.Str {
			case "text", "content", "summary", "transcript", "refusal", "output_text":
				d.parts(part, kind)
			case "thinking", "reasoning", "reasoning_content":
				d.parts(part, trace.Reasoning)
			case "data", "image_url", "b64_json": // sound or images
				if truthy(part) {
					d.kind |= kind
					d.bytes += len(part.Raw)
				}
			}
			return true
		})
	}
}

// truthy reports whether v says something: it is not null, false, 0 or empty.
func truthy(v gjson.Result) bool {
	switch {
	case v.IsArray(), v.IsObject():
		some := false
		v.ForEach(func(_, _ gjson.Result) bool { some = true; return false })
		return some
	}
	return v.Bool() || v.Type == gjson.String && v.Str != ""
}

// firstOf is the first of some members that is there.
func firstOf(v gjson.Result, names ...string) (member gjson.Result) {
	for _, name := range names {
		if member = v.Get(name); member.Exists() {
			return member
		}
	}
	return member
}

// several notes how many answers a request gets: by the index of one, or as many as are
// here.
func (d *delta) several(index gjson.Result, here int) {
	if n := integerOf(index); index.Type == gjson.Number && n > 0 {
		d.choices = min(n, maxChoices-1) + 1
	}
	if here > 1 {
		d.choices = max(d.choices, min(here, maxChoices))
	}
}

// maxChoices is more answers than a request gets.
const maxChoices = 1 << 16

// about are the members of a choice, and of its message, that are no output.
var about = set(
	"annotations", "channel", "citations", "content_filter_offsets", "content_filter_results", "context", "created",
	"cumulative_logprob", "end_turn", "event", "extra_content", "finish_reason", "hidden_states", "id", "index",
	"logprobs", "matched_stop", "meta_info", "metadata", "model", "name", "native_finish_reason", "object",
	"prompt_logprobs", "prompt_token_ids", "provider_specific_fields", "recipient", "role", "routed_experts",
	"safety_ratings", "seed", "service_tier", "signature", "status", "stop_details", "stop_reason", "stop_sequence",
	"system_fingerprint", "thought_signature", "timestamp", "token", "token_id", "token_ids", "tool_call_id",
	"tool_call_type", "type", "usage",
)

// known are the members that are read.
var known = set(append(slices.Concat(otherText, thoughts), "content", "delta", "error", "function_call", "message",
	"tool_calls")...)

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// unknownIn is the name of a member of v that holds text and is not known, empty if there is none.
func unknownIn(v gjson.Result) (name string) {
	v.ForEach(func(key, value gjson.Result) bool {
		if !about[key.Str] && !known[key.Str] && holdsText(value) {
			name = key.Str
		}
		return name == ""
	})
	return name
}

// holdsText reports whether v is a text, or has one that is not only about it.
func holdsText(v gjson.Result) bool {
	if v.Type == gjson.String {
		return v.Str != ""
	}
	if !v.IsArray() && !v.IsObject() {
		return false
	}
	found := false
	v.ForEach(func(key, value gjson.Result) bool {
		found = !about[key.Str] && holdsText(value)
		return !found
	})
	return found
}
