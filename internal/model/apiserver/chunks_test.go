package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// Formatting an event and noting its write take no allocation.
func TestEventsAllocateNothing(t *testing.T) {
	for _, p := range []*phrase.Protocol{phrase.Completions, phrase.Chat} {
		w := testWriter(p, true)
		rec := record{writes: make([]write, 0, 2000)}
		buf := make([]byte, 0, 1000)
		if n := testing.AllocsPerRun(1000, func() {
			buf = w.Event(buf[:0], 1, false)
			rec.add(1, 2, 1, 1, len(buf))
		}); n != 0 {
			t.Errorf("%s: %v allocations an event", p.Name, n)
		}
	}
}

func testWriter(p *phrase.Protocol, continuous bool) *phrase.Writer {
	text := newAnswer(newVocabulary(), 1)
	return p.Stream(phrase.Answer{ID: "0123456789", Model: "a-model-of-some-name", Source: &text, Continuous: continuous})
}

// The truth counts at most 255 events in a write. A batch leaves room for the
// end of the stream, which goes with its last tokens.
func TestABatchFitsTheTruth(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for tokens := 245; tokens < 260; tokens++ {
		w := httptest.NewRecorder()
		x := &exchange{
			s: s, w: w, rc: http.NewResponseController(w), rec: &record{}, traits: traits{FaultBatch},
			req: &request{Request: &phrase.Request{Protocol: phrase.Completions}},
		}
		x.text = newAnswer(s.vocab, 0)
		x.answer = phrase.Answer{Tokens: tokens, Finish: "length", Usage: true, Source: &x.text}
		st := x.streaming()
		for st.out.Sent < tokens {
			if err := st.advance(tokens, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.conclude(); err != nil {
			t.Fatal(err)
		}
		events := 0
		for _, write := range st.rec.writes {
			events += int(write.counts & 255)
		}
		if events != tokens+2 || st.rec.OutputTokens != tokens {
			t.Errorf("%d tokens, usage and the end: %d events with %d tokens", tokens, events, st.rec.OutputTokens)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	w := testWriter(phrase.Chat, false)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = w.Event(buf[:0], 1, false)
	}
}
