package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// LongBench is the dataset longbench_v2: a long text and a question with four choices.
type LongBench struct {
	File     *File // --dataset-path, Parquet or JSON Lines
	Requests int   // --num-prompts, at most
	Output   *int  // --sharegpt-output-len
	Context  *int  // --sharegpt-context-len
}

// longOutput is the output length where none is given: a letter and a few words.
const longOutput = 10

// Validate reports everything wrong with d at once.
func (d LongBench) Validate() error {
	errs := []error{atLeast("--num-prompts", d.Requests, 1)}
	if d.Output != nil {
		errs = append(errs, atLeast("--sharegpt-output-len", *d.Output, 0))
	}
	return errors.Join(errs...)
}

// Build shuffles the questions and takes the first that fit.
func (d LongBench) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if d.File == nil {
		return Built{}, errNoFile("longbench_v2", "of Parquet or JSON Lines, as THUDM/LongBench-v2 has it; PITOT_HF_DOWNLOAD=1 allows to download that")
	}
	if d.Context != nil {
		if err := s.needTokenizer("--sharegpt-context-len"); err != nil {
			return Built{}, err
		}
	}
	prompts, err := d.read()
	if err != nil {
		return Built{}, d.File.in(err)
	}
	s.Python.Shuffle(len(prompts), func(i, j int) { prompts[i], prompts[j] = prompts[j], prompts[i] })
	requests, err := d.choose(ctx, s, prompts)
	switch {
	case err != nil:
		return Built{}, err
	case len(requests) == 0:
		return Built{}, d.File.in(fmt.Errorf("none of %d prompts has at most %d tokens with its answer (--sharegpt-context-len)", len(prompts), *d.Context))
	}
	b := Built{Workload: workload.Workload{Requests: requests}}
	if len(requests) < d.Requests {
		b.Notes = append(b.Notes, fmt.Sprintf("%s gives %d requests of the %d asked for", d.File.Name, len(requests), d.Requests))
	}
	if s.Tokenizer == nil {
		b.Notes = append(b.Notes, "prompt lengths are not known before the server tells them: there is no tokenizer")
	}
	return b, nil
}

func (d LongBench) read() (prompts []string, err error) {
	table, err := d.File.table()
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
		if fields[i], err = pythonStr(raw); err != nil {
			return "", row.Errorf(name, "%w", err)
		}
	}
	return fmt.Sprintf("%s\n\nQuestion: %s\nA. %s\nB. %s\nC. %s\nD. %s\nAnswer:", fields[:]...), nil
}

// choose tokenizes prompts in batches, in order, until enough fit.
func (d LongBench) choose(ctx context.Context, s *Source, prompts []string) (chosen []workload.Request, err error) {
	output := longOutput
	if d.Output != nil {
		output = *d.Output
	}
	for len(prompts) > 0 && len(chosen) < d.Requests {
		batch := prompts[:min(len(prompts), batchSize, d.Requests-len(chosen))]
		prompts = prompts[len(batch):]
		counts := make([]int, len(batch))
		if s.Tokenizer != nil {
			if counts, err = s.count(ctx, batch, true); err != nil {
				return nil, err
			}
		}
		for i, n := range counts {
			if d.Context == nil || n+output <= *d.Context {
				chosen = append(chosen, workload.Request{Text: batch[i], PromptTokens: n, OutputTokens: output})
				if err := s.Spool.Keep(&chosen[len(chosen)-1]); err != nil {
					return nil, err
				}
			}
		}
	}
	return chosen, nil
}
