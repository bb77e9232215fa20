package traffic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// defaultRequests is how many requests are drawn where nothing says how many.
const defaultRequests = 100

// drawn are the settings of lengths that are drawn.
type drawn struct {
	Input   Size   `json:"input_len"`
	Prefix  int    `json:"prefix_len,omitempty"` // beside Input
	Output  Size   `json:"output_len"`
	Lengths string `json:"lengths,omitempty"` // file of pairs to draw from, in place of both
	Fit     int    `json:"fit,omitempty"`     // how long a prompt and its answer may be together

	seen []Pair
}

func defaultDrawn() drawn { return drawn{Input: Size{Fixed: 256}, Output: Size{Fixed: 64}} }

func (d *drawn) check() (p plan.Problems) {
	p.If(d.Prefix < 0, "prefix_len", d.Prefix, "must not be negative")
	p.If(d.Fit < 0 || d.Fit > 0 && d.Fit <= d.Prefix+1, "fit", d.Fit, "must have room for a prompt and an answer")
	return p
}

// Read reads the file of lengths.
func (d *drawn) Read(_ context.Context, s *workload.Source) error {
	if d.Lengths == "" {
		return nil
	}
	return s.Files.With("lengths", d.Lengths, func(file io.Reader) (err error) {
		d.seen, err = ReadLengths(file)
		return err
	})
}

// lengths are where those of requests come from.
func (d *drawn) lengths() Lengths {
	return Lengths{Input: d.Input.count(), Output: d.Output.count(), Seen: d.seen, Fit: d.Fit}
}

// A random is requests of random tokens, of exact lengths.
type random struct {
	drawn
	InputRange  float64 `json:"input_range,omitempty"` // share by which a length may differ
	OutputRange float64 `json:"output_range,omitempty"`
	Texts       int     `json:"texts"` // in a request to embed or pool; documents in one to rerank

	ask workload.Ask
}

// Check reports what is wrong.
func (d *random) Check(s *workload.Source) plan.Problems {
	d.ask = s.Ask
	p := d.check()
	p.If(s.Ask.Protocol == "transcription", "", nil, "audio is needed for the protocol transcription; use custom, with lines that have audio")
	p.If(d.Texts < 1, "texts", d.Texts, "must be at least 1")
	p.If(s.Ask.Silent && (d.Output != defaultDrawn().Output || d.OutputRange != 0), "output_len", nil, "only applies to text, and answers of the protocol %s have none", s.Ask.Protocol)
	p.If(d.Texts != 1 && !s.Ask.Silent, "texts", nil, "only applies to the protocols embeddings, pooling and rerank")
	return append(p, d.checkLengths()...)
}

func (d *random) checkLengths() (p plan.Problems) {
	const twice = "only applies to a length that is a number"
	ranged := d.InputRange != 0 || d.OutputRange != 0
	p.If(d.Input.Law != nil && d.InputRange != 0, "input_range", nil, twice)
	p.If(d.Output.Law != nil && d.OutputRange != 0, "output_range", nil, twice)
	p.If(d.Lengths != "" && ranged, "lengths", nil, "the file has lengths that differ already; leave out input_range and output_range")
	p.If(d.Fit != 0 && ranged, "fit", nil, "needs distributions; write uniform(LOW,HIGH) in place of a range")
	p.If(!(d.InputRange >= 0 && d.InputRange < 1), "input_range", d.InputRange, "must be at least 0 and less than 1")
	p.If(!(d.OutputRange >= 0 && d.OutputRange < 1), "output_range", d.OutputRange, "must be at least 0 and less than 1")
	if d.Lengths != "" {
		return p
	}
	p.If(d.Input.Law == nil && d.Input.Fixed < 0, "input_len", d.Input, "must not be negative")
	least := int(float64(d.Input.Fixed) * (1 - d.InputRange))
	p.If(d.Input.Law == nil && d.Input.Fixed >= 0 && d.Prefix+least < 1, "input_len", d.Input, "allows an empty prompt; raise it or the prefix")
	p.If(d.Output.Law == nil && d.Output.Fixed < 1, "output_len", d.Output, "must be at least 1")
	return p
}

// Build draws the requests, several texts each where the protocol takes them so.
func (d *random) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if err := s.NeedText(d.each() > 1); err != nil {
		return workload.Workload{}, err
	}
	r, notes := d.recipe(s)
	if d.each() > 1 { // texts are put together: they have to be there
		r.Requests, r.Spool = r.Requests*d.each(), nil
	}
	w, err := r.Build(ctx, s.Vocab, s.Tokens)
	w.Notes = append(w.Notes, notes...)
	if d.each() > 1 && err == nil {
		w.Requests = group(w.Requests, d.each(), s)
	}
	return w, err
}

// each is how many texts a request holds. To rerank there is a query with its documents.
func (d *random) each() int {
	switch {
	case d.ask.Protocol == "rerank":
		return 1 + d.Texts
	case d.ask.Silent:
		return d.Texts
	}
	return 1
}

// recipe is how requests are drawn, with their lengths where they have a distribution.
func (d *random) recipe(s *workload.Source) (workload.Random, []plan.Message) {
	r := workload.Random{
		Requests: wanted(s), Input: d.Input.Fixed, Output: d.Output.Fixed, InputRange: d.InputRange, OutputRange: d.OutputRange,
		Prefix: d.Prefix, Seed: s.Seed, IDPrefix: s.IDPrefix, Exact: true, Spool: s.Spool,
	}
	if d.Input.Law == nil && d.Output.Law == nil && d.seen == nil && d.Fit == 0 {
		return r, nil
	}
	l := d.lengths()
	if l.Fit > 0 {
		l.Fit = max(l.Fit-d.Prefix, 2)
	}
	n := r.Requests * d.each()
	pairs, notes := l.Draw(n, s.Seed)
	for _, p := range pairs {
		r.Inputs, r.Outputs = append(r.Inputs, p.Input), append(r.Outputs, p.Output)
	}
	if d.Prefix > 0 {
		for i, n := range notes {
			notes[i] = plan.Say(besidePrefix, "note", n, "prefix", d.Prefix)
		}
	}
	return r, notes
}

func wanted(s *workload.Source) int {
	if s.Requests == 0 {
		return defaultRequests
	}
	return s.Requests
}

// group puts n texts into each request. To rerank, the model reads the first with each of
// the others.
func group(requests []workload.Request, n int, s *workload.Source) []workload.Request {
	out := make([]workload.Request, 0, len(requests)/n)
	for some := range slices.Chunk(requests, n) {
		r := workload.Request{ID: fmt.Sprint(s.IDPrefix, len(out))}
		for i := range some {
			r.Batch = append(r.Batch, some[i].Text)
			r.PromptTokens += some[i].PromptTokens
		}
		if s.Ask.Protocol == "rerank" {
			r.PromptTokens += (n - 2) * some[0].PromptTokens
		}
		out = append(out, r)
	}
	return out
}

// A randomMM is requests of random tokens with images of noise.
type randomMM struct {
	random
	Images     int     `json:"images"`
	ImageRange float64 `json:"image_range,omitempty"`
	ImageSizes string  `json:"image_sizes"` // 256x256=0.5,1280x720=0.5: how often each is
}

// Check reports what is wrong.
func (d *randomMM) Check(s *workload.Source) plan.Problems {
	p := d.random.Check(s)
	p.If(!s.Ask.Media, "", nil, "images need the protocol chat, responses, messages, generate, embeddings or pooling, not %s", s.Ask.Protocol)
	p.If(d.Images < 0, "images", d.Images, "must not be negative")
	p.If(!(d.ImageRange >= 0 && d.ImageRange <= 1), "image_range", d.ImageRange, "must be between 0 and 1")
	_, err := d.sizes()
	p.If(err != nil, "image_sizes", nil, "%v", err)
	return p
}

func (d *randomMM) sizes() ([]workload.Bucket, error) {
	sizes, err := workload.ParseSizes(d.ImageSizes)
	if err == nil {
		one := workload.RandomMM{Random: workload.Random{Requests: 1, Input: 1, Output: 1}, Limits: workload.DefaultLimits(), Buckets: sizes}
		err = one.Check().Err()
	}
	return sizes, err
}

// Build draws the requests.
func (d *randomMM) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if s.Tokens == nil {
		return workload.Workload{}, errors.New("images need text prompts, and text needs a tokenizer")
	}
	sizes, err := d.sizes()
	if err != nil {
		return workload.Workload{}, err
	}
	r, notes := d.recipe(s)
	mm := workload.RandomMM{Random: r, Items: d.Images, ItemsRange: d.ImageRange, Limits: workload.DefaultLimits(), Buckets: sizes}
	w, err := mm.Build(ctx, s.Vocab, s.Tokens)
	w.Notes = append(w.Notes, notes...)
	return w, err
}
