package sglang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A speedBench is the dataset speed-bench: the first turn of each line, sampled.
type speedBench struct {
	common
	data
	Category string `json:"category,omitempty" flag:"speed-bench-category"` // empty: all
	Output   int    `json:"output_len" flag:"speed-bench-output-len"`

	prompts []string
}

func (d *speedBench) Check(*workload.Source) plan.Problems {
	p := d.check()
	p.If(d.Output < 0, "output_len", d.Output, "must be at least 0")
	return p
}

func (d *speedBench) Read(ctx context.Context, s *workload.Source) error {
	return d.read(ctx, s, datasetLocation{lack: `name one of JSON Lines with "category" and "turns"`}, func(f *file) (err error) {
		d.prompts, err = d.lines(f)
		return err
	})
}

// Build samples prompts and puts each into the chat template.
func (d *speedBench) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s, n := d.source(from), wanted(from)
	w.Notes = s.speedNotes(len(d.prompts), n)
	w.Requests = make([]workload.Request, n)
	picks := s.pick(len(d.prompts), n)
	err = workload.Each(ctx, len(picks), func(ctx context.Context, i int) (err error) {
		if w.Requests[i], err = s.inTemplate(ctx, d.prompts[picks[i]]); err != nil {
			return err
		}
		w.Requests[i].OutputTokens = d.Output
		return s.Spool.Spill(&w.Requests[i])
	})
	return s.finished(w), err
}

func (s *source) speedNotes(have, asked int) (notes []plan.Message) {
	if have < asked {
		notes = append(notes, plan.Msg(repeatedPrompts, "have", have, "asked", asked))
	}
	if s.Vocab.Template == nil {
		notes = append(notes, plan.Msg(noTemplate))
	}
	if s.Tokens == nil {
		notes = append(notes, plan.Msg(uncounted))
	}
	return notes
}

func (d *speedBench) lines(f *file) (prompts []string, err error) {
	n := 0
	err = rows.Lines(f, func(_ int, line []byte) error {
		n++
		var row struct {
			Category *string           `json:"category"`
			Turns    []json.RawMessage `json:"turns"`
		}
		if err := decode(line, &row); err != nil {
			return fmt.Errorf("not a JSON object of a prompt: %w", err)
		}
		if d.Category != "" && (row.Category == nil || *row.Category != d.Category) || len(row.Turns) == 0 {
			return nil
		}
		var prompt string
		if err := decode(row.Turns[0], &prompt); err != nil || row.Turns[0][0] != '"' {
			return errors.New(`field "turns": the first is not a text`)
		}
		prompts = append(prompts, prompt)
		return nil
	})
	switch {
	case err != nil || len(prompts) > 0:
		return prompts, err
	case d.Category != "":
		return nil, plan.Problems{{Path: "category", Value: d.Category, Why: fmt.Sprintf("none of %d lines of %s has that and turns", n, f.name)}}
	}
	return nil, fmt.Errorf("none of %d lines has turns", n)
}

// pick chooses without replacement, or if more are wanted than there are, shuffles as
// many rounds as it takes.
func (s *source) pick(have, n int) []int {
	if n <= have {
		return s.python.Sample(have, n)
	}
	picks := make([]int, n)
	for i := range picks {
		picks[i] = i % have
	}
	s.python.Shuffle(len(picks), func(i, j int) { picks[i], picks[j] = picks[j], picks[i] })
	return picks
}

// inTemplate is a prompt as the ids of its chat decode, or as it is where there is no
// template for it.
func (s *source) inTemplate(ctx context.Context, prompt string) (r workload.Request, err error) {
	r.Text = prompt
	if s.Tokens == nil {
		return r, nil
	}
	text, err := s.render(userMessage(prompt))
	if err != nil {
		r.PromptTokens, err = s.Count(ctx, prompt)
		return r, err
	}
	ids, err := s.Tokens.Encode(ctx, text, false)
	if err != nil {
		return r, err
	}
	r.PromptTokens = len(ids)
	r.Text, err = s.Tokens.Decode(ctx, ids)
	return r, err
}
