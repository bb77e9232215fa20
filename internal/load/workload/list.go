package workload

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"
)

// A List is requests in order, each made when it is asked for: a list of a million takes little memory. What a plan
// needs of a request is known without making it. All of it may be asked for by several goroutines.
type List struct {
	N int // requests
	// At is request i, which is not to be changed. One that is not made yet has a Later, and is another one at each
	// call; its PromptTokens are those that were wanted until it is made.
	At    func(i int) *Request
	Brief func(i int) Brief
	// Chained means that some request waits for another, Mixed that they are of several forms.
	Chained, Mixed bool
}

// A Brief is what a plan needs of a request.
type Brief struct {
	Output int           // OutputTokens
	After  int           // as in Turn
	Think  time.Duration // likewise
	At     time.Duration // the trace's own timestamp
}

// Listed is a List of requests that are there.
func Listed(requests []Request) List {
	return List{
		N: len(requests), At: func(i int) *Request { return &requests[i] }, Brief: func(i int) Brief { return requests[i].brief() },
		Chained: slices.ContainsFunc(requests, func(r Request) bool { return r.After != 0 }),
	}
}

func (r *Request) brief() Brief { return Brief{r.OutputTokens, r.After, r.Think, r.At} }

// All yields the requests in order.
func (l List) All() iter.Seq2[int, *Request] {
	return func(yield func(int, *Request) bool) {
		for i := range l.N {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Cut is the first n requests, or all if there are fewer.
func (l List) Cut(n int) List {
	l.N = min(l.N, n)
	return l
}

// Pick is the requests at some positions, in that order. None of them waits for another.
func (l List) Pick(positions []int32) List {
	at, brief := l.At, l.Brief
	l.N, l.Chained = len(positions), false
	l.At = func(i int) *Request { return at(int(positions[i])) }
	l.Brief = func(i int) Brief { return brief(int(positions[i])) }
	return l
}

// Amend has f change each request when it is asked for, and nothing that is in its Brief; see Request.Amend for what
// its Later restores.
func (l List) Amend(f func(i int, r *Request)) List {
	at := l.At
	l.At = func(i int) *Request {
		r := *at(i)
		f(i, &r)
		return &r
	}
	return l
}

// Silence leaves the lengths of answers to the server.
func (l List) Silence() List {
	brief := l.Brief
	l.Brief = func(i int) Brief {
		b := brief(i)
		b.Output = 0
		return b
	}
	return l.Amend(func(_ int, r *Request) { r.OutputTokens = 0 })
}

// Starts is the number of requests that wait for no other: those with a due time.
func (l List) Starts() int {
	n := l.N
	for i := 0; l.Chained && i < l.N; i++ {
		if l.Brief(i).After != 0 {
			n--
		}
	}
	return n
}

// Before is the number of requests before start n.
func (l List) Before(n int) int {
	if !l.Chained {
		return min(n, l.N)
	}
	for i := range l.N {
		if l.Brief(i).After != 0 {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	return l.N
}

// Make makes all requests, and leaves what is too much for memory in spool.
func (l List) Make(ctx context.Context, spool *Spool) ([]Request, error) {
	all := make([]Request, l.N)
	for i := range all {
		whole, err := l.At(i).Unspooled()
		if err != nil {
			return nil, err
		}
		all[i] = *whole
		if err := errors.Join(spool.Spill(&all[i]), context.Cause(ctx)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// MakeAll makes all requests, and leaves what is too much for memory in spool.
func (w *Workload) MakeAll(ctx context.Context, spool *Spool) (err error) {
	if w.List != nil {
		w.Requests, err = w.List.Make(ctx, spool)
		w.List = nil
	}
	if w.Late != nil {
		w.Notes, w.Late = append(w.Notes, w.Late()...), nil
	}
	return err
}
