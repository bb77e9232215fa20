package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Talks are the settings of datasets whose prompt is the first turn of a conversation
// and whose output length is that of the second.
type Talks struct {
	File         *File  // --dataset-path
	Requests     int    // --num-prompts, at most
	Output       *int   // --sharegpt-output-len, in place of the length of the answer
	Context      *int   // --sharegpt-context-len, the most tokens of prompt and answer
	Suffix       string // --prompt-suffix
	ChatTemplate bool   // --apply-chat-template
}

// Validate reports everything wrong with t at once.
func (t Talks) Validate() error {
	errs := []error{atLeast("--num-prompts", t.Requests, 1)}
	if t.Output != nil {
		errs = append(errs, atLeast("--sharegpt-output-len", *t.Output, 4))
	}
	return errors.Join(errs...)
}

// ShareGPT is the dataset sharegpt: a JSON list of conversations.
type ShareGPT struct{ Talks }

// Build shuffles the conversations and takes the first that fit.
func (d ShareGPT) Build(ctx context.Context, s *Source) (Built, error) {
	if d.File == nil {
		return Built{}, errNoFile("sharegpt", "ShareGPT_V3_unfiltered_cleaned_split.json, which PITOT_HF_DOWNLOAD=1 allows to download, or one of its form")
	}
	if err := d.ready(s, "sharegpt"); err != nil {
		return Built{}, err
	}
	talks, err := readShareGPT(d.File, true)
	if err != nil {
		return Built{}, err
	}
	return d.build(ctx, s, talks)
}

// Custom is the dataset custom: conversations as JSON Lines.
type Custom struct{ Talks }

// Build shuffles the conversations and takes the first that fit.
func (d Custom) Build(ctx context.Context, s *Source) (Built, error) {
	if d.File == nil {
		return Built{}, errNoFile("custom", `of JSON Lines with "conversations"`)
	}
	if err := d.ready(s, "custom"); err != nil {
		return Built{}, err
	}
	talks, bad, err := readCustom(d.File)
	if err != nil {
		return Built{}, err
	}
	b, err := d.build(ctx, s, talks)
	b.Notes = append(b.Notes, bad.note(d.File)...)
	return b, err
}

// ready reports what is missing before the file is read.
func (t Talks) ready(s *Source, dataset string) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.ChatTemplate && s.Vocabulary.Template == nil {
		return errors.New("--apply-chat-template: the tokenizer has no chat template")
	}
	return s.needTokenizer(dataset + " takes conversations by their length")
}

// batchSize is how many texts are tokenized between looks at whether there are enough.
const batchSize = 256

func (t Talks) build(ctx context.Context, s *Source, talks []talk) (Built, error) {
	s.Python.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	var b Built
	for rest := talks; len(rest) > 0 && len(b.Requests) < t.Requests; {
		batch := rest[:min(len(rest), batchSize)]
		rest = rest[len(batch):]
		fits := make([]*workload.Request, len(batch))
		err := workload.Each(ctx, len(batch), func(ctx context.Context, i int) (err error) {
			fits[i], err = t.request(ctx, s, batch[i])
			return err
		})
		if err != nil {
			return Built{}, err
		}
		for _, r := range fits {
			if r == nil || len(b.Requests) == t.Requests {
				continue
			}
			b.Requests = append(b.Requests, *r)
			if err := s.Spool.Keep(&b.Requests[len(b.Requests)-1]); err != nil {
				return Built{}, err
			}
		}
	}
	if len(b.Requests) == 0 {
		return Built{}, t.File.in(fmt.Errorf("none of %d conversations fits: prompt and answer of at least 2 tokens each%s", len(talks), t.limit()))
	}
	if have := len(b.Requests); have < t.Requests {
		b.Notes = append(b.Notes, fmt.Sprintf("%s gives %d requests of the %d asked for", t.File.Name, have, t.Requests))
	}
	b.Lines = rowTotals(b.Requests)
	return b, nil
}

func (t Talks) limit() string {
	if t.Context == nil || *t.Context == 0 {
		return ""
	}
	return fmt.Sprintf(", at most %d together", *t.Context)
}

// request is nil when the conversation does not fit.
func (t Talks) request(ctx context.Context, s *Source, talk talk) (*workload.Request, error) {
	text, err := t.prompt(s, talk.prompt)
	if err != nil {
		return nil, err
	}
	ids, err := s.Tokenizer.Encode(ctx, text, true)
	if err != nil {
		return nil, err
	}
	r := &workload.Request{Text: text, PromptTokens: len(ids)}
	if t.Output != nil {
		r.OutputTokens = *t.Output
	} else {
		answer, err := s.Tokenizer.Encode(ctx, talk.answer, true)
		if err != nil {
			return nil, err
		}
		r.OutputTokens = len(answer)
	}
	tooShort := r.PromptTokens < 2 || r.OutputTokens < 2
	tooLong := t.Context != nil && *t.Context != 0 && r.PromptTokens+r.OutputTokens > *t.Context
	if tooShort || tooLong {
		return nil, nil
	}
	return r, nil
}

// assistant ends the prompts of a conversation written out as a script.
const assistant = "Assistant:"

// prompt is a first turn with its suffix, in the chat template.
func (t Talks) prompt(s *Source, text string) (string, error) {
	if t.Suffix != "" {
		text = strings.TrimSuffix(text, assistant) + t.Suffix + assistant
	}
	if !t.ChatTemplate {
		return text, nil
	}
	text, err := s.render(userMessage(text))
	if err == nil && s.Vocabulary.BOS != "" { // the server puts it there itself
		text = strings.ReplaceAll(text, s.Vocabulary.BOS, "")
	}
	return text, err
}

// render is a chat in the tokenizer's template, up to where the answer begins.
func (s *Source) render(messages json.RawMessage) (string, error) {
	if s.Vocabulary.Template == nil {
		return "", errors.New("the tokenizer has no chat template")
	}
	text, err := s.Vocabulary.Template.Render(messages, workload.TemplateOptions{GenerationPrompt: true})
	if err != nil {
		return "", fmt.Errorf("apply the chat template: %w", err)
	}
	return text, nil
}

// A message is one of a chat.
type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// chat is messages as JSON.
func chat(messages ...message) json.RawMessage {
	b, err := json.Marshal(messages)
	if err != nil {
		panic(err) // texts and lists of texts always are JSON
	}
	return b
}

func userMessage(content string) json.RawMessage { return chat(message{"user", content}) }
