package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/endpoint"
	"github.com/pitot-bench/pitot/internal/tokenizer"
	"github.com/pitot-bench/pitot/internal/transport"
	"github.com/pitot-bench/pitot/internal/workload"
)

// tokens is where prompt lengths come from.
type tokens struct {
	name  string             // for the report
	tok   workload.Tokenizer // nil: prompts of token ids
	vocab workload.Vocabulary
	count func(text string) int // tokens of an answer; nil if only a server could tell
	local bool
}

// noTokenizer names what prompts of token ids are counted by.
const noTokenizer = "none: prompts are token ids"

// localTokenizer adapts a tokenizer file.
type localTokenizer struct{ *tokenizer.Tokenizer }

func (l localTokenizer) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	return l.Tokenizer.Encode(text, special), nil
}

func (l localTokenizer) Decode(_ context.Context, ids []int32) (string, error) {
	return l.Tokenizer.Decode(ids, false), nil
}

// serverTokenizer asks the server under test.
type serverTokenizer struct {
	server endpoint.Server
	model  string
}

func (s serverTokenizer) Encode(ctx context.Context, text string, special bool) (ids []int32, err error) {
	err = insist(ctx, func() error { ids, err = s.server.Tokenize(ctx, s.model, text, special); return err })
	return ids, err
}

func (s serverTokenizer) Decode(ctx context.Context, ids []int32) (text string, err error) {
	err = insist(ctx, func() error { text, err = s.server.Detokenize(ctx, s.model, ids); return err })
	return text, err
}

// attempts is how often a question to the server is asked when the connection
// fails: one of a thousand calls for a workload must not spoil the others.
const attempts = 5

func insist(ctx context.Context, call func() error) error {
	for n := 1; ; n++ {
		err := call()
		var silent *endpoint.CallError
		if n == attempts || !errors.As(err, &silent) || !silent.MayPass() {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Duration(n) * 100 * time.Millisecond):
		}
	}
}

// works tells whether the server's tokenizer is one: routes of the same name
// may speak another language.
func (s serverTokenizer) works(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sideCall, transport.ErrTimeout)
	defer cancel()
	ids, err := s.Encode(ctx, "ready", false)
	if err != nil {
		return err
	}
	text, err := s.Decode(ctx, ids)
	if err == nil && (len(ids) == 0 || strings.TrimSpace(text) != "ready") {
		err = fmt.Errorf("%s/tokenize and /detokenize make %v and %q of \"ready\"", s.server.URL, ids, text)
	}
	return err
}

// findTokens settles where prompt lengths come from. where is "" for the best
// that can be had, "server", "none", or a file, folder or name; if it must not
// be found as a file the search goes on with what the server offers.
func (p *Process) findTokens(ctx context.Context, where string, mustExist bool, t *target, model string, vocabSize int) (tokens, error) {
	ids := tokens{name: noTokenizer, vocab: workload.Vocabulary{Size: vocabSize}}
	if where == "none" {
		return ids, nil
	}
	if where != "" && where != "server" {
		found, err := p.loadTokens(where)
		if err == nil || mustExist || !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	server := serverTokenizer{t.server(), model}
	err := server.works(ctx)
	switch {
	case ctx.Err() != nil:
		return tokens{}, context.Cause(ctx)
	case err == nil:
		return tokens{name: "the server's /tokenize", tok: server, vocab: workload.Vocabulary{Size: vocabSize}}, nil
	case where == "server":
		return tokens{}, fmt.Errorf("--tokenizer server: %w", err)
	}
	return ids, nil
}

// loadTokens reads a tokenizer from a file, a folder, or the Hugging Face cache.
func (p *Process) loadTokens(where string) (tokens, error) {
	path := where
	if !holdsTokenizer(path) {
		cached, ok := p.cachedModel(where)
		if !ok {
			return tokens{}, usagef("--tokenizer %q is neither a file nor in the Hugging Face cache of this machine: %w", where, fs.ErrNotExist)
		}
		path = cached
	}
	dir, base := filepath.Split(filepath.Clean(path))
	tok, err := tokenizer.Load(os.DirFS(filepath.Join(dir, ".")), base)
	if err != nil {
		return tokens{}, usagef("tokenizer %s: %w", where, err)
	}
	return tokens{
		name: path, tok: localTokenizer{tok}, local: true,
		vocab: workload.Vocabulary{
			Size: tok.VocabSize(), Special: tok.SpecialIDs(), AddedSpecial: tok.AddedSpecialIDs(), Around: tok.NumSpecial(),
		},
		count: func(text string) int { return len(tok.Encode(text, false)) },
	}, nil
}

// holdsTokenizer tells folders and JSON files from other files that happen to have
// the name of a model.
func holdsTokenizer(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || strings.HasSuffix(path, ".json"))
}

// cachedModel finds a model in the Hugging Face cache, its main revision if known:
// HF_HUB_CACHE, HF_HOME/hub or ~/.cache/huggingface/hub, then
// models--ORG--NAME/snapshots/REVISION.
func (p *Process) cachedModel(name string) (string, bool) {
	if name == "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
		return "", false
	}
	hub := p.getenv("HF_HUB_CACHE")
	if home := p.getenv("HF_HOME"); hub == "" && home != "" {
		hub = filepath.Join(home, "hub")
	}
	if hub == "" {
		hub = filepath.Join(p.getenv("HOME"), ".cache", "huggingface", "hub")
	}
	repo := filepath.Join(hub, "models--"+strings.ReplaceAll(name, "/", "--"))
	if ref, err := os.ReadFile(filepath.Join(repo, "refs", "main")); err == nil {
		return withTokenizer(filepath.Join(repo, "snapshots", strings.TrimSpace(string(ref))))
	}
	snapshots, _ := filepath.Glob(filepath.Join(repo, "snapshots", "*"))
	for _, s := range snapshots {
		if path, ok := withTokenizer(s); ok {
			return path, true
		}
	}
	return "", false
}

func withTokenizer(folder string) (string, bool) {
	_, err := os.Stat(filepath.Join(folder, "tokenizer.json"))
	return folder, err == nil
}
