package dataset

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

// A LongBench is the dataset longbench_v2: a long text and a question with four choices,
// of Parquet or JSON Lines.
type LongBench struct {
	Common
	data
	Output  *int `json:"output_len,omitempty" flag:"sharegpt-output-len"`
	Context *int `json:"context_len,omitempty" flag:"sharegpt-context-len"` // the most tokens of prompt and answer

	prompts []string
}

// Check reports what is wrong.
func (d *LongBench) Check(*workload.Source) plan.Problems {
	return append(d.check(), atLeast("output_len", d.Output, 0)...)
}

// Read reads the questions.
func (d *LongBench) Read(ctx context.Context, s *workload.Source) error {
	return d.read(ctx, s, keep{
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
func (d *LongBench) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s, n := d.source(from), wanted(from)
	if d.Context != nil {
		if err := s.needText("prompts are held against context_len"); err != nil {
			return w, err
		}
	}
	prompts := slices.Clone(d.prompts)
	s.python.Shuffle(len(prompts), func(i, j int) { prompts[i], prompts[j] = prompts[j], prompts[i] })
	w.Requests, err = d.choose(ctx, s, prompts, n)
	switch {
	case err != nil:
		return w, err
	case len(w.Requests) == 0:
		return w, plan.Problems{{Path: "context_len", Value: strconv.Itoa(*d.Context), Why: fmt.Sprintf("none of %d prompts is as short with its answer", len(prompts))}}
	}
	w.Notes = short(len(w.Requests), n)
	if s.Tokens == nil {
		w.Notes = append(w.Notes, plan.Say(uncounted))
	}
	return s.finished(w), nil
}

func readPrompts(f *file) (prompts []string, err error) {
	table, err := f.table()
	if err != nil {
		return nil, err
	}
	for row, err := range table.All() {
		if err != nil {
			return nil, err
		}
		prompt, err := question(row)
		if err != nil {
			return nil, err
		}
		prompts = append(prompts, prompt)
	}
	if len(prompts) == 0 {
		return nil, errors.New("no rows: the file is empty")
	}
	return prompts, nil
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

// choose counts prompts in batches, in order, until n fit.
func (d *LongBench) choose(ctx context.Context, s *source, prompts []string, n int) (chosen []workload.Request, err error) {
	output := longOutput
	if d.Output != nil {
		output = *d.Output
	}
	for len(prompts) > 0 && len(chosen) < n {
		batch := prompts[:min(len(prompts), batchSize, n-len(chosen))]
		prompts = prompts[len(batch):]
		counts := make([]int, len(batch))
		err := workload.Each(ctx, len(batch), func(ctx context.Context, i int) (err error) {
			counts[i], err = s.tokens(ctx, batch[i])
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, tokens := range counts {
			if d.Context == nil || tokens+output <= *d.Context {
				chosen = append(chosen, workload.Request{Text: batch[i], PromptTokens: tokens, OutputTokens: output})
				if err := s.Spool.Keep(&chosen[len(chosen)-1]); err != nil {
					return nil, err
				}
			}
		}
	}
	return chosen, nil
}
