package engine

import "slices"

// A queue of sequences, first come first served by default.
type queue struct {
	items []*Seq
	head  int // index of the first item
}

func (q *queue) len() int      { return len(q.items) - q.head }
func (q *queue) at(i int) *Seq { return q.items[q.head+i] }
func (q *queue) all() []*Seq   { return q.items[q.head:] }

func (q *queue) pushLast(s *Seq) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 { // reuse the room at the front
		n := copy(q.items, q.all())
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, s)
}

func (q *queue) insert(i int, s *Seq) { q.items = slices.Insert(q.items, q.head+i, s) }

func (q *queue) pushFirst(s *Seq) {
	if q.head == 0 {
		q.insert(0, s)
		return
	}
	q.head--
	q.items[q.head] = s
}

// removeAt removes number i, moving those before it: i is small.
func (q *queue) removeAt(i int) *Seq {
	s := q.at(i)
	copy(q.items[q.head+1:q.head+i+1], q.items[q.head:q.head+i])
	q.items[q.head] = nil
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return s
}

func (q *queue) popFirst() *Seq { return q.removeAt(0) }

func (q *queue) remove(s *Seq) {
	if i := slices.Index(q.all(), s); i >= 0 {
		q.removeAt(i)
	}
}
