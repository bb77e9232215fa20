package traffic

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// blockLengths are the tokens in a block of a format.
var blockLengths = map[string]int{mooncake: 512, bailian: 16}

// A traced is the requests of a service's trace, with texts that are made up.
type traced struct {
	data
	Format string `json:"trace_format,omitempty"` // empty: that of the first line
	Model  string `json:"trace_model,omitempty"`  // only requests of this model
	// LogType keeps only the rows of this type of log: "API log" or a part of that, such as api.
	LogType  string  `json:"log_type,omitempty"`
	Slice    string  `json:"slice,omitempty"`     // FROM..TO, since the first row
	Sample   float64 `json:"sample,omitempty"`    // share of the rows, drawn at random, each by itself; 0 or 1: all
	BlockLen int     `json:"block_len,omitempty"` // tokens that a block number stands for; 0: as many as in the format
	TimeUnit string  `json:"time_unit,omitempty"` // s, ms or us; empty: that of the format
	Fit      int     `json:"fit,omitempty"`       // limit of a prompt and its answer together

	format string
	span   span
	rows   []traceRow
	notes  []plan.Message
}

// Check reports mistakes in the settings.
func (d *traced) Check(s *workload.Source) plan.Problems {
	p := append(d.check(), unsuited(s.Ask, false)...)
	p.OneOf("trace_format", d.Format, azure, burstGPT, mooncake, bailian)
	p.OneOf("time_unit", d.TimeUnit, "s", "ms", "us")
	p.Share("sample", d.Sample)
	p.If(d.BlockLen < 0, "block_len", d.BlockLen, "must be at least 1")
	p.If(d.Fit < 0 || d.Fit == 1, "fit", d.Fit, "must have room for a prompt and an answer")
	var err error
	if d.Slice != "" {
		d.span, err = parseSpan(d.Slice)
	}
	p.If(err != nil, "slice", nil, "%v", err)
	return p
}

// Read reads the trace and selects its rows.
func (d *traced) Read(_ context.Context, s *workload.Source) error {
	return s.Files.With("data", d.Data, func(file io.Reader) error {
		t, err := readTrace(file, d.Format, d.TimeUnit)
		if err != nil {
			return err
		}
		return d.take(t, s)
	})
}

// take selects rows, the first ones if only some are wanted, and notes the others. A
// request without a prompt or without an answer, which failed, cannot be sent.
func (d *traced) take(t *trace, s *workload.Source) error {
	if err := d.known(t); err != nil {
		return err
	}
	d.format, d.rows, d.notes = t.format, nil, slices.Clone(t.notes)
	empty, thinned := 0, 0
	for _, r := range t.rows {
		switch {
		case !d.span.has(r.at) || d.Model != "" && r.model != d.Model || !d.logged(r.kind):
		case r.input == 0 || r.output == 0:
			empty++
		case d.Sample > 0 && d.Sample < 1 && dice(s.Seed, "share", uint64(r.line)).Float64() >= d.Sample:
			thinned++
		default:
			d.rows = append(d.rows, r)
		}
		if s.Requests > 0 && len(d.rows) == s.Requests {
			break
		}
	}
	sent := len(d.rows)
	if sent == 0 {
		return fmt.Errorf("none of its %d rows, over %v, is among those asked for", len(t.rows),
			t.length().Round(time.Millisecond))
	}
	workload.Note(&d.notes, s.Requests > sent, traceShort, "have", sent, "asked", s.Requests)
	workload.Note(&d.notes, empty > 0, traceEmptyRows, "rows", empty)
	workload.Note(&d.notes, thinned > 0, traceThinned, "rows", sent+thinned, "share", d.Sample, "sent", sent)
	return nil
}

// known refuses a model, a type of log and a time that no row has.
func (d *traced) known(t *trace) error {
	models, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range t.rows {
		models[r.model], kinds[r.kind] = true, true
	}
	names := func(of map[string]bool) string {
		delete(of, "")
		if len(of) == 0 {
			return "the trace has none"
		}
		return "the trace has " + strings.Join(slices.Sorted(maps.Keys(of)), ", ")
	}
	switch {
	case d.Model != "" && !models[d.Model]:
		return fmt.Errorf("model %q: %s", d.Model, names(models))
	case !slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), d.logged):
		return fmt.Errorf("log type %q: %s", d.LogType, names(kinds))
	case d.span.from > t.length():
		return fmt.Errorf("the slice begins at %v, and the trace ends at %v", d.span.from, t.length().Round(time.Millisecond))
	}
	return nil
}

func (d *traced) logged(kind string) bool {
	return strings.Contains(strings.ToLower(kind), strings.ToLower(d.LogType))
}

// Times are those of the rows, for arrivals that follow them.
func (d *traced) Times() []time.Duration {
	at := make([]time.Duration, len(d.rows))
	for i, r := range d.rows {
		at[i] = r.at
	}
	return at
}

// Build makes up prompts for the rows. The same row has the same prompt in every slice
// of its trace.
func (d *traced) Build(ctx context.Context, s *workload.Source) (w workload.Workload, err error) {
	if err := s.NeedText(false); err != nil {
		return w, err
	}
	p, err := newPrompter(ctx, s)
	if err != nil {
		return w, err
	}
	chosen := d.rows
	if s.Requests > 0 { // fewer may be wanted than were read: of a part of a mix
		chosen = chosen[:min(len(chosen), s.Requests)]
	}
	pairs := make([]pair, len(chosen))
	uncovered := 0
	for i, row := range chosen {
		pairs[i] = pair{row.input, row.output}
		if n := len(row.blocks) * d.block(); n > 0 && n < row.input {
			uncovered++
		}
	}
	notes := append(slices.Clone(d.notes), fit(pairs, d.Fit)...)
	workload.Note(&notes, uncovered > 0, promptsUncovered, "prompts", uncovered, "block", d.block())
	w, err = s.Produce(ctx, workload.Production{
		N:     len(chosen),
		Brief: func(i int) workload.Brief { return workload.Brief{Output: pairs[i].output, At: chosen[i].at} },
		Bare: func(i int) workload.Request {
			r := workload.Request{
				ID: s.IDPrefix + strconv.Itoa(i), PromptTokens: p.own(pairs[i].input), OutputTokens: pairs[i].output, At: chosen[i].at,
			}
			if s.Tokens == nil {
				r.Tokens = workload.NoIDs
			}
			return r
		},
		Fill: func(ctx context.Context, i int, r *workload.Request) error {
			ids, shared := d.prompt(p, chosen[i], p.own(pairs[i].input))
			made, err := p.prompt(ctx, i, ids, shared)
			r.Text, r.Tokens, r.PromptTokens = made.Text, made.Tokens, made.PromptTokens
			return err
		},
	})
	w.Notes = notes
	p.noteOn(&w)
	return w, err
}

// block is the number of tokens that a block number stands for.
func (d *traced) block() int {
	return cmp.Or(d.BlockLen, blockLengths[d.format], blockLengths[mooncake])
}

// prompt is n tokens for a row: first its blocks, all but the last of which others may
// share, and then tokens of its own.
func (d *traced) prompt(p *prompter, row traceRow, n int) (ids []int32, shared int) {
	ids = make([]int32, 0, n)
	for _, b := range row.blocks {
		if len(ids) == n {
			break
		}
		shared = len(ids)
		ids = p.draw(ids, "block", uint64(b), min(d.block(), n-len(ids)))
	}
	if len(ids) < n {
		shared = len(ids)
		ids = p.draw(ids, "row", uint64(row.line), n-len(ids))
	}
	return ids, shared
}

func (d *traced) Describe() plan.Message {
	parts := []plan.Message{plan.Msg(loadFormat, "file", d.Data, "format", d.format)}
	if d.TimeUnit != "" && d.TimeUnit != units[d.format] {
		parts = append(parts, plan.Text(d.TimeUnit))
	}
	if d.Slice != "" {
		parts = append(parts, plan.Text(d.Slice))
	}
	if d.Model != "" {
		parts = append(parts, plan.Msg(loadModel, "model", d.Model))
	}
	if d.LogType != "" {
		parts = append(parts, plan.Msg(loadLogs, "type", d.LogType))
	}
	return workload.Describe("trace", parts...)
}

// A span is a part of a trace by time, since its first row. A to of 0 is its end.
type span struct{ from, to time.Duration }

// parseSpan parses FROM..TO, either of which may be missing.
func parseSpan(text string) (s span, err error) {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		return s, fmt.Errorf("%q: must be FROM..TO, such as 10m..20m, 1h.. or ..30s", text)
	}
	for _, end := range []struct {
		text string
		to   *time.Duration
	}{{from, &s.from}, {to, &s.to}} {
		if end.text == "" {
			continue
		}
		if *end.to, err = time.ParseDuration(end.text); err != nil || *end.to < 0 {
			return s, fmt.Errorf("%q: %q is not a time such as 10m", text, end.text)
		}
	}
	if to != "" && s.to <= s.from {
		return s, fmt.Errorf("%q: ends before it begins", text)
	}
	return s, nil
}

func (s span) has(t time.Duration) bool { return t >= s.from && (s.to == 0 || t < s.to) }
