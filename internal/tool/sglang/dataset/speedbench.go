package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// SpeedBench is the dataset speed-bench: the first turn of each line, sampled.
type SpeedBench struct {
	File     *File  // --dataset-path
	Requests int    // --num-prompts
	Category string // --speed-bench-category, empty = all
	Output   int    // --speed-bench-output-len
}

// Validate reports everything wrong with d at once.
func (d SpeedBench) Validate() error {
	return errors.Join(
		atLeast("--num-prompts", d.Requests, 1),
		atLeast("--speed-bench-output-len", d.Output, 0),
	)
}

// Build samples lines and puts each into the chat template.
func (d SpeedBench) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if d.File == nil {
		return Built{}, errNoFile("speed-bench", `of JSON Lines with "category" and "turns"`)
	}
	prompts, err := d.read()
	if err != nil {
		return Built{}, err
	}
	var b Built
	b.Notes = d.notes(s, len(prompts))
	b.Requests = make([]workload.Request, d.Requests)
	picks := d.pick(s, len(prompts))
	return b, workload.Each(ctx, len(picks), func(ctx context.Context, i int) (err error) {
		if b.Requests[i], err = s.inTemplate(ctx, prompts[picks[i]]); err != nil {
			return err
		}
		b.Requests[i].OutputTokens = d.Output
		return s.Spool.Keep(&b.Requests[i])
	})
}

func (d SpeedBench) notes(s *Source, have int) (notes []string) {
	if have < d.Requests {
		notes = append(notes, fmt.Sprintf("%s gives %d prompts; they are repeated to make the %d asked for", d.File.Name, have, d.Requests))
	}
	switch {
	case s.Tokenizer == nil:
		notes = append(notes, "prompts are sent without a chat template, and their lengths are not known before the server tells them: there is no tokenizer")
	case s.Vocabulary.Template == nil:
		notes = append(notes, "prompts are sent without a chat template, as the tool does where the tokenizer has none")
	}
	return notes
}

func (d SpeedBench) read() (prompts []string, err error) {
	n := 0
	err = d.File.lines(func(line []byte) (bool, error) {
		n++
		var row struct {
			Category *string           `json:"category"`
			Turns    []json.RawMessage `json:"turns"`
		}
		if err := decode(line, &row); err != nil {
			return false, fmt.Errorf("not a JSON object of a prompt: %w", err)
		}
		if d.Category != "" && (row.Category == nil || *row.Category != d.Category) || len(row.Turns) == 0 {
			return true, nil
		}
		var prompt string
		if err := decode(row.Turns[0], &prompt); err != nil || row.Turns[0][0] != '"' {
			return false, errors.New(`field "turns": the first is not a text`)
		}
		prompts = append(prompts, prompt)
		return true, nil
	})
	switch {
	case err != nil || len(prompts) > 0:
		return prompts, err
	case d.Category != "":
		return nil, d.File.in(fmt.Errorf("none of %d lines has turns and --speed-bench-category %s", n, d.Category))
	}
	return nil, d.File.in(fmt.Errorf("none of %d lines has turns", n))
}

// pick chooses without replacement, or if more are wanted than there are, shuffles as
// many rounds as it takes.
func (d SpeedBench) pick(s *Source, have int) []int {
	if d.Requests <= have {
		return s.Python.Sample(have, d.Requests)
	}
	picks := make([]int, d.Requests)
	for i := range picks {
		picks[i] = i % have
	}
	s.Python.Shuffle(len(picks), func(i, j int) { picks[i], picks[j] = picks[j], picks[i] })
	return picks
}

// inTemplate is a prompt as the ids of its chat decode, or as it is where there is no
// template for it.
func (s *Source) inTemplate(ctx context.Context, prompt string) (workload.Request, error) {
	r := workload.Request{Text: prompt}
	if s.Tokenizer == nil {
		return r, nil
	}
	text, err := s.render(userMessage(prompt))
	if err != nil {
		ids, err := s.Tokenizer.Encode(ctx, prompt, true)
		r.PromptTokens = len(ids)
		return r, err
	}
	ids, err := s.Tokenizer.Encode(ctx, text, false)
	if err != nil {
		return r, err
	}
	r.PromptTokens = len(ids)
	r.Text, err = s.Tokenizer.Decode(ctx, ids)
	return r, err
}
