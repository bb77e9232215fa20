package view

import (
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostChunks are shown of an answer.
const mostChunks = 20000

// NewRequest shows a record, by the definitions of a run that was streamed or not.
func NewRequest(r *trace.Record, stream bool, lang *words.Language) Request {
	q := NewRecord(r, stream, lang)
	q.Text, q.All = r.Text, len(r.Chunks)
	for _, c := range r.Chunks[:min(len(r.Chunks), mostChunks)] {
		q.Chunks = append(q.Chunks, Chunk{At: c.At.Seconds(), Slack: float64(c.Slack) / 1e6, Tokens: int(c.Tokens), Kind: kind(c.Kind)})
	}
	return q
}

// NewRecord is NewRequest without its text and its chunks.
func NewRecord(r *trace.Record, stream bool, lang *words.Language) Request {
	q := Request{
		Index: r.Index, ID: r.ID, Tenant: r.Tenant, Session: r.Session, Turn: r.Turn,
		PromptTokens: metrics.PromptTokens(r), WantTokens: r.WantTokens, OutputTokens: r.OutputTokens, Cached: r.Credible().Cached,
		FinishReason: r.FinishReason, Status: r.Status, Class: string(r.Class), Error: secret.Mask(r.Error), Stamps: string(r.Stamps),
		Instants: instants(r, stream, lang), Chunks: []Chunk{}, All: len(r.Chunks),
	}
	if !r.OK() {
		q.Failure = lang.Word(r.Class.Code())
		return q
	}
	if r.Sent.Happened() {
		ttft, tpot, e2el := metrics.OwnLatencies(r, stream)
		q.TTFT, q.TPOT, q.E2EL = number(ttft), number(tpot), number(e2el)
	}
	return q
}

// number is nil for what is none.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// instants are those that happened, in the order in which they do.
func instants(r *trace.Record, stream bool, lang *words.Language) []Moment {
	first, _, n := r.Output()
	if n == 0 || !stream {
		first = trace.Never
	}
	all := []Moment{}
	for _, m := range []struct {
		name string
		at   trace.Instant
	}{
		{"due", r.Due},
		{"free", r.Free},
		{"released", r.Released},
		{"dialed", r.Dialed},
		{"connected", r.Connected},
		{"sent", r.Sent},
		{"first_byte", r.FirstByte},
		{"first_token", first},
		{"done", r.Done},
	} {
		if m.at.Happened() {
			all = append(all, Moment{Name: m.name, Title: lang.Word(plan.Code("instant." + m.name)), At: m.at.Seconds()})
		}
	}
	return all
}

// kind names what a chunk carries.
func kind(k trace.Kind) string {
	var parts []string
	for _, one := range []struct {
		bit  trace.Kind
		name string
	}{{trace.Text, "text"}, {trace.Reasoning, "reasoning"}, {trace.ToolCall, "tool call"}, {trace.Role, "role"}, {trace.Finish, "finish"}} {
		if k&one.bit != 0 {
			parts = append(parts, one.name)
		}
	}
	return strings.Join(parts, "+")
}
