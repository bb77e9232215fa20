package sglang

import (
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A lengths is those of prompts and answers that are drawn.
type lengths struct {
	Input  int     `json:"input_len" flag:"random-input-len"` // tokens
	Output int     `json:"output_len" flag:"random-output-len"`
	Ratio  float64 `json:"range_ratio" flag:"random-range-ratio"` // lengths are uniform in [L·ratio, L]
}

// usual are the tool's defaults.
var usual = lengths{Input: 1024, Output: 1024}

func (l *lengths) check() (p plan.Problems) {
	p.Tokens("input_len", l.Input, 0)
	p.Tokens("output_len", l.Output, 0)
	p.Share("range_ratio", l.Ratio)
	return p
}

// fit requires that n prompts have no more tokens than a run may have.
func (l *lengths) fit(n int) (p plan.Problems) {
	p.Product("input_len", plan.MaxTotal, "tokens", n, l.Input)
	return p
}

// atLeast wants a number that is not too low, if there is one.
func atLeast(path string, n *int, least int) (p plan.Problems) {
	if n != nil {
		p.If(*n < least, path, *n, "must be at least %d", least)
	}
	return p
}

func (l *lengths) describe() plan.Message {
	tokens := plan.Msg(workload.LoadTokens, "input", l.Input, "output", l.Output)
	if l.Ratio == 1 {
		return tokens
	}
	return plan.Msg(loadFrom, "tokens", tokens, "share", l.Ratio)
}

// lengths are n draws of a length: uniform in [full·ratio, full], at least 1. Of a
// single possible length nothing is drawn, and of none all are 0.
func (s *source) lengths(full int, ratio float64, n int) []int {
	out := make([]int, n)
	if full <= 0 {
		return out
	}
	low := max(int(float64(full)*ratio), 1)
	for i := range out {
		out[i] = int(s.numpy.Randint(int64(low), int64(full)+1))
	}
	return out
}

func sum(lengths []int) (total int) {
	for _, n := range lengths {
		total += n
	}
	return total
}

// totals are the lines on tokens that most of the tool's datasets print.
func datasetTotals(input, output int) []string {
	return []string{fmt.Sprintf("#Input tokens: %d", input), fmt.Sprintf("#Output tokens: %d", output)}
}

func rowTotals(requests []workload.Request) []string {
	var input, output int
	for _, r := range requests {
		input += r.PromptTokens
		output += r.OutputTokens
	}
	return datasetTotals(input, output)
}

// everyID is what random prompts are drawn from.
func (s *source) everyID() ([]int32, error) {
	ids := s.Vocab.IDs()
	if len(ids) == 0 {
		return nil, errNoVocabulary
	}
	return ids, nil
}

var errNoVocabulary = errors.New("random prompts are drawn from a vocabulary, and its size is not known; name a tokenizer")

// drawNotes tell in what draws from a vocabulary differ from the tool's.
func (s *source) drawNotes() (notes []plan.Message) {
	if s.january {
		notes = append(notes, plan.Msg(hashOrder))
	}
	if s.Vocab.All == nil {
		notes = append(notes, plan.Msg(addedUnknown))
	}
	return notes
}

// draw is n ids, each chosen from all.
func (s *source) draw(all []int32, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = all[int(s.python.Float64()*float64(len(all)))]
	}
	return ids
}

// short notes that there is less than was asked for.
func short(have, asked int) []plan.Message {
	if have >= asked {
		return nil
	}
	return []plan.Message{plan.Msg(fewerThanAsked, "have", have, "asked", asked)}
}

// The descriptions of workloads.
const (
	loadFrom   plan.Code = "load.from"   // tokens, share
	loadGroups plan.Code = "load.groups" // groups, prompts, prefix, suffix, output
)

// The notes on workloads.
const (
	fewerThanAsked  plan.Code = "sglang.fewer-than-asked" // have, asked
	repeatedPrompts plan.Code = "sglang.repeated-prompts" // have, asked
	linesLeftOut    plan.Code = "sglang.lines-left-out"   // lines
	noShareGPT      plan.Code = "sglang.no-sharegpt"
	unreadShareGPT  plan.Code = "sglang.unread-sharegpt"
	hashOrder       plan.Code = "sglang.hash-order"
	addedUnknown    plan.Code = "sglang.added-unknown"
	idsForText      plan.Code = "sglang.ids-for-text"
	uncounted       plan.Code = "sglang.uncounted"
	uncountedChats  plan.Code = "sglang.uncounted-chats"
	milliseconds    plan.Code = "sglang.milliseconds" // fractions, length
	asScript        plan.Code = "sglang.as-script"
	noTemplate      plan.Code = "sglang.no-template"
	textAlone       plan.Code = "sglang.text-alone"
	picturesFirst   plan.Code = "sglang.pictures-first"
	picturesSlow    plan.Code = "sglang.pictures-slow" // pictures, size
	padUnknown      plan.Code = "sglang.pad-unknown"
)
