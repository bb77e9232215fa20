package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/tool/sglang/dataset"
)

// build draws or reads the requests, and after them what the tool draws while it
// sends: adapters and gaps.
func (r *sglangRun) build(ctx context.Context, tok tokens) error {
	if r.Chat() && tok.tok == nil && strings.HasPrefix(r.DatasetName, "random") {
		return usagef("a chat needs text, and neither a tokenizer for %q nor the server's /tokenize is to be had: name a file with --tokenizer", r.tokenizer)
	}
	files, shut, err := r.datasetFiles(ctx)
	if err != nil {
		return err
	}
	defer shut()
	source := dataset.NewSource(uint32(r.Seed), tok.tok, tok.vocab)
	source.Form, source.Spool = r.Form(), r.s.spool
	var run [4]byte
	_, _ = rand.Read(run[:]) // never fails
	r.built, err = r.Dataset(files, hex.EncodeToString(run[:]), time.Now()).Build(ctx, source)
	if err != nil {
		return fmt.Errorf("--dataset-name %s: %w", r.DatasetName, err)
	}
	if len(r.built.Requests) == 0 {
		return fmt.Errorf("--dataset-name %s gives no requests: every row is left out", r.DatasetName)
	}
	r.warm = r.warmups()
	r.Finish(r.built.Requests, r.built.Turns)
	r.Finish(r.warm, r.built.Turns)
	r.traffic = r.Dispatch(r.built.Requests, source.Numpy, source.Python, r.built.Timed)
	r.s.take(r.built.Workload)
	for _, line := range r.built.Lines {
		fmt.Fprintln(r.p.Stdout, line)
	}
	return nil
}

// datasetFiles opens what --dataset-path names, or without it what that tool has of
// the dataset on this machine. There may be none: some datasets need none.
func (r *sglangRun) datasetFiles(ctx context.Context) (files []*dataset.File, shut func(), err error) {
	var open []*os.File
	shut = func() {
		for _, f := range open {
			_ = f.Close() // only read
		}
	}
	names, err := []string(nil), error(nil)
	if r.DatasetPath != "" {
		names, err = namedFiles(r.DatasetPath)
	} else {
		names, err = r.usualFiles(ctx)
	}
	if err != nil {
		return nil, shut, err
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			shut()
			return nil, shut, usagef("--dataset-path: %w", err)
		}
		open = append(open, f)
		info, err := f.Stat()
		if err != nil {
			shut()
			return nil, shut, usagef("--dataset-path: %w", err)
		}
		files = append(files, &dataset.File{Name: name, Content: f, Size: info.Size()})
	}
	return files, shut, nil
}

// namedFiles are a file, or the tables in a folder.
func namedFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, usagef("--dataset-path: %w", err)
	case !info.IsDir():
		return []string{name}, nil
	}
	var names []string
	for _, pattern := range []string{"*.parquet", "*.jsonl", "*.json"} {
		found, _ := filepath.Glob(filepath.Join(name, pattern)) // the patterns are good
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, usagef("--dataset-path %s: a folder without Parquet or JSON files", name)
	}
	return names, nil
}

// usualFiles are where that tool keeps what it downloads: the folder for temporary
// files, and the Hugging Face cache, into which PITOT_HF_DOWNLOAD=1 allows to download.
func (r *sglangRun) usualFiles(ctx context.Context) ([]string, error) {
	const shareGPT = "ShareGPT_V3_unfiltered_cleaned_split.json"
	kept, repo, pattern := "", "", ""
	switch r.DatasetName {
	case "random", "sharegpt":
		kept, repo, pattern = shareGPT, "anon8231489123/ShareGPT_Vicuna_unfiltered", shareGPT
	case "mooncake":
		kept = r.MooncakeWorkload + "_trace.jsonl"
	case "mmmu":
		repo, pattern = "MMMU/MMMU", "Math/test-*.parquet"
	case "longbench_v2":
		repo, pattern = "THUDM/LongBench-v2", "data.json"
	}
	file := filepath.Join(os.TempDir(), kept)
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && kept != "" {
		return []string{file}, nil
	}
	if repo == "" {
		return nil, nil
	}
	return r.p.hub(false).Dataset(repo).Match(ctx, pattern)
}

// tryResult makes sure that the result file can be written to, before there is
// something to lose; every run adds a line to it.
func (r *sglangRun) tryResult() error {
	name := r.ResultFile(time.Now())
	_, before := os.Stat(name)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the result file could not be written: %w", err)
	}
	err = file.Close()
	if errors.Is(before, os.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
