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

// A Request is one request in full.
type Request struct {
	Index        int    `json:"index"`
	ID           string `json:"id"`
	Tenant       string `json:"tenant"`
	Session      string `json:"session"`
	Turn         int    `json:"turn"`
	PromptTokens int    `json:"prompt_tokens"`
	WantTokens   int    `json:"want_tokens"`
	OutputTokens int    `json:"output_tokens"`
	Cached       int    `json:"cached_tokens"`
	FinishReason string `json:"finish_reason"`
	Status       int    `json:"status"`
	Class        string `json:"class"`
	Failure      string `json:"failure"` // the class in words
	Error        string `json:"error"`
	Text         string `json:"text"`
	Stamps       string `json:"stamps"`
	// Instants are its own, in order, with their names in words; seconds since the start of the run.
	Instants []Moment `json:"instants"`
	// TTFT, TPOT and E2EL are by Pitot's definitions, from the first byte sent.
	TTFT *float64 `json:"ttft"`
	TPOT *float64 `json:"tpot"`
	E2EL *float64 `json:"e2el"`
	// Chunks are the first 20000 chunks of its answer, of All.
	Chunks []Chunk `json:"chunks"`
	All    int     `json:"all"`
}

// A Moment is an instant with its name.
type Moment struct {
	Name  string  `json:"name"` // due, free, released, dialed, connected, sent, first_byte, first_token, done
	Title string  `json:"title"`
	At    float64 `json:"at"`
}

// A Chunk is one streamed event of an answer.
type Chunk struct {
	At     float64 `json:"at"`
	Slack  float64 `json:"slack"` // by which it may have come earlier
	Tokens int     `json:"tokens"`
	Kind   string  `json:"kind"` // text, reasoning, tool call, role, finish; with +: more than one
}

// Records are a page of raw records: the rows of a table.
type Records struct {
	Total int       `json:"total"`
	Rows  []Request `json:"rows"` // without Text and Chunks
}

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
		ttft, tpot, e2el := metrics.PitotLatencies(r, stream)
		q.TTFT, q.TPOT, q.E2EL = Number(ttft), Number(tpot), Number(e2el)
	}
	return q
}

// Number is nil for NaN and infinities.
func Number(v float64) *float64 {
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
