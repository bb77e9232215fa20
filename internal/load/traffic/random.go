package traffic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// defaultRequests is the number of requests that are drawn unless it is given.
const defaultRequests = 100

func wanted(s *workload.Source) int { return cmp.Or(s.Requests, defaultRequests) }

// A random is requests of random tokens, of exact lengths.
type random struct {
	drawn
	InputRange  float64 `json:"input_range,omitempty"` // relative range of a length
	OutputRange float64 `json:"output_range,omitempty"`
	Texts       int     `json:"texts"` // in a request to embed or pool; documents in one to rerank

	ask workload.Ask
}

// maxTexts is more than a server takes in one request.
const maxTexts = 1 << 14

// Check reports mistakes in the settings.
func (d *random) Check(s *workload.Source) plan.Problems {
	d.ask = s.Ask
	p := d.check()
	p.If(s.Ask.Protocol == "transcription", "", nil, noAudio)
	p.If(d.Texts < 1 || d.Texts > maxTexts, "texts", d.Texts, "must be at least 1, and at most %d", maxTexts)
	if d.Texts <= maxTexts && wanted(s) <= plan.MaxRequests {
		p.Product("texts", plan.MaxRequests, "texts", wanted(s), d.Texts)
	}
	p.If(s.Ask.Silent && (d.Output != defaultDrawn().Output || d.OutputRange != 0), "output_len", nil,
		"only applies to text, and answers of the protocol %s have none", s.Ask.Protocol)
	p.If(d.Texts != 1 && !s.Ask.Silent, "texts", nil, "only applies to the protocols embeddings, pooling and rerank")
	return append(p, d.checkLengths()...)
}

func (d *random) checkLengths() (p plan.Problems) {
	const twice = "only applies to a length that is a number"
	ranged := d.InputRange != 0 || d.OutputRange != 0
	p.If(d.Input.Law != nil && d.InputRange != 0, "input_range", nil, twice)
	p.If(d.Output.Law != nil && d.OutputRange != 0, "output_range", nil, twice)
	p.If(d.Lengths != "" && ranged, "lengths", nil,
		"the file has lengths that differ already; leave out input_range and output_range")
	p.If(d.Fit != 0 && ranged, "fit", nil, "needs distributions; write uniform(LOW,HIGH) in place of a range")
	p.If(!(d.InputRange >= 0 && d.InputRange < 1), "input_range", d.InputRange, "must be at least 0 and less than 1")
	p.If(!(d.OutputRange >= 0 && d.OutputRange < 1), "output_range", d.OutputRange, "must be at least 0 and less than 1")
	if d.Lengths != "" {
		return p
	}
	p.If(!d.Input.atLeast(0), "input_len", d.Input, "must not be negative")
	least := int(float64(d.Input.Fixed) * (1 - d.InputRange))
	p.If(d.Input.Law == nil && d.Input.Fixed >= 0 && d.Prefix+least < 1, "input_len", d.Input,
		"allows an empty prompt; raise it or the prefix")
	p.If(!d.Output.atLeast(1), "output_len", d.Output, "must be at least 1")
	return p
}

// Build draws the requests, with several texts each if the protocol takes them.
func (d *random) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	r, notes := d.recipe(s)
	if err := s.NeedText(r.Batch > 1); err != nil {
		return workload.Workload{}, err
	}
	w, err := r.Build(ctx, s.Vocab, s.Tokens)
	w.Notes = append(w.Notes, notes...)
	return w, err
}

// recipe has the settings of the draw, with lengths if they have a distribution.
func (d *random) recipe(s *workload.Source) (workload.Random, []plan.Message) {
	r := workload.Random{
		Input: d.Input.Fixed, Output: d.Output.Fixed, InputRange: d.InputRange, OutputRange: d.OutputRange, Prefix: d.Prefix,
		Seed: s.Seed, IDPrefix: s.IDPrefix, Exact: true, Distinct: true, Spool: s.Spool, Window: s.WindowOf(true),
		Batch: 1, Ranked: d.ask.Protocol == "rerank",
	}
	switch {
	case r.Ranked:
		r.Batch = 1 + d.Texts // a query and its documents
	case d.ask.Silent:
		r.Batch = d.Texts
	}
	r.Requests = wanted(s) * r.Batch
	if d.Input.Law == nil && d.Output.Law == nil && d.seen == nil && d.Fit == 0 {
		return r, nil
	}
	pairs, notes := d.draw(r.Requests, s.Seed, d.room())
	for _, p := range pairs {
		r.Inputs, r.Outputs = append(r.Inputs, int32(p.input)), append(r.Outputs, int32(p.output))
	}
	if d.Prefix > 0 {
		for i, n := range notes {
			notes[i] = plan.Msg(besidePrefix, "note", n, "prefix", d.Prefix)
		}
	}
	return r, notes
}

func (d *random) Describe() plan.Message {
	return workload.Describe("random", d.lengths(), d.prefix())
}

// lengths says how long prompts and answers are.
func (d *random) lengths() plan.Message {
	in := workload.WithRange(d.Input, d.InputRange)
	switch {
	case len(d.seen) > 0 && d.seen[0].output == 0:
		return plan.Msg(loadSeen, "file", d.Lengths, "output", d.Output)
	case d.Lengths != "":
		return plan.Msg(loadLengths, "file", d.Lengths)
	case d.ask.Protocol == "rerank":
		return plan.Msg(loadRanked, "documents", d.Texts, "input", in)
	case d.ask.Silent && d.Texts > 1:
		return plan.Msg(loadBatches, "texts", d.Texts, "input", in)
	case d.ask.Silent:
		return plan.Msg(workload.LoadInputs, "input", in)
	}
	return plan.Msg(workload.LoadTokens, "input", in, "output", workload.WithRange(d.Output, d.OutputRange))
}

// A randomMM is requests of random tokens with images of noise.
type randomMM struct {
	random
	Images     int     `json:"images"`
	ImageRange float64 `json:"image_range,omitempty"`
	ImageSizes string  `json:"image_sizes"` // 256x256=0.5,1280x720=0.5: relative frequencies

	sizes []workload.Bucket
}

// Check reports mistakes in the settings.
func (d *randomMM) Check(s *workload.Source) plan.Problems {
	p := d.random.Check(s)
	p.If(!s.Ask.Media, "", nil,
		"images need the protocol chat, responses, messages, generate, embeddings or pooling, not %s", s.Ask.Protocol)
	p.If(d.Texts > 1, "texts", d.Texts, "does not apply to requests with images")
	p.IntegerIn("images", d.Images, 0, workload.DefaultLimits()["image"])
	p.If(!(d.ImageRange >= 0 && d.ImageRange <= 1), "image_range", d.ImageRange, "must be between 0 and 1")
	var err error
	if d.sizes, err = workload.ParseSizes(d.ImageSizes); err == nil {
		one := workload.RandomMM{
			Random: workload.Random{Requests: 1, Input: 1, Output: 1}, Limits: workload.DefaultLimits(), Buckets: d.sizes,
		}
		err = one.Check().Err()
	}
	p.If(err != nil, "image_sizes", nil, "%v", err)
	return p
}

// Build draws the requests.
func (d *randomMM) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if s.Tokens == nil {
		return workload.Workload{}, errors.New("images need text prompts, and text needs a tokenizer")
	}
	r, notes := d.recipe(s)
	mm := workload.RandomMM{
		Random: r, Items: d.Images, ItemsRange: d.ImageRange, Limits: workload.DefaultLimits(), Buckets: d.sizes,
	}
	w, err := mm.Build(ctx, s.Vocab, s.Tokens)
	w.Notes = append(w.Notes, notes...)
	return w, err
}

func (d *randomMM) Describe() plan.Message {
	images := plan.Msg(loadImages, "images", workload.WithRange(d.Images, d.ImageRange), "sizes", d.ImageSizes)
	return workload.Describe("random-mm", d.lengths(), images, d.prefix())
}

// A Size is a number of tokens, or a distribution of such numbers. Its zero value is
// none.
type Size struct {
	Fixed int
	Law   *arrival.Count // nil: Fixed
}

// UnmarshalText parses either.
func (s *Size) UnmarshalText(text []byte) error {
	if n, err := strconv.Atoi(string(text)); err == nil {
		*s = Size{Fixed: n}
		if n > plan.MaxTokens {
			return fmt.Errorf("must be at most %d tokens", plan.MaxTokens)
		}
		return nil
	}
	c, err := arrival.ParseCount(string(text))
	*s = Size{Law: &c}
	return err
}

// String is the form that UnmarshalText parses.
func (s Size) String() string {
	if s.Law != nil {
		return s.Law.String()
	}
	return strconv.Itoa(s.Fixed)
}

// MarshalJSON writes a number, or a text.
func (s Size) MarshalJSON() ([]byte, error) {
	if s.Law != nil {
		return json.Marshal(s.Law.String())
	}
	return json.Marshal(s.Fixed)
}

// IsZero reports whether it is none.
func (s Size) IsZero() bool { return s.Law == nil && s.Fixed == 0 }

// atLeast reports whether no length is below n. Distributions draw at least 1.
func (s Size) atLeast(n int) bool { return s.Law != nil || s.Fixed >= n }

func (s Size) count() arrival.Count {
	if s.Law != nil {
		return *s.Law
	}
	return arrival.ConstantCount(s.Fixed)
}
