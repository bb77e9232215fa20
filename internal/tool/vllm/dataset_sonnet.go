package vllm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A sonnet asks to pick lines of a poem. Lengths are counted in lines of average
// length, and a prompt that comes out too long is drawn again.
type sonnet struct {
	file[string]
	Input  int `json:"input_len" flag:"sonnet-input-len"` // tokens
	Prefix int `json:"prefix_len" flag:"sonnet-prefix-len"`
	Output int `json:"output_len" flag:"sonnet-output-len"`
	Sending
}

// sonnetTask is the line ahead of the poem's.
const sonnetTask = "Pick as many lines as you can from these poem lines:\n"

// maxRedraws is how many prompts in a row may be too long before it is given up: the
// tool itself would go on for ever.
const maxRedraws = 10_000

func (d *sonnet) Check(s *workload.Source) plan.Problems {
	return append(d.file.Check(s), output(d.Output)...)
}

func (d *sonnet) Read(_ context.Context, s *workload.Source) error { return d.read(s, poem) }

func (d *sonnet) Describe() plan.Message {
	return workload.Describe("sonnet", plan.Text(d.Data), plan.Msg(workload.LoadTokens, "input", d.Input, "output", d.Output))
}

// longestPoem is a thousand sonnets, in bytes.
const longestPoem = 4 << 20

// poem is the lines of a file, each with its end.
func poem(file io.Reader) ([]string, error) {
	b, err := io.ReadAll(io.LimitReader(file, longestPoem+1))
	if err == nil && len(b) > longestPoem {
		err = fmt.Errorf("more than %d MiB", longestPoem>>20)
	}
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(b))
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return nil, errors.New("no lines: the file is empty")
	}
	return lines, nil
}

func (d *sonnet) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if s.Tokens == nil {
		return workload.Workload{}, d.blame(errors.New("sonnet counts the tokens of lines and needs a tokenizer"))
	}
	prefix, extra, err := d.shares(ctx, s)
	if err != nil {
		return workload.Workload{}, err
	}
	w := workload.Workload{Python: pyrand.NewRandom(int64(s.Seed))}
	begin := sonnetTask + strings.Join(d.lines[:min(prefix, len(d.lines))], "")
	for redraws := 0; len(w.Requests) < wanted(s); {
		r, err := d.draw(ctx, s, w.Python, begin, extra)
		if err != nil {
			return workload.Workload{}, err
		}
		if r.PromptTokens <= d.Input {
			w.Requests, redraws = append(w.Requests, r), 0
			continue
		}
		if redraws++; redraws == maxRedraws {
			return workload.Workload{}, d.tooShort("%d prompts in a row were longer: the lines of the poem are too uneven for it", redraws)
		}
	}
	w.Oversample(0, s.Seed, true, s.IDPrefix)
	d.send(&w)
	return w, nil
}

// tooShort is the error of an input length that nothing fits.
func (d *sonnet) tooShort(why string, a ...any) (p plan.Problems) {
	p.If(true, "input_len", d.Input, why, a...)
	return p
}

// shares are how many lines begin all prompts, and how many are drawn for each.
func (d *sonnet) shares(ctx context.Context, s *workload.Source) (prefix, extra int, err error) {
	total := 0
	for _, line := range d.lines {
		n, err := s.Count(ctx, line)
		if err != nil {
			return 0, 0, err
		}
		total += n
	}
	average := float64(total) / float64(len(d.lines))
	rendered, err := userTurn(s, sonnetTask, nil)
	if err != nil {
		return 0, 0, err
	}
	base, err := s.Count(ctx, rendered)
	if err != nil {
		return 0, 0, err
	}
	if d.Input <= base {
		return 0, 0, d.tooShort("must be more than %d, the tokens of a prompt without lines", base)
	}
	inLines := func(tokens, least int) int {
		return max(least, int(math.RoundToEven(float64(tokens-base)/average)))
	}
	prefix = inLines(d.Prefix, 0)
	return prefix, max(0, inLines(d.Input, 1)-prefix), nil
}

// draw makes a request, which may come out too long. A chat is rendered by the server.
func (d *sonnet) draw(ctx context.Context, s *workload.Source, rng *pyrand.Random, begin string, extra int) (workload.Request, error) {
	var b strings.Builder
	b.WriteString(begin)
	for _, i := range rng.Choices(len(d.lines), extra) {
		b.WriteString(d.lines[i])
	}
	r := workload.Request{Text: b.String(), OutputTokens: d.Output}
	rendered, err := userTurn(s, r.Text, nil)
	if err != nil {
		return r, err
	}
	if s.Ask.Protocol != "chat" {
		r.Text = rendered
	}
	r.PromptTokens, err = s.Count(ctx, rendered)
	return r, err
}
