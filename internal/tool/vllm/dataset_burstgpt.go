package vllm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A burstGPT takes the lengths of requests from a CSV of the BurstGPT trace, those of
// GPT-4 that were answered; their times are not used. Prompts are runs of consecutive
// ids of the vocabulary. Rows are drawn as pandas samples them.
type burstGPT struct {
	file[datasetLengths]
	Sending
}

type datasetLengths struct{ prompt, answer int }

func (d *burstGPT) Read(_ context.Context, s *workload.Source) error { return d.read(s, readBurst) }

// The columns of the trace: the names of two, and by position the other two.
const (
	burstModel, burstAnswered = "Model", "Response tokens"
	burstPrompt, burstAnswer  = 2, 3
)

func readBurst(file io.Reader) ([]datasetLengths, error) {
	table, err := rows.ReadAs(rows.CSV, file)
	if err != nil {
		return nil, err
	}
	columns := table.Columns()
	if len(columns) <= burstAnswer {
		return nil, fmt.Errorf("the first line names %d columns: the lengths of prompt and answer are the third and the fourth", len(columns))
	}
	var out []datasetLengths
	for row, err := range table.All() {
		if err != nil {
			return nil, err
		}
		model, err := row.String(burstModel)
		if err != nil {
			return nil, err
		}
		answered, err := row.Float(burstAnswered)
		if err != nil {
			return nil, err
		}
		if model != "GPT-4" || !(answered > 0) {
			continue
		}
		prompt, errPrompt := tokensIn(row, columns[burstPrompt])
		answer, errAnswer := tokensIn(row, columns[burstAnswer])
		if err := errors.Join(errPrompt, errAnswer); err != nil {
			return nil, err
		}
		out = append(out, datasetLengths{prompt, answer})
	}
	if len(out) == 0 {
		return nil, errors.New(`no row with "GPT-4" in column "Model" and a positive "Response tokens"`)
	}
	return out, nil
}

// mostTokens is the longest prompt that is read; more is a mistake.
const mostTokens = 1 << 24

// tokensIn is a number of tokens, without decimals.
func tokensIn(row rows.Row, column string) (int, error) {
	n, err := row.Float(column)
	if err == nil && !(n >= 0 && n <= mostTokens) {
		err = row.Errorf(column, "is %v: must be from 0 to %d tokens", n, mostTokens)
	}
	return int(n), err
}

// Build draws rows, more than once each if there are too few.
func (d *burstGPT) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if err := s.NeedText(false); err != nil {
		return workload.Workload{}, err
	}
	n := wanted(s)
	picked := pyrand.NewLegacy(uint32(s.Seed)).Choice(len(d.lines), n, n > len(d.lines))
	w, err := s.Produce(ctx, workload.Production{
		N:     len(picked),
		Brief: func(i int) workload.Brief { return workload.Brief{Output: d.lines[picked[i]].answer} },
		Bare: func(i int) workload.Request {
			l := d.lines[picked[i]]
			r := workload.Request{ID: s.IDPrefix + strconv.Itoa(i), PromptTokens: l.prompt, OutputTokens: l.answer}
			if s.Tokens == nil {
				r.Tokens = workload.NoIDs
			}
			return r
		},
		Fill: func(ctx context.Context, i int, r *workload.Request) (err error) {
			ids := make([]int32, d.lines[picked[i]].prompt)
			for j := range ids {
				ids[j] = int32((i + j) % s.Vocab.Size)
			}
			if s.Tokens == nil {
				r.Tokens = ids
				return nil
			}
			r.Text, err = s.Tokens.Decode(ctx, ids)
			return err
		},
	})
	d.send(&w)
	return w, err
}
