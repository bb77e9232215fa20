package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/vllm/dataset"
)

// textDatasets are those whose prompts would be token ids without a tokenizer.
var textDatasets = []string{"random", "prefix_repetition", "burstgpt"}

// build draws or reads the requests, and decides when they are sent.
func (v vllmRun) build(ctx context.Context, s *session, tok tokens, id, tokenizerID string) error {
	if v.NeedsText() && tok.tok == nil && slices.Contains(textDatasets, v.DatasetName) {
		return usagef("--backend %s needs text, and neither a tokenizer for %q nor the server's /tokenize is to be had: name a file with --tokenizer", v.Backend, id)
	}
	w, err := v.dataset(ctx, tok, tokenizerID, s.spool)
	if err != nil {
		return err
	}
	if len(w.Requests) == 0 {
		return usagef("--dataset-name %s gives no requests", v.DatasetName)
	}
	if v.aligned() && tok.local && w.Requests[0].Batch == nil {
		server := serverTokenizer{s.target.server(), id}
		if note := workload.Align(ctx, w.Requests, server, s.spool); note != "" {
			w.Notes = append(w.Notes, note)
		}
	}
	v.Finish(w)
	s.take(w)
	s.schedule = v.Schedule(w)
	return nil
}

// aligned reports whether that tool holds prompts against the server's tokenizer.
func (v vllmRun) aligned() bool {
	return v.DatasetName == "random" || v.DatasetName == "prefix_repetition"
}

// dataset draws or reads the requests.
func (v vllmRun) dataset(ctx context.Context, tok tokens, tokenizerID string, spool *workload.Spool) (workload.Workload, error) {
	switch v.DatasetName {
	case "random":
		r, err := v.Random()
		r.Spool = spool
		return drawn(ctx, r, err, tok)
	case "random-mm":
		r, err := v.RandomMM()
		r.Spool = spool
		return drawn(ctx, r, err, tok)
	case "random-rerank":
		r, err := v.Rerank()
		return drawn(ctx, r, err, tok)
	case "prefix_repetition":
		r := v.PrefixRepetition()
		r.Spool = spool
		return drawn(ctx, r, nil, tok)
	case "hf":
		return v.hub(ctx, v.common(tok), tokenizerID)
	}
	return buildFrom(ctx, "--dataset-path", v.file(), v.source(tok), tok)
}

// A drawnWorkload needs no file.
type drawnWorkload interface {
	Build(ctx context.Context, v workload.Vocabulary, tok workload.Tokenizer) (workload.Workload, error)
}

func drawn(ctx context.Context, d drawnWorkload, err error, tok tokens) (workload.Workload, error) {
	if err != nil {
		return workload.Workload{}, usage(err)
	}
	return d.Build(ctx, tok.vocab, tok.tok)
}

// common is what datasets from files have in common.
func (v vllmRun) common(tok tokens) dataset.Common {
	c := v.Common()
	c.Tokens, c.Vocabulary = tok.tok, tok.vocab
	return c
}

// A vllmSource is a dataset that brings its tokenizer along.
type vllmSource interface {
	Check(file io.Reader) error
	Build(ctx context.Context, file io.Reader) (workload.Workload, error)
}

// withTokens makes a fileWorkload of a vllmSource.
type withTokens struct{ vllmSource }

func (s withTokens) Build(ctx context.Context, file io.Reader, _ workload.Tokenizer) (workload.Workload, error) {
	return s.vllmSource.Build(ctx, file)
}

// A checkedWorkload can be looked at before there is a tokenizer.
type checkedWorkload interface {
	fileWorkload
	Check(file io.Reader) error
}

// source is the dataset that is read from a file.
func (v vllmRun) source(tok tokens) checkedWorkload {
	c := v.common(tok)
	switch v.DatasetName {
	case "sharegpt":
		return v.ShareGPT()
	case "burstgpt":
		return withTokens{dataset.BurstGPT{Common: c}}
	case "sonnet":
		return withTokens{v.Sonnet(c)}
	case "spec_bench":
		return withTokens{v.SpecBench(c)}
	case "speed_bench":
		return withTokens{v.SpeedBench(c)}
	case "timed_trace":
		return withTokens{v.TimedTrace(c)}
	case "custom_image":
		d := v.CustomImage(c)
		d.Fetch = v.p.hub(false).Fetch
		return withTokens{d}
	case "custom_audio":
		d := v.CustomAudio(c)
		d.Fetch = v.p.hub(false).Fetch
		return withTokens{d}
	}
	custom := v.Custom()
	if !v.SkipTokenizerInit {
		custom.Render = c.Render()
	}
	return custom
}

// file is the dataset's file: of SPEED-Bench one in the folder that is named.
func (v vllmRun) file() string {
	if v.DatasetName == "speed_bench" {
		return filepath.Join(*v.DatasetPath, v.SpeedSubset+".jsonl")
	}
	return *v.DatasetPath
}

// checkFile reads the dataset's file before anything is sent.
func (v vllmRun) checkFile(ctx context.Context) error {
	switch {
	case v.DatasetName == "hf" && dataset.HF{Name: v.HFFamily()}.Check() == nil: // else told already
		_, _, _, err := v.copied(ctx)
		return err
	case v.FromFile() && v.DatasetPath != nil:
		return withFile("--dataset-path", v.file(), v.source(tokens{}).Check)
	}
	return nil
}

// hub takes requests from a copy of a dataset of the Hugging Face hub.
func (v vllmRun) hub(ctx context.Context, c dataset.Common, tokenizerID string) (workload.Workload, error) {
	h := v.HF(c)
	h.Whisper = strings.Contains(tokenizerID, "openai")
	h.Cohere = strings.Contains(strings.ToLower(tokenizerID), "cohere")
	var err error
	if h.Copy, h.File, h.Root, err = v.copied(ctx); err != nil {
		return workload.Workload{}, err
	}
	w, err := h.Build(ctx)
	where := h.Name
	if v.DatasetPath != nil {
		where = *v.DatasetPath
	}
	return w, named("--dataset-name hf,", where, err)
}

// copied is the copy of the dataset: a folder or a file that --dataset-path names, else
// what the cache of this machine or the hub has. File is empty for a folder; root is
// where the copy lies.
func (v vllmRun) copied(ctx context.Context) (c dataset.Copy, file, root string, err error) {
	if v.DatasetPath != nil {
		info, err := os.Stat(*v.DatasetPath)
		switch {
		case err == nil && info.IsDir():
			root, err = filepath.Abs(*v.DatasetPath)
			return dataset.Folder{FS: os.DirFS(*v.DatasetPath)}, "", root, err
		case err == nil:
			dir, base := filepath.Split(*v.DatasetPath)
			root, err = filepath.Abs(dir)
			return dataset.Folder{FS: os.DirFS(root)}, base, root, err
		case !errors.Is(err, fs.ErrNotExist):
			return nil, "", "", usagef("--dataset-path: %w", err)
		}
	}
	repo := v.HFRepository()
	if repo == "" {
		return nil, "", "", usagef("--dataset-path %s: no such file or folder", *v.DatasetPath)
	}
	files, root, err := v.p.hub(false).Dataset(repo).FS(ctx)
	if err != nil {
		return nil, "", "", usagef("--dataset-name hf: %w; or name a copy of it with --dataset-path FOLDER --hf-name %s", err, v.HFFamily())
	}
	return vllmdata.Folder{FS: files}, "", root, nil
}
