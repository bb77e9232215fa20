package run

import (
	"context"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/run/inspect"
)

// environments are those of the client and the server of a run.
type environments struct {
	client, server *environment.Environment
	notes          []plan.Message
}

// inspect begins to look at client and server while the run is prepared, and returns a function that waits for the
// end of that: none of it goes on during the run.
func (p *Prepared) inspect(ctx context.Context) (wait func(context.Context)) {
	if !p.Inspect || p.admission != nil {
		return func(context.Context) {}
	}
	subject := p.subject()
	found := make(chan environments, 1)
	go func() {
		var s environments
		s.client = inspect.Client(ctx)
		s.server, s.notes = inspect.Server(ctx, subject)
		found <- s
	}()
	late := time.After(inspect.LimitOf(subject) + time.Second) // a file may be on a disk that hangs
	return func(ctx context.Context) {
		select {
		case s := <-found:
			p.run.Env.Client, p.run.Env.Serving = s.client, s.server
			p.addNotes(s.notes...)
		case <-late:
		case <-ctx.Done():
		}
	}
}

// subject is the server to look at: where the Spec says, or where it was started for the run.
func (p *Prepared) subject() inspect.Subject {
	s, t := p.Serving, p.spec.Target
	if !t.Site.IsZero() || t.Tree != "" {
		s = inspect.Subject{Site: t.Site, Tree: t.Tree, Asked: true}
	}
	s.URL, s.Secrets = t.URL, p.Secrets
	return s
}
