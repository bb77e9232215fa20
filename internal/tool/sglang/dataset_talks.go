package sglang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A talks is the datasets sharegpt, a JSON list of conversations, and custom, a line
// each: the prompt is the first turn, the output length that of the second.
type talks struct {
	common
	data
	Output       *int   `json:"output_len,omitempty" flag:"sharegpt-output-len"`    // replaces the answer's length
	Context      *int   `json:"context_len,omitempty" flag:"sharegpt-context-len"`  // most tokens, with the answer
	Suffix       string `json:"prompt_suffix,omitempty" flag:"prompt-suffix"`       // of each prompt
	ChatTemplate bool   `json:"chat_template,omitempty" flag:"apply-chat-template"` // prompts are rendered

	lines bool // custom
	talks []talk
	bad   badLines
}

func (d *talks) Check(*workload.Source) plan.Problems {
	return append(d.check(), atLeast("output_len", d.Output, 4)...)
}

func (d *talks) Read(ctx context.Context, s *workload.Source) error {
	if d.lines {
		return d.read(ctx, s, datasetLocation{lack: `name one of JSON Lines with "conversations"`}, func(f *file) (err error) {
			d.talks, d.bad, err = readCustom(f)
			return err
		})
	}
	lack := "name " + shareGPT + ", which PITOT_HF_DOWNLOAD=1 allows to download, or one of its form"
	return d.read(ctx, s, shareGPTLocation(lack), func(f *file) (err error) {
		d.talks, err = readShareGPT(f, true)
		return err
	})
}

// ready reports which inputs of prompts are missing.
func (d *talks) ready(s *source) error {
	if d.ChatTemplate && s.Vocab.Template == nil {
		return plan.Problems{{Path: "chat_template", Why: "the tokenizer has no chat template"}}
	}
	return s.needText("conversations are taken by their length")
}

// Build shuffles the conversations and takes the first that fit.
func (d *talks) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s := d.source(from)
	if err := d.ready(s); err != nil {
		return w, err
	}
	talks, n := slices.Clone(d.talks), wanted(from)
	s.python.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	w.Requests, err = s.choose(ctx, len(talks), n, func(ctx context.Context, i int) (*workload.Request, error) {
		return d.request(ctx, s, talks[i])
	})
	if err != nil {
		return w, err
	}
	if len(w.Requests) == 0 {
		return w, d.blame(fmt.Errorf("none of %d conversations fits: prompt and answer of at least 2 tokens each%s", len(talks), d.limit()))
	}
	w.Notes = slices.Concat(short(len(w.Requests), n), d.bad.note())
	w.Lines = rowTotals(w.Requests)
	return s.finished(w), nil
}

// choose makes the first n of so many requests that fit, in order and many at once; nil
// does not fit.
func (s *source) choose(ctx context.Context, all, n int, request func(ctx context.Context, i int) (*workload.Request, error)) (chosen []workload.Request, err error) {
	for r, err := range workload.InOrder(ctx, all, request) {
		if err == nil && r != nil {
			err = s.Spool.Spill(r)
			chosen = append(chosen, *r)
		}
		if err != nil || len(chosen) == n {
			return chosen, err
		}
	}
	return chosen, nil
}

func (d *talks) limit() string {
	if d.Context == nil || *d.Context == 0 {
		return ""
	}
	return fmt.Sprintf(", at most %d together", *d.Context)
}

// request is nil when the conversation does not fit.
func (d *talks) request(ctx context.Context, s *source, talk talk) (*workload.Request, error) {
	text, err := d.prompt(s, talk.prompt)
	if err != nil {
		return nil, err
	}
	r := &workload.Request{Text: text}
	if r.PromptTokens, err = s.Count(ctx, text); err != nil {
		return nil, err
	}
	if d.Output != nil {
		r.OutputTokens = *d.Output
	} else if r.OutputTokens, err = s.Count(ctx, talk.answer); err != nil {
		return nil, err
	}
	tooShort := r.PromptTokens < 2 || r.OutputTokens < 2
	tooLong := d.Context != nil && *d.Context != 0 && r.PromptTokens+r.OutputTokens > *d.Context
	if tooShort || tooLong {
		return nil, nil
	}
	return r, nil
}

// assistant ends the prompts of a conversation written out as a script.
const assistant = "Assistant:"

// prompt is a first turn with its suffix, in the chat template.
func (d *talks) prompt(s *source, text string) (string, error) {
	if d.Suffix != "" {
		text = strings.TrimSuffix(text, assistant) + d.Suffix + assistant
	}
	if !d.ChatTemplate {
		return text, nil
	}
	text, err := s.render(userMessage(text))
	if err == nil && s.Vocab.BOS != "" { // the server puts it there itself
		text = strings.ReplaceAll(text, s.Vocab.BOS, "")
	}
	return text, err
}

// render is a chat in the tokenizer's template, up to where the answer begins.
func (s *source) render(messages json.RawMessage) (string, error) {
	if s.Vocab.Template == nil {
		return "", errors.New("the tokenizer has no chat template")
	}
	text, err := s.Vocab.Template.Render(messages, workload.TemplateOptions{GenerationPrompt: true})
	if err != nil {
		return "", fmt.Errorf("apply the chat template: %w", err)
	}
	return text, nil
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func chat(messages ...message) json.RawMessage {
	b, err := json.Marshal(messages)
	if err != nil {
		panic(err) // texts and lists of texts always are JSON
	}
	return b
}

func userMessage(content string) json.RawMessage { return chat(message{"user", content}) }
