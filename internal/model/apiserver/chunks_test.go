package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Formatting an event and noting its write take no allocation.
func TestEventsAllocateNothing(t *testing.T) {
	v := newVocabulary()
	for _, chat := range []bool{false, true} {
		text, _ := newAnswer(v, 1, []int32{1})
		c := newChunks(chat, "cmpl-x", "model", 1)
		c.usage = true
		rec := record{writes: make([]write, 0, 2000)}
		sent := 0
		if n := testing.AllocsPerRun(1000, func() {
			formatEvent(&c, &text, &sent)
			rec.add(1, 2, 1, 1, len(c.buf))
		}); n != 0 {
			t.Errorf("chat %v: %v allocations an event", chat, n)
		}
	}
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
		st := &streaming{limit: tokens, exchange: &exchange{
			s: s, w: w, rc: http.NewResponseController(w), rec: &record{},
			req: &request{usage: true}, plan: answerPlan{tokens: tokens, finish: "length"}, traits: traits{batch: true},
		}}
		st.text, _ = newAnswer(s.vocab, 0, nil)
		for st.sent < tokens {
			if err := st.advance(tokens, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.conclude(); err != nil {
			t.Fatal(err)
		}
		events := 0
		for _, write := range st.rec.writes {
			events += write.events()
		}
		if events != tokens+2 || st.rec.output != tokens {
			t.Errorf("%d tokens, usage and the end: %d events with %d tokens", tokens, events, st.rec.output)
		}
	}
}

func formatEvent(c *chunks, text *answer, sent *int) {
	c.clear()
	c.openText()
	c.buf = text.appendText(c.buf, 1)
	*sent++
	c.closeText(*sent)
}

func BenchmarkEvent(b *testing.B) {
	v := newVocabulary()
	text, _ := newAnswer(v, 1, []int32{1})
	c := newChunks(true, "chatcmpl-0123456789", "a-model-of-some-name", 1)
	sent := 0
	b.ReportAllocs()
	for b.Loop() {
		formatEvent(&c, &text, &sent)
	}
}
