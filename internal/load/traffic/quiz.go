package traffic

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

const noText = "answers of the protocol %s have no text to grade"

// A quiz is generated questions of one of grade.Sets.
type quiz struct {
	Input  Size `json:"input_len"` // of recall and copy
	Output Size `json:"output_len"`

	set string
}

func newQuiz(set string) *quiz {
	d := &quiz{set: set, Output: Size{Fixed: 64}}
	switch set {
	case "recall":
		d.Input.Fixed = 1024
	case "copy":
		d.Input.Fixed, d.Output.Fixed = 128, 256
	}
	return d
}

// Check reports mistakes in the settings.
func (d *quiz) Check(s *workload.Source) plan.Problems {
	p := unsuited(s.Ask, false)
	p.If(s.Ask.Silent, "", nil, noText, s.Ask.Protocol)
	p.If(s.Ask.Full && d.set != "recall", "", nil, "does not go with --ignore-eos: answers that go on behind their end "+
		"cannot be graded, except those of recall")
	sized := d.set != "sums"
	p.If(!sized && d.Input != Size{}, "input_len", d.Input, "does not apply to sums, which are short")
	p.If(sized && !d.Input.atLeast(1), "input_len", d.Input, "must be at least 1")
	p.If(!d.Output.atLeast(1), "output_len", d.Output, "must be at least 1")
	return p
}

// Read has nothing to read.
func (d *quiz) Read(context.Context, *workload.Source) error { return nil }

// Build draws the questions. A prompt has the wanted length as near as whole entries or words come to it.
func (d *quiz) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	g, err := grade.New(grade.Sets[d.set])
	if err != nil {
		return w, err
	}
	inputs, outputs := dice(s.Seed, d.set+" input", 0), dice(s.Seed, d.set+" output", 0)
	pieces := d.pieces()
	if s.Tokens != nil && d.Input != (Size{}) {
		if err := pieces.measure(ctx, s, d); err != nil {
			return w, err
		}
	}
	w.Requests = make([]workload.Request, wanted(s))
	for i := range w.Requests {
		r := &w.Requests[i]
		n := 0
		if d.Input != (Size{}) {
			length := d.Input.count().Draw(inputs)
			if n = pieces.in(length); n > pieces.most {
				return w, d.tooLong(length, pieces)
			}
		}
		r.ID = s.IDPrefix + strconv.Itoa(i)
		r.Question = &grade.Question{Grader: g}
		r.Text, r.Question.Answer = d.ask(dice(s.Seed, d.set, uint64(i)), n)
		if r.PromptTokens, err = s.Count(ctx, r.Text); err != nil {
			return w, err
		}
		r.OutputTokens = d.Output.count().Draw(outputs)
		if err := s.Spool.Spill(r); err != nil {
			return w, err
		}
	}
	return w, nil
}

// ask draws one question of n pieces.
func (d *quiz) ask(dice *rand.Rand, n int) (prompt, answer string) {
	switch d.set {
	case "recall":
		return grade.Recall(dice, n)
	case "copy":
		return grade.Copy(dice, n)
	}
	return grade.Sum(dice)
}

// A pieces is how many tokens the parts of a prompt have: entries of a register, or words.
type pieces struct {
	around, each float64
	most         int
}

// pieces are those of a usual vocabulary.
func (d *quiz) pieces() pieces {
	if d.set == "recall" {
		return pieces{around: 40, each: 9, most: grade.MostEntries}
	}
	return pieces{around: 18, each: 1.3, most: plan.MaxTokens}
}

// measure counts them with the tokenizer.
func (p *pieces) measure(ctx context.Context, s *workload.Source, d *quiz) error {
	const few, many = 8, 136
	var tokens [2]int
	for i, n := range []int{few, many} {
		text, _ := d.ask(dice(s.Seed, d.set+" measure", 0), n)
		var err error
		if tokens[i], err = s.Count(ctx, text); err != nil {
			return err
		}
	}
	if each := float64(tokens[1]-tokens[0]) / (many - few); each > 0 {
		p.each, p.around = each, float64(tokens[0])-few*each
	}
	return nil
}

// in is the number of pieces in a prompt of a length, at least one.
func (p *pieces) in(length int) int {
	return max(int((float64(length)-p.around)/p.each+0.5), 1)
}

// tooLong is the problem of a prompt for which there are not enough pieces.
func (d *quiz) tooLong(length int, p pieces) error {
	return plan.Problems{{Path: "input_len", Value: strconv.Itoa(length), Why: fmt.Sprintf(
		"is too long: %s has at most about %.0f tokens", d.set, p.around+p.each*float64(p.most))}}
}

// Describe describes the questions.
func (d *quiz) Describe() plan.Message {
	if d.Input == (Size{}) {
		return workload.Describe(d.set, plan.Msg(loadShort, "output", d.Output))
	}
	return workload.Describe(d.set, plan.Msg(workload.LoadTokens, "input", d.Input, "output", d.Output))
}
