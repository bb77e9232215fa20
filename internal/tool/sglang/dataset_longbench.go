package sglang

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// A longBench is the dataset longbench_v2: a long text and a question with four choices,
// of Parquet or JSON Lines.
type longBench struct {
	common
	data
	Output  *int `json:"output_len,omitempty" flag:"sharegpt-output-len"`
	Context *int `json:"context_len,omitempty" flag:"sharegpt-context-len"` // the most tokens of prompt and answer

	prompts []string
}

func (d *longBench) Check(*workload.Source) plan.Problems {
	return append(d.check(), atLeast("output_len", d.Output, 0)...)
}

func (d *longBench) Read(ctx context.Context, s *workload.Source) error {
	return d.read(ctx, s, datasetLocation{
		repository: "THUDM/LongBench-v2", pattern: "data.json",
		lack: "name one of Parquet or JSON Lines, as THUDM/LongBench-v2 has it; PITOT_HF_DOWNLOAD=1 allows to download that",
	}, func(f *file) (err error) {
		d.prompts, err = readPrompts(f)
		return err
	})
}

// longOutput is the output length where none is given: a letter and a few words.
const longOutput = 10

// Build shuffles the questions and takes the first that fit.
func (d *longBench) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s, n := d.source(from), wanted(from)
	if d.Context != nil {
		if err := s.needText("prompts are held against context_len"); err != nil {
			return w, err
		}
	}
	prompts := slices.Clone(d.prompts)
	s.python.Shuffle(len(prompts), func(i, j int) { prompts[i], prompts[j] = prompts[j], prompts[i] })
	w.Requests, err = s.choose(ctx, len(prompts), n, func(ctx context.Context, i int) (*workload.Request, error) {
		return d.request(ctx, s, prompts[i])
	})
	switch {
	case err != nil:
		return w, err
	case len(w.Requests) == 0:
		return w, plan.Problems{{Path: "context_len", Value: strconv.Itoa(*d.Context), Why: fmt.Sprintf("none of %d prompts is as short with its answer", len(prompts))}}
	}
	w.Notes = short(len(w.Requests), n)
	if s.Tokens == nil {
		w.Notes = append(w.Notes, plan.Msg(uncounted))
	}
	return s.finished(w), nil
}

func readPrompts(f *file) (prompts []string, err error) {
	err = f.rows(func(row rows.Row) error {
		prompt, err := question(row)
		prompts = append(prompts, prompt)
		return err
	})
	if err == nil && len(prompts) == 0 {
		err = errors.New("no rows: the file is empty")
	}
	return prompts, err
}

// question is a row as the model gets to read it.
func question(row rows.Row) (string, error) {
	var fields [6]any
	for i, name := range []string{"context", "question", "choice_A", "choice_B", "choice_C", "choice_D"} {
		raw, err := row.JSON(name)
		if err == nil && raw == nil {
			_, err = row.String(name) // says that it is missing
		}
		if err != nil {
			return "", err
		}
		if fields[i], err = python.Str(raw); err != nil {
			return "", row.Errorf(name, "%w", err)
		}
	}
	return fmt.Sprintf("%s\n\nQuestion: %s\nA. %s\nB. %s\nC. %s\nD. %s\nAnswer:", fields[:]...), nil
}

// request is nil where the prompt with its answer does not fit.
func (d *longBench) request(ctx context.Context, s *source, prompt string) (*workload.Request, error) {
	r := &workload.Request{Text: prompt, OutputTokens: longOutput}
	if d.Output != nil {
		r.OutputTokens = *d.Output
	}
	var err error
	if r.PromptTokens, err = s.Count(ctx, prompt); d.Context != nil && r.PromptTokens+r.OutputTokens > *d.Context {
		return nil, err
	}
	return r, err
}
