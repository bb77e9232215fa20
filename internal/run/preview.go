package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Forecast describes the requests of a Spec, as far as they are known without a server.
type Forecast struct {
	Spec              plan.Spec    // with the settings of its kinds complete
	Workload, Arrival plan.Message // empty where Unknown says why
	Requests          int
	Conversations     int           // of several requests each
	Input, Output     int           // tokens of the prompts, and of the answers at most
	Open              int           // requests with answers that end where the model ends them
	Duration          time.Duration // at least: up to the last request, were every answer immediate
	Files             []string      // that were read
	Notes, Unknown    []plan.Message
}

// Preview prepares a run without traffic to a server or a hub. The facts that only they
// have are unknown.
func Preview(ctx context.Context, spec plan.Spec, deps Deps) (*Forecast, error) {
	f := &Forecast{}
	p := &Prepared{Deps: f.offline(deps)}
	if err := p.check(spec); err != nil {
		return nil, err
	}
	f.Spec = p.spec
	p.load.spool = p.newSpool()
	err := p.load.read(ctx, p.files(p.spec.Tokens.Download))
	if err == nil {
		err = f.tokens(ctx, p)
	}
	if err == nil {
		b := p.builder()
		b.headers = func(string, plan.Override) (map[string]string, error) { return nil, nil }
		p.built, err = b.build(ctx)
	}
	var problems plan.Problems
	switch {
	case errors.As(err, &problems) && p.tokens.local, ctx.Err() != nil:
		return nil, err
	case err != nil:
		f.Unknown = append(f.Unknown, plan.Msg(unknownLoad, "why", err))
		return f, nil
	}
	f.count(&p.built)
	return f, nil
}

// offline are the same dependencies without a network. It notes the files that are read.
func (f *Forecast) offline(d Deps) *Deps {
	open, read, hub := d.Open, d.Read, d.Hub
	d.Open = func(name string) (workload.Reader, error) {
		r, err := open(name)
		f.reads(name, err)
		return r, err
	}
	d.Read = func(name string) ([]byte, error) {
		b, err := read(name)
		f.reads(name, err)
		return b, err
	}
	if hub != nil {
		d.Hub = func(bool) Hub { return offlineHub{hub(false), f} }
	}
	d.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errOffline }
	d.OnEvent = nil
	return &d
}

func (f *Forecast) reads(name string, err error) {
	if err == nil && !slices.Contains(f.Files, name) {
		f.Files = append(f.Files, name)
	}
}

var errOffline = errors.New("nothing is asked for over the network here")

// An offlineHub has the copies on this machine.
type offlineHub struct {
	Hub
	forecast *Forecast
}

// Tokenizer adds the tokenizer to the files of the forecast.
func (h offlineHub) Tokenizer(ctx context.Context, name string) (string, error) {
	path, err := h.Hub.Tokenizer(ctx, name)
	h.forecast.reads(path, err)
	return path, err
}

// Dataset adds the dataset to the files of the forecast.
func (h offlineHub) Dataset(ctx context.Context, name string) (fs.FS, string, error) {
	files, root, err := h.Hub.Dataset(ctx, name)
	h.forecast.reads(root, err)
	return files, root, err
}

// Fetch opens files alone.
func (h offlineHub) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	if scheme, _, ok := strings.Cut(address, "://"); ok && scheme != "file" {
		return nil, errOffline
	}
	return h.Hub.Fetch(ctx, address)
}

// tokens finds a tokenizer. In place of one that only the server or the hub has it takes
// the engine's, with which most datasets give as many requests of the same lengths.
func (f *Forecast) tokens(ctx context.Context, p *Prepared) (err error) {
	asked := &p.spec.Request
	if p.run.Env.Embedded {
		if p.standIn, err = apiserver.NewAdmission(p.server); err != nil {
			return err
		}
		asked.Model = cmp.Or(asked.Model, p.standIn.Model())
	}
	if asked.Model == "" {
		f.Unknown = append(f.Unknown, plan.Msg(unknownModel))
	}
	asked.Root = cmp.Or(asked.Root, asked.Model)
	p.tokens, err = p.findTokens(ctx)
	var problems plan.Problems
	if errors.As(err, &problems) || err == nil && (p.tokens.tok != nil || p.spec.Tokens.Where == noTokens) {
		p.tokens.local = true
		return err
	}
	f.Unknown = append(f.Unknown, plan.Msg(unknownTokenizer))
	cfg, _, err := apiserver.Settings{}.Config(p.Machine.Pitot, p.Read)
	if err != nil {
		return err
	}
	intake, err := apiserver.NewAdmission(cfg)
	p.tokens = tokens{tok: engineTokenizer{intake}, vocab: workload.Vocabulary{Size: defaultVocab}}
	return err
}

func (f *Forecast) count(b *built) {
	all := b.work.All()
	f.Workload, f.Arrival, f.Notes, f.Requests = b.what, b.when, b.work.Notes, all.N
	next, stop := iter.Pull(b.due.Schedule)
	defer stop()
	at := make([]time.Duration, f.Requests)
	for i, r := range all.All() {
		f.Input += r.PromptTokens
		f.Output += r.OutputTokens
		if r.OutputTokens == 0 {
			f.Open++
		}
		if r.After > 0 {
			at[i] = at[r.After-1] + r.Think
		} else if due, ok := next(); ok {
			at[i] = due
		}
		if r.After == 0 && r.Followed {
			f.Conversations++
		}
		f.Duration = max(f.Duration, at[i])
	}
}
