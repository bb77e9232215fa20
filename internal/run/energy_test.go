package run

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run/collect"

	"github.com/pitot-bench/pitot/internal/run/collect/source"
	"github.com/pitot-bench/pitot/internal/test/devices"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// fakeDevices samples through a program that runs within this process.
func fakeDevices(t *testing.T, program string, f devices.Fake) func(plan.Telemetry, collect.Target) []collect.Collector {
	t.Helper()
	d, err := source.NewSMI(program, "")
	if err != nil {
		t.Fatal(err)
	}
	d.Start = func(args []string) (collect.Process, error) { return f.Start(args), nil }
	d.Ask = func(_ context.Context, args ...string) (string, error) { return f.Ask(args...) }
	return func(plan.Telemetry, collect.Target) []collect.Collector {
		return []collect.Collector{d}
	}
}

// work is 90 W for 11 s, in which nothing is sent, and then the power of phases of prefill and decode.
func work(from time.Time) devices.Curve {
	c := devices.Curve{From: from, Corners: []devices.Corner{{At: 0, W: 90}, {At: 11 * time.Second, W: 90}}}
	for s := 12.0; s < 120; s += 7 {
		at := func(more float64) time.Duration { return time.Duration((s + more) * float64(time.Second)) }
		c.Corners = append(c.Corners, devices.Corner{At: at(0), W: 380}, devices.Corner{At: at(2.5), W: 650}, devices.Corner{At: at(6), W: 410})
	}
	return c
}

// metered makes a run of 40 s, sampled once a second through a program of a maker.
func meteredRun(t *testing.T, program string, f devices.Fake) *Result {
	t.Helper()
	return sampledRun(t, program, f, metered)
}

func sampledRun(t *testing.T, program string, f devices.Fake, text string) *Result {
	t.Helper()
	w := newWorld()
	w.Collectors = fakeDevices(t, program, f)
	s := spec(t, text)
	s.Telemetry.Every = 0
	p, err := Prepare(t.Context(), s, w.Deps)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.Execute(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The energy of a fake device of known power is right to 0.5 %, whichever program tells it, also
// above idle; the program takes a moment to start, and the card of two dies counts once.
func TestEnergyOfARun(t *testing.T) {
	for _, x := range []struct {
		program         string
		devices, meters int
		how             resources.Method
	}{{"nvidia-smi", 2, 2, resources.Means}, {"npu-smi", 2, 1, resources.Sampled}, {"amd-smi", 1, 1, resources.Sampled}} {
		t.Run(x.program, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := devices.Fake{Devices: x.devices, Power: work(time.Now()), Busy: 93, Delay: 800 * time.Millisecond}
				r := meteredRun(t, x.program, f)
				used := r.Summary.Resources
				e, began := used.Energy, r.Trace.Run.Started
				truth := float64(x.meters) * f.Power.Joules(began, began.Add(time.Duration(e.Window*float64(time.Second))))
				if e.Method != x.how || (e.Error != nil) != (x.how == resources.Means) || e.Devices != x.meters || math.Abs(e.Joules/truth-1) > 0.005 {
					t.Errorf("%+v, truth %v J", e, truth)
				}
				net, ok := e.Net()
				if want := truth - 90*float64(x.meters)*e.Window; !ok || math.Abs(net/want-1) > 0.005 {
					t.Errorf("%v J above idle, want %v: %+v", net, want, e)
				}
				if perToken := e.Joules / float64(r.Summary.Tokens.Output); e.Window < 30 || math.Abs(e.PerToken/perToken-1) > 1e-9 {
					t.Errorf("%+v", e)
				}
				if d := used.Devices; d.Count != x.devices || d.Utilization == nil || math.Abs(*d.Utilization-0.93) > 1e-9 || len(used.Troubles) != 0 {
					t.Errorf("%+v %+v", d, used.Troubles)
				}
			})
		})
	}
}

// A closed loop of 32 s on an H200 took 11.6 kJ, by the log of its power twice a second. A run that takes its place in
// the log finds that at any phase of its own samples, and waits for those around it also without a pause.
func TestEnergyOfALoggedRun(t *testing.T) {
	race.Skip(t)
	for i := range 10 {
		phase := time.Duration(i) * 100 * time.Millisecond
		for _, settle := range []string{"10s", "0s"} {
			text := strings.NewReplacer("requests: 80", "requests: 65", "rate: 2", "rate: 1.99458", "settle: 10s", "settle: "+settle).Replace(metered)
			var began time.Time
			run := func(t *testing.T, f devices.Fake) *Result {
				f.Delay = phase
				return sampledRun(t, "nvidia-smi", f, text)
			}
			synctest.Test(t, func(t *testing.T) { began = run(t, devices.Fake{}).Trace.Run.Started })
			synctest.Test(t, func(t *testing.T) {
				r := run(t, devices.Fake{Replay: began.Add(-devices.LoggedFrom)})
				e := r.Summary.Resources.Energy
				if e.Method != resources.Means || math.Abs(e.Joules/11600-1) > 0.02 || math.Abs(e.Joules/11600-1) > *e.Error || e.Loaded {
					t.Errorf("phase %v: %+v", phase, e)
				}
				c := r.Summary.Resources.Devices
				if math.Abs(e.Window-32.142) > 0.001 || math.Abs(*c.Power-361) > 2 || c.Capped == nil || *c.Capped.Peak < 400 || *c.Capped.Limit != 700 {
					t.Errorf("%+v %+v %+v", e, c, c.Capped)
				}
				t.Logf("phase %v, pause %s: %.0f J ± %.1f %%, %.0f W, peak %.0f W, at the limit %.0f s", phase, settle, e.Joules, 100**e.Error, *c.Power, *c.Capped.Peak, c.Capped.Seconds)
			})
		}
	}
}

// Clocks that are held down, and another process on the device, are doubts of the run.
func TestDevicesThatDisturb(t *testing.T) {
	doubts := func(t *testing.T, f devices.Fake) (codes map[plan.Code]plan.Message) {
		t.Helper()
		codes = map[plan.Code]plan.Message{}
		synctest.Test(t, func(t *testing.T) {
			f.Power = work(time.Now())
			r := meteredRun(t, "nvidia-smi", f)
			for _, why := range r.Summary.Health.Verdict.Reasons {
				if why.Code != "verdict.collector-paused" { // which is not in virtual time
					codes[why.Code] = why
				}
			}
			if v := r.Summary.Health.Verdict.Validity; len(codes) > 0 && v == trace.Valid {
				t.Errorf("%s, for %v", v, codes)
			}
		})
		return codes
	}
	if got := doubts(t, devices.Fake{Others: 1}); len(got) != 0 {
		t.Error("one process, sw_power_cap:", got)
	}
	if got := doubts(t, devices.Fake{Old: true}); got["verdict.throttled"].Args["reason"] == nil { // a driver of the form that reports thermal slowdown
		t.Error("held down:", got)
	}
	if got := doubts(t, devices.Fake{Others: 3}); got["verdict.device-shared"].Args["processes"] != 3.0 {
		t.Error("three processes:", got)
	}
}
