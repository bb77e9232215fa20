package traffic

import (
	"context"
	"io"

	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

const noAudio = "audio is needed for the protocol transcription; use custom, with lines that have audio"

// unsuited reports a protocol that the requests of a dataset do not suit.
func unsuited(ask workload.Ask, talks bool) (p plan.Problems) {
	p.If(ask.Protocol == "transcription", "", nil, noAudio)
	p.If(ask.Protocol == "rerank" && !talks, "", nil,
		"the protocol rerank needs a query with documents; use random, or custom with lines that have query and documents")
	p.If(talks && ask.Silent, "", nil,
		"a conversation goes on from answers, and the protocol %s gives none; use completions, chat, responses or messages",
		ask.Protocol)
	return p
}

// A data names the file of a workload.
type data struct {
	Data string `json:"data"`
}

func (d data) check() (p plan.Problems) {
	p.If(d.Data == "", "data", nil, "a file is needed")
	return p
}

// A recorded dataset takes its requests from a file.
type recorded struct {
	data
	Output       int  `json:"output_len,omitempty"` // in place of the recorded length
	NoOversample bool `json:"no_oversample,omitempty"`
}

func (d *recorded) check() plan.Problems {
	p := d.data.check()
	p.If(d.Output < 0, "output_len", d.Output, "must not be negative")
	return p
}

// A shareGPT is conversations of a ShareGPT dump, of each the first turn.
type shareGPT struct {
	recorded
	talks workload.Parsed[workload.Conversations]
}

// Check reports mistakes in the settings.
func (d *shareGPT) Check(s *workload.Source) plan.Problems {
	return append(d.check(), unsuited(s.Ask, false)...)
}

func (d *shareGPT) Read(_ context.Context, s *workload.Source) error {
	return d.talks.Read(s.Files, d.Data, workload.ReadConversations)
}

func (d *shareGPT) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	recipe := workload.ShareGPT{
		Requests: wanted(s), Output: d.Output, Seed: s.Seed, NoOversample: d.NoOversample, IDPrefix: s.IDPrefix,
	}
	talks, err := d.talks.Take(s.Files, d.Data, workload.ReadConversations)
	if err == nil {
		w, err = recipe.Build(ctx, talks, s.Tokens)
	}
	return w, workload.Blame("data", d.Data, err)
}

func (d *shareGPT) Describe() plan.Message { return workload.Describe("sharegpt", plan.Text(d.Data)) }

// A custom is requests from a file of JSON Lines.
type custom struct {
	recorded
	Shuffle bool   `json:"shuffle,omitempty"`
	Grade   string `json:"grade,omitempty"` // the grader of lines that name none

	requests workload.Parsed[*workload.Pack]
}

// Check reports mistakes in the settings.
func (d *custom) Check(s *workload.Source) plan.Problems {
	p := d.check()
	if d.Grade != "" {
		_, err := grade.New(d.Grade)
		p.If(err != nil, "grade", nil, "%v", err)
		p.If(s.Ask.Silent, "grade", nil, noText, s.Ask.Protocol)
		p.If(s.Ask.Full, "grade", nil, "does not go with --ignore-eos: answers that go on behind their end cannot be graded")
	}
	return p
}

func (d *custom) recipe(s *workload.Source) workload.Custom {
	return workload.Custom{
		Requests: s.Requests, Output: d.Output, Shuffle: d.Shuffle, Seed: s.Seed, NoOversample: d.NoOversample,
		IDPrefix: s.IDPrefix, NeedTime: s.NeedTime, Grade: d.Grade,
	}
}

func (d *custom) parser(s *workload.Source) func(io.Reader) (*workload.Pack, error) {
	return func(file io.Reader) (*workload.Pack, error) { return d.recipe(s).Read(file, s.NewPack()) }
}

func (d *custom) Read(_ context.Context, s *workload.Source) error {
	return d.requests.Read(s.Files, d.Data, d.parser(s))
}

func (d *custom) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	recipe := d.recipe(s)
	requests, err := d.requests.Take(s.Files, d.Data, d.parser(s))
	if err == nil {
		w, err = recipe.Build(ctx, requests, s.Tokens)
	}
	return w, workload.Blame("data", d.Data, err)
}

func (d *custom) Describe() plan.Message { return workload.Describe("custom", plan.Text(d.Data)) }
