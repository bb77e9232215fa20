package truth

// A queue gives out streams in the order in which they are due; of those due
// at once, the one that arrived first. It is a heap with four children to a
// node, which hold their keys themselves: half the depth of one with two, and
// no stream is looked at.
type queue []entry

type entry struct {
	due     int64
	arrival uint64
	*stream
}

func (e *entry) before(f *entry) bool {
	return e.due < f.due || e.due == f.due && e.arrival < f.arrival
}

const children = 4

func (q *queue) push(st *stream) {
	*q = append(*q, entry{st.due, st.arrival, st})
	h := *q
	i := len(h) - 1
	e := h[i]
	for i > 0 {
		parent := (i - 1) / children
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// pop takes the first stream out.
func (q *queue) pop() {
	h := *q
	last := len(h) - 1
	h[0], h[last] = h[last], entry{}
	if *q = h[:last]; last > 0 {
		h[:last].sink()
	}
}

// again puts the first stream where its new time belongs.
func (q queue) again() {
	q[0].due = q[0].stream.due
	q.sink()
}

// sink moves the first entry down to its place.
func (q queue) sink() {
	e, i := q[0], 0
	for {
		first := children*i + 1
		if first >= len(q) {
			break
		}
		least := first
		for c := first + 1; c < min(first+children, len(q)); c++ {
			if q[c].before(&q[least]) {
				least = c
			}
		}
		if !q[least].before(&e) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = e
}
