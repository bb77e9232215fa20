package streams

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A row is an answer and what is right about it.
type row struct {
	name     string
	protocol endpoint.Protocol // chat if empty
	asked    int               // output tokens, 16 if 0
	one      bool              // asked for in one piece
	status   int               // 200 if 0
	header   string            // Retry-After
	pieces   []piece

	own    answer
	doubts []plan.Code // reasons of the verdict, none for a run that is valid
	says   []string    // of the notes
	never  []string

	vllm, sglang answer
	right        string // who tells what the server did: all, pitot, or both names
}

// A piece is what a server writes at once, some milliseconds after the piece before.
type piece struct {
	after int
	text  string
}

// An answer is what a tool makes of one: how it failed, or its tokens, the milliseconds to
// the first, and those for each after it; 0: there is none.
type answer struct {
	class  trace.Class
	tokens int
	ttft   float64
	tpot   float64
}

// failed is the answer of a dialect, which has no classes.
var failed = answer{class: "failed"}

// requests are sent one after the other.
const requests = 2

// run asks for the row's answer and returns what was seen.
func (w *row) run(t *testing.T) *trace.Trace {
	t.Helper()
	out := &trace.Trace{Run: trace.Run{Kind: trace.Measured, Status: trace.Complete, Env: trace.Environment{CPUs: 1}}}
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: w}
		go func() { _ = srv.Serve(l) }()
		time0 := clock.New()
		tr := transport.New(transport.Config{Dial: l.Dial, Clock: time0})
		client, err := endpoint.New(tr, endpoint.Options{Protocol: w.protocol, URL: "http://engine" + w.protocol.Path(), Stream: !w.one, IncludeUsage: true, KeepText: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range requests {
			req := &workload.Request{Text: "hello there", OutputTokens: w.asked}
			body, err := client.Encode(req)
			if err != nil {
				t.Fatal(err)
			}
			rec := trace.NewRecord(i)
			rec.WantTokens, rec.PromptTokens = w.asked, 2
			rec.Due, rec.Released = 0, trace.Instant(time0.Now())
			client.Send(t.Context(), req, body, rec)
			rec.Due = rec.Released
			out.Records = append(out.Records, rec)
		}
		out.Run.End = trace.Instant(time0.Now())
		tr.Close()
		_ = srv.Close()
		_ = l.Close()
	})
	out.Run.Plan = trace.Load{Protocol: string(w.protocol), Stream: !w.one, Requests: requests, Concurrency: 1}
	return out
}

// ServeHTTP writes the pieces.
func (w *row) ServeHTTP(to http.ResponseWriter, _ *http.Request) {
	if to.Header().Set("Content-Type", "text/event-stream"); w.header != "" {
		to.Header().Set("Retry-After", w.header)
	}
	if w.status != 0 {
		to.WriteHeader(w.status)
	}
	for _, p := range w.pieces {
		time.Sleep(time.Duration(p.after) * time.Millisecond)
		_, _ = io.WriteString(to, p.text)
		to.(http.Flusher).Flush()
	}
}

func TestStreams(t *testing.T) {
	for _, w := range rows() {
		t.Run(w.name, func(t *testing.T) {
			seen := w.run(t)
			w.checkOwn(t, seen)
			check(t, "vllm", w.vllm, vllmAnswers(seen))
			check(t, "sglang", w.sglang, sglangAnswers(seen))
			w.checkRight(t)
		})
	}
}

// An answer that comes whole is told in every protocol, with three chunks as with one of several
// tokens.
func TestEveryProtocolTellsAnAnswerThatComesWhole(t *testing.T) {
	for p, words := range wordings {
		for _, n := range []int{1, 3} {
			w := row{protocol: p, asked: 12}
			all := words.begins
			for i := range n {
				all += words.event(i, 12/n)
			}
			w.pieces = []piece{{300, all + words.ends}}
			seen := w.run(t)
			v := metrics.HealthOf(seen).Verdict
			r := seen.Records[0]
			whole := slices.ContainsFunc(v.Reasons, func(m plan.Message) bool { return m.Code == "verdict.arrive-whole" })
			if _, _, chunks := r.Output(); !r.OK() || !whole || v.Validity == trace.Valid || chunks != n || r.OutputTokens != 12 {
				t.Errorf("%s, %d chunks: %s %s, %d chunks, %d tokens, %+v", p, n, r.Class, r.Error, chunks, r.OutputTokens, v)
			}
		}
	}
}

// SGLang's own protocol has thoughts in its text: what it counts as reasoning was streamed.
func TestThoughtsInATextAreNotHidden(t *testing.T) {
	text := func(i int) string {
		return data(`{"text":%q,"meta_info":{"finish_reason":null,"prompt_tokens":9,"completion_tokens":%d,"reasoning_tokens":8}}`, strings.Repeat(" a a a a", i), 4*i)
	}
	w := row{protocol: endpoint.Generate, asked: 12, pieces: with(every(20, text(1), text(2), text(3)), done)}
	r := w.run(t).Records[0]
	if _, tpot, _ := metrics.PitotLatencies(r, true); r.Hidden() != 0 || !near(ms(tpot), 40./11) {
		t.Errorf("%d hidden, TPOT %v: %+v", r.Hidden(), tpot, r)
	}
}

// What other protocols stream under a name that is not known is named as well.
func TestOtherProtocolsNameWhatIsNotRead(t *testing.T) {
	for p, unknown := range map[endpoint.Protocol]string{
		endpoint.Responses: data(`{"type":"response.musings.delta","delta":"hm"}`),
		endpoint.Messages:  data(`{"type":"content_block_delta","delta":{"type":"musings_delta","musings":"hm"}}`),
	} {
		words := wordings[p]
		w := row{protocol: p, asked: 12, pieces: with(append(every(20, words.begins+unknown, unknown), every(20, words.event(0, 5), words.event(1, 5))...), words.ends)}
		seen := w.run(t)
		if q := seen.Records[0].Quirks; !strings.Contains(q.Unread, "musings") {
			t.Errorf("%s: %+v, %+v", p, q, seen.Records[0])
		}
	}
}

// checkOwn holds Pitot's own figures, verdict and notes against the row.
func (w *row) checkOwn(t *testing.T, seen *trace.Trace) {
	t.Helper()
	var got []answer
	for _, r := range seen.Records {
		a := answer{class: r.Class}
		if r.OK() {
			ttft, tpot, _ := metrics.PitotLatencies(r, seen.Run.Plan.Stream)
			a.tokens, a.ttft, a.tpot = r.OutputTokens, ms(ttft), ms(tpot)
		}
		got = append(got, a)
	}
	check(t, "own", w.own, got)
	s := metrics.Summarize(seen, metrics.Options{})
	var doubts []plan.Code
	for _, m := range s.Health.Verdict.Reasons {
		doubts = append(doubts, m.Code)
	}
	if want := w.doubts; w.own.class == "" && !slices.Equal(doubts, want) {
		t.Errorf("own: doubts %v, want %v", doubts, want)
	}
	var said strings.Builder
	if err := report.Text(&said, s, words.In("en")); err != nil {
		t.Fatal(err)
	}
	for _, words := range w.says {
		if !strings.Contains(said.String(), words) {
			t.Errorf("own: the report does not say %q", words)
		}
	}
	for _, words := range w.never {
		if strings.Contains(said.String(), words) {
			t.Errorf("own: the report says %q", words)
		}
	}
	if t.Failed() {
		t.Log(said.String())
	}
}

// checkRight holds what the row says of the tools against their figures: who is right has
// those that are.
func (w *row) checkRight(t *testing.T) {
	t.Helper()
	same := func(a answer) bool {
		return (a.class == "") == (w.own.class == "") && a.tokens == w.own.tokens && near(a.ttft, w.own.ttft) && near(a.tpot, w.own.tpot)
	}
	right := "pitot"
	switch v, s := same(w.vllm), same(w.sglang); {
	case v && s:
		right = "all"
	case v:
		right = "pitot, vllm"
	case s:
		right = "pitot, sglang"
	}
	if right != w.right {
		t.Errorf("right are: %s, the row says: %s", right, w.right)
	}
}

func check(t *testing.T, tool string, want answer, got []answer) {
	t.Helper()
	for i, a := range got {
		if a.class != want.class || a.tokens != want.tokens || !near(a.ttft, want.ttft) || !near(a.tpot, want.tpot) {
			t.Errorf("%s, request %d: %+v, want %+v", tool, i, a, want)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.01 }

// ms is seconds in milliseconds, 0 for none.
func ms(seconds float64) float64 {
	if math.IsNaN(seconds) {
		return 0
	}
	return seconds * 1000
}

func vllmAnswers(seen *trace.Trace) (all []answer) {
	for _, q := range vllm.NewFigures(seen, vllm.Options{Version: vllm.Versions()[0]}).Requests {
		if !q.OK {
			all = append(all, failed)
			continue
		}
		all = append(all, answer{"", q.Output, ms(q.TTFT), ms(q.TPOT())})
	}
	return all
}

func sglangAnswers(seen *trace.Trace) (all []answer) {
	for _, q := range sglang.NewFigures(seen, sglang.Options{Version: sglang.Main, Own: true}).Requests {
		if !q.OK {
			all = append(all, failed)
			continue
		}
		all = append(all, answer{"", q.Output, ms(q.TTFT), ms(q.TPOT())})
	}
	return all
}

// The words of a server.

func data(format string, args ...any) string { return "data: " + fmt.Sprintf(format, args...) + "\n\n" }

// delta is an event of a chat.
func delta(members string) string {
	return data(`{"choices":[{"index":0,"delta":{%s},"finish_reason":null}]}`, members)
}

func says(words string) string { return delta(fmt.Sprintf(`"content":%q`, words)) }

func finish(reason string) string {
	return data(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

// counted is an event of usage alone.
func counted(tokens string) string {
	return data(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%s}}`, tokens)
}

const done = "data: [DONE]\n\n"

// every has texts some milliseconds apart.
func every(after int, texts ...string) (all []piece) {
	for _, text := range texts {
		all = append(all, piece{after, text})
	}
	return all
}

// with adds what a server writes at once behind the last text.
func with(all []piece, closing ...string) []piece {
	return append(slices.Clip(all), piece{0, strings.Join(closing, "")})
}

// times is a text n times.
func times(n int, text string) []string { return slices.Repeat([]string{text}, n) }
