package vllm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A shareGPT is the dataset "sharegpt": of each conversation the first turn.
type shareGPT struct {
	file[string]
	talks        workload.Parsed[workload.Conversations]
	Output       int  `json:"output_len,omitempty" flag:"output-len,sharegpt-output-len"` // 0: the recorded length
	NoShuffle    bool `json:"no_shuffle,omitempty" flag:"disable-shuffle"`
	NoOversample bool `json:"no_oversample,omitempty" flag:"no-oversample"`
	Sending
}

func (d *shareGPT) recipe(s *workload.Source) workload.ShareGPT {
	return workload.ShareGPT{
		Requests: wanted(s), Output: d.Output, Seed: s.Seed, NoShuffle: d.NoShuffle, NoOversample: d.NoOversample, IDPrefix: s.IDPrefix,
		Media: s.Ask.Protocol == "chat",
	}
}

func (d *shareGPT) Check(s *workload.Source) plan.Problems {
	p := d.file.Check(s)
	p.If(d.Output < 0, "output_len", d.Output, "must be positive, or 0 for the recorded length")
	return p
}

func (d *shareGPT) Read(_ context.Context, s *workload.Source) error {
	return d.talks.Read(s.Files, d.Data, workload.ReadConversations)
}

func (d *shareGPT) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	talks, err := d.talks.Take(s.Files, d.Data, workload.ReadConversations)
	if err == nil {
		w, err = d.recipe(s).Build(ctx, talks, s.Tokens)
	}
	d.send(&w)
	return w, d.blame(err)
}

// A Custom is the dataset "custom": prompts of JSON Lines.
//
//	{"prompt": "text", "output_tokens": 100}
type Custom struct {
	file[customLine]
	Output int `json:"output_len" flag:"output-len,custom-output-len"` // 0: the line's output_tokens
	Common
}

type customLine struct {
	prompt string
	output int
}

// Check reports all problems.
func (d *Custom) Check(s *workload.Source) plan.Problems {
	return append(d.file.Check(s), ownOutput(d.Output)...)
}

// ownOutput wants a length, or none where lines have theirs.
func ownOutput(n int) (p plan.Problems) {
	p.If(n < 0, "output_len", n, "must be positive, or 0 for the line's output_tokens")
	return p
}

func (d *Custom) Read(_ context.Context, s *workload.Source) error {
	return d.read(s, linesBy(d.line))
}

func (d *Custom) line(row rows.Row) (l customLine, err error) {
	l.output = d.Output
	if l.prompt, err = row.String("prompt"); err == nil && d.Output == 0 {
		l.output, err = outputIn(row)
	}
	return l, err
}

// outputIn is int() of what stands in output_tokens: of a number, which it cuts off at
// the point, or of a text.
func outputIn(row rows.Row) (int, error) {
	const column = "output_tokens"
	v, err := row.Value(column)
	if err != nil {
		return 0, err
	}
	n := math.NaN()
	switch v := v.(type) {
	case int64:
		n = float64(v)
	case float64:
		n = math.Trunc(v)
	case string:
		if whole, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			n = float64(whole)
		}
	}
	if !(n >= 0 && n <= math.MaxInt32) {
		raw, err := row.JSON(column)
		if err != nil || raw == nil {
			return 0, fmt.Errorf("%s: column %q is missing, and no output length is given for all requests", row.Place(), column)
		}
		return 0, row.Errorf(column, "is %s: must be a whole number, not negative", raw)
	}
	return int(n), nil
}

// Build makes requests of the prompts.
func (d *Custom) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	return d.texts(ctx, s, d.lines)
}

// texts makes the requests of prompts: in the order that is drawn, rendered, counted, and
// oversampled.
func (c *Common) texts(ctx context.Context, s *workload.Source, prompts []customLine) (workload.Workload, error) {
	w, err := inOrder(ctx, c, s, prompts, func(ctx context.Context, s *workload.Source, l customLine) (r workload.Request, err error) {
		r.OutputTokens = l.output
		if r.Text, err = c.render(s, l.prompt); err != nil {
			return r, err
		}
		r.PromptTokens, err = s.Count(ctx, r.Text)
		return r, err
	})
	if err == nil {
		c.finish(&w, s)
	}
	return w, err
}

func (c *Common) render(s *workload.Source, text string) (string, error) {
	if c.SkipTemplate {
		return text, nil
	}
	return userTurn(s, text, c.Arguments)
}

// userTurn renders a text, whatever the settings say.
func userTurn(s *workload.Source, text string, arguments map[string]json.RawMessage) (string, error) {
	out, err := s.Vocab.UserTurn(text, arguments)
	return out, noTemplate(err)
}
