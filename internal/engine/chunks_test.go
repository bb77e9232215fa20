package engine

import "testing"

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
