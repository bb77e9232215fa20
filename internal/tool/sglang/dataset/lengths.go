package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// lengths are n draws of a length: uniform in [full·ratio, full], at least 1. Of a
// single possible length nothing is drawn, and of none all are 0.
func (s *Source) lengths(full int, ratio float64, n int) []int {
	out := make([]int, n)
	if full <= 0 {
		return out
	}
	low := max(int(float64(full)*ratio), 1)
	for i := range out {
		out[i] = int(s.Numpy.Randint(int64(low), int64(full)+1))
	}
	return out
}

// checkRatio is the error of a ratio of lengths.
func checkRatio(flag string, ratio float64) error {
	if !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("%s %v: must be within 0 and 1", flag, ratio)
	}
	return nil
}

// atLeast is the error of a number below low.
func atLeast(flag string, n, low int) error {
	if n < low {
		return fmt.Errorf("%s %d: must be at least %d", flag, n, low)
	}
	return nil
}

func sum(lengths []int) (total int) {
	for _, n := range lengths {
		total += n
	}
	return total
}

// totals are the lines on tokens that most of the tool's datasets print.
func totals(input, output int) []string {
	return []string{fmt.Sprintf("#Input tokens: %d", input), fmt.Sprintf("#Output tokens: %d", output)}
}

// rowTotals are totals of requests.
func rowTotals(requests []workload.Request) []string {
	var input, output int
	for _, r := range requests {
		input += r.PromptTokens
		output += r.OutputTokens
	}
	return totals(input, output)
}

// everyID is what random prompts are drawn from: all ids of the vocabulary, in
// ascending order.
func (s *Source) everyID() ([]int32, error) {
	if s.Vocabulary.All != nil {
		return s.Vocabulary.All, nil
	}
	if s.Vocabulary.Size < 1 {
		return nil, errNoVocabulary
	}
	ids := make([]int32, s.Vocabulary.Size)
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids, nil
}

var errNoVocabulary = errors.New("random prompts are drawn from a vocabulary, and its size is not known: name a tokenizer by --tokenizer")

// drawNotes tell in what draws from a vocabulary differ from the tool's.
func (s *Source) drawNotes() (notes []string) {
	if s.Form == January {
		notes = append(notes, "random prompts: that version takes the vocabulary in the order of a hash table, another in each process; here it is ascending, as in later versions, so lengths are the seed's and words are not that run's")
	}
	if s.Vocabulary.All == nil {
		notes = append(notes, "random prompts are drawn from the ids below the size of the vocabulary: which tokens were added to it is not known")
	}
	return notes
}

// without is ids but for those left out.
func without(ids []int32, out ...int32) []int32 {
	skip := make(map[int32]bool, len(out))
	for _, id := range out {
		skip[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return skip[id] })
}

// draw is n ids, each chosen from all.
func (s *Source) draw(all []int32, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = all[int(s.Python.Float64()*float64(len(all)))]
	}
	return ids
}

// count is how many tokens each text has, in parallel.
func (s *Source) count(ctx context.Context, texts []string, special bool) ([]int, error) {
	counts := make([]int, len(texts))
	err := workload.Each(ctx, len(texts), func(ctx context.Context, i int) error {
		ids, err := s.Tokenizer.Encode(ctx, texts[i], special)
		counts[i] = len(ids)
		return err
	})
	return counts, err
}
