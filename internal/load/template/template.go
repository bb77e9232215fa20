// Package template renders chat templates: from messages to the text for a model.
//
// A chat template is a program in Jinja that comes with a model, in its
// tokenizer_config.json or next to it. This package implements the part of that
// language that such templates use, and gives the same result as
// apply_chat_template of Hugging Face's transformers 5.23: its white space settings, its
// tojson, raise_exception and strftime_now, its special tokens as variables, its
// names for reasoning, its sandbox. Values are Python's, including the printed form of a
// float or a list.
//
// A prompt that differs by a line break is another prompt, so nothing is guessed:
// unknown features of a template are refused by name and line, those of Jinja when they are
// reached, others when the template is loaded. A template that takes too long or too much memory is stopped, since it
// comes from others.
package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Options are the arguments of apply_chat_template other than the messages.
type Options struct {
	GenerationPrompt bool                       // end with the beginning of the answer
	Tools            json.RawMessage            // an array, or nil
	Arguments        map[string]json.RawMessage // further variables of the template
}

// A Template is the chat template of a model, or several named ones. It is safe for
// concurrent use.
type Template struct {
	named  map[string]block
	tokens map[string]value // such as bos_token

	// Now is read by strftime_now; nil for the machine's clock.
	Now func() time.Time
}

// Names of templates if a model has several.
const (
	defaultName = "default"
	toolName    = "tool_use" // used if tools are given
)

// maxSource limits the templates of a model, in bytes: known ones have up to 40 KiB.
const maxSource = 1 << 20

// parseAll parses templates by their names. The tokens are variables, such as bos_token.
func parseAll(sources map[string]string, tokens map[string]string) (*Template, error) {
	t := &Template{named: map[string]block{}, tokens: map[string]value{}}
	size := 0
	for name, source := range sources {
		if size += len(source); size > maxSource {
			return nil, fmt.Errorf("chat template %s: more than %d KiB of templates", brief(name), maxSource>>10)
		}
		body, err := parse(source)
		if err != nil {
			return nil, fmt.Errorf("chat template %s: %w", name, err)
		}
		t.named[name] = body
	}
	for name, token := range tokens {
		t.tokens[name] = token
	}
	return t, nil
}

// Render renders messages, a JSON array of objects with role and content.
func (t *Template) Render(messages json.RawMessage, o Options) (text string, err error) {
	body, err := t.choose(o.Tools != nil)
	if err != nil {
		return "", err
	}
	vars, size, err := variables(messages, o)
	if err != nil {
		return "", err
	}
	all := maps.Clone(t.tokens)
	maps.Copy(all, vars)
	return t.render(body, all, budget+budgetOfAByte*size)
}

func (t *Template) render(body block, vars map[string]value, budget int) (text string, err error) {
	defer catch(&err)
	x := &run{now: t.Now, budget: budget}
	x.out = &builder{run: x}
	if x.now == nil {
		x.now = time.Now
	}
	body.exec(x, x.inner(&scope{vars: vars}))
	x.chargeAll(x.out.text.Len(), outputCost)
	return x.out.text.String(), nil
}

// choose returns the template for a chat with or without tools.
func (t *Template) choose(tools bool) (block, error) {
	if body, ok := t.named[toolName]; ok && tools {
		return body, nil
	}
	if body, ok := t.named[defaultName]; ok {
		return body, nil
	}
	return nil, fmt.Errorf("the model has the chat templates %s, but no default",
		strings.Join(slices.Sorted(maps.Keys(t.named)), ", "))
}

// variables are the variables of a template, and their size in bytes of JSON.
func variables(messages json.RawMessage, o Options) (vars map[string]value, size int, err error) {
	vars = map[string]value{"tools": nil, "documents": nil, "add_generation_prompt": o.GenerationPrompt}
	read := func(name string, raw json.RawMessage) {
		if raw == nil || err != nil {
			return
		}
		size += len(raw)
		if vars[name], err = fromJSON(raw); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, raw := range o.Arguments {
		read(name, raw)
	}
	read("tools", o.Tools)
	read("messages", messages)
	if err != nil {
		return nil, 0, err
	}
	if err := errors.Join(objects("tools", vars["tools"]), objects("documents", vars["documents"])); err != nil {
		return nil, 0, err
	}
	vars["messages"], err = chat(vars["messages"])
	return vars, size, err
}
