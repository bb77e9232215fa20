package traffic

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A data names the file of a workload.
type data struct {
	Data string `json:"data"`
}

func (d data) check(s *workload.Source, talks bool) (p plan.Problems) {
	p.If(d.Data == "", "data", nil, "a file is needed")
	p.If(s.Ask.Protocol == "transcription", "", nil, "audio is needed for the protocol transcription; use custom, with lines that have audio")
	p.If(s.Ask.Protocol == "rerank", "", nil, "the protocol rerank needs a query with documents; use random, or custom with lines that have query and documents")
	p.If(talks && s.Ask.Silent, "", nil, "a conversation goes on from answers, and the protocol %s gives none; use completions, chat, responses or messages", s.Ask.Protocol)
	return p
}

// A shareGPT is conversations of a ShareGPT dump, of each the first turn.
type shareGPT struct {
	data
	Output       int  `json:"output_len,omitempty"` // in place of the recorded length
	NoOversample bool `json:"no_oversample,omitempty"`
}

// Check reports what is wrong.
func (d *shareGPT) Check(s *workload.Source) plan.Problems {
	p := d.data.check(s, false)
	p.If(d.Output < 0, "output_len", d.Output, "must not be negative")
	return p
}

func (d *shareGPT) recipe(s *workload.Source) workload.ShareGPT {
	return workload.ShareGPT{Requests: wanted(s), Output: d.Output, Seed: s.Seed, NoOversample: d.NoOversample, IDPrefix: s.IDPrefix}
}

// Read reads the file once, for what is wrong with it.
func (d *shareGPT) Read(_ context.Context, s *workload.Source) error {
	return s.Files.With("data", d.Data, d.recipe(s).Check)
}

// Build chooses the conversations.
func (d *shareGPT) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	err = s.Files.With("data", d.Data, func(file io.Reader) (err error) {
		w, err = d.recipe(s).Build(ctx, file, s.Tokens)
		return err
	})
	return w, err
}

// A custom is requests from a file of JSON Lines.
type custom struct {
	shareGPT
	Shuffle bool `json:"shuffle,omitempty"`
}

// Check reports what is wrong.
func (d *custom) Check(s *workload.Source) (p plan.Problems) {
	p.If(d.Data == "", "data", nil, "a file is needed")
	p.If(d.Output < 0, "output_len", d.Output, "must not be negative")
	return p
}

func (d *custom) recipe(s *workload.Source) workload.Custom {
	return workload.Custom{
		Requests: s.Requests, Output: d.Output, Shuffle: d.Shuffle, Seed: s.Seed, NoOversample: d.NoOversample, IDPrefix: s.IDPrefix, NeedTime: s.NeedTime,
	}
}

// Read reads the file once, for what is wrong with it.
func (d *custom) Read(_ context.Context, s *workload.Source) error {
	return s.Files.With("data", d.Data, d.recipe(s).Check)
}

// Build reads the requests.
func (d *custom) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	err = s.Files.With("data", d.Data, func(file io.Reader) (err error) {
		w, err = d.recipe(s).Build(ctx, file, s.Tokens)
		return err
	})
	return w, err
}

// A traced is the requests of a service's trace.
type traced struct {
	data
	Format   string  `json:"trace_format,omitempty"` // empty: what the file begins with
	Model    string  `json:"trace_model,omitempty"`  // the requests of this model alone
	LogType  string  `json:"log_type,omitempty"`     // those of this type of log alone
	Slice    string  `json:"slice,omitempty"`        // FROM..TO
	Sample   float64 `json:"sample,omitempty"`       // share of them
	BlockLen int     `json:"block_len"`              // tokens that a hash id stands for
	Fit      int     `json:"fit,omitempty"`

	format Format
	rows   []Row
	notes  []plan.Message
}

// Check reports what is wrong.
func (d *traced) Check(s *workload.Source) plan.Problems {
	p := d.data.check(s, false)
	p.OneOf("trace_format", d.Format, string(Azure), string(BurstGPT), string(Mooncake))
	p.Share("sample", d.Sample)
	p.If(d.BlockLen < 1, "block_len", d.BlockLen, "must be at least 1")
	p.If(d.Fit < 0 || d.Fit == 1, "fit", d.Fit, "must have room for a prompt and an answer")
	if d.Slice != "" {
		_, err := ParseSpan(d.Slice)
		p.If(err != nil, "slice", nil, "%v", err)
	}
	return p
}

// Read reads the trace, and takes the rows that are asked for.
func (d *traced) Read(_ context.Context, s *workload.Source) error {
	return s.Files.With("data", d.Data, func(file io.Reader) error {
		t, err := ReadTrace(file, Format(d.Format))
		if err != nil {
			return err
		}
		selection := Selection{Model: d.Model, Kind: d.LogType, Share: d.Sample, Rows: s.Requests, Seed: s.Seed}
		if d.Slice != "" {
			if selection.Span, err = ParseSpan(d.Slice); err != nil {
				return err
			}
		}
		d.format = t.Format
		d.rows, d.notes, err = t.Select(selection)
		return err
	})
}

// Times are those of the rows, for arrivals that follow them.
func (d *traced) Times() []time.Duration {
	at := make([]time.Duration, len(d.rows))
	for i, r := range d.rows {
		at[i] = r.At
	}
	return at
}

// Build makes up prompts for the rows.
func (d *traced) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	if err := s.NeedText(false); err != nil {
		return workload.Workload{}, err
	}
	p, err := NewPrompter(ctx, s.Vocab, s.Tokens, s.Seed)
	if err != nil {
		return workload.Workload{}, err
	}
	r := Replay{Rows: d.rows, Block: d.BlockLen, Fit: d.Fit, IDPrefix: s.IDPrefix, Spool: s.Spool}
	if s.Requests > 0 { // fewer may be wanted than were read: of a part of a mix
		r.Rows = r.Rows[:min(len(r.Rows), s.Requests)]
	}
	w, err := r.Build(ctx, p)
	w.Notes = append(slices.Clone(d.notes), w.Notes...)
	return w, err
}

// A recordedTalks is conversations that were recorded.
type recordedTalks struct {
	data
	Conversations int            `json:"conversations,omitempty"` // 0: all
	History       string         `json:"history"`                 // live, or recorded: the answers it goes on from
	Think         *dist.Duration `json:"think,omitempty"`         // pause before a turn that does not say
	Output        Size           `json:"output_len,omitzero"`     // in place of the recorded lengths

	talks []Talk
}

// Check reports what is wrong.
func (d *recordedTalks) Check(s *workload.Source) plan.Problems {
	p := d.data.check(s, true)
	p.OneOf("history", d.History, "live", "recorded")
	p.If(d.Conversations < 0, "conversations", d.Conversations, "must not be negative")
	p.If(d.Output.Law == nil && d.Output.Fixed < 0, "output_len", d.Output, "must not be negative")
	return p
}

// Read reads the conversations.
func (d *recordedTalks) Read(_ context.Context, s *workload.Source) error {
	return s.Files.With("data", d.Data, func(file io.Reader) (err error) {
		d.talks, err = ReadTalks(file)
		return err
	})
}

// Build makes requests of their turns.
func (d *recordedTalks) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	t := Talks{
		Conversations: d.Conversations, Requests: s.Requests, Recorded: d.History == "recorded", Messages: s.Ask.Messages,
		NeedTime: s.NeedTime, Seed: s.Seed, IDPrefix: s.IDPrefix,
	}
	if s.Arrivals {
		t.Conversations, t.Requests = s.Requests, 0
	}
	if !d.Output.IsZero() {
		t.Output = d.Output.count()
	}
	if d.Think != nil {
		t.Think = *d.Think
	}
	w, err := t.Build(ctx, d.talks, s.Tokens)
	return w, workload.Blame("data", d.Data, err)
}
