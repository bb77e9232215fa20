package vllm

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A questions is prompts out of JSON Lines, all or those of a category.
type questions struct {
	file[customLine]
	Category string `json:"category,omitempty"`
	Output   int    `json:"output_len"`
	Common
}

func (d *questions) Check(s *workload.Source) plan.Problems {
	return append(d.file.Check(s), output(d.Output)...)
}

func (d *questions) of(prompt func(rows.Row) (string, error)) func(io.Reader) ([]customLine, error) {
	return func(file io.Reader) ([]customLine, error) {
		var prompts []customLine
		seen := map[string]bool{}
		err := eachLine(file, func(row rows.Row) error {
			if d.Category != "" {
				c, err := row.String("category")
				if err != nil {
					return err
				}
				if seen[c] = true; c != d.Category {
					return nil
				}
			}
			p, err := prompt(row)
			prompts = append(prompts, customLine{p, d.Output})
			return err
		})
		if err == nil && len(prompts) == 0 {
			err = fmt.Errorf("no question of category %q; there are %s", d.Category, strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
		}
		return prompts, err
	}
}

// build makes requests of the prompts, drawn with seed 0 whatever the seed is, as the
// tool does.
func (d *questions) build(ctx context.Context, s *workload.Source, c Common) (workload.Workload, error) {
	unseeded := *s
	unseeded.Seed = 0
	return c.texts(ctx, &unseeded, d.lines)
}

// A SpecBench takes the first turn of each question of Spec-Bench, JSON Lines with the
// column turns. The tool always renders it.
type SpecBench struct{ questions }

func (d *SpecBench) Read(_ context.Context, s *workload.Source) error {
	return d.read(s, d.of(firstTurn))
}

// Build makes requests of the questions.
func (d *SpecBench) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if s.Vocab.Template == nil {
		return workload.Workload{}, plan.Problems{{Path: "data", Value: d.Data, Why: "this dataset is always rendered, and " + workload.ErrNoTemplate.Error(), Hint: "name one that has"}}
	}
	c := d.Common
	c.SkipTemplate, c.Arguments = false, nil
	return d.build(ctx, s, c)
}

func firstTurn(row rows.Row) (string, error) {
	var turns []string
	if err := row.Decode("turns", &turns); err != nil {
		return "", err
	}
	if len(turns) == 0 {
		return "", row.Errorf("turns", "is empty")
	}
	return turns[0], nil
}

// A SpeedBench takes the first message of each conversation of SPEED-Bench, JSON Lines
// with the column messages, out of the file of a subset.
type SpeedBench struct {
	questions
	Subset string `json:"subset" flag:"speed-bench-dataset-subset"` // the file SUBSET.jsonl in the folder
}

// Subsets are the files of SPEED-Bench.
func Subsets() []string {
	return []string{"qualitative", "throughput_1k", "throughput_2k", "throughput_8k", "throughput_16k", "throughput_32k"}
}

// Check reports all problems.
func (d *SpeedBench) Check(s *workload.Source) plan.Problems {
	p := d.questions.Check(s)
	p.OneOf("subset", d.Subset, Subsets()...)
	return p
}

func (d *SpeedBench) Read(_ context.Context, s *workload.Source) error {
	name := path.Join(d.Data, d.Subset+".jsonl")
	return s.Files.With("data", name, func(file io.Reader) (err error) {
		d.lines, err = d.of(firstMessage)(file)
		return err
	})
}

// Describe describes the workload.
func (d *SpeedBench) Describe() plan.Message {
	return workload.Describe("speed_bench", plan.Text(path.Join(d.Data, d.Subset)))
}

// Build makes requests of the conversations.
func (d *SpeedBench) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	return d.build(ctx, s, d.Common)
}

func firstMessage(row rows.Row) (string, error) {
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
