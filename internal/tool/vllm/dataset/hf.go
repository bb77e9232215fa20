package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// HF takes requests from a dataset of the Hugging Face hub, of one of the families
// that `vllm bench serve` knows, in a copy on this machine: Parquet, JSON, JSON Lines
// or CSV.
type HF struct {
	Common
	Name    string // of the family: ORG/NAME
	Copy    Copy
	File    string // the only file of it to take; empty: those of Split
	Root    string // the folder's absolute path, for files that rows name
	Subset  string // --hf-subset
	Split   string // --hf-split
	Gather  bool   // --no-stream: shuffle all rows, not a buffer of them
	Output  *int   // --hf-output-len
	Whisper bool   // the tokenizer is OpenAI's Whisper
	Cohere  bool   // or Cohere's

	Categories               string  // --bfcl-categories
	MinDistance, MaxDistance float64 // --blazedit-min-distance and -max-distance
	MinAudio, MaxAudio       float64 // seconds
}

// A Copy is the files of a dataset, by their paths within it.
type Copy interface {
	List() ([]string, error)
	Open(path string) (fs.File, error)
}

// A Folder is a copy in a folder.
type Folder struct{ fs.FS }

// List are the paths of all files but the hidden ones.
func (f Folder) List() ([]string, error) {
	var paths []string
	err := fs.WalkDir(f.FS, ".", func(p string, d fs.DirEntry, err error) error {
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

// A draft is a row on its way to a request.
type draft struct {
	workload.Request
	place    string
	chat     json.RawMessage // to be rendered into Text
	answer   *string         // whose length is that of the output
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

// Check reports what can be known to be wrong before files are opened.
func (h HF) Check() error {
	if _, ok := families[h.Name]; !ok {
		return fmt.Errorf("%q is not a dataset that vllm bench serve knows; with a copy under another name say which it is with --hf-name: %s", h.Name, strings.Join(Families(), ", "))
	}
	return nil
}

// Families are the names of the datasets that can be taken.
func Families() []string { return slices.Sorted(maps.Keys(families)) }

// Media reports whether requests of the family carry pictures, videos or sounds.
func Media(name string) bool { return families[name].media }

// Sounds reports whether requests of the family are sounds to be transcribed.
func Sounds(name string) bool { return families[name].sounds }

// Tools reports whether requests of the family carry tools, which only a chat can.
func Tools(name string) bool { return families[name].tools }

// Build reads rows in the order in which the library datasets (5.2) shuffles them.
func (h HF) Build(ctx context.Context) (workload.Workload, error) {
	if err := h.Check(); err != nil {
		return workload.Workload{}, err
	}
	f := families[h.Name]
	if f.tools {
		return h.buildTools(ctx)
	}
	if h.Tokens == nil {
		return workload.Workload{}, errors.New("--dataset-name hf counts tokens and needs a tokenizer")
	}
	files, err := h.dataFiles(f)
	if err != nil {
		return workload.Workload{}, err
	}
	drafts := h.drafts(f, h.ordered(files))
	requests, positions, err := h.accept(ctx, drafts)
	if err != nil {
		return workload.Workload{}, err
	}
	if !f.placed {
		positions = nil
	}
	return h.finish(requests, positions)
}

// finish oversamples. Where rows were left out and their ids are their positions, the
// ids of copies could be taken; then all are numbered anew.
func (h HF) finish(requests []workload.Request, positions []int) (workload.Workload, error) {
	if len(requests) == 0 {
		return workload.Workload{}, errors.New("no row gives a request that is of the lengths asked for")
	}
	w := workload.Workload{Requests: requests}
	noteSounds(&w)
	have := len(requests)
	w.Oversample(h.Requests, h.Seed, h.NoOversample, h.IDPrefix)
	if have >= h.Requests || h.NoOversample {
		for i, p := range positions {
			w.Requests[i].ID = fmt.Sprint(h.IDPrefix, p)
		}
	}
	return w, nil
}

// drafts are what the family makes of rows.
func (h HF) drafts(f family, from iter.Seq2[rows.Row, error]) iter.Seq2[draft, error] {
	return func(yield func(draft, error) bool) {
		position := -1
		for row, err := range from {
			position++
			var d *draft
			if err == nil {
				d, err = f.draft(h, row)
			}
			if err != nil {
				yield(draft{}, err)
				return
			}
			if d == nil {
				continue
			}
			d.place, d.position = row.Place(), position
			if h.Output != nil && !f.recorded {
				d.OutputTokens, d.answer = *h.Output, nil
			} else if d.answer == nil {
				d.OutputTokens = f.output
			}
			if !yield(*d, nil) {
				return
			}
		}
	}
}

// atOnce is how many drafts are counted beside each other.
const atOnce = 256

// accept counts drafts in batches and takes those that fit until there are enough.
// Positions are those of their rows.
func (h HF) accept(ctx context.Context, drafts iter.Seq2[draft, error]) (requests []workload.Request, positions []int, err error) {
	next, stop := iter.Pull2(drafts)
	defer stop()
	for len(requests) < h.Requests {
		batch, err := pull(next, min(atOnce, h.Requests-len(requests)))
		if err != nil {
			return nil, nil, err
		}
		if len(batch) == 0 {
			break
		}
		err = workload.Each(ctx, len(batch), func(ctx context.Context, i int) error { return h.measure(ctx, &batch[i]) })
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

func pull(next func() (draft, error, bool), n int) ([]draft, error) {
	var batch []draft
	for len(batch) < n {
		d, err, ok := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		batch = append(batch, d)
	}
	return batch, nil
}

// measure renders and counts a draft.
func (h HF) measure(ctx context.Context, d *draft) (err error) {
	if d.chat != nil {
		if d.Text, err = h.renderChat(d.chat); err != nil {
			return err
		}
	}
	if d.PromptTokens, err = h.count(ctx, d.Text); err != nil || d.answer == nil {
		return err
	}
	ids, err := h.Tokens.Encode(ctx, *d.answer, !d.bare)
	d.OutputTokens = len(ids)
	return err
}

func (h HF) renderChat(messages json.RawMessage) (string, error) {
	if h.Vocabulary.Template == nil {
		return "", errTemplate(workload.ErrNoTemplate)
	}
	return h.Vocabulary.Template.Render(messages, workload.TemplateOptions{GenerationPrompt: true})
}
