package arrival

import (
	"slices"
	"time"
)

// A Queue returns its elements by due time, and those due at the same instant by
// number. Its zero value is empty.
//
// It is a heap with four children to a node, which hold their keys themselves: half
// the depth of one with two, and no element is looked at.
type Queue[T any] struct{ heap []entry[T] }

type entry[T any] struct {
	due    time.Duration
	number int
	v      T
}

func (e *entry[T]) before(f *entry[T]) bool {
	return e.due < f.due || e.due == f.due && e.number < f.number
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return len(q.heap) }

// Push adds v.
func (q *Queue[T]) Push(due time.Duration, number int, v T) {
	q.heap = append(q.heap, entry[T]{due, number, v})
	q.up(len(q.heap) - 1)
}

// First returns the element that Pop will remove, and its due time; ok is false if
// there is none.
func (q *Queue[T]) First() (v T, due time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return v, 0, false
	}
	return q.heap[0].v, q.heap[0].due, true
}

// Pop removes the first element. There must be one.
func (q *Queue[T]) Pop() T {
	v := q.heap[0].v
	q.removeAt(0)
	return v
}

// Delay makes the first element due at a later time. There must be one.
func (q *Queue[T]) Delay(due time.Duration) {
	q.heap[0].due = due
	q.down(0)
}

// Remove removes the element with this number. It must be there.
func (q *Queue[T]) Remove(number int) {
	q.removeAt(slices.IndexFunc(q.heap, func(e entry[T]) bool { return e.number == number }))
}

func (q *Queue[T]) removeAt(i int) {
	last := len(q.heap) - 1
	q.heap[i], q.heap[last] = q.heap[last], entry[T]{} // release its references
	if q.heap = q.heap[:last]; i < last {
		q.down(i)
		q.up(i)
	}
}

const children = 4

// up moves an entry before its parents that come later.
func (q *Queue[T]) up(i int) {
	h := q.heap
	e := h[i]
	for i > 0 && e.before(&h[(i-1)/children]) {
		h[i] = h[(i-1)/children]
		i = (i - 1) / children
	}
	h[i] = e
}

// down moves an entry behind its children that come earlier.
func (q *Queue[T]) down(i int) {
	h := q.heap
	e := h[i]
	for {
		first := children*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+children, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
