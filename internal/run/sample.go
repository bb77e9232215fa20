package run

import (
	"context"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// A sampling is the telemetry of an execution. A nil one samples nothing.
type sampling struct {
	group *collect.Group // nil once it has ended
	idle  struct{ from, to time.Time }
	set   *telemetry.Set // when it has ended
}

// sampleEvery is the period of telemetry where the Spec has none.
const sampleEvery = time.Second

// startSampling starts the collectors, before anything that is measured.
func (x *execution) startSampling(ctx context.Context) {
	if x.Collectors == nil || ctx.Err() != nil {
		return
	}
	all := x.Collectors(x.spec.Telemetry, x.sampledTarget())
	if len(all) == 0 {
		return
	}
	every := x.spec.Telemetry.Every.Std()
	if every <= 0 {
		every = sampleEvery
	}
	x.telemetry = &sampling{group: collect.Start(context.WithoutCancel(ctx), every, all)}
}

// sampledTarget is the target as telemetry needs it.
func (x *execution) sampledTarget() collect.Target {
	t := x.target.sampled(&x.spec, *x.Deps)
	t.Embedded = x.run.Env.Embedded
	return t
}

func (t *target) sampled(spec *plan.Spec, d Deps) collect.Target {
	return collect.Target{URL: t.base, Header: t.header, TLS: t.tls, Dial: d.Dial, Proxy: t.proxy, HTTP2: spec.Target.HTTP2, Secrets: t.secrets}
}

// Reach is the target of a Spec as telemetry reaches it, without a run. No connection is made.
// Of d only Env, Read, Given, Secrets, Dial and Proxy are used; secrets become known to Secrets.
func Reach(spec *plan.Spec, d Deps) (collect.Target, error) {
	t, err := newTarget(spec, spec.Target.URL, &secrets{&d})
	if err != nil {
		return collect.Target{}, err
	}
	defer t.close()
	return t.sampled(spec, d), nil
}

// idling calls pause, in which devices have nothing to do.
func (s *sampling) idling(pause func() error) error {
	if s == nil {
		return pause()
	}
	s.idle.from = time.Now()
	err := pause()
	s.idle.to = time.Now()
	return err
}

// Limits of the wait for the power around a run: a program without a persistent driver takes seconds to start.
const (
	longestBefore = 5 * time.Second
	longestAfter  = 5 * time.Second / 2
	seldom        = 3 * time.Second / 2 // samples that are further apart say nothing of the edges
)

// awaitPower waits for the power of devices in a time that begins at an instant.
func (x *execution) awaitPower(ctx context.Context, from time.Time, limit time.Duration) {
	if s := x.telemetry; s != nil && s.group != nil && x.spec.Telemetry.Every.Std() <= seldom {
		s.group.AwaitMeans(ctx, from, limit)
	}
}

// emitSamples sends samples to the sinks about once a second, until over is called.
func (x *execution) emitSamples(p *driver.Progress) (over func()) {
	if x.telemetry == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if at := p.Snapshot().At; at.Happened() {
					x.emitFresh(time.Now().Add(-time.Duration(at)))
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// emitFresh sends new samples to the sinks, of a run that began at zero.
func (x *execution) emitFresh(zero time.Time) {
	sources, values := x.telemetry.group.Fresh(zero)
	for i := range values {
		values[i].Key = x.cleanKey(values[i].Key)
	}
	_ = x.handle(Sampled{secret.Clean(x.Secrets, sources), values})
}

func (x *execution) collected(ctx context.Context) {
	s := x.telemetry
	if s == nil {
		return
	}
	zero := x.run.Started
	if x.run.Status == trace.Complete {
		x.awaitPower(ctx, zero.Add(time.Duration(x.run.End)), longestAfter)
	}
	if from, to := s.idle.from.Sub(zero), s.idle.to.Sub(zero); to > from {
		x.run.Idle = &telemetry.Window{From: from, To: to}
	}
	group := s.group
	s.set = group.End(zero)
	x.emitFresh(zero)
	s.group = nil
	s.set.Sources = secret.Clean(x.Secrets, s.set.Sources)
	for _, one := range s.set.Series {
		one.Key = x.cleanKey(one.Key)
	}
}

// cleanKey is the key of a series without secrets.
func (x *execution) cleanKey(k telemetry.Key) telemetry.Key { return secret.Clean(x.Secrets, k) }

// endSampling ends the telemetry of a run that was not made.
func (x *execution) endSampling() {
	if s := x.telemetry; s != nil && s.group != nil {
		s.group.End(time.Now())
		s.group = nil
	}
}

// result is the telemetry; nil: none.
func (s *sampling) result() *telemetry.Set {
	if s == nil {
		return nil
	}
	return s.set
}
