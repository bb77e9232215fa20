package arrival

import (
	"container/heap"
	"slices"
	"time"
)

// A Queue returns its elements by due time, and those due at the same instant by
// number. Its zero value is empty.
type Queue[T any] struct{ waiting waiting[T] }

// Len is the number of elements.
func (q *Queue[T]) Len() int { return len(q.waiting) }

// Push adds v.
func (q *Queue[T]) Push(due time.Duration, number int, v T) {
	heap.Push(&q.waiting, entry[T]{due, number, v})
}

// First returns the element that Pop will remove, and its due time; ok is false if
// there is none.
func (q *Queue[T]) First() (v T, due time.Duration, ok bool) {
	if len(q.waiting) == 0 {
		return v, 0, false
	}
	return q.waiting[0].v, q.waiting[0].due, true
}

// Pop removes the first element. There must be one.
func (q *Queue[T]) Pop() T { return heap.Pop(&q.waiting).(entry[T]).v }

// Remove removes the element with this number. It must be there.
func (q *Queue[T]) Remove(number int) {
	heap.Remove(&q.waiting, slices.IndexFunc(q.waiting, func(e entry[T]) bool { return e.number == number }))
}

type entry[T any] struct {
	due    time.Duration
	number int
	v      T
}

// waiting is a heap.
type waiting[T any] []entry[T]

func (w waiting[T]) Len() int { return len(w) }

func (w waiting[T]) Less(i, j int) bool {
	if w[i].due != w[j].due {
		return w[i].due < w[j].due
	}
	return w[i].number < w[j].number
}

func (w waiting[T]) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

func (w *waiting[T]) Push(e any) { *w = append(*w, e.(entry[T])) }

func (w *waiting[T]) Pop() any {
	all := *w
	last := all[len(all)-1]
	all[len(all)-1] = entry[T]{} // release its references
	*w = all[:len(all)-1]
	return last
}
