package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A started server is up; the zero value is one that Pitot has not started.
type started struct {
	Server
	number int
	leg    *Leg   // that started it
	url    string // where it answers; empty: where the load says
	waits  *waiter
}

// placed is a server with a free port in place of the name of one.
func (x *execution) placed(s design.ServerSetup) (design.ServerSetup, error) {
	if !strings.Contains(s.Command+s.Options+s.URL, design.Port) {
		return s, nil
	}
	port, err := x.Port()
	if err != nil {
		return s, fmt.Errorf("find a free port: %w", err)
	}
	for _, text := range []*string{&s.Command, &s.Options, &s.URL} {
		*text = strings.ReplaceAll(*text, design.Port, strconv.Itoa(port))
	}
	return s, nil
}

// serverOf is the server of a leg, which is started if it is not up.
func (x *execution) serverOf(ctx context.Context, l *Leg, variant int) (*started, error) {
	own := x.Variants[variant].Server
	if !own.Starts() {
		return new(started), nil
	}
	if s, ok := x.up[l.Variant]; ok && s.died().IsZero() {
		return s, nil
	}
	if x.restarts() {
		x.stopServers(ctx, "")
	}
	x.stopServers(ctx, l.Variant) // one that has died may have left something behind
	l.ServerStart, l.Log = x.j.starts()+1, x.Log(l)
	own.URL = cmp.Or(own.URL, x.Loads[variant][0].Spec.Target.URL)
	own, err := x.placed(own)
	if err != nil {
		return nil, err
	}
	starting, release := x.untilStopped(ctx)
	defer release()
	waits := &waiter{report: func(what plan.Message) { x.emit(Waiting{l, what}) }}
	defer waits.over()
	running, err := x.Start(starting, own, server.Options{
		URL: own.URL, Log: l.Log, Baseline: x.baseline, Hurry: ctx.Done(), OnWait: waits.wait,
		SaveHandle: func(h server.Handle) error {
			l.Handle = &h
			return x.storeJournal()
		},
	})
	if err != nil {
		return nil, err
	}
	if x.baseline == nil {
		before := running.Life().Before
		x.baseline = &before
	}
	s := &started{Server: running, number: l.ServerStart, leg: l, url: own.URL, waits: waits}
	x.up[l.Variant] = s
	x.emit(ServerStarts{l})
	if l.Ready, err = running.Ready(starting); err != nil {
		return nil, err
	}
	x.emit(ServerReady{l, l.Ready})
	return s, nil
}

// untilStopped is a context that the end of the experiment cancels.
func (x *execution) untilStopped(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-x.stop:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// stopServers stops the server of a variant, or all of them.
func (x *execution) stopServers(ctx context.Context, variant string) {
	for name, s := range x.up {
		if variant != "" && name != variant {
			continue
		}
		delete(x.up, name)
		stopped, err := s.Stop(ctx)
		s.waits.over()
		if err != nil || len(stopped.Unverified) > 0 {
			x.emit(ServerUnstopped{s.leg, err, stopped.Unverified})
		}
		x.settle(ctx, name)
		life := s.Life()
		if s.leg.Life = &life; err == nil {
			s.leg.Handle = nil
		}
		if life.LogLeftOut > 0 {
			x.emit(LogShortened{s.leg, life.LogBytes, life.LogLeftOut})
		}
	}
}

// settle rests after the end of a server.
func (x *execution) settle(ctx context.Context, variant string) {
	i := slices.IndexFunc(x.Variants, func(v design.Variant) bool { return v.Name == variant })
	if i < 0 || x.Variants[i].Server.Settle == 0 {
		return
	}
	ctx, release := x.untilStopped(ctx)
	defer release()
	select {
	case <-time.After(x.Variants[i].Server.Settle.Std()):
	case <-ctx.Done():
	}
}

// died is how the server ended by itself; nothing if it has not.
func (s *started) died() (how plan.Message) {
	if s.Server == nil {
		return how
	}
	select {
	case <-s.Done():
		return s.Ended().Message()
	default:
		return how
	}
}

// deathTime is how long a server may take to end after it has answered nothing any more: its
// first process often outlives the one that answered.
const deathTime = time.Second

// ends is died of a server that a run has failed with, which may be about to end.
func (s *started) ends(ctx context.Context) plan.Message {
	if s.Server != nil {
		select {
		case <-s.Done():
		case <-ctx.Done():
		case <-time.After(deathTime):
		}
	}
	return s.died()
}

// watch is ctx, which ends when the server dies, too.
func (s *started) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if s.Server == nil {
		return ctx, cancel
	}
	go func() {
		select {
		case <-s.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
