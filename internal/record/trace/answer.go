package trace

import (
	"encoding/binary"
	"sync"
)

// A Part is what some bytes of an answer are. Its value stands between parts: no text has such a byte.
type Part byte

// The parts of an answer.
const (
	VisiblePart Part = 0xF8 + iota
	ReasoningPart
	ToolNamePart
	ToolInputPart
)

// An Answer takes the text of an answer as it passes, and keeps its Marks and Defects. Its zero value takes nothing.
// What every chunk needs stands in it, the rest is touched every 64 bytes.
type Answer struct {
	*passage // nil: none
	block    [markEvery]byte
	filled   int8
	part     Part
}

// A passage is what an Answer knows of the bytes before those in its block.
type passage struct {
	marker    *Marker
	all       chain
	visible   chain // if mixed
	copied    chain
	mixed     bool   // there are other parts than the visible one
	next      int    // the place of the next mark
	marks     []byte // of beginnings
	window    []byte // the last bytes, those that were not inspected among them
	inspected int    // bytes of window
	signs     signs
}

// passages has some that are not in use: a request is not to pay for one.
var passages = sync.Pool{New: func() any { return new(passage) }}

// Begin makes a ready for an answer, which may be one that begins again.
func (a *Answer) Begin(m *Marker) {
	p := a.passage
	if p == nil {
		p = passages.Get().(*passage)
	}
	*p = passage{marker: m, next: 1, marks: p.marks[:0], window: p.window[:0]}
	*a = Answer{passage: p, part: VisiblePart}
}

// Add takes some bytes of a part.
func (a *Answer) Add(part Part, text []byte) {
	if a.passage == nil || len(text) == 0 {
		return
	}
	if part != a.part {
		a.turn(part)
	}
	for {
		n := copy(a.block[a.filled:], text)
		if a.filled += int8(n); a.filled < markEvery {
			return
		}
		a.flush()
		text = text[n:]
	}
}

// AddString is Add.
func (a *Answer) AddString(part Part, text string) { a.Add(part, []byte(text)) }

// turn begins another part.
func (a *Answer) turn(part Part) {
	a.flush()
	if !a.mixed {
		a.mixed, a.visible = true, a.all
	}
	a.part, a.block[0] = part, byte(part)
	a.take(a.block[:1], false)
}

func (a *Answer) flush() {
	if a.filled > 0 {
		some := a.block[:a.filled]
		a.signs.note(a.part, some)
		a.take(some, a.part == VisiblePart)
		a.filled = 0
	}
}

// take hashes some bytes and inspects those before them.
func (p *passage) take(some []byte, visible bool) {
	if p.mixed && visible {
		p.visible.write(p.marker.cipher, some)
	}
	if len(p.window)+len(some) > 2*loopWindow {
		p.inspect(len(p.window) - lookahead)
		p.forget(len(p.window) - loopWindow)
	}
	p.window = append(p.window, some...)
	for len(some) > 0 {
		n := min(p.next-p.all.bytes, len(some))
		p.all.write(p.marker.cipher, some[:n])
		some = some[n:]
		if p.all.bytes == p.next {
			p.copied = p.all
			p.marks = p.copied.beginning(p.marker.cipher, p.marks)
			p.next = markAfter(p.next)
		}
	}
}

// forget drops the first n bytes of the window.
func (p *passage) forget(n int) {
	p.window = append(p.window[:0], p.window[n:]...)
	p.inspected -= n
}

// End returns what there is to be known of the answer; no more may be added to it. cut says that it ended at a limit of
// its length, and open that its length was left to the model.
func (a *Answer) End(cut, open bool) (Marks, Defects) {
	p := a.passage
	if p == nil {
		return "", 0
	}
	a.flush()
	p.inspect(len(p.window))
	defects := p.defects(cut, open)
	out := binary.AppendUvarint(make([]byte, 0, 8+2*endBytes+len(p.marks)), uint64(p.all.bytes))
	out = binary.AppendUvarint(out, uint64(p.signs.characters))
	key := p.marker.cipher
	p.copied = p.all
	out = append(p.copied.end(key, out), p.marks...)
	if p.mixed {
		out = p.visible.end(key, out)
	}
	a.passage = nil
	passages.Put(p)
	return Marks(out), defects
}
