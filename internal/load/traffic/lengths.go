package traffic

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Count draws numbers of at least 1, such as dist.Count.
type Count interface{ Draw(*rand.Rand) int }

// A Pause draws times, such as dist.Duration.
type Pause interface {
	Draw(*rand.Rand) time.Duration
}

// A Pair is the lengths of one request, in tokens.
type Pair struct{ Input, Output int }

// Lengths are where the lengths of drawn requests come from: Seen, from which pairs
// are drawn at random and stay together, or else two counts.
type Lengths struct {
	Input, Output Count
	Seen          []Pair // their Output may be 0: then it is drawn too
	// Fit, if it is not 0, is how long a prompt and its answer may be together.
	Fit int
}

// Draw draws n pairs, and notes what did not fit.
func (l Lengths) Draw(n int, seed uint64) ([]Pair, []plan.Message) {
	which, inputs, outputs := dice(seed, "pair", 0), dice(seed, "input", 0), dice(seed, "output", 0)
	pairs := make([]Pair, n)
	for i := range pairs {
		p := &pairs[i]
		if len(l.Seen) > 0 {
			*p = l.Seen[which.IntN(len(l.Seen))]
		} else {
			p.Input = l.Input.Draw(inputs)
		}
		if p.Output == 0 {
			p.Output = l.Output.Draw(outputs)
		}
	}
	return pairs, fit(pairs, l.Fit)
}

// fit shortens prompts until they have room with their answers, and answers that are
// too long by themselves.
func fit(pairs []Pair, limit int) []plan.Message {
	if limit == 0 {
		return nil
	}
	cut, short := 0, 0
	for i := range pairs {
		p := &pairs[i]
		if p.Output > limit-1 {
			p.Output = limit - 1
			short++
		}
		if p.Input > limit-p.Output {
			p.Input = limit - p.Output
			cut++
		}
	}
	var notes []plan.Message
	if cut > 0 {
		notes = append(notes, plan.Say(promptsCut, "cut", cut, "of", len(pairs), "limit", limit))
	}
	if short > 0 {
		notes = append(notes, plan.Say(answersCut, "cut", short, "of", len(pairs), "limit", limit-1))
	}
	return notes
}

// mostErrors is how many mistakes of a file are told.
const mostErrors = 5

// mistakes are what is wrong with a file, by line.
type mistakes []error

func (m *mistakes) add(line int, err error) bool {
	if err != nil {
		*m = append(*m, fmt.Errorf("line %d: %w", line, err))
	}
	return len(*m) < mostErrors
}

func (m mistakes) err() error {
	if len(m) >= mostErrors {
		m = append(m, errors.New("the lines after that were not looked at"))
	}
	return errors.Join(m...)
}

// ReadLengths reads a length of a prompt from each line, or that and the length of its
// answer, with a comma between. Names of columns in the first line, blank lines and
// lines that begin with # are passed over.
func ReadLengths(r io.Reader) ([]Pair, error) {
	var pairs []Pair
	var bad mistakes
	columns := 0
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.Split(text, ",")
		if columns == 0 && !strings.ContainsAny(text, "0123456789") {
			continue
		}
		pair, err := readPair(fields)
		if err == nil && columns != 0 && len(fields) != columns {
			err = fmt.Errorf("%q: %d numbers, and the lines before have %d", text, len(fields), columns)
		}
		if columns == 0 {
			columns = len(fields)
		}
		pairs = append(pairs, pair)
		if !bad.add(n, err) {
			break
		}
	}
	if len(bad) == 0 && lines.Err() != nil {
		return nil, lines.Err()
	}
	if len(bad) == 0 && len(pairs) == 0 {
		return nil, errors.New("no lengths in it: a line must have one number of tokens, or two with a comma between")
	}
	return pairs, bad.err()
}

func readPair(fields []string) (p Pair, err error) {
	if len(fields) > 2 {
		return p, fmt.Errorf("%q: must be the length of a prompt, or that, a comma, and the length of its answer", strings.Join(fields, ","))
	}
	for i, to := range []*int{&p.Input, &p.Output}[:len(fields)] {
		if *to, err = tokens(strings.TrimSpace(fields[i])); err == nil && *to == 0 {
			err = errors.New("0: must be at least 1")
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// mostTokens is the largest number of tokens read; more is a mistake.
const mostTokens = 1 << 28

// tokens reads a number of tokens; some tools write 374.0 for it.
func tokens(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(text, ".0"))
	if err != nil || n < 0 || n > mostTokens {
		return 0, fmt.Errorf("%q is not a number of tokens", text)
	}
	return n, nil
}
