package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A pair is the lengths of one request, in tokens.
type pair struct{ input, output int }

type drawn struct {
	Input   Size   `json:"input_len"`
	Prefix  int    `json:"prefix_len,omitempty"` // in addition to Input
	Output  Size   `json:"output_len"`
	Lengths string `json:"lengths,omitempty"` // file of pairs to draw from, in place of both
	Fit     int    `json:"fit,omitempty"`     // limit of a prompt and its answer together

	seen []pair // those of the file; an output of 0 is drawn too
}

func defaultDrawn() drawn { return drawn{Input: Size{Fixed: 256}, Output: Size{Fixed: 64}} }

func (d *drawn) check() (p plan.Problems) {
	p.If(d.Prefix < 0 || d.Prefix > plan.MaxTokens, "prefix_len", d.Prefix, "must be at least 0, and at most %d",
		plan.MaxTokens)
	p.If(d.Fit < 0 || d.Fit > 0 && d.Fit <= d.Prefix+1, "fit", d.Fit, "must have room for a prompt and an answer")
	return p
}

func (d *drawn) Read(_ context.Context, s *workload.Source) error {
	if d.Lengths == "" {
		return nil
	}
	return s.Files.With("lengths", d.Lengths, func(file io.Reader) (err error) {
		d.seen, err = readLengths(file)
		return err
	})
}

// room is the limit that the prefix leaves, 0 for none.
func (d *drawn) room() int {
	if d.Fit == 0 {
		return 0
	}
	return max(d.Fit-d.Prefix, 2)
}

// draw draws n pairs, and notes what did not fit.
func (d *drawn) draw(n int, seed uint64, limit int) ([]pair, []plan.Message) {
	which, inputs, outputs := dice(seed, "pair", 0), dice(seed, "input", 0), dice(seed, "output", 0)
	pairs := make([]pair, n)
	for i := range pairs {
		p := &pairs[i]
		if len(d.seen) > 0 {
			*p = d.seen[which.IntN(len(d.seen))]
		} else {
			p.input = d.Input.count().Draw(inputs)
		}
		if p.output == 0 {
			p.output = d.Output.count().Draw(outputs)
		}
	}
	return pairs, fit(pairs, limit)
}

// prefix says how long the prefix is, if there is one.
func (d *drawn) prefix() plan.Message {
	if d.Prefix == 0 {
		return plan.Message{}
	}
	return plan.Msg(workload.LoadPrefix, "tokens", d.Prefix)
}

// fit shortens prompts until they have room with their answers, and answers that are
// too long by themselves.
func fit(pairs []pair, limit int) (notes []plan.Message) {
	if limit == 0 {
		return nil
	}
	cut, short := 0, 0
	for i := range pairs {
		p := &pairs[i]
		if p.output > limit-1 {
			p.output = limit - 1
			short++
		}
		if p.input > limit-p.output {
			p.input = limit - p.output
			cut++
		}
	}
	workload.Note(&notes, cut > 0, promptsCut, "cut", cut, "of", len(pairs), "limit", limit)
	workload.Note(&notes, short > 0, answersCut, "cut", short, "of", len(pairs), "limit", limit-1)
	return notes
}

// readLengths reads the length of a prompt from each line, or of a prompt and its
// answer, separated by a comma. It skips column names in the first line, and lines that
// begin with #.
func readLengths(file io.Reader) (pairs []pair, err error) {
	columns := 0
	err = rows.Lines(file, func(_ int, line []byte) error {
		text := string(line)
		if text[0] == '#' || columns == 0 && !strings.ContainsAny(text, "0123456789") {
			return nil
		}
		fields := strings.Split(text, ",")
		one, err := readPair(fields)
		if err == nil && columns != 0 && len(fields) != columns {
			err = fmt.Errorf("%q: %d numbers, and the lines before have %d", text, len(fields), columns)
		}
		columns = cmp.Or(columns, len(fields))
		pairs = append(pairs, one)
		return err
	})
	if err == nil && len(pairs) == 0 {
		err = errors.New("no lengths in it: a line must have one number of tokens, or two with a comma between")
	}
	return pairs, err
}

func readPair(fields []string) (p pair, err error) {
	if len(fields) > 2 {
		return p, fmt.Errorf("%q: must be the length of a prompt, or that, a comma, and the length of its answer",
			strings.Join(fields, ","))
	}
	for i, to := range []*int{&p.input, &p.output}[:len(fields)] {
		if *to, err = tokens(fields[i]); err == nil && *to == 0 {
			err = errors.New("0: must be at least 1")
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// tokens parses a number of tokens; some tools write 374.0.
func tokens(text string) (int, error) {
	text = strings.TrimSpace(text)
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	if err != nil || n < 0 || n > plan.MaxTokens {
		return 0, fmt.Errorf("%q is not a number of tokens", text)
	}
	return n, nil
}
