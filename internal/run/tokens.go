package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/template"
	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/hub"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// Places of a tokenizer other than files, folders and names.
const (
	tokensOfServer = "server"
	noTokens       = "none"
)

// defaultVocab is the size of the vocabulary without a tokenizer, where the server does not
// say it either.
const defaultVocab = 16000

// tokens is where prompt lengths come from.
type tokens struct {
	name  plan.Message       // for the report
	why   string             // reason for not using a preferred one
	tok   workload.Tokenizer // nil: prompts of token ids
	none  error              // why there is none, where tok is nil and one was looked for
	vocab workload.Vocabulary
	count func(text string) int // tokens of an answer; nil if only a server could count
	local bool
}

// findTokens finds a tokenizer: in a file or a folder, in a cache of this machine, by a
// download where it is allowed, as the server's /tokenize, or none.
func (p *Prepared) findTokens(ctx context.Context) (tokens, error) {
	asked := p.spec.Tokens
	ids := tokens{name: plan.Msg(tokensNone), vocab: workload.Vocabulary{Size: cmp.Or(asked.Vocab, p.served().Meta.Vocab, defaultVocab)}}
	if asked.Where == noTokens {
		return ids, nil
	}
	why := ""
	if name := p.tokensName(ctx); asked.Where != tokensOfServer && name != "" {
		found, err := p.localTokens(ctx, name)
		var problems plan.Problems
		switch {
		case err == nil, asked.Where != "" && (asked.Required || errors.As(err, &problems)):
			return found, err
		case ctx.Err() != nil:
			return tokens{}, context.Cause(ctx)
		}
		why, _, _ = strings.Cut(err.Error(), "\n")
	}
	server, err := p.serverTokens(ctx)
	switch {
	case ctx.Err() != nil:
		return tokens{}, context.Cause(ctx)
	case err == nil:
		return tokens{name: server.name(), why: why, tok: server, vocab: ids.vocab}, nil
	case asked.Where == tokensOfServer:
		return tokens{}, fmt.Errorf("ask the server for its tokenizer: %w", err)
	}
	ids.why = strings.TrimPrefix(why+"; the server has no /tokenize that works", "; ")
	ids.none = errors.New(strings.TrimPrefix(why+"; "+err.Error(), "; "))
	return ids, nil
}

// tokensName is the name of a tokenizer on this machine or the hub: that of the Spec, of
// the server, or the root of the model. The embedded engine has its own. Only what the user
// named can be a path, also in a run that is made again.
func (p *Prepared) tokensName(ctx context.Context) string {
	asked := &p.spec.Tokens
	if asked.Where != "" {
		return asked.Where
	}
	if p.admission != nil || p.run.Env.Embedded {
		return ""
	}
	name := cmp.Or(p.servedTokens(ctx), p.spec.Request.Root)
	asked.NoPath = asked.NoPath || !slices.Contains(p.named[:], name)
	if asked.NoPath && name != "" {
		return hub.NameOnly + name
	}
	return name
}

// servedTokens is the name of the tokenizer or the model that the server reports, if the Spec has a route for that;
// else empty.
func (p *Prepared) servedTokens(ctx context.Context) string {
	route := p.spec.Tokens.Info
	if route == "" || p.target == nil {
		return ""
	}
	call, cancel := context.WithTimeout(ctx, pollCall)
	defer cancel()
	var info struct {
		Tokenizer string `json:"tokenizer_path"`
		Model     string `json:"model_path"`
	}
	if err := p.target.server().Ask(call, route, &info); err != nil { // not every server has the route
		return ""
	}
	return cmp.Or(info.Tokenizer, info.Model)
}

// localTokens reads a tokenizer and its chat template.
func (p *Prepared) localTokens(ctx context.Context, name string) (tokens, error) {
	if p.Hub == nil {
		return tokens{}, fmt.Errorf("no tokenizer %q", name)
	}
	file, err := p.Hub(p.spec.Tokens.Download).Tokenizer(ctx, name)
	if err != nil {
		return tokens{}, err
	}
	dir, base := filepath.Split(filepath.Clean(file))
	folder := filepath.Join(dir, ".")
	tok, err := tokenizer.Load(p.folder(folder), base)
	switch {
	case err != nil && name == p.spec.Tokens.Where:
		return tokens{}, plan.Problems{{Path: "tokenizer.where", Value: name, Why: err.Error()}}
	case err != nil:
		return tokens{}, fmt.Errorf("tokenizer of %q: %w", strings.TrimPrefix(name, hub.NameOnly), err)
	}
	if info, err := fs.Stat(p.folder(folder), base); err == nil && info.IsDir() {
		folder = file
	}
	return tokens{
		name: plan.Text(file), tok: localTokenizer{tok}, local: true,
		vocab: workload.Vocabulary{
			Size: tok.VocabSize(), All: tok.AllIDs(), Special: tok.SpecialIDs(), AddedSpecial: tok.AddedSpecialIDs(), Around: tok.NumSpecial(),
			BOS: tok.BOS(), Template: readTemplate(p.folder(folder), folder),
		},
		count: func(text string) int { return len(tok.Encode(text, false)) },
	}, nil
}

// localTokenizer adapts a tokenizer file.
type localTokenizer struct{ *tokenizer.Tokenizer }

func (l localTokenizer) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	ids := l.Tokenizer.Encode(text, special)
	return ids, l.Err()
}

func (l localTokenizer) Decode(_ context.Context, ids []int32) (string, error) {
	text := l.Tokenizer.Decode(ids, false)
	return text, l.Err()
}

// A chatTemplate is that of a tokenizer, or the error of reading it, which only matters
// where it is used.
type chatTemplate struct {
	*template.Template
	folder string
	err    error
}

// readTemplate gives nil where a folder has no chat template.
func readTemplate(files fs.FS, folder string) workload.Template {
	t, err := template.Load(files, ".")
	if errors.Is(err, template.ErrNone) {
		return nil
	}
	return chatTemplate{t, folder, err}
}

func (t chatTemplate) Render(messages json.RawMessage, o workload.TemplateOptions) (string, error) {
	if t.err != nil {
		return "", plan.Problems{{Path: "tokenizer.where", Value: t.folder, Why: t.err.Error()}}
	}
	text, err := t.Template.Render(messages, template.Options(o))
	if err != nil {
		return "", fmt.Errorf("chat template of %s: %w", t.folder, err)
	}
	return text, nil
}

// A namedTokenizer is one of a server, real or simulated.
type namedTokenizer interface {
	workload.Tokenizer
	name() plan.Message
}

// serverTokens is the tokenizer of the server under test.
func (p *Prepared) serverTokens(ctx context.Context) (namedTokenizer, error) {
	switch {
	case p.admission != nil:
		return engineTokenizer{p.admission}, nil
	case p.standIn != nil:
		return engineTokenizer{p.standIn}, nil
	case p.target == nil:
		return nil, errors.New("there is no server to ask")
	}
	s := p.askingTokenizer()
	return s, s.works(ctx)
}

// serverTokenizer asks the server under test.
type serverTokenizer struct{ *endpoint.Tokenizer }

// askingTokenizer asks by the name that the server serves the model under.
func (p *Prepared) askingTokenizer() serverTokenizer {
	return serverTokenizer{&endpoint.Tokenizer{Server: p.target.server(), Model: cmp.Or(p.served().ID, p.spec.Request.Model)}}
}

func (s serverTokenizer) name() plan.Message { return plan.Msg(tokensServer) }

func (s serverTokenizer) Encode(ctx context.Context, text string, special bool) (ids []int32, err error) {
	err = insist(ctx, func() error { ids, err = s.Tokenizer.Encode(ctx, text, special); return err })
	return ids, err
}

func (s serverTokenizer) Decode(ctx context.Context, ids []int32) (text string, err error) {
	err = insist(ctx, func() error { text, err = s.Tokenizer.Decode(ctx, ids); return err })
	return text, err
}

// attempts is the number of attempts when the connection to the server fails: one of a
// thousand calls for a workload must not spoil the others.
const attempts = 5

func insist(ctx context.Context, call func() error) error {
	for n := 1; ; n++ {
		err := call()
		var silent *endpoint.CallError
		if n == attempts || !errors.As(err, &silent) || !silent.MayPass() {
			return err
		}
		if err := Pause(ctx, time.Duration(n)*100*time.Millisecond); err != nil {
			return err
		}
	}
}

// works checks that the server's tokenizer is one: routes of the same name may do
// something else.
func (s serverTokenizer) works(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sideCall, transport.ErrTimeout)
	defer cancel()
	ids, err := s.Encode(ctx, "ready", false)
	if err != nil {
		return err
	}
	text, err := s.Decode(ctx, ids)
	if err == nil && (len(ids) == 0 || strings.TrimSpace(text) != "ready") {
		err = fmt.Errorf("%s/tokenize and /detokenize make %v and %q of \"ready\"", s.URL, ids, text)
	}
	return err
}

// maxModelFile limits the files that come with a model's tokenizer, which are read into memory: the largest known
// has 35 MB.
const maxModelFile = 64 << 20

type modelFolder struct{ fs.FS }

// ReadFile reads a file that is not too large, without trusting the size that Stat reports.
func (f modelFolder) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxModelFile+1))
	if err == nil && len(data) > maxModelFile {
		err = fmt.Errorf("%s: larger than %d MiB", name, maxModelFile>>20)
	}
	return data, err
}

// folder is where a tokenizer and its chat template are.
func (p *Prepared) folder(name string) fs.FS { return modelFolder{p.Folder(name)} }
