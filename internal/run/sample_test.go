package run

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
)

// A meter gives the power of a device that idles at 80 W and then draws 400 W. It ends by itself
// after some readings, if that is not 0.
type meter struct {
	name string
	busy atomic.Bool
	dies int
}

func (m *meter) Describe() telemetry.Source {
	return telemetry.Source{Name: m.name, Via: "meter --key sk-secret-123"}
}

func (m *meter) Collect(ctx context.Context, every time.Duration, give func(collect.Reading)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 1; ; n++ {
		watts := 80.0
		if m.busy.Load() {
			watts = 400
		}
		give(collect.Reading{Values: []collect.Value{{Name: telemetry.DevicePower, Labels: telemetry.Labels{"device": "0", "owner": "sk-secret-123"}, At: time.Now(), Value: watts}}})
		if n == m.dies {
			return errors.New("driver lost")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

const metered = `
target: {engine: {ttft: 20ms, itl: 5ms}}
request: {protocol: completions, usage: end, ignore_eos: true}
requests: 80
seed: 7
load: [{arrival: {kind: constant, rate: 2}, dataset: {kind: random, input_len: 10, output_len: 8}}]
before: {settle: 10s}
telemetry: {every: 500ms}
`

// What is sampled beside a run has the run's clock, the pause before it is what idling draws,
// sinks hear of it while the run goes on, a source that dies is a note of that source alone, and
// no secret is in any of it.
func TestARunIsSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Secrets = &secret.Set{}
		w.Secrets.Add("sk-secret-123")
		good, bad := &meter{name: "gpu"}, &meter{name: "other", dies: 3}
		w.Collectors = func(asked plan.Telemetry, target collect.Target) []collect.Collector {
			if asked.Every.Std() != 500*time.Millisecond || !target.Embedded || target.URL == "" {
				t.Errorf("%+v, %+v", asked, target)
			}
			return []collect.Collector{good, bad, collect.Optional{Collector: mute{}}}
		}
		// No sample is due at the very start of the run, which could be of either side of it.
		p, err := Prepare(t.Context(), spec(t, strings.Replace(metered, "settle: 10s", "settle: 10200ms", 1)), w.Deps)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var mu sync.Mutex
		live := map[time.Duration]bool{}
		r, err := p.Execute(t.Context(), nil, SinkFunc(func(e Event) error {
			mu.Lock()
			defer mu.Unlock()
			switch e := e.(type) {
			case Starting:
				good.busy.Store(true)
			case Sampled:
				for _, v := range e.Values {
					if v.Source == "gpu" {
						live[v.At] = true
					}
				}
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		set := r.Trace.Telemetry
		if len(set.Sources) != 2 || len(set.Series) != 2 {
			t.Fatalf("%+v", set)
		}
		first := set.Series[0]
		if at := first.Points[0].At; at > -10*time.Second || at < -11*time.Second {
			t.Errorf("the first sample is at %v", at)
		}
		for _, p := range first.Points {
			if !live[p.At] {
				t.Errorf("no sink heard of the sample at %v", p.At)
			}
		}
		if idle := r.Trace.Run.Idle; idle == nil || idle.Length() != 10200*time.Millisecond {
			t.Errorf("idle %+v", r.Trace.Run.Idle)
		}
		if first.Labels["owner"] == "sk-secret-123" || set.Sources[0].Via == "meter --key sk-secret-123" {
			t.Errorf("a secret: %+v %+v", first.Key, set.Sources[0])
		}
		other, _ := set.Source("other")
		if len(other.Notes) != 1 || other.Notes[0].Code != collect.Ended || other.Reads != 3 {
			t.Errorf("%+v", other)
		}
		// Both report the devices of this machine, so one of them counts. 400 W, 80 W when idle.
		e := r.Summary.Resources.Energy
		net, ok := e.Net()
		if e.Method != resources.Sampled || e.Devices != 1 || !ok || math.Abs(net/(320*e.Window)-1) > 0.005 || math.Abs(e.PerToken*640-e.Joules) > 1e-6 {
			t.Errorf("%+v, net %v", e, net)
		}
		if d := r.Summary.Resources.Devices; d.Power == nil || math.Abs(*d.Power-400) > 5 {
			t.Errorf("%+v", d)
		}
	})
}

// mute never gives a reading.
type mute struct{}

func (mute) Describe() telemetry.Source { return telemetry.Source{Name: "none"} }
func (mute) Collect(ctx context.Context, _ time.Duration, _ func(collect.Reading)) error {
	<-ctx.Done()
	return nil
}

// A run that is stopped before it begins ends its collectors, and so does one that fails.
func TestCollectorsEndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Collectors = func(plan.Telemetry, collect.Target) []collect.Collector {
			return []collect.Collector{&meter{name: "gpu"}}
		}
		p, err := Prepare(t.Context(), spec(t, metered), w.Deps)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		stop := make(chan struct{})
		time.AfterFunc(3*time.Second, func() { close(stop) })
		if _, err := p.Execute(t.Context(), stop); !errors.Is(err, ErrStopped) {
			t.Error(err)
		}
	}) // which fails if a goroutine is left
}
