package sglang

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// sglangRun is a run over protocol; "generate" stands for SGLang's own.
func sglangRun(protocol string, end trace.Instant, records ...*trace.Record) *trace.Trace {
	return &trace.Trace{
		Run:     trace.Run{End: end * msec, Plan: trace.Load{Protocol: protocol, Stream: true, Requests: len(records)}},
		Records: records,
	}
}

// The server counts in every chunk: 2 tokens in the first, one event; 60 ms for 2
// tokens; 30 ms for 3, of which one came without text; a chunk that adds none, and
// from whose instant nothing is counted; 20 ms for 1.
func counting() *trace.Record {
	r := answered(0, 0, 8)
	r.Chunks = []trace.Chunk{
		{At: 100 * msec, Kind: trace.Text, Tokens: 2},
		{At: 160 * msec, Kind: trace.Text, Tokens: 2},
		{At: 170 * msec, Tokens: 1},
		{At: 190 * msec, Kind: trace.Text, Tokens: 2},
		{At: 195 * msec, Kind: trace.Text},
		{At: 210 * msec, Kind: trace.Text, Tokens: 1},
	}
	r.Done, r.Usage.Completion, r.WantTokens = 220*msec, 8, 12
	return r
}

func TestSGLangDividesGapsOverTokens(t *testing.T) {
	s := NewFigures(sglangRun("generate", 440, counting()), Options{Version: Main})
	q := s.Requests[0]
	if diff := cmp.Diff([]float64{.03, .03, .01, .01, .01, .02}, q.ITL, exact); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"TTFT", s.TTFT.Mean, .1},
		{"E2E, to the end of the answer", s.E2EL.Median, .22},
		{"TPOT, of 7 tokens", s.TPOT.Mean, .12 / 7},
		{"mean ITL", s.ITL.Mean, .11 / 6},
		{"median ITL", s.ITL.Median, .015},
		{"P95 ITL, between the two of 30 ms", s.ITL.At(95), .03},
		{"max ITL", s.ITL.Max, .03},
		{"generated", float64(s.TotalOutput), 8},
		{"input", float64(s.TotalInput), 10},
		{"input throughput", s.InputThroughput, 10 / .44},
		{"output throughput", s.OutputThroughput, 8 / .44},
		{"total throughput", s.TotalTokenThroughput, 18 / .44},
		{"peak: the first chunk is one event", s.MaxOutputPerSecond, 7},
		{"concurrency", s.Concurrency, .5},
		{"assumed", float64(s.Assumed), 0},
	} {
		if !cmp.Equal(c.got, c.want, exact) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// Over OpenAI's protocols gaps are divided if the server drafts tokens, but a chunk is
// one event to the peak, and one that does not add to the count has a token.
func TestSGLangEventsOfOpenAIAreChunks(t *testing.T) {
	whole := NewFigures(sglangRun("completions", 440, counting()), Options{Version: Main})
	if whole.ITL.N != 4 || whole.ITL.Max != .06 || whole.MaxOutputPerSecond != 5 {
		t.Errorf("%v events, %d gaps of at most %v s", whole.MaxOutputPerSecond, whole.ITL.N, whole.ITL.Max)
	}
	s := NewFigures(sglangRun("completions", 440, counting()), Options{Version: Main, Split: true})
	if diff := cmp.Diff([]float64{.06, .03, .005, .015}, s.Requests[0].ITL, exact); diff != "" {
		t.Error(diff)
	}
	if s.MaxOutputPerSecond != 5 || s.ITL.N != 7 || s.ITL.Max != .03 {
		t.Errorf("%v events, %d gaps of at most %v s", s.MaxOutputPerSecond, s.ITL.N, s.ITL.Max)
	}
	r := counting()
	for i := range r.Chunks {
		r.Chunks[i].Tokens = 0 // not known: one each
	}
	for _, protocol := range []string{"completions", "generate"} {
		s = NewFigures(sglangRun(protocol, 440, r), Options{Version: Main, Split: true})
		if s.ITL.N != 4 || s.ITL.Max != .06 || s.MaxOutputPerSecond != 5 {
			t.Errorf("%s: %v events, %d gaps of at most %v s", protocol, s.MaxOutputPerSecond, s.ITL.N, s.ITL.Max)
		}
	}
}

func TestSGLangAssumesLengths(t *testing.T) {
	const own, within, none = "an event of its own", "chunks", "nowhere"
	for _, tt := range []struct {
		protocol string
		version  Version
		usage    string
		want     int
	}{
		{"completions", Main, own, 1024},
		{"completions", Main, within, 100},
		{"completions", V2601, within, 100},
		{"completions", Main, none, 1024},
		{"chat", Main, own, 100},
		{"chat", Main, none, 1024},
		{"chat", V2601, own, 1024},
		{"chat", V2601, within, 100},
		{"generate", Main, within, 100},
		{"generate", Main, none, 1024},
	} {
		r := answered(0, 0, 100, 50, 60)
		r.WantTokens = 1024
		if tt.usage != none {
			r.Usage.Completion = 100
		}
		if tt.usage == own {
			r.Usage.At = 60 * msec
		}
		s := NewFigures(sglangRun(tt.protocol, 100, r), Options{Version: tt.version})
		assumed := 0
		if tt.want == 1024 {
			assumed = 1
		}
		if s.TotalOutput != tt.want || s.Assumed != assumed || s.TotalRetokenized != 100 {
			t.Errorf("%+v: %d tokens, %d assumed, %d retokenized", tt, s.TotalOutput, s.Assumed, s.TotalRetokenized)
		}
		if !cmp.Equal(s.TPOT.Mean, .011/float64(tt.want-1), exact) {
			t.Errorf("%+v: TPOT %v", tt, s.TPOT.Mean)
		}
	}
	r := answered(0, 0, 7, 50, 60)
	r.WantTokens = 0
	if s := NewFigures(sglangRun("completions", 100, r), Options{Version: Main}); s.TotalOutput != 7 || s.Assumed != 0 {
		t.Errorf("without a length to assume: %d tokens", s.TotalOutput)
	}
	r.Text = "one two three"
	if s := NewFigures(sglangRun("completions", 100, r), Options{Count: func(s string) int { return len(s) }}); s.TotalRetokenized != 13 {
		t.Errorf("%d tokens retokenized", s.TotalRetokenized)
	}
}

func TestSGLangTextOfAChat(t *testing.T) {
	r := answered(0, 0, 4)
	r.Chunks = []trace.Chunk{
		{At: 10 * msec, Kind: trace.Role},
		{At: 20 * msec, Kind: trace.Reasoning},
		{At: 30 * msec}, // a token without text
		{At: 50 * msec, Kind: trace.Text},
		{At: 60 * msec, Kind: trace.ToolCall},
		{At: 90 * msec, Kind: trace.Text},
		{At: 95 * msec, Kind: trace.Finish | trace.Bare},
	}
	r.Done = 100 * msec
	for version, want := range map[Version]struct {
		ttft float64
		itl  []float64
	}{
		Main:  {.02, []float64{.03, .04}},
		V2601: {.05, []float64{.04}},
	} {
		q := NewFigures(sglangRun("chat", 100, r), Options{Version: version}).Requests[0]
		if q.TTFT != want.ttft || q.Latency != .1 || !cmp.Equal(q.ITL, want.itl, exact) {
			t.Errorf("%s: %+v", version, q)
		}
	}
}

// Thirty requests of 100 ms, one after the other: ten begin within every second,
// and the one before them ends at its first instant.
func TestSGLangPeakCountsTouchedSeconds(t *testing.T) {
	var records []*trace.Record
	for i := range trace.Instant(30) {
		r := answered(int(i), 100*i, 2, 100*i+10, 100*i+20)
		r.Done = (100*i + 100) * msec
		records = append(records, r)
	}
	s := NewFigures(sglangRun("chat", 3000, records...), Options{Version: Main})
	if s.MaxConcurrent != 11 || s.InFlight != 1 || s.MaxOutputPerSecond != 20 || !cmp.Equal(s.Concurrency, 1.0, exact) {
		t.Errorf("at most %d, in truth %d; %v events; concurrency %v", s.MaxConcurrent, s.InFlight, s.MaxOutputPerSecond, s.Concurrency)
	}
}

func TestSGLangSuccess(t *testing.T) {
	for _, tt := range []struct {
		name           string
		class          trace.Class
		finish         string
		chunks         bool
		native, openAI bool
	}{
		{"an answer", "", "stop", true, true, true},
		{"an end marker and nothing else", trace.Empty, "", false, true, true},
		{"no end marker", trace.Truncated, "", true, true, true},
		{"comments alone", trace.Truncated, "", false, false, false},
		{"an error among the chunks", trace.StreamError, "", true, true, false},
		{"given up", trace.StreamError, "abort", true, true, true},
		{"cut off", trace.Closed, "", true, false, false},
		{"an error status", trace.HTTP, "", false, false, false},
	} {
		r := answered(0, 0, 3, 50)
		r.Class, r.FinishReason, r.Error, r.WantTokens = tt.class, tt.finish, "words", 5
		if !tt.chunks {
			r.Chunks = nil
		}
		for protocol, want := range map[string]bool{"generate": tt.native, "completions": tt.openAI} {
			s := NewFigures(sglangRun(protocol, 100, r), Options{Version: Main})
			q := s.Requests[0]
			if q.OK != want || (s.Completed == 1) != want || (s.Failed == 0) != want || (q.ErrorText == "") != want || (q.Output == 5) != want {
				t.Errorf("%s, %s: %+v", tt.name, protocol, q)
			}
			if silent := want && !tt.chunks; (s.Silent == 1) != silent || silent && (s.TTFT.N != 1 || s.TTFT.Max != 0) {
				t.Errorf("%s, %s: %d silent, TTFT %+v", tt.name, protocol, s.Silent, s.TTFT)
			}
		}
	}
}

func TestSGLangOfNothing(t *testing.T) {
	s := NewFigures(sglangRun("chat", 0), Options{Version: Main, AcceptLength: 2.5})
	if s.Completed != 0 || s.MaxConcurrent != 0 || s.Concurrency != 0 || s.RequestThroughput != 0 || s.AcceptLength != 2.5 {
		t.Errorf("%+v", s)
	}
}

// A server may claim any number of tokens for a chunk.
func TestSGLangWildCounts(t *testing.T) {
	r := answered(0, 0, 3, 50, 60, 70)
	r.Chunks[1].Tokens = 1<<16 - 1
	s := NewFigures(sglangRun("completions", 100, r), Options{Version: Main, Split: true})
	if s.ITL.N != 1<<16 {
		t.Errorf("%d gaps", s.ITL.N)
	}
}

// What that tool cannot read ends a request that it sent; in a run of another command
// line usage in an event of its own was asked for.
func TestSGLangFailsOfLinesThatItCannotRead(t *testing.T) {
	for _, tt := range []struct {
		protocol string
		version  Version
		asides   int
		usage    trace.Instant
		kind     trace.Kind
		failed   int
	}{
		{"completions", Main, 0, trace.Never, 0, 0},
		{"completions", Main, 1, trace.Never, 0, 1},
		{"completions", Main, 0, 60, 0, 1},
		{"completions", Main, 0, trace.Never, trace.Bare, 1},
		{"truss", Main, 0, 60, 0, 1},
		{"chat", Main, 0, 60, trace.Bare, 0},
		{"chat", V2601, 0, 60, 0, 1},
		{"generate", Main, 0, 60, trace.Bare, 0},
		{"generate", Main, 2, trace.Never, 0, 1},
		{"embeddings", Main, 2, trace.Never, 0, 0},
	} {
		r := answered(0, 0, 2, 50, 60)
		r.Chunks[1].Kind |= tt.kind
		r.OtherLines, r.Usage.At = tt.asides, tt.usage
		s := NewFigures(sglangRun(tt.protocol, 100, r), Options{Version: tt.version, Own: true})
		if s.Failed != tt.failed || s.Unreadable != tt.failed || (s.Requests[0].ErrorText != "") != (tt.failed > 0) {
			t.Errorf("%+v: %d failed", tt, s.Failed)
		}
		if s := NewFigures(sglangRun(tt.protocol, 100, r), Options{Version: tt.version}); s.Failed != 0 {
			t.Errorf("%+v of another command line: %d failed", tt, s.Failed)
		}
	}
}

// Answers in one piece: a chat's TTFT is its latency; of others the clock is read once
// more, so that TPOT is just below 0.
func TestSGLangWithoutAStream(t *testing.T) {
	for protocol, below := range map[string]bool{"chat": false, "completions": true, "generate": true} {
		r := answered(0, 0, 5, 50)
		r.Usage.Completion, r.Done = 5, 50*msec
		tr := sglangRun(protocol, 100, r)
		tr.Run.Plan.Stream = false
		s := NewFigures(tr, Options{Version: Main, Own: true})
		if (s.TPOT.Mean < 0) != below || s.TPOT.Mean < -1e-6 || math.Abs(s.TTFT.Mean-.05) > 1e-8 || s.ITL.N != 0 || s.TotalOutput != 5 {
			t.Errorf("%s: %+v, %d tokens", protocol, s.Latencies, s.TotalOutput)
		}
	}
}

func TestSGLangOfEmbeddings(t *testing.T) {
	r := answered(0, 0, 0, 50)
	r.WantTokens = 20
	s := NewFigures(sglangRun("embeddings", 100, r), Options{Version: Main, Own: true})
	if s.Completed != 1 || s.TotalOutput != 0 || s.Silent != 0 || s.Assumed != 0 || s.TTFT.Mean != 0 || s.E2EL.Mean == 0 || s.TotalInput != 10 {
		t.Errorf("%+v", s)
	}
}

// TensorRT-LLM's answers have the length asked for, each line is an event, and all
// requests seem to have begun at once.
func TestSGLangOfTRT(t *testing.T) {
	var records []*trace.Record
	for i := range trace.Instant(3) {
		r := answered(int(i), 2000*i, 2, 2000*i+10)
		r.Chunks = append(r.Chunks, trace.Chunk{At: (2000*i + 30) * msec, Kind: trace.Role}) // no text
		r.Done, r.WantTokens = (2000*i+40)*msec, 7
		records = append(records, r)
	}
	s := NewFigures(sglangRun("trt", 6000, records...), Options{Version: Main, Own: true})
	if s.TotalOutput != 21 || s.Assumed != 3 || s.MaxConcurrent != 3 || s.MaxOutputPerSecond != 6 || s.ITL.N != 3 {
		t.Errorf("%+v", s)
	}
}

func TestSGLangTurnsAreNotCountedAsInput(t *testing.T) {
	s := NewFigures(sglangRun("chat", 100, answered(0, 0, 2, 50)), Options{Version: Main, Own: true, Turns: true})
	if s.TotalInput != 0 || s.TotalInputText != 0 || s.Uncounted != 10 || s.InputThroughput != 0 || s.TotalTokenThroughput != s.OutputThroughput {
		t.Errorf("%+v", s)
	}
}

// 20 ms of connection, 100 ms after the last answer, 6 of 10 prompt tokens a picture's.
func TestSGLangOfWhatIsNotTheServers(t *testing.T) {
	r := answered(0, 0, 2, 50, 60)
	r.Dialed, r.Connected, r.VisionTokens, r.Retokenized = 0, 20*msec, 6, 3
	r.Usage.Cached = 4
	tr := sglangRun("generate", 100, r)
	tr.Run.Tail = 100 * time.Millisecond
	s := NewFigures(tr, Options{Version: Main})
	if s.Duration != .2 || s.Tail != .1 || s.Handshake != .02 || s.TotalInputVision != 6 || s.TotalInputText != 4 || s.TotalRetokenized != 3 || s.Requests[0].Cached != 4 {
		t.Errorf("%+v", s)
	}
	r.Usage.Tiers = &trace.CacheTiers{Device: 1, Host: 2}
	if q := NewFigures(sglangRun("chat", 100, r), Options{Version: Main}).Requests[0]; q.Cached != 3 {
		t.Errorf("%d cached tokens", q.Cached)
	}
}

// Today's chats pass over an event without a choice, as one with an error is.
func TestSGLangChatsWithAnError(t *testing.T) {
	for version, want := range map[Version]int{Main: 1, V2601: 0} {
		r := answered(0, 0, 3, 50)
		r.Class, r.Error, r.WantTokens = trace.StreamError, "words", 5
		s := NewFigures(sglangRun("chat", 100, r), Options{Version: version, Own: true})
		if s.Completed != want || s.Broken != want || s.Failed != 1-want {
			t.Errorf("%s: %d successes, %d of them broken, %d failed", version, s.Completed, s.Broken, s.Failed)
		}
	}
}

// No text has no tokens, however many the server counts.
func TestSGLangCountsNothingOfNoText(t *testing.T) {
	r := answered(0, 0, 0, 50)
	r.Chunks, r.OutputTokens, r.Usage.Completion = nil, 4, 4
	if s := NewFigures(sglangRun("chat", 100, r), Options{Version: Main, Own: true}); s.TotalRetokenized != 0 || s.TotalOutput != 4 {
		t.Errorf("%d tokens of the text, %d of the server", s.TotalRetokenized, s.TotalOutput)
	}
}

// A token without fresh text, natively, ends a gap where the answer is told once more,
// and is passed over where there is no text. The count is that of the last chunk with
// text.
func TestSGLangTokensWithoutText(t *testing.T) {
	for kind, want := range map[trace.Kind]struct {
		itl    []float64
		output int
	}{
		trace.Repeated: {[]float64{.01, .01, .01}, 4},
		0:              {[]float64{.01, .01}, 3}, // 20 ms for two
	} {
		r := answered(0, 0, 4)
		r.Chunks = []trace.Chunk{
			{At: 10 * msec, Kind: trace.Text, Tokens: 1},
			{At: 20 * msec, Kind: kind, Tokens: 1},
			{At: 30 * msec, Kind: trace.Text, Tokens: 1},
			{At: 40 * msec, Kind: kind, Tokens: 1},
		}
		r.Done, r.Usage.Completion, r.WantTokens = 50*msec, 4, 9
		q := NewFigures(sglangRun("generate", 100, r), Options{Version: Main, Own: true}).Requests[0]
		if diff := cmp.Diff(want.itl, q.ITL, exact); diff != "" || q.Output != want.output {
			t.Errorf("kind %d: %d tokens\n%s", kind, q.Output, diff)
		}
	}
}

// Usage that a completion's stream tells with an empty text is not read.
func TestSGLangUsageBesideNoText(t *testing.T) {
	for kind, want := range map[trace.Kind]int{trace.Finish | trace.Totals: 9, trace.Text | trace.Finish: 2} {
		r := answered(0, 0, 2, 50, 60)
		r.Chunks[1].Kind, r.Usage.Completion, r.WantTokens = kind, 2, 9
		if s := NewFigures(sglangRun("completions", 100, r), Options{Version: Main, Own: true}); s.TotalOutput != want {
			t.Errorf("kind %d: %d tokens, want %d", kind, s.TotalOutput, want)
		}
	}
}

// What went wrong begins with the words of the status.
func TestSGLangWordsOfAStatus(t *testing.T) {
	r := answered(0, 0, 3, 50)
	r.Class, r.Status, r.Error = trace.HTTP, 404, "no such model"
	if got := NewFigures(sglangRun("chat", 100, r), Options{Version: Main}).Requests[0].ErrorText; got != "Not Found: no such model" {
		t.Error(got)
	}
}

const msec = trace.Instant(time.Millisecond)

// answered is a request that is released and sent at sent, and whose output chunks
// come at the given instants; all in milliseconds.
func answered(index int, sent trace.Instant, tokens int, chunks ...trace.Instant) *trace.Record {
	r := trace.NewRecord(index)
	r.Due, r.Released, r.Sent = 0, sent*msec, sent*msec
	for _, at := range chunks {
		r.Chunks = append(r.Chunks, trace.Chunk{At: at * msec, Kind: trace.Text})
		r.Done = at*msec + msec
	}
	r.OutputTokens, r.CountedFrom = tokens, trace.FromUsage
	r.PromptTokens, r.WantTokens, r.Status = 10, tokens, 200
	return r
}

var exact = cmpopts.EquateApprox(1e-12, 0)
