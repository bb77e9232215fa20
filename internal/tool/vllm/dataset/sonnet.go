package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Sonnet asks to pick lines of a poem. Lengths are counted in lines of average
// length, and a prompt that comes out too long is drawn again.
type Sonnet struct {
	Common
	Input, Prefix, Output int  // tokens; Prefix is of Input
	Raw                   bool // send the text itself, which a chat server renders
}

// sonnetTask is the line ahead of the poem's.
const sonnetTask = "Pick as many lines as you can from these poem lines:\n"

// maxRedraws is how many prompts in a row may be too long before it is given up:
// that tool would go on for ever.
const maxRedraws = 10_000

// Check reports what Build would find wrong with file.
func (s Sonnet) Check(file io.Reader) error {
	_, err := s.lines(file)
	return err
}

// lines are those of file, each with its end.
func (s Sonnet) lines(file io.Reader) ([]string, error) {
	b, err := io.ReadAll(file)
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

// Build draws prompts from the lines of file.
func (s Sonnet) Build(ctx context.Context, file io.Reader) (workload.Workload, error) {
	lines, err := s.lines(file)
	if err != nil {
		return workload.Workload{}, err
	}
	if s.Tokens == nil {
		return workload.Workload{}, errors.New("sonnet counts the tokens of lines and needs a tokenizer")
	}
	s.SkipTemplate = false
	prefix, extra, err := s.shares(ctx, lines)
	if err != nil {
		return workload.Workload{}, err
	}
	w := workload.Workload{Python: pyrand.NewRandom(int64(s.Seed))}
	begin := sonnetTask + strings.Join(lines[:min(prefix, len(lines))], "")
	for redraws := 0; len(w.Requests) < s.Requests; {
		r, err := s.draw(ctx, w.Python, begin, lines, extra)
		if err != nil {
			return workload.Workload{}, err
		}
		if r.PromptTokens <= s.Input {
			w.Requests, redraws = append(w.Requests, r), 0
			continue
		}
		if redraws++; redraws == maxRedraws {
			return workload.Workload{}, fmt.Errorf("%d prompts in a row were longer than --sonnet-input-len %d: the lines of the poem are too uneven for it", redraws, s.Input)
		}
	}
	w.Oversample(0, s.Seed, true, s.IDPrefix)
	return w, nil
}

// shares are how many lines begin all prompts, and how many are drawn for each.
func (s Sonnet) shares(ctx context.Context, lines []string) (prefix, extra int, err error) {
	total := 0
	for _, line := range lines {
		n, err := s.count(ctx, line)
		if err != nil {
			return 0, 0, err
		}
		total += n
	}
	average := float64(total) / float64(len(lines))
	rendered, err := s.render(sonnetTask)
	if err != nil {
		return 0, 0, err
	}
	base, err := s.count(ctx, rendered)
	if err != nil {
		return 0, 0, err
	}
	if s.Input <= base {
		return 0, 0, fmt.Errorf("--sonnet-input-len %d: must be more than %d, the tokens of a prompt without lines", s.Input, base)
	}
	inLines := func(tokens, least int) int {
		return max(least, int(math.RoundToEven(float64(tokens-base)/average)))
	}
	prefix = inLines(s.Prefix, 0)
	return prefix, max(0, inLines(s.Input, 1)-prefix), nil
}

func (s Sonnet) draw(ctx context.Context, rng *pyrand.Random, begin string, lines []string, extra int) (workload.Request, error) {
	var b strings.Builder
	b.WriteString(begin)
	for _, i := range rng.Choices(len(lines), extra) {
		b.WriteString(lines[i])
	}
	r := workload.Request{Text: b.String(), OutputTokens: s.Output}
	rendered, err := s.render(r.Text)
	if err != nil {
		return r, err
	}
	if !s.Raw {
		r.Text = rendered
	}
	r.PromptTokens, err = s.count(ctx, rendered)
	return r, err
}
