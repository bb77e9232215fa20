package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// sideCall is the time limit for a question to the server about itself.
const sideCall = 30 * time.Second

// Polling a route: the time limit for a request, and the time between two.
const (
	pollCall  = 5 * time.Second
	pollPause = time.Second
)

// poll asks a route until it answers with status 200.
func (p *Prepared) poll(ctx context.Context) error {
	ready := p.spec.Before.Ready
	if !strings.HasPrefix(ready.Ask, "/") || ready.Timeout <= 0 {
		return nil
	}
	what := Polling{p.target.base + strings.TrimSuffix(ready.Ask, "/"), ready.Timeout.Std()}
	p.emit(what)
	server := p.target.server()
	for begin := time.Now(); ; {
		call, cancel := context.WithTimeout(ctx, pollCall)
		_, err := server.Get(call, strings.TrimSuffix(ready.Ask, "/"))
		cancel()
		took := time.Since(begin)
		var refused *endpoint.StatusError
		var silent *endpoint.CallError
		if err == nil || !errors.As(err, &refused) && !errors.As(err, &silent) { // an answer that is no JSON is one
			p.emit(Polled{Polling: what, Took: took})
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if silent != nil && !silent.MayPass() {
			p.emit(Polled{what, took, err})
			return fmt.Errorf("the server at %s is not ready: %w", what.URL, err)
		}
		if took >= what.Limit {
			p.emit(Polled{what, took, err})
			return remedied(fmt.Errorf("the server at %s is not ready: %w", what.URL, err), Way{"before.ready.timeout", "waits longer, and 0 does not wait"})
		}
		_ = Pause(ctx, pollPause)
	}
}

// Pause waits, or ends with the cause if ctx is cancelled.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// models asks the server for its models. It is the first request of all and waits for a
// server that is starting, so that later answers do not depend on how fast it starts.
func (p *Prepared) models(ctx context.Context) ([]endpoint.Model, error) {
	limit := p.spec.Before.Ready.Connect.Std()
	deadline := time.Now().Add(limit)
	for reported := false; ; reported = true {
		call, cancel := context.WithTimeoutCause(ctx, sideCall, transport.ErrTimeout)
		list, err := p.target.server().Models(call)
		cancel()
		var may interface{ MayPass() bool }
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil, !errors.As(err, &may), !may.MayPass(), !time.Now().Before(deadline):
			return list, err
		case !reported:
			p.emit(Waiting{URL: p.target.base, Limit: limit, Err: err})
		}
		_ = Pause(ctx, min(driver.Uneven(time.Second), time.Until(deadline)))
	}
}

// unreachable is the error for a server that models could not reach; nil if there is one,
// even if its answer was wrong.
func unreachable(base string, err error) error {
	var call *endpoint.CallError
	if !errors.As(err, &call) {
		return nil
	}
	gone := &UnreachableError{base, call.Class, call.Err}
	switch call.Class {
	case trace.DNS, trace.Refused, trace.Unreachable:
		return remedied(gone, Way{"before.ready.timeout", "waits for a server that is starting"})
	case trace.TLS:
		return gone
	}
	return nil
}

// An UnreachableError says that no server answers at an address.
type UnreachableError struct {
	URL   string
	Class trace.Class // how that failed
	Err   error
}

func (e *UnreachableError) Error() string { return fmt.Sprintf("cannot reach %s: %v", e.URL, e.Err) }

// Unwrap is the error of the connection.
func (e *UnreachableError) Unwrap() error { return e.Err }

// findModel finds the name of the model, and where the server loaded it from.
func (p *Prepared) findModel(ctx context.Context) error {
	asked := &p.spec.Request
	list, err := p.models(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	insists := p.spec.Before.Ready.Insist && p.spec.Before.Ready.Connect == 0 // it sends its requests anyway
	if gone := unreachable(p.target.base, err); gone != nil && (asked.Model == "" || !insists) {
		return gone
	}
	p.listed = list
	for _, m := range list {
		p.run.Env.Models = append(p.run.Env.Models, m.ID)
	}
	switch {
	case asked.Model != "":
		asked.Root = cmp.Or(asked.Root, rootOf(list, asked.Model))
	case err == nil:
		asked.Model, asked.Root = list[0].ID, cmp.Or(asked.Root, list[0].Root, list[0].ID)
	case endpoint.Protocol(asked.Protocol).NamesModel():
		return remedied(fmt.Errorf("find out the model: %w", err), Way{"request.model", "names it"})
	}
	p.emit(ModelFound{asked.Model, asked.Root})
	return nil
}

// rootOf is where the server loaded a model from, if it says so, else its name.
func rootOf(list []endpoint.Model, name string) string {
	for _, m := range list {
		if m.ID == name && m.Root != "" {
			return m.Root
		}
	}
	return name
}

// served is the model of the run as the server lists it: by its name, by where it was loaded
// from, or as the only one; empty if the server does not say.
func (p *Prepared) served() (m endpoint.Model) {
	asked := p.spec.Request
	for _, is := range []func(endpoint.Model) bool{
		func(m endpoint.Model) bool { return m.ID == asked.Model },
		func(m endpoint.Model) bool { return m.Root != "" && (m.Root == asked.Model || m.Root == asked.Root) },
		func(endpoint.Model) bool { return len(p.listed) == 1 },
	} {
		if i := slices.IndexFunc(p.listed, is); i >= 0 {
			return p.listed[i]
		}
	}
	return m
}
