package transport

import "unsafe"

// A Warm receiver tells where its memory is, so that it can be brought into the cache shortly before it is
// needed: among thousands of streams, one that has been quiet for a while finds nothing there, and waits for
// memory a quarter of a microsecond for each line.
type Warm interface {
	Receiver
	Hot() Span              // what every Data needs
	Prefetch()              // brings what else the next Data needs; called when Hot is there
	Output(seq uint64) bool // whether the read with this number, the latest one, had output
}

// A Span is a piece of memory.
type Span struct {
	from  unsafe.Pointer
	lines int
}

const cacheLine = 64

// SpanOf is the memory of a variable.
func SpanOf[T any](v *T) Span {
	from := uintptr(unsafe.Pointer(v))
	lines := (from%cacheLine + unsafe.Sizeof(*v) + cacheLine - 1) / cacheLine
	return Span{unsafe.Pointer(v), int(lines)}
}

// Prefetch has the processor fetch the memory, and does not wait for it.
func (s Span) Prefetch() {
	if s.lines > 0 {
		prefetch(s.from, s.lines)
	}
}
