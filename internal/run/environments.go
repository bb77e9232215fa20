package run

import (
	"context"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/run/inspect"
)

// environments are those of the client and of the processes that serve, the one at the URL first.
type environments struct {
	client  *environment.Environment
	serving []*environment.Environment
	notes   []plan.Message
}

// inspect begins to look at client and server while the run is prepared, and returns a function that waits for the
// end of that: none of it goes on during the run.
func (p *Prepared) inspect(ctx context.Context) (wait func(context.Context)) {
	if !p.Inspect || p.admission != nil {
		return func(context.Context) {}
	}
	subjects := p.subjects()
	found := make(chan environments, 1)
	go func() {
		var s environments
		s.client = inspect.Client(ctx)
		s.serving, s.notes = inspect.Servers(ctx, subjects)
		found <- s
	}()
	limit := time.Duration(0)
	for _, s := range subjects {
		limit = max(limit, inspect.LimitOf(s))
	}
	late := time.After(limit + time.Second) // a file may be on a disk that hangs
	return func(ctx context.Context) {
		select {
		case s := <-found:
			e := &p.run.Env
			e.Client, e.Serving = s.client, s.serving[0]
			e.Instances = slices.DeleteFunc(s.serving[1:], (*environment.Environment).IsZero)
			p.addNotes(s.notes...)
		case <-late:
		case <-ctx.Done():
		}
	}
}

// subjects are the processes to look at: where the Spec says, or where the server was started for the run; the one at
// the URL first.
func (p *Prepared) subjects() (all []inspect.Subject) {
	s, t := p.Serving, p.spec.Target
	if at := t.Site.Serving(); !at.IsZero() || t.Tree != "" {
		s = inspect.Subject{Site: at, Tree: t.Tree, Asked: true}
	}
	all = append(all, s)
	for _, at := range t.Site.Others() {
		all = append(all, inspect.Subject{Site: at, Asked: true})
	}
	for i := range all {
		all[i].URL, all[i].Secrets = t.URL, p.Secrets
	}
	return all
}
