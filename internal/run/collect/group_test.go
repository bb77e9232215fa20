package collect

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A fake collector does what its function says.
type fake struct {
	name string
	do   func(ctx context.Context, every time.Duration, give func(Reading)) error
}

func (f fake) Describe() telemetry.Source { return telemetry.Source{Name: f.name} }
func (f fake) Collect(ctx context.Context, every time.Duration, give func(Reading)) error {
	return f.do(ctx, every, give)
}

// counting gives the number of seconds that have passed.
func counting(ctx context.Context, every time.Duration, give func(Reading)) error {
	begun := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		now := time.Now()
		give(Reading{Values: []Value{{Name: telemetry.ServerRunning, At: now, Value: now.Sub(begun).Seconds()}}})
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func TestInstantsAreThoseOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Start(t.Context(), time.Second, []Collector{fake{"server", counting}})
		time.Sleep(2500 * time.Millisecond)
		zero := time.Now()
		time.Sleep(3 * time.Second)
		if _, values := g.Fresh(zero); len(values) != 6 || values[0].At != -2500*time.Millisecond ||
			values[5].At != 2500*time.Millisecond {
			t.Errorf("fresh: %v", values)
		}
		set := g.End(zero)
		s := set.Series[0]
		if len(s.Points) != 6 || s.Unit != "requests" || s.Kind != telemetry.Gauge {
			t.Fatalf("%+v", s)
		}
		for _, p := range s.Points {
			if p.Value != (p.At + 2500*time.Millisecond).Seconds() {
				t.Errorf("%v at %v", p.Value, p.At)
			}
		}
	})
}

// What ends, what hangs and what says too much is a note; the others go on.
func TestTroubleIsANote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, release := context.WithCancel(context.Background())
		defer release()
		g := Start(t.Context(), time.Second, []Collector{
			fake{"server", counting},
			fake{"ends", func(context.Context, time.Duration, func(Reading)) error { return errors.New("no such program") }},
			fake{"hangs", func(_ context.Context, _ time.Duration, give func(Reading)) error {
				<-hang.Done()
				give(Reading{Values: []Value{{Name: "late", At: time.Now()}}})
				return nil
			}},
			fake{"talks", func(_ context.Context, _ time.Duration, give func(Reading)) error {
				for range 3 {
					r := Reading{Trouble: plan.Msg("telemetry.bad-value")}
					for i := range MostSeries + 9 {
						r.Values = append(r.Values, Value{
							Name: "x", Labels: telemetry.Labels{"i": time.Duration(i).String()}, At: time.Now(),
						})
					}
					give(r)
				}
				return nil
			}},
		})
		time.Sleep(1500 * time.Millisecond)
		set := g.End(time.Now())
		release()
		codes := map[string][]plan.Code{}
		for _, s := range set.Sources {
			for _, n := range s.Notes {
				codes[s.Name] = append(codes[s.Name], n.Code)
			}
		}
		if len(codes["server"]) != 0 || len(codes["ends"]) != 1 || codes["ends"][0] != Ended || len(codes["hangs"]) != 1 ||
			codes["hangs"][0] != Stuck {
			t.Error(codes)
		}
		if c := codes["talks"]; len(c) != 2 || len(set.Named("x")) != MostSeries {
			t.Error(c, len(set.Named("x")))
		}
		if s, _ := set.Source("talks"); s.Lost != 3 || s.Reads != 3 {
			t.Errorf("%+v", s)
		}
		if len(set.Named(telemetry.ServerRunning)) != 1 || len(set.Named("late")) != 0 {
			t.Error(set.Series)
		}
	})
}

// A source that was named and said nothing at all has a note; one that was looked for has not.
func TestSilenceIsANote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _ time.Duration, _ func(Reading)) error {
			<-ctx.Done()
			return nil
		}
		g := Start(t.Context(), time.Second, []Collector{
			fake{"named", silent}, Optional{fake{"looked for", silent}}, fake{"server", counting},
		})
		time.Sleep(2500 * time.Millisecond)
		set := g.End(time.Now())
		if len(set.Sources) != 2 || len(set.Sources[0].Notes) != 1 || len(set.Sources[1].Notes) != 0 {
			t.Fatalf("%+v", set.Sources)
		}
		if n := set.Sources[0].Notes[0]; n.Key() != plan.Msg(Nothing, "after", 2500*time.Millisecond).Key() {
			t.Error(n)
		}
	})
}

// Values that sums and rates could not bear are left out with a note, and what a program says is
// kept without the secrets in it.
func TestAbsurdValuesAndSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Start(t.Context(), time.Second,
			[]Collector{fake{"server", func(ctx context.Context, _ time.Duration, give func(Reading)) error {
				for _, v := range []float64{1, math.Inf(1), math.NaN(), -1e300, -1} {
					give(Reading{Values: []Value{{Name: telemetry.ServerRunning, At: time.Now(), Value: v}}})
					time.Sleep(time.Millisecond)
				}
				give(Reading{Trouble: plan.Msg(Ended, "why", "redirected to http://a/?token=abcdef123456")})
				<-ctx.Done()
				return nil
			}}})
		time.Sleep(time.Second)
		set := g.End(time.Now())
		if p := set.Series[0].Points; len(p) != 2 || p[0].Value != 1 || p[1].Value != -1 {
			t.Error(p)
		}
		notes := set.Sources[0].Notes
		if len(notes) != 2 || notes[0].Code != NotANumber || notes[1].Args["why"] != "redirected to http://a/?token=***" {
			t.Error(notes)
		}
	})
}

// Forgotten values make room: a source can be watched without limit. Fresh values
// are not lost by it.
func TestForgottenPointsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Start(t.Context(), time.Second, []Collector{fake{"server", counting}})
		g.mu.Lock()
		g.members[0].points = mostPoints - 5
		g.mu.Unlock()
		fresh := 0
		for range 20 {
			time.Sleep(time.Second)
			g.DropBefore(time.Now().Add(-2500 * time.Millisecond))
			_, values := g.Fresh(time.Now())
			fresh += len(values)
		}
		time.Sleep(500 * time.Millisecond)
		set := g.End(time.Now())
		if fresh < 20 || len(set.Sources[0].Notes) != 0 || len(set.Series[0].Points) > 5 {
			t.Errorf("%d fresh values, %d points, %v", fresh, len(set.Series[0].Points), set.Sources[0].Notes)
		}
	})
}
