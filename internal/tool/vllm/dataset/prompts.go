package dataset

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// SpecBench takes the first turn of each question of Spec-Bench, JSON Lines with the
// column turns. That tool draws from it with seed 0 whatever --seed says, and always
// renders it.
type SpecBench struct {
	Common
	Category string // only these; empty: all
	Output   int
}

// Check reports what Build would find wrong with file.
func (s SpecBench) Check(file io.Reader) error {
	_, err := questions(file, s.Category, s.prompt)
	return err
}

// Build reads the questions of file.
func (s SpecBench) Build(ctx context.Context, file io.Reader) (workload.Workload, error) {
	prompts, err := questions(file, s.Category, s.prompt)
	if err != nil {
		return workload.Workload{}, err
	}
	c := s.Common
	c.Seed, c.SkipTemplate, c.Arguments = 0, false, nil
	w, err := c.texts(ctx, prompts, s.Output)
	return w, withoutSkip(err)
}

func (s SpecBench) prompt(row rows.Row) (string, error) {
	var turns []string
	if err := row.Decode("turns", &turns); err != nil {
		return "", err
	}
	if len(turns) == 0 {
		return "", row.Errorf("turns", "is empty")
	}
	return turns[0], nil
}

// withoutSkip is err without the way out that this dataset does not have.
func withoutSkip(err error) error {
	if err == nil {
		return nil
	}
	if what, ok := strings.CutSuffix(err.Error(), ", or add --skip-chat-template"); ok {
		return fmt.Errorf("%s; this dataset is always rendered", what)
	}
	return err
}

// SpeedBench takes the first message of each conversation of SPEED-Bench, JSON Lines
// with the column messages. It too is drawn with seed 0.
type SpeedBench struct {
	Common
	Category string // only these; empty: all
	Output   int
}

// Check reports what Build would find wrong with file.
func (s SpeedBench) Check(file io.Reader) error {
	_, err := questions(file, s.Category, s.prompt)
	return err
}

// Build reads the conversations of file.
func (s SpeedBench) Build(ctx context.Context, file io.Reader) (workload.Workload, error) {
	prompts, err := questions(file, s.Category, s.prompt)
	if err != nil {
		return workload.Workload{}, err
	}
	c := s.Common
	c.Seed = 0
	return c.texts(ctx, prompts, s.Output)
}

func (s SpeedBench) prompt(row rows.Row) (string, error) {
	var messages []struct {
		Content *string `json:"content"`
	}
	if err := row.Decode("messages", &messages); err != nil {
		return "", err
	}
	if len(messages) == 0 || messages[0].Content == nil {
		return "", row.Errorf("messages", "must begin with a message that has content")
	}
	return *messages[0].Content, nil
}

// questions are the prompts of the rows of a category.
func questions(file io.Reader, category string, prompt func(rows.Row) (string, error)) ([]string, error) {
	var prompts []string
	seen := map[string]bool{}
	err := eachLine(file, func(row rows.Row) error {
		if category != "" {
			c, err := row.String("category")
			if err != nil {
				return err
			}
			if seen[c] = true; c != category {
				return nil
			}
		}
		p, err := prompt(row)
		prompts = append(prompts, p)
		return err
	})
	if err == nil && len(prompts) == 0 {
		err = fmt.Errorf("no question of category %q; there are %s", category, strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
	}
	return prompts, err
}
