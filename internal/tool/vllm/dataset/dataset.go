// Package dataset makes the workloads of `vllm bench serve` that come from files,
// beside those that package workload has: BurstGPT, sonnet, custom_image and
// custom_audio, spec_bench and speed_bench, timed_trace, and what that tool takes
// from the Hugging Face hub, from a copy on this machine.
//
// Each is by the algorithm of that tool, with Python's and numpy's generators, so
// that the same file, seed and tokenizer give the same prompts in the same order,
// and the same output lengths and request ids. What differs is the bytes of pictures
// and sounds where they are encoded anew, since the encoders do; what they show and
// say does not.
//
// A dataset gets its file from the caller as a reader and never opens one. What it
// refuses it refuses with the line and the column, or the flag of that tool.
package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Common is what all datasets are made with.
type Common struct {
	Requests     int // where a dataset says so, 0 means all there are
	Seed         uint64
	NoShuffle    bool
	NoOversample bool
	IDPrefix     string

	// SkipTemplate sends prompts as they are; else they are rendered with the
	// tokenizer's chat template, with Arguments as further variables of it.
	SkipTemplate bool
	Arguments    map[string]json.RawMessage

	Tokens     workload.Tokenizer // nil: nothing is counted
	Vocabulary workload.Vocabulary
}

// errTemplate says how to do without a template.
func errTemplate(err error) error {
	if errors.Is(err, workload.ErrNoTemplate) {
		return fmt.Errorf("%w: name one that has with --tokenizer, or add --skip-chat-template", err)
	}
	return err
}

// Render is how workload.Custom is to render its prompts; nil if it is not to.
func (c Common) Render() func(string) (string, error) {
	if c.SkipTemplate {
		return nil
	}
	return c.render
}

// render is text as the model gets it.
func (c Common) render(text string) (string, error) {
	if c.SkipTemplate {
		return text, nil
	}
	out, err := c.Vocabulary.UserTurn(text, c.Arguments)
	return out, errTemplate(err)
}

// count is how many tokens text has, with those that the model expects around it; 0 is
// not known.
func (c Common) count(ctx context.Context, text string) (int, error) {
	if c.Tokens == nil {
		return 0, nil
	}
	ids, err := c.Tokens.Encode(ctx, text, true)
	return len(ids), err
}

// inOrder makes the requests of lines, in the order of Python's random.shuffle after its
// seed, as many as are wanted and there are; oversample adds the rest.
func inOrder[L any](ctx context.Context, c Common, lines []L, request func(ctx context.Context, line L) (workload.Request, error)) (workload.Workload, error) {
	rng := pyrand.NewRandom(int64(c.Seed))
	if !c.NoShuffle {
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	if c.Requests > 0 {
		lines = lines[:min(len(lines), c.Requests)]
	}
	w := workload.Workload{Requests: make([]workload.Request, len(lines)), Python: rng}
	err := workload.Each(ctx, len(lines), func(ctx context.Context, i int) (err error) {
		w.Requests[i], err = request(ctx, lines[i])
		return err
	})
	if err != nil {
		return workload.Workload{}, err
	}
	return w, nil
}

// oversample makes up what is wanted of a workload, copies of requests included.
func (c Common) oversample(w *workload.Workload) {
	w.Oversample(c.Requests, c.Seed, c.NoOversample, c.IDPrefix)
}

// texts makes the requests of prompts that all ask for as much: in the order they
// are in, rendered, counted, and oversampled.
func (c Common) texts(ctx context.Context, prompts []string, output int) (workload.Workload, error) {
	w, err := inOrder(ctx, c, prompts, func(ctx context.Context, prompt string) (r workload.Request, err error) {
		r.OutputTokens = output
		if r.Text, err = c.render(prompt); err != nil {
			return r, err
		}
		r.PromptTokens, err = c.count(ctx, r.Text)
		return r, err
	})
	if err == nil {
		c.oversample(&w)
	}
	return w, err
}

// mostErrors is how many mistakes of a file are told at once.
const mostErrors = 5

// eachLine calls f for each row of JSON Lines and collects what is wrong.
func eachLine(file io.Reader, f func(rows.Row) error) error {
	table, err := rows.ReadAs(rows.JSONLines, file)
	if err != nil {
		return err
	}
	var errs []error
	n := 0
	for row, err := range table.All() {
		if n++; err == nil {
			err = f(row)
		}
		if err == nil {
			continue
		}
		if errs = append(errs, err); len(errs) == mostErrors {
			errs = append(errs, errors.New("the lines after that were not looked at"))
			break
		}
	}
	if n == 0 {
		return errors.New("no requests: the file is empty")
	}
	return errors.Join(errs...)
}

// atPlace says where an error is, if there is one.
func atPlace(place string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", place, err)
	}
	return err
}

// lineError puts the place of a row ahead of an error.
func lineError(row rows.Row, err error) error { return atPlace(row.Place(), err) }
