package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/template"
	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// tokens is where prompt lengths come from.
type tokens struct {
	name  plan.Message       // for the report
	why   string             // why it is none of those that would come before
	tok   workload.Tokenizer // nil: prompts of token ids
	vocab workload.Vocabulary
	count func(text string) int // tokens of an answer; nil if only a server could tell
	local bool
}

// noTokenizer names what prompts of token ids are counted by.
var noTokenizer = plan.Say("tokenizer.none")

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

// findTokens settles where prompt lengths come from: a file or folder, a cache of this
// machine, a download where it is allowed, the server's /tokenize, or nothing. where is
// "" for what the model is called, "server", "none", or a file, folder or name; unless
// it must be found the search goes on with what the server offers.
func (p *Process) findTokens(ctx context.Context, where string, mustExist bool, t *target, model string, vocabSize int) (tokens, error) {
	ids := tokens{name: noTokenizer, vocab: workload.Vocabulary{Size: vocabSize}}
	if where == "none" {
		return ids, nil
	}
	why := ""
	if name := cmp.Or(where, model); where != "server" && (where != "" || !t.own) {
		file, err := p.locateTokens(ctx, name)
		if err != nil && where != "" && mustExist {
			return tokens{}, err
		}
		if err == nil {
			found, unread := readTokens(name, file)
			if err = unread; err == nil || where != "" {
				return found, err
			}
		}
		if why = inShort(err); ctx.Err() != nil {
			return tokens{}, context.Cause(ctx)
		}
	}
	server := serverTokenizer{t.server(), model}
	err := server.works(ctx)
	switch {
	case ctx.Err() != nil:
		return tokens{}, context.Cause(ctx)
	case err == nil:
		return tokens{name: plan.Say("tokenizer.server"), why: why, tok: server, vocab: workload.Vocabulary{Size: vocabSize}}, nil
	case where == "server":
		return tokens{}, fmt.Errorf("--tokenizer server: %w", err)
	}
	ids.why = strings.TrimPrefix(why+"; the server has no /tokenize that works", "; ")
	return ids, nil
}

// loadTokens reads a tokenizer from a file, a folder, a cache of this machine, or the
// Hugging Face hub where downloads are allowed.
func (p *Process) loadTokens(ctx context.Context, where string) (tokens, error) {
	file, err := p.locateTokens(ctx, where)
	if err != nil {
		return tokens{}, err
	}
	return readTokens(where, file)
}

// readTokens reads the tokenizer in a file or a folder, and the chat template beside it.
func readTokens(where, file string) (tokens, error) {
	dir, base := filepath.Split(filepath.Clean(file))
	folder := filepath.Join(dir, ".")
	tok, err := tokenizer.Load(os.DirFS(folder), base)
	if err != nil {
		return tokens{}, usagef("tokenizer %s: %w", where, err)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		folder = file
	}
	return tokens{
		name: plan.Text(file), tok: localTokenizer{tok}, local: true,
		vocab: workload.Vocabulary{
			Size: tok.VocabSize(), All: tok.AllIDs(), Special: tok.SpecialIDs(), AddedSpecial: tok.AddedSpecialIDs(), Around: tok.NumSpecial(),
			BOS: tok.BOS(), Template: readTemplate(folder),
		},
		count: func(text string) int { return len(tok.Encode(text, false)) },
	}, nil
}

// A chatTemplate is that of a tokenizer, or why it cannot be used, which matters only
// where it is.
type chatTemplate struct {
	*template.Template
	folder string
	err    error
}

// readTemplate gives nil where a folder has no chat template.
func readTemplate(folder string) workload.Template {
	t, err := template.Load(os.DirFS(folder), ".")
	if errors.Is(err, template.ErrNone) {
		return nil
	}
	return chatTemplate{t, folder, err}
}

func (t chatTemplate) Render(messages json.RawMessage, o workload.TemplateOptions) (string, error) {
	if t.err != nil {
		return "", usagef("%s: %w", t.folder, t.err)
	}
	text, err := t.Template.Render(messages, template.Options(o))
	if err != nil {
		return "", fmt.Errorf("chat template of %s: %w", t.folder, err)
	}
	return text, nil
}
