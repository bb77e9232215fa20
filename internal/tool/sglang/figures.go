package sglang

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// An Version is a form of `python -m sglang.bench_serving`, by the month in
// which it was current.
type Version string

// The forms that differ, newest first.
const (
	// Main is that of mid 2026.
	Main Version = "main"
	// SGLang2601, around release 0.5.6, does not see a chat's reasoning, and reads
	// no usage that comes in an event of its own.
	V2601 Version = "2026-01"
)

// Versions lists the forms, newest first.
func Versions() []Version { return []Version{Main, V2601} }

// Since reports whether v is w or newer.
func (v Version) Since(w Version) bool { return v >= w }

// Options are what a trace does not tell.
type Options struct {
	Version Version
	// AcceptLength is the mean number of tokens a step of speculative decoding
	// gives, as the server says; 0 if it does not.
	AcceptLength float64
	// Count gives the tokens of an answer's text. Without it, or where a run stored no text, the
	// record's count is used.
	Count func(text string) int
	// Split divides the gaps between chunks of OpenAI's protocols over their tokens,
	// as that tool does if the server is SGLang's and drafts tokens.
	Split bool
	// Own: the requests were sent as that tool sends them. Events that it cannot read then make
	// them fail; in other runs Pitot may have asked for these.
	Own bool
	// Turns: requests are of conversations. That tool does not count their prompts.
	Turns bool

	protocol string // of the run
	stream   bool
}

// OptionsOf are those of a run as far as its trace tells, in a form, or in
// today's where it has no name.
func OptionsOf(t *trace.Trace, form Version) Options {
	p := t.Run.Plan
	o := Options{Version: cmp.Or(form, Main), AcceptLength: t.Run.AcceptLength, Own: isSGLang(&p)}
	o.Split = o.AcceptLength > 0 && (p.Protocol == "completions" || p.Protocol == "chat")
	o.Turns = o.Own && p.Protocol == "chat" && slices.ContainsFunc(t.Records, func(r *trace.Record) bool { return r.Turn > 0 })
	return o
}

// Figures is a run in the figures of sglang.bench_serving. The clock of a request
// starts when the concurrency gate lets it go, and stops with the last line of the
// answer, end marker included. A token event is a chunk with visible text. Whatever
// came with status 200 and could be read is a success. Prompt tokens are as the workload
// counted them, those of an answer as asked for where the stream does not count.
type Figures struct {
	result.Figures
	TotalInputText   int       // of TotalInput
	TotalInputVision int       // of TotalInput
	TotalRetokenized int       // tokens of the texts
	InputThroughput  float64   // tokens/s
	Concurrency      float64   // sum of the latencies over the duration
	AcceptLength     float64   // tokens a step; 0 if unknown
	Requests         []Request // in the order of the workload

	// What that tool does not say of its own figures.
	Unreadable int     // of Failed: answered, in a form that it cannot read
	Silent     int     // successes without a chunk of text: their TTFT counts as 0
	Broken     int     // successes that the server or the connection broke off
	Assumed    int     // successes with the requested output length, not a counted one
	InFlight   int     // requests in flight at once, at most
	Handshake  float64 // seconds of TTFT in which a connection was made, mean
	Gap        float64 // seconds between two chunks with text, mean
	Tail       float64 // seconds of Duration after the last answer
	Uncounted  int     // prompt tokens that are not in TotalInput
}

// A Request is a request as that tool sees it.
type Request struct {
	// Request has the gaps that count for the peak: a gap a token with the native
	// protocol, a gap a chunk with OpenAI's.
	result.Request
	Vision      int // of Input
	Retokenized int // tokens
	Prompt      int // tokens, as the server counts them; Input if it does not
	Tiers       *trace.CacheTiers

	assumed, silent, broken, unreadable bool
	spread, gaps                        []float64 // a gap a token; a gap a chunk
	handshake                           float64
}

// NewFigures computes the figures.
func NewFigures(t *trace.Trace, o Options) Figures {
	o.protocol, o.stream = t.Run.Plan.Protocol, t.Run.Plan.Stream
	s := Figures{
		Figures:      result.Figures{Duration: metrics.Duration(t).Seconds() + t.Run.Tail.Seconds(), Refused: result.Refusals(t.Records)},
		AcceptLength: o.AcceptLength, InFlight: metrics.CountConcurrency(t.Records).Peak, Tail: t.Run.Tail.Seconds(),
	}
	s.Requests = make([]Request, 0, len(t.Records))
	var seen []trace.Chunk
	for _, r := range metrics.InOrder(t.Records) {
		seen = o.texts(seen[:0], r)
		s.Requests = append(s.Requests, o.request(r, seen))
	}
	s.sum(o)
	s.count(o)
	s.InputThroughput = s.Rate(float64(s.TotalInput))
	s.Rates()
	return s
}

// openAI are the protocols in which that tool takes each chunk for a token. Chunks of SGLang's own
// /generate count their tokens.
var openAI = []string{"completions", "chat", "trt", "truss"}

func (o Options) native() bool { return !slices.Contains(openAI, o.protocol) && !o.embedding() }

func (o Options) embedding() bool { return o.protocol == "embeddings" }

// request is a record as that tool sees it; seen are the chunks that it counts.
func (o Options) request(r *trace.Record, seen []trace.Chunk) Request {
	q := Request{Vision: r.VisionTokens, Request: result.Request{
		Input: cmp.Or(r.PromptTokens, r.Usage.Prompt), // that tool always has a count
		Start: r.Released.Seconds(), Text: r.Text, ErrorText: words(r),
	}}
	q.unreadable = o.unreadable(r)
	q.OK = o.success(r) && !q.unreadable
	q.Prompt = q.Input
	if o.Version.Since(Main) && (o.native() || o.protocol == "completions" || o.protocol == "chat") {
		q.Prompt = cmp.Or(r.Usage.Prompt, q.Input)
	}
	o.cache(&q, r)
	if q.silent = len(seen) == 0; !q.silent {
		q.TTFT = metrics.Between(r.Released, seen[0].At)
	}
	if r.Connected.Happened() {
		q.handshake = metrics.Between(r.Dialed, r.Connected)
	}
	q.gaps = gaps(seen)
	q.spread = spread(seen, q.gaps)
	q.ITL = q.gaps
	if o.native() {
		q.ITL = q.spread
	}
	if !q.OK {
		if q.unreadable && q.ErrorText == "" {
			q.ErrorText = "the answer has a line that sglang.bench_serving cannot read"
		}
		return q
	}
	o.answered(&q, r, seen)
	return q
}

// words are why a request failed: the text of the status, and the server's message.
func words(r *trace.Record) string {
	if r.Class != trace.HTTP {
		return r.Error
	}
	return http.StatusText(r.Status) + ": " + r.Error
}

func (o Options) answered(q *Request, r *trace.Record, seen []trace.Chunk) {
	q.ErrorText, q.broken = "", !r.OK() && r.Class != trace.Empty
	q.Latency = metrics.Between(r.Released, r.Done)
	if o.embedding() {
		q.TTFT, q.silent = 0, false
		return
	}
	switch {
	case o.stream || q.silent:
	case o.protocol == "chat":
		q.TTFT = q.Latency
	default:
		q.TTFT = q.Latency + 1e-9 // it looks at its clock once more: a TPOT just below 0, shown as -0.00
	}
	q.Output, q.assumed = o.output(r, seen)
	if q.Retokenized = cmp.Or(r.Retokenized, r.OutputTokens); q.silent {
		q.Retokenized = 0
	}
	if o.Count != nil && r.Text != "" {
		q.Retokenized = o.Count(r.Text)
	}
}

// cache is what the server says of the prompt's tokens that it had: over OpenAI's
// protocols that tool sees it only where the server says from where they came.
func (o Options) cache(q *Request, r *trace.Record) {
	q.Tiers = r.Usage.Tiers
	switch {
	case o.native():
		q.Cached = r.Usage.Cached
	case q.Tiers != nil:
		q.Cached = q.Tiers.Device + q.Tiers.Host + q.Tiers.Storage
	}
}

// unreadable reports whether there is a line in a stream that ends the request in that
// tool: a comment, the name of an event, or usage in an event of its own, which has no
// choice to be looked at.
func (o Options) unreadable(r *trace.Record) bool {
	if !o.Own || !o.stream || o.embedding() {
		return false
	}
	choices := o.protocol == "completions" || o.protocol == "truss" || o.protocol == "chat" && !o.Version.Since(Main)
	return r.OtherLines > 0 || choices && (r.Usage.At.Happened() || o.protocol != "chat" && slices.ContainsFunc(r.Chunks, textless))
}

// textless tells whether a choice has no field for text at all.
func textless(c trace.Chunk) bool { return c.Kind&trace.Bare != 0 }

// success: HTTP 200, a line at least, and no line that cannot be read. An error in
// the stream is a chunk without text natively, and in today's chats one without a
// choice.
func (o Options) success(r *trace.Record) bool {
	switch r.Class {
	case "", trace.Empty:
		return true
	case trace.Truncated:
		return len(r.Chunks) > 0
	case trace.StreamError:
		return o.native() || o.protocol == "chat" && o.Version.Since(Main) || slices.Contains([]string{"abort", "error"}, r.FinishReason)
	}
	return false
}

// texts appends the chunks with visible text, natively also repeated text. Tokens of
// chunks without text are added to the next one; natively a chunk that does not raise the
// server's count is skipped.
func (o Options) texts(out []trace.Chunk, r *trace.Record) []trace.Chunk {
	visible := trace.Text
	if o.Version.Since(Main) {
		visible |= trace.Reasoning
	}
	if o.protocol == "trt" { // every line is an event, if there is text in it or not
		return append(out, r.Chunks...)
	}
	reported := false // natively: the server counts
	if o.native() {
		visible |= trace.Repeated
		reported = counted(r.Chunks) > 0
	}
	tokens := 0
	for _, c := range r.Chunks {
		tokens += int(c.Tokens)
		if c.Kind&visible == 0 || c.Kind&trace.Elsewhere != 0 || reported && tokens == 0 && len(out) > 0 {
			continue
		}
		c.Tokens, tokens = trace.Carried(tokens), 0
		out = append(out, c)
	}
	return out
}

// totals tells whether usage came with a chunk without text.
func totals(c trace.Chunk) bool { return c.Kind&trace.Totals != 0 }

func counted(chunks []trace.Chunk) (n int) {
	for _, c := range chunks {
		n += int(c.Tokens)
	}
	return n
}

func gaps(chunks []trace.Chunk) []float64 {
	if len(chunks) < 2 {
		return nil
	}
	out := make([]float64, 0, len(chunks)-1) // there may be millions of a run
	for i := 1; i < len(chunks); i++ {
		out = append(out, metrics.Between(chunks[i-1].At, chunks[i].At))
	}
	return out
}

// spread are the gaps between chunks, each divided over the tokens of the chunk that ends it; an
// unknown number counts as one. If all have one, it is the same list.
func spread(chunks []trace.Chunk, gaps []float64) []float64 {
	total := 0
	for i := range gaps {
		total += max(1, int(chunks[i+1].Tokens))
	}
	if total == len(gaps) {
		return gaps
	}
	out := make([]float64, 0, total)
	for i, gap := range gaps {
		n := max(1, int(chunks[i+1].Tokens))
		for range n {
			out = append(out, gap/float64(n))
		}
	}
	return out
}

// output is the server's count if it came where that tool reads it, else the
// length asked for. Completions are read where there is text, natively up to there, and
// an event with usage alone, which that tool does not ask for, nowhere but in today's
// chats.
func (o Options) output(r *trace.Record, seen []trace.Chunk) (n int, assumed bool) {
	spoke := len(seen) > 0
	behind := r.Usage.At.Happened() || o.protocol == "completions" && slices.ContainsFunc(r.Chunks, totals)
	within := !behind || spoke && seen[len(seen)-1].Tokens > 0
	n, read := r.Usage.Completion, r.Usage.Completion > 0 || r.Refused() // that tool believes any count
	switch {
	case o.protocol == "trt" || o.protocol == "truss":
		read = false
	case o.native():
		read = read && spoke
		if reported := counted(seen); reported > 0 {
			n = min(n, reported)
		}
	case o.protocol == "completions":
		read = read && spoke && within
	case !o.Version.Since(Main):
		read = read && within
	}
	read = read && !r.Quirks.UsageElsewhere
	if read {
		return n, false
	}
	if r.WantTokens == 0 && !o.Own { // that tool always asks for a length
		return r.OutputTokens, false
	}
	return r.WantTokens, true
}

// sum makes the figures that both tools have. Some protocols forget when a request began,
// as far as the peaks go.
func (s *Figures) sum(o Options) {
	all, timed := make([]*result.Request, len(s.Requests)), make([]*result.Request, len(s.Requests))
	for i := range s.Requests {
		q := s.Requests[i].Request
		if o.protocol == "trt" || o.protocol == "truss" {
			q.Start = 0
		}
		all[i], timed[i] = &s.Requests[i].Request, &q
	}
	s.Sum(all, func(i int) []float64 {
		if o.Split {
			return s.Requests[i].spread
		}
		return all[i].ITL
	}, metrics.DefaultPercentiles())
	s.Peaks(timed)
}

func (s *Figures) count(o Options) {
	var e2el []float64
	for i := range s.Requests {
		q := &s.Requests[i]
		if !q.OK {
			s.Unreadable += one(q.unreadable)
			continue
		}
		s.TotalInputVision += q.Vision
		s.TotalRetokenized += q.Retokenized
		s.Handshake += q.handshake
		s.Silent += one(q.silent)
		s.Broken += one(q.broken)
		s.Assumed += one(q.assumed)
		e2el = append(e2el, q.Latency)
	}
	s.Handshake /= float64(max(1, s.Completed))
	if o.Turns {
		s.Uncounted, s.TotalInput, s.TotalInputVision = s.TotalInput, 0, 0
	}
	s.TotalInputText = s.TotalInput - s.TotalInputVision
	s.Gap, s.Concurrency = s.gaps().Mean(), s.Rate(stats.Sum(e2el))
}

// gaps are those between the chunks of the successes.
func (s *Figures) gaps() stats.Stream {
	return func(yield func([]float64) bool) {
		for i := range s.Requests {
			if q := &s.Requests[i]; q.OK && !yield(q.gaps) {
				return
			}
		}
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// totals are the figures that are no statistics of latencies.
func (s *Figures) totals() metrics.List {
	l := s.List()
	l.Add(figure.InputThroughput, s.InputThroughput)
	l.Add(figure.Concurrency, s.Concurrency)
	if s.AcceptLength != 0 {
		l.Add(figure.AcceptLength, s.AcceptLength)
	}
	return l
}

func (s *Figures) figures() []trace.ReportedFigure {
	l := s.totals()
	for _, m := range s.Metrics() {
		l.Distribution(m.Metric, m.Distribution)
	}
	if s.ITL.N > 0 {
		l.Add(figure.ITL.Max(), s.ITL.Max)
	}
	return l
}

// Definitions are the rules of the tool.
func Definitions() metrics.Definitions {
	return metrics.Definitions{
		Tool: "sglang", Figures: figuresOf, Samples: samplesOf, Native: "generate",
		ReportsLimits: func(*trace.Origin) bool { return true },
		Descriptions: map[figure.Metric]plan.Code{
			figure.TTFT: "definition.gate-to-text", figure.TPOT: "definition.end-per-token",
			figure.ITL:  "definition.divided-gaps",
			figure.E2EL: "definition.gate-to-last-line", figure.Peak: "definition.token-event-peaks",
		},
		Truth: map[figure.Metric]plan.Code{
			figure.TTFT: metrics.ToFirstToken, figure.ITL: metrics.Gaps,
			figure.TPOT: metrics.UntilEnd, figure.E2EL: metrics.ToEnd,
		},
	}
}

func figuresOf(t *trace.Trace, form string) []trace.ReportedFigure {
	s := NewFigures(t, OptionsOf(t, Version(form)))
	return s.figures()
}

func samplesOf(t *trace.Trace, form string) (out []metrics.Sample) {
	for i, q := range NewFigures(t, OptionsOf(t, Version(form))).Requests {
		if q.OK {
			sample := q.Sample(i)
			sample.ITL = q.spread
			out = append(out, sample)
		}
	}
	return out
}
