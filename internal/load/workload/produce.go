package workload

import "context"

// A Production is how requests are made, each of which can be made without the others.
type Production struct {
	N       int // requests
	Chained bool
	Brief   func(i int) Brief
	// Bare is request i without its prompt, of which NoIDs or NoMessages say what it will be.
	Bare func(i int) Request
	// Fill makes the prompt of a bare request, and may set its PromptTokens.
	Fill func(ctx context.Context, i int, r *Request) error
}

// Produce makes the requests: at once, or as they are due where they are more than the window.
func (s *Source) Produce(ctx context.Context, p Production) (w Workload, err error) {
	if window := s.WindowOf(false); window > 0 && p.N > window {
		w.List = p.due(context.WithoutCancel(ctx))
		return w, nil
	}
	w.Requests = make([]Request, p.N)
	err = Each(ctx, p.N, func(ctx context.Context, i int) error {
		w.Requests[i] = p.Bare(i)
		if err := p.Fill(ctx, i, &w.Requests[i]); err != nil {
			return err
		}
		return s.Spool.Spill(&w.Requests[i])
	})
	return w, err
}

// due lists the requests, made as they are asked for.
func (p Production) due(ctx context.Context) *List {
	return &List{N: p.N, Chained: p.Chained, Brief: p.Brief, At: func(i int) *Request {
		r := p.Bare(i)
		r.Later = func(whole *Request) error { return p.Fill(ctx, i, whole) }
		return &r
	}}
}
