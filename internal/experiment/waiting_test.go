package experiment

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A slowServer takes its time to start and to stop.
type slowServer struct {
	Server
	tell        func(plan.Message)
	start, stop time.Duration
	log         int64
}

func (s *slowServer) Ready(ctx context.Context) (time.Duration, error) {
	s.tell(plan.Msg("server.waiting-ready"))
	time.Sleep(s.start)
	return s.Server.Ready(ctx)
}

func (s *slowServer) Stop(ctx context.Context) (server.Stopped, error) {
	s.tell(plan.Msg("server.waiting-exit"))
	time.Sleep(s.stop)
	if s.stop > time.Minute {
		s.tell(plan.Msg(serverKilled))
	}
	return s.Server.Stop(ctx)
}

func (s *slowServer) Life() server.Lifetime { return server.Lifetime{LogLeftOut: s.log} }

// What is waited for is told when it takes long, and a kill at once; so is a log without its middle.
func TestLongWaitsAreTold(t *testing.T) {
	for _, tt := range []struct {
		name        string
		start, stop time.Duration
		log         int64
		want        []plan.Code
	}{
		{"quick", time.Second, time.Second, 0, nil},
		{"slow to start", time.Minute, time.Second, 0, []plan.Code{"server.waiting-ready"}},
		{"killed", time.Second, 2 * time.Minute, 0, []plan.Code{"server.waiting-exit", serverKilled}},
		{"with a long log", 0, 0, 1, []plan.Code{"log"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				d := l.deps()
				var told []plan.Code
				d.OnEvent = func(e Event) {
					switch e := e.(type) {
					case Waiting:
						told = append(told, e.What.Code)
					case LogShortened:
						told = append(told, "log")
					}
				}
				d.Start = func(ctx context.Context, s design.ServerSetup, o server.Options) (Server, error) {
					up, err := l.startServer(ctx, s, o)
					return &slowServer{up, o.OnWait, tt.start, tt.stop, tt.log}, err
				}
				p, j := newPlan(design.Design{Blocks: 2})
				if _, err := Run(t.Context(), nil, p, j, d); err != nil {
					t.Fatal(err)
				}
				if len(told) != 8*len(tt.want) {
					t.Fatalf("%q in 8 legs, want %q in each", told, tt.want)
				}
				for i, code := range told {
					if want := tt.want[i%len(tt.want)]; code != want {
						t.Errorf("%q at %d, want %q", code, i, want)
					}
				}
			})
		})
	}
}

// A server whose first process outlives the one that answered is not taken for a network that
// fails.
func TestTheFirstProcessDiesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.run = func(leg trace.Leg) error {
			if leg.Position > 1 {
				return nil
			}
			done := l.up[leg.Variant].done
			time.AfterFunc(deathTime/2, func() { close(done) })
			return errors.New("connection refused")
		}
		p, j := newPlan(design.Design{Blocks: 2})
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		if j.Legs[0].Why.Code != serverDied || len(j.With(Done)) != 8 {
			t.Errorf("%+v", j.Legs[0])
		}
	})
}

// A server that dies while another one is measured is stopped, with what it has left behind,
// before it is started anew.
func TestAnIdleServerThatDiesIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.after = func(leg trace.Leg) {
			if other := l.up[map[string]string{"a": "b", "b": "a"}[leg.Variant]]; leg.Position == 3 {
				close(other.done)
			}
		}
		p, j := newPlan(design.Design{Blocks: 2, Restart: design.Never})
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		if l.starts != 3 || len(j.With(Done)) != 8 || len(l.up) != 0 {
			t.Errorf("%d starts, %q, %d up", l.starts, statuses(j), len(l.up))
		}
		for _, leg := range j.Legs {
			if leg.Handle != nil {
				t.Errorf("leg %d still has a server", leg.Position)
			}
		}
	})
}
