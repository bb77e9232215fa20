package vllm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Kinds are the datasets by the names that Specs have for them: the tool's own names
// behind its name.
func Kinds() map[string]workload.Kind {
	drawn := func(create func() workload.Dataset) workload.Kind {
		return workload.Kind{New: create, Drawn: true, Unwritten: true}
	}
	file := func(create func() workload.Dataset) workload.Kind { return workload.Kind{New: create} }
	return map[string]workload.Kind{
		"vllm.random": drawn(func() workload.Dataset { d := usual; return &d }),
		"vllm.random-mm": drawn(func() workload.Dataset {
			return &RandomMM{Random: usual, Items: 1, Limits: workload.DefaultLimits(), Buckets: workload.DefaultBuckets()}
		}),
		"vllm.random-rerank":     drawn(func() workload.Dataset { return &Rerank{Random: usual} }),
		"vllm.prefix_repetition": drawn(func() workload.Dataset { return &PrefixRepetition{Prefixes: 10, Prefix: 256, Suffix: 256, Output: 128} }),
		"vllm.sharegpt":          file(func() workload.Dataset { return &shareGPT{file: named[string]("sharegpt")} }),
		"vllm.custom":            file(func() workload.Dataset { return &Custom{file: named[customLine]("custom"), Output: 256} }),
		"vllm.custom_image":      file(func() workload.Dataset { return &CustomImage{file: named[imageLine]("custom_image"), Output: 256} }),
		"vllm.custom_audio":      file(func() workload.Dataset { return &CustomAudio{file: named[audioLine]("custom_audio"), Output: 256} }),
		"vllm.burstgpt":          file(func() workload.Dataset { return &burstGPT{file: named[datasetLengths]("burstgpt")} }),
		"vllm.sonnet":            file(func() workload.Dataset { return &sonnet{Input: 550, Prefix: 200, Output: 150} }),
		"vllm.spec_bench": file(func() workload.Dataset {
			return &SpecBench{questions{file: named[customLine]("spec_bench"), Output: 256}}
		}),
		"vllm.speed_bench": file(func() workload.Dataset { return &SpeedBench{questions{Output: 4096}, "qualitative"} }),
		"vllm.timed_trace": {New: func() workload.Dataset { return newTimedTrace() }, Unwritten: true, Timed: true},
		"vllm.hf":          file(func() workload.Dataset { return &HF{MaxDistance: 1} }),
	}
}

// usualRequests is how many the tool sends where nothing says how many.
const usualRequests = 1000

func wanted(s *workload.Source) int { return cmp.Or(s.Requests, usualRequests) }

// A Common has the settings of datasets of files.
type Common struct {
	NoShuffle    bool `json:"no_shuffle,omitempty" flag:"disable-shuffle"`
	NoOversample bool `json:"no_oversample,omitempty" flag:"no-oversample"`
	// SkipTemplate sends prompts as they are; else they are rendered with the
	// tokenizer's chat template, with Arguments as further variables of it.
	SkipTemplate bool                       `json:"skip_template,omitempty" flag:"skip-chat-template"`
	Arguments    map[string]json.RawMessage `json:"template_arguments,omitempty"`
	Sending
}

// A file is a file of a dataset, with its content.
type file[L any] struct {
	Data string `json:"data" flag:"dataset-path"`

	kind  string // of the dataset, by the tool's name
	lines []L
}

func named[L any](kind string) file[L] { return file[L]{kind: kind} }

func (f *file[L]) Check(*workload.Source) (p plan.Problems) {
	p.If(f.Data == "", "data", nil, "a file is needed")
	return p
}

func (f *file[L]) Describe() plan.Message { return workload.Describe(f.kind, plan.Text(f.Data)) }

func (f *file[L]) read(s *workload.Source, lines func(io.Reader) ([]L, error)) error {
	return s.Files.With("data", f.Data, func(file io.Reader) (err error) {
		f.lines, err = lines(file)
		return err
	})
}

// blame is an error in the content of the file.
func (f *file[L]) blame(err error) error { return workload.Blame("data", f.Data, err) }

// output wants answers of a token at least.
func output(n int) (p plan.Problems) {
	p.If(n < 1, "output_len", n, "must be positive")
	return p
}

// noTemplate says how to do without a template.
func noTemplate(err error) error {
	if errors.Is(err, workload.ErrNoTemplate) {
		return plan.Problems{{Path: "skip_template", Why: err.Error() + "; name one that has, or send prompts as they are"}}
	}
	return err
}

// inOrder makes the requests of lines, in the order of Python's random.shuffle after its
// seed, as many as are wanted and there are; oversample adds the rest.
func inOrder[L any](ctx context.Context, c *Common, s *workload.Source, all []L, request func(ctx context.Context, s *workload.Source, line L) (workload.Request, error)) (workload.Workload, error) {
	rng := pyrand.NewRandom(int64(s.Seed))
	lines := append([]L(nil), all...)
	if !c.NoShuffle {
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	if s.Requests > 0 {
		lines = lines[:min(len(lines), s.Requests)]
	}
	w := workload.Workload{Requests: make([]workload.Request, len(lines)), Python: rng}
	err := workload.Each(ctx, len(lines), func(ctx context.Context, i int) (err error) {
		w.Requests[i], err = request(ctx, s, lines[i])
		return err
	})
	if err != nil {
		return workload.Workload{}, err
	}
	return w, nil
}

// finish adds copies of requests up to the wanted number, and prepares all as the tool sends them.
func (c *Common) finish(w *workload.Workload, s *workload.Source) {
	w.Oversample(s.Requests, s.Seed, c.NoOversample, s.IDPrefix)
	c.send(w)
}

// eachLine calls f for each row of JSON Lines and collects the problems.
func eachLine(file io.Reader, f func(rows.Row) error) error {
	table, err := rows.ReadAs(rows.JSONLines, file)
	if err != nil {
		return err
	}
	var mistakes rows.Mistakes
	n := 0
	for row, err := range table.All() {
		if n++; err == nil {
			err = f(row)
		}
		if !mistakes.Placed(err) {
			break
		}
	}
	if n == 0 {
		return errors.New("no requests: the file is empty")
	}
	return mistakes.Err()
}

// linesBy are what each row of JSON Lines gives.
func linesBy[L any](line func(rows.Row) (L, error)) func(io.Reader) ([]L, error) {
	return func(file io.Reader) (all []L, err error) {
		err = eachLine(file, func(row rows.Row) error {
			l, err := line(row)
			all = append(all, l)
			return err
		})
		return all, err
	}
}

// atPlace says where an error is, if there is one.
func atPlace(place string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", place, err)
	}
	return err
}
