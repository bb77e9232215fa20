package endpoint

import "sync"

// freeBodies are the memory of bodies that were sent, for others. While thousands of streams last, nothing needs
// what they asked for.
type freeBodies struct {
	mu   sync.Mutex
	free [][]byte
}

const (
	mostBodies  = 256
	largestBody = 64 << 10 // of those that are reused, in bytes
)

// take returns an empty body for size bytes.
func (f *freeBodies) take(size int) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.free) - 1; n >= 0 && size <= largestBody {
		b := f.free[n]
		f.free = f.free[:n]
		if cap(b) >= size {
			return b[:0]
		}
	}
	return make([]byte, 0, size)
}

// put gives a body back.
func (f *freeBodies) put(b []byte) {
	if cap(b) == 0 || cap(b) > largestBody {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.free) < mostBodies {
		f.free = append(f.free, b)
	}
}
