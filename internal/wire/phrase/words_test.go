package phrase

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// words are tokens, as they stand in a JSON string.
type words struct{ next int }

var wordList = []string{"The", ` \"tube\"`, ` \ud83d\ude00`}

func (w *words) Next() string {
	w.next++
	return wordList[(w.next-1)%len(wordList)]
}

func (w *words) ID() int32 { return int32((w.next - 1) % len(wordList)) }

func testAnswer() Answer {
	return Answer{
		ID: `an "id"`, Model: "m", Created: 946684800, Source: &words{}, PromptTokens: 7, Cached: 4, MaxTokens: 3, Tokens: 3,
		Finish: "length",
		Usage:  true, Details: true, Elapsed: 1500 * time.Millisecond, Steps: 2, Seconds: 1.2,
		Pooled: &Pooled{
			Texts: &Texts{Documents: []string{"one", "two"}, Encoding: "float"}, Vectors: [][]float32{{0.5, -0.25}},
		},
	}
}

// What each protocol says: a stream, the event of a failure, a whole answer, errors.
func TestWords(t *testing.T) {
	var out bytes.Buffer
	for _, p := range protocols {
		fmt.Fprintf(&out, "== %s %v\n", p.Name, p.Routes)
		a := testAnswer()
		if p == Rerank {
			a.Pooled.Scores = []float64{0.25, 0.75}
		}
		if !p.Silent {
			out.Write(streamed(p, a))
			a.Source = &words{}
			a.Finish, a.Stop = "stop", "tube"
		}
		r := p.Unstreamed(a)
		fmt.Fprintf(&out, "-- whole, %s\n%s\n", r.MediaType, r.Body)
		if !json.Valid(r.Body) {
			t.Errorf("%s: %s", p.Name, r.Body)
		}
		for _, e := range []*Error{BadRequest("n", 2, "one is enough."), StatusError(429, "")} {
			for _, stream := range []bool{false, true} {
				r := p.Refuse(e, stream)
				fmt.Fprintf(&out, "-- refused, stream %v: %d %s\n%s\n", stream, r.Status, r.MediaType, r.Body)
			}
		}
	}
	golden.Check(t, "testdata/words.txt", out.String())
}

// streamed is an answer of two events, and then the event of a failure.
func streamed(p *Protocol, a Answer) []byte {
	a.Continuous = true
	w := p.Stream(a)
	b := w.Begin(w.Accept([]byte("-- stream\n")))
	if p.Single {
		b = w.Event(w.Event(b, 1, false), 1, false)
	} else {
		b = w.Event(b, 2, false)
	}
	b = w.Event(b, 1, true)
	b = w.End(w.Total(b), true)
	b = fmt.Appendf(b, "-- %d events with %d tokens; if generation fails\n", w.Events, w.Sent)
	return w.Fail(b)
}

func TestLineEnds(t *testing.T) {
	for _, p := range protocols {
		if p.Silent {
			continue
		}
		a := testAnswer()
		a.LineEnd = "\r\n"
		w := p.Stream(a)
		b := w.Event(w.Begin(w.Accept(nil)), 1, false)
		b = w.End(w.Total(w.Event(w.Break(w.Comment(b, "wait")), 2, true)), true)
		if n := bytes.Count(b, []byte("\r\n\r\n")); n != w.Events+2 || bytes.Contains(b, []byte("\n\n")) {
			t.Errorf("%s: %d events, %d ends\n%s", p.Name, w.Events, n, b)
		}
	}
}

// Bytes alone are in the body, and in one of two ways a header says the rest.
func TestPackedVectors(t *testing.T) {
	for encoding, metadata := range map[string]string{
		"bytes":      `{"id":"pool-an \"id\"","model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`,
		"bytes_only": "",
	} {
		a := testAnswer()
		a.Pooled.Encoding = encoding
		r := Pooling.Unstreamed(a)
		if string(r.Body) != "\x00\x00\x00\x3f\x00\x00\x80\xbe" || r.MediaType != "application/octet-stream" ||
			r.Metadata != metadata {
			t.Errorf("%s: %+v", encoding, r)
		}
	}
}

// An event takes no allocation where it is the text in a frame.
func TestEventsAllocateNothing(t *testing.T) {
	for _, p := range protocols {
		if p.frame == nil || p.event != nil {
			continue
		}
		a := testAnswer()
		a.Continuous = true
		w := p.Stream(a)
		buf := make([]byte, 0, 1000)
		if n := testing.AllocsPerRun(100, func() { buf = w.Event(buf[:0], 1, false) }); n != 0 {
			t.Errorf("%s: %v allocations an event", p.Name, n)
		}
	}
}

func TestRoutes(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		if Named(p.Name) != p {
			t.Errorf("two protocols are named %s", p.Name)
		}
		for _, route := range p.Routes {
			if seen[route] || At(route) != p {
				t.Errorf("%s is the route of two protocols", route)
			}
			seen[route] = true
		}
	}
	if At("/nowhere") != nil || Named("none") != nil {
		t.Error("a protocol that is none")
	}
}

// The fast way to read a list of ids gives what the slow one does.
func FuzzPlainIDs(f *testing.F) {
	for _, s := range []string{
		"[]", "[1, 22,333]", "[2147483647]", "[2147483648]", "[12345678901]", "[1.0]", "[-1]", "[[1]]", "[1\n]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if v := gjson.Parse(list); !gjson.Valid(list) || !v.IsArray() || v.Raw != list {
			return
		}
		ids, ok := plainIDs(list)
		var want []int32
		if err := json.Unmarshal([]byte(list), &want); ok && (err != nil || fmt.Sprint(want) != fmt.Sprint(ids)) {
			t.Errorf("%s is read as %v, want %v, %v", list, ids, want, err)
		}
	})
}

func BenchmarkEvent(b *testing.B) {
	for _, p := range []*Protocol{Completions, Chat, Responses, Messages, Triton} {
		b.Run(p.Name, func(b *testing.B) {
			a := testAnswer()
			a.Usage = false
			w := p.Stream(a)
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				buf = w.Event(buf[:0], 1, false)
				w.shown = w.shown[:0]
			}
		})
	}
}
