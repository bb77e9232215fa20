package arrival

import "iter"

// Followers are the requests that wait for the answers to others, by the position of the one that
// they wait for. The zero value has none.
type Followers struct {
	first []int32 // 1 + the position of the first follower, by position
	next  []int32 // 1 + that of the next one that waits for the same, by the position of a follower
}

// NewFollowers are those of n requests; after is 1 + the position of the request that one waits for, 0 for none.
// It panics where a request waits for itself or a later one, which would be forever.
func NewFollowers(n int, after func(i int) int) (f Followers) {
	for i := n - 1; i >= 0; i-- {
		prior := after(i)
		switch {
		case prior > i:
			panic("arrival: a request waits for itself or a later one")
		case prior == 0:
			continue
		case f.first == nil:
			f = Followers{make([]int32, n), make([]int32, n)}
		}
		f.next[i], f.first[prior-1] = f.first[prior-1], int32(i+1)
	}
	return f
}

// Any reports whether some request waits for another.
func (f *Followers) Any() bool { return f.first != nil }

// Of yields the followers of a request, in the order of their positions.
func (f *Followers) Of(position int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if f.first == nil {
			return
		}
		for i := f.first[position]; i != 0 && yield(int(i-1)); i = f.next[i-1] {
		}
	}
}

// Count is how many wait for a request.
func (f *Followers) Count(position int) (n int) {
	for range f.Of(position) {
		n++
	}
	return n
}
