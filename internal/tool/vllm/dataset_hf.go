package vllm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// An HF takes requests from a dataset of the Hugging Face hub, of one of the families
// that the tool knows: Parquet, JSON, JSON Lines or CSV, in a copy on this machine.
type HF struct {
	// Data is the folder or the file of a copy, or the name on the hub; empty: Name.
	Data   string `json:"data,omitempty" flag:"dataset-path"`
	Name   string `json:"name,omitempty" flag:"hf-name"` // of the family, ORG/NAME; empty: Data
	Subset string `json:"subset,omitempty" flag:"hf-subset"`
	Split  string `json:"split,omitempty" flag:"hf-split"`
	Gather bool   `json:"gather,omitempty" flag:"no-stream"`                    // shuffle all rows, not a buffer
	Output int    `json:"output_len,omitempty" flag:"output-len,hf-output-len"` // 0: the dataset's own

	Categories  []string `json:"categories,omitempty" flag:"bfcl-categories"`         // of function calls
	MinDistance float64  `json:"min_distance,omitempty" flag:"blazedit-min-distance"` // of edits
	MaxDistance float64  `json:"max_distance" flag:"blazedit-max-distance"`
	MinAudio    float64  `json:"min_audio,omitempty" flag:"asr-min-audio-len-sec"` // seconds
	MaxAudio    float64  `json:"max_audio,omitempty" flag:"asr-max-audio-len-sec"` // 0: no limit
	Common

	snapshot
	files     []string         // of the split
	questions [][]toolQuestion // of the categories
	opening   string           // control tokens ahead of a transcription
}

// A snapshot is the files of a dataset on this machine.
type snapshot struct {
	fs   fs.FS
	only string // the only file of it to take; empty: those of the split
	root string // the folder's absolute path, for files that rows name
}

func (h *HF) family() family { return families[h.name()] }

func (h *HF) name() string { return cmp.Or(h.Name, h.Data) }

func (h *HF) data() string { return cmp.Or(h.Data, h.Name) }

// blame is an error in the content of the copy.
func (h *HF) blame(err error) error { return workload.Blame("data", h.data(), err) }

// Check reports all problems.
func (h *HF) Check(*workload.Source) (p plan.Problems) {
	p.If(h.name() == "", "data", nil, "a dataset is needed")
	_, known := families[h.name()]
	p.If(!known && p == nil, "name", strconv.Quote(h.name()), "is not a dataset that vllm bench serve knows")
	p.Hint(!known && h.name() != "", "with a copy under another name say which it is: %s", strings.Join(Families(), ", "))
	p.If(h.Output < 0, "output_len", h.Output, "must be positive, or 0 for the dataset's own")
	return p
}

// Read finds the copy, and its files.
func (h *HF) Read(ctx context.Context, s *workload.Source) (err error) {
	if h.snapshot, err = h.find(ctx, s); err == nil {
		if h.family().tools {
			err = h.readTools()
		} else {
			h.files, err = h.dataFiles(h.family())
		}
	}
	return h.blame(err)
}

// find is the copy of the dataset: a folder or a file, else what the hub's cache or the
// hub has.
func (h *HF) find(ctx context.Context, s *workload.Source) (c snapshot, err error) {
	name := h.data()
	if s.Files.Folder != nil && s.Files.Open != nil {
		dir := name
		if file, err := s.Files.Open(name); err == nil {
			_ = file.Close() // only looked for
			dir, c.only = filepath.Split(name)
		}
		if c.fs = s.Files.Folder(cmp.Or(dir, ".")); c.fs != nil {
			c.root, err = filepath.Abs(dir)
			return c, err
		}
	}
	if org, rest, ok := strings.Cut(name, "/"); !ok || org == "" || strings.HasPrefix(org, ".") || strings.Contains(rest, "/") || s.Files.Repository == nil {
		return c, errors.New("no such file or folder")
	}
	c.fs, c.root, err = s.Files.Repository(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, plan.Problems{{Path: "data", Value: name, Why: err.Error(), Hint: "or give the folder of a copy, and " + h.name() + " as its name"}}
	}
	return c, err
}

// list are the paths of all files but the hidden ones.
func (c snapshot) list() ([]string, error) {
	var paths []string
	err := fs.WalkDir(c.fs, ".", func(p string, d fs.DirEntry, err error) error {
		hidden := p != "." && d != nil && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case !d.IsDir() && !hidden:
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the folder: %w", err)
	}
	return paths, nil
}

// Describe describes the workload.
func (h *HF) Describe() plan.Message { return workload.Describe("hf", plan.Text(h.data())) }

// A draft is a row on its way to a request.
type draft struct {
	workload.Request
	place    string
	chat     json.RawMessage // to be rendered into Text
	answer   *string         // its length is that of the output
	bare     bool            // counted without special tokens
	fits     limits
	filtered bool
	position int // of its row, which its id is to be
}

// limits are those of a length filter, in tokens.
type limits struct{ prompt, total int }

var (
	usualLimits = limits{1024, 2048}
	longLimits  = limits{2048, 32000}
)

// fit reports whether a request is taken; a length that was asked for may be short.
func (l limits) fit(r workload.Request, answered bool) bool {
	const least = 4
	return r.PromptTokens >= least && (!answered || r.OutputTokens >= least) &&
		r.PromptTokens <= l.prompt && r.PromptTokens+r.OutputTokens <= l.total
}

// Families are the names of the datasets that can be taken.
func Families() []string { return slices.Sorted(maps.Keys(families)) }

// Carries tells what requests of a family carry: pictures, videos or sounds; sounds to be
// transcribed; tools, which only a chat can.
func Carries(name string) (media, sounds, tools bool) {
	f := families[name]
	return f.media, f.sounds, f.tools
}

// Build reads rows in the order in which the library datasets (5.2) shuffles them.
func (h *HF) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	f := h.family()
	if f.tools {
		return h.buildTools(ctx, s)
	}
	if s.Tokens == nil {
		return workload.Workload{}, h.blame(errors.New("the dataset counts tokens and needs a tokenizer"))
	}
	switch {
	case strings.Contains(s.Model, "openai"):
		h.opening = whisperPrompt
	case strings.Contains(strings.ToLower(s.Model), "cohere"):
		h.opening = coherePrompt
	}
	requests, positions, err := h.accept(ctx, s, h.drafts(f, h.ordered(s.Seed)))
	if err != nil {
		return workload.Workload{}, h.blame(err)
	}
	if !f.placed {
		positions = nil
	}
	return h.complete(s, requests, positions)
}

// complete adds copies of requests up to the wanted number. Where rows were left out and ids are
// positions of rows, the ids of copies could be taken; then all are numbered again.
func (h *HF) complete(s *workload.Source, requests []workload.Request, positions []int) (workload.Workload, error) {
	if len(requests) == 0 {
		return workload.Workload{}, h.blame(errors.New("no row gives a request that is of the lengths asked for"))
	}
	w := workload.Workload{Requests: requests}
	noteSounds(&w)
	have := len(requests)
	w.Oversample(wanted(s), s.Seed, h.NoOversample, s.IDPrefix)
	if have >= wanted(s) || h.NoOversample {
		for i, p := range positions {
			w.Requests[i].ID = fmt.Sprint(s.IDPrefix, p)
		}
	}
	h.send(&w)
	return w, nil
}

func (h *HF) drafts(f family, from iter.Seq2[rows.Row, error]) iter.Seq2[draft, error] {
	return func(yield func(draft, error) bool) {
		position := -1
		for row, err := range from {
			position++
			var d *draft
			if err == nil {
				d, err = f.of(h, row)
			}
			if err != nil {
				yield(draft{}, err)
				return
			}
			if d == nil {
				continue
			}
			d.place, d.position = row.Place(), position
			if h.Output != 0 && !f.recorded {
				d.OutputTokens, d.answer = h.Output, nil
			} else if d.answer == nil {
				d.OutputTokens = f.output
			}
			if !yield(*d, nil) {
				return
			}
		}
	}
}

// atOnce is how many drafts are counted in parallel.
const atOnce = 256

// accept counts drafts in batches and takes those that fit until there are enough.
// Positions are those of their rows.
func (h *HF) accept(ctx context.Context, s *workload.Source, drafts iter.Seq2[draft, error]) (requests []workload.Request, positions []int, err error) {
	next, stop := iter.Pull2(drafts)
	defer stop()
	for len(requests) < wanted(s) {
		batch, _, err := upTo(next, min(atOnce, wanted(s)-len(requests)))
		if err != nil {
			return nil, nil, err
		}
		if len(batch) == 0 {
			break
		}
		err = workload.Each(ctx, len(batch), func(ctx context.Context, i int) error { return measure(ctx, s, &batch[i]) })
		if err != nil {
			return nil, nil, err
		}
		for _, d := range batch {
			if !d.filtered || d.fits.fit(d.Request, d.answer != nil || d.bare) {
				requests, positions = append(requests, d.Request), append(positions, d.position)
			}
		}
	}
	return requests, positions, nil
}

func measure(ctx context.Context, s *workload.Source, d *draft) (err error) {
	if d.chat != nil {
		if s.Vocab.Template == nil {
			return noTemplate(workload.ErrNoTemplate)
		}
		if d.Text, err = s.Vocab.Template.Render(d.chat, workload.TemplateOptions{GenerationPrompt: true}); err != nil {
			return err
		}
	}
	if d.PromptTokens, err = s.Count(ctx, d.Text); err != nil || d.answer == nil {
		return err
	}
	ids, err := s.Tokens.Encode(ctx, *d.answer, !d.bare)
	d.OutputTokens = len(ids)
	return err
}
