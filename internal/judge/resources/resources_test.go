package resources

import (
	"math"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A course is a quantity as a function of time, sampled every so often.
type course struct {
	source, name, device string
	labels               telemetry.Labels
	every                time.Duration
	from, to             time.Duration
	value                func(s float64) float64
	without              func(s float64) bool // samples that are missing
}

func sampled(host map[string]string, all ...course) *telemetry.Set {
	set := &telemetry.Set{}
	for _, c := range all {
		labels := telemetry.Labels{}
		if c.device != "" {
			labels["device"] = c.device
		}
		for k, v := range c.labels {
			labels[k] = v
		}
		if _, ok := set.Source(c.source); !ok {
			set.Sources = append(set.Sources, telemetry.Source{Name: c.source, Host: host[c.source], Reads: 1})
		}
		for at := c.from; at <= c.to; at += c.every {
			if c.without != nil && c.without(at.Seconds()) {
				continue
			}
			set.Add(telemetry.NewValue(c.source, c.name, labels, telemetry.Point{At: at, Value: c.value(at.Seconds())}))
		}
	}
	return set
}

const sec = time.Second

var none telemetry.Window

func window(from, to time.Duration) telemetry.Window { return telemetry.Window{From: from, To: to} }

// swinging draws 300 W on average, between 200 and 400 W, with a period of 20 s.
func swinging(s float64) float64 { return 300 + 100*math.Sin(2*math.Pi*s/20) }

// energyOf is the integral of swinging.
func energyOf(from, to float64) float64 {
	f := func(s float64) float64 { return 300*s - 100*20/(2*math.Pi)*math.Cos(2*math.Pi*s/20) }
	return f(to) - f(from)
}

func steady(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// The energy of a known power is right to 0.5 %, by samples of power and by a counter, over
// windows whose edges lie between samples.
func TestEnergyOfAKnownPower(t *testing.T) {
	w := window(3300*time.Millisecond, 95700*time.Millisecond)
	truth := energyOf(3.3, 95.7)
	for name, c := range map[string]struct {
		course course
		how    Method
	}{
		"power":        {course{"gpu", telemetry.DevicePower, "0", nil, sec, -10 * sec, 100 * sec, swinging, nil}, Sampled},
		"slow power":   {course{"gpu", telemetry.DevicePower, "0", nil, 2900 * time.Millisecond, -10 * sec, 100 * sec, swinging, nil}, Sampled},
		"no more":      {course{"gpu", telemetry.DevicePower, "0", nil, sec, 4 * sec, 95 * sec, swinging, nil}, Sampled},
		"counter":      {course{"gpu", telemetry.DeviceEnergy, "0", nil, sec, -10 * sec, 100 * sec, func(s float64) float64 { return 1e6 + energyOf(-10, s) }, nil}, Counters},
		"slow counter": {course{"gpu", telemetry.DeviceEnergy, "0", nil, 5 * sec, -10 * sec, 100 * sec, func(s float64) float64 { return 1e6 + energyOf(-10, s) }, nil}, Counters},
	} {
		r := Summarize(sampled(nil, c.course), w, none, 1000, 10)
		e := r.Energy
		if e.Method != c.how || math.Abs(e.Joules/truth-1) > 0.005 || e.Devices != 1 || e.Idle != nil {
			t.Errorf("%s: %+v, truth %v", name, e, truth)
		}
		if math.Abs(e.PerToken*1000-e.Joules) > 1e-6 || math.Abs(e.PerRequest*10-e.Joules) > 1e-6 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// 200 W idle before the run, 500 W in it: 300 W net.
func TestIdleIsTakenOff(t *testing.T) {
	power := func(s float64) float64 {
		if s < 0 {
			return 200
		}
		return 500
	}
	set := sampled(nil, course{"gpu", telemetry.DevicePower, "0", nil, 250 * time.Millisecond, -10 * sec, 50 * sec, power, nil})
	e := Summarize(set, window(0, 40*sec), window(-9*sec, -1*sec), 0, 0).Energy
	net, ok := e.Net()
	if !ok || math.Abs(net-300*40) > 1 || math.Abs(e.Joules-500*40) > 1 || e.PerToken != 0 {
		t.Errorf("%+v, net %v", e, net)
	}
	for _, idle := range []telemetry.Window{window(-4*sec, -1*sec), window(-14*sec, -6*sec)} {
		if e := Summarize(set, window(0, 40*sec), idle, 0, 0).Energy; e.Idle != nil {
			t.Errorf("3 s and 4 s of idling are too few: %+v", e)
		}
	}
	// The power jumps between two samples: none of the load is idling, and none of idling is load.
	set = sampled(nil, course{"gpu", telemetry.DevicePower, "0", nil, sec, -10300 * time.Millisecond, 50 * sec, power, nil})
	if e := Summarize(set, window(0, 40*sec), window(-10*sec, 0), 0, 0).Energy; e.Idle == nil || math.Abs(*e.Idle-200) > 1e-6 || math.Abs(e.Joules-500*40) > 1e-6 {
		t.Errorf("%+v", e)
	}
	counter := func(s float64) float64 { return 1e6 + 500*max(s, 0) + 200*min(s, 0) }
	set = sampled(nil, course{"gpu", telemetry.DeviceEnergy, "0", nil, sec, -10300 * time.Millisecond, 50 * sec, counter, nil})
	if e := Summarize(set, window(0, 40*sec), window(-10*sec, 0), 0, 0).Energy; e.Method != Counters || e.Idle == nil || math.Abs(*e.Idle-200) > 1e-6 || math.Abs(e.Joules-500*40) > 1e-6 {
		t.Errorf("%+v", e)
	}
	set = sampled(nil, course{"gpu", telemetry.DevicePower, "0", nil, 250 * time.Millisecond, -10 * sec, 50 * sec, power, nil})
	// The program that samples began 2 s into the pause.
	if e := Summarize(set, window(0, 40*sec), window(-12*sec, -1*sec), 0, 0).Energy; e.Idle == nil || math.Abs(*e.Idle-200) > 0.1 {
		t.Errorf("%+v", e)
	}
}

func TestWhenThereIsNoEnergy(t *testing.T) {
	gap := func(from, to float64) func(float64) bool {
		return func(s float64) bool { return s > from && s < to }
	}
	power := func(device string, without func(float64) bool) course {
		return course{"gpu", telemetry.DevicePower, device, nil, sec, -5 * sec, 200 * sec, steady(100), without}
	}
	busy := course{"gpu", telemetry.DeviceUtilization, "1", nil, sec, -5 * sec, 200 * sec, steady(1), nil}
	for name, c := range map[string]struct {
		set *telemetry.Set
		to  time.Duration
		how Method
	}{
		"29 s":                {sampled(nil, power("0", nil)), 29 * sec, Short},
		"a gap of 5 s of 100": {sampled(nil, power("0", gap(50, 55))), 100 * sec, Gaps},
		"one of two silent":   {sampled(nil, power("0", nil), busy), 100 * sec, Partial},
		"nothing of power":    {sampled(nil, busy), 100 * sec, Unknown},
		"it ended early":      {sampled(nil, power("0", gap(90, 1e9))), 100 * sec, Gaps},
	} {
		if e := Summarize(c.set, window(0, c.to), none, 10, 10).Energy; e.Method != c.how || e.Joules != 0 || e.PerToken != 0 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	// The second die of a card has no sensor of its own.
	die := busy
	die.device = "0.1"
	if e := Summarize(sampled(nil, power("0.0", nil), die), window(0, 100*sec), none, 10, 10).Energy; e.Method != Sampled || e.Devices != 1 || math.Abs(e.Joules-10000) > 1e-6 || e.Covered != 1 {
		t.Errorf("%+v", e)
	}
	// A gap of 4 s in 500 is bridged by the mean.
	long := course{"gpu", telemetry.DevicePower, "0", nil, sec, 0, 500 * sec, steady(100), gap(50, 54)}
	if e := Summarize(sampled(nil, long), window(0, 500*sec), none, 0, 0).Energy; e.Method != Sampled || math.Abs(e.Joules-50000) > 1e-6 || e.Covered > 0.9921 {
		t.Errorf("%+v", e)
	}
}

// Two exporters of one host report the same devices: they count once, by the counter. Those of
// another host are others.
func TestDevicesCountOnce(t *testing.T) {
	set := sampled(map[string]string{"far": "gpu1"},
		course{"nvidia-smi", telemetry.DevicePower, "0", nil, sec, 0, 100 * sec, steady(110), nil},
		course{"dcgm", telemetry.DeviceEnergy, "0", nil, sec, 0, 100 * sec, func(s float64) float64 { return 100 * s }, nil},
		course{"far", telemetry.DevicePower, "0", nil, sec, 0, 100 * sec, steady(50), nil},
	)
	r := Summarize(set, window(0, 100*sec), none, 0, 0)
	if e := r.Energy; r.Devices.Count != 2 || e.Method != Mixed || math.Abs(e.Joules-15000) > 1e-6 {
		t.Errorf("%+v %+v", r.Devices, e)
	}
}

// An exporter that renews its counter every 30 s says nothing of a run of 32 s, and less than means of power; of an hour
// it says enough. One that does so every second is right within its error.
func TestCountersThatAreOld(t *testing.T) {
	power := func(s float64) float64 { return 100 + 300*min(max(s, 0), 32)/32 }
	joules := func(s float64) float64 { return 125*s + 236*min(max(s, 0), 3600) }
	counter := func(old float64) course {
		return course{"dcgm", telemetry.DeviceEnergy, "0", nil, sec, -10 * sec, 3700 * sec, func(s float64) float64 { return 1e6 + joules(math.Floor((s-0.3)/old)*old) }, nil}
	}
	rest := window(-10*sec, 0)
	for _, c := range []struct {
		old float64
		to  time.Duration
		how Method
		off float64
	}{{30, 32 * sec, Short, 0}, {30, 3600 * sec, Counters, 0.01}, {1, 32 * sec, Counters, 0.05}} {
		e := Summarize(sampled(nil, counter(c.old)), window(0, c.to), rest, 0, 0).Energy
		truth := joules(c.to.Seconds())
		if e.Method != c.how || c.off > 0 && (*e.Error > c.off || math.Abs(e.Joules/truth-1) > *e.Error) {
			t.Errorf("renewed every %v s, in %v: %+v, want %v J", c.old, c.to, e, truth)
		}
	}
	means := []course{
		{"smi", telemetry.DevicePower, "0", nil, sec, -10 * sec, 50 * sec, power, nil}, {"smi", telemetry.DevicePowerSpan, "0", nil, sec, -10 * sec, 50 * sec, steady(1), nil},
	}
	if e := Summarize(sampled(nil, append(means, counter(30))...), window(0, 32*sec), rest, 0, 0).Energy; e.Method != Means {
		t.Errorf("%+v", e)
	}
}

func TestThrottling(t *testing.T) {
	hot := func(s float64) float64 {
		if s >= 10 && s < 25 {
			return 1
		}
		return 0
	}
	thermal := course{"gpu", telemetry.DeviceThrottled, "3", telemetry.Labels{"reason": "thermal"}, sec, 0, 60 * sec, hot, nil}
	r := Summarize(sampled(nil, thermal), window(0, 60*sec), none, 0, 0)
	if d := r.Devices; len(d.Throttled) != 1 || d.Throttled[0] != (Throttled{"gpu 3", "thermal", 15}) {
		t.Errorf("%+v", d.Throttled)
	}
	// A source that ended while it was hot says nothing of the rest.
	thermal.to = 20 * sec
	if d := Summarize(sampled(nil, thermal), window(0, 60*sec), none, 0, 0).Devices; d.Throttled[0].Seconds != 13 {
		t.Errorf("%+v", d.Throttled)
	}
}

func TestServersAndHosts(t *testing.T) {
	up := func(s float64) float64 { return math.Floor(s / 10) }
	set := sampled(nil,
		course{"server", telemetry.ServerKVUse, "", nil, sec, 0, 60 * sec, func(s float64) float64 { return s / 100 }, nil},
		course{"server", telemetry.ServerWaiting, "", nil, sec, 0, 60 * sec, func(s float64) float64 { return 10 - math.Abs(s-30) }, nil},
		course{"server", telemetry.ServerPreemptions, "", nil, sec, 0, 60 * sec, up, nil},
		course{"server", telemetry.ServerCacheHits, "", nil, sec, 0, 60 * sec, func(s float64) float64 { return 30 * s }, nil},
		course{"server", telemetry.ServerCacheQueries, "", nil, sec, 0, 60 * sec, func(s float64) float64 { return 120 * s }, nil},
		course{"client", telemetry.HostCPUTime, "", telemetry.Labels{"cpu": "0"}, sec, 0, 60 * sec, func(s float64) float64 { return 0.9 * s }, nil},
		course{"client", telemetry.HostCPUTime, "", telemetry.Labels{"cpu": "1"}, sec, 0, 60 * sec, func(s float64) float64 { return 0.3 * s }, nil},
	)
	r := Summarize(set, window(5*sec, 55*sec), none, 0, 0)
	is := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	is("KV use", r.Server.KVUseMax, 0.55)
	is("its mean", r.Server.KVUseMean, 0.30)
	is("waiting", r.Server.WaitingMax, 10)
	is("preemptions", r.Server.Preemptions, 5)
	is("hits", r.Server.CacheHits, 0.25)
	is("processors", r.Hosts[0].CPU, 1.2)
	is("busiest", r.Hosts[0].CPUMax, 0.9)
	if r.Server.RunningMax != nil || r.Server.Accepted != nil || r.Hosts[0].MemoryUse != nil || r.Devices != nil || r.Energy != nil || r.Server.Restarted {
		t.Errorf("unknown is unknown: %+v", r)
	}
	if Summarize(nil, window(0, sec), none, 1, 1) != nil || Summarize(&telemetry.Set{}, window(0, sec), none, 1, 1) != nil {
		t.Error("of nothing")
	}
}

// Processes are asked for seldom: what was seen 8 s before a short run is so in it.
func TestProcessesSeenBeforeTheRun(t *testing.T) {
	set := sampled(nil, course{"gpu", telemetry.DeviceProcesses, "0", nil, 10 * sec, -8 * sec, -8 * sec, steady(3), nil})
	if d := Summarize(set, window(0, 2*sec), none, 0, 0).Devices; d.Processes == nil || *d.Processes != 3 {
		t.Errorf("%+v", d)
	}
	old := sampled(nil, course{"gpu", telemetry.DeviceProcesses, "0", nil, 10 * sec, -20 * sec, -20 * sec, steady(3), nil})
	if d := Summarize(old, window(0, 2*sec), none, 0, 0).Devices; d.Processes != nil {
		t.Errorf("%+v", d)
	}
}

// The power of two dies of a card counts once if it is about the same, and the energy says so.
func TestPowerOfTwoDies(t *testing.T) {
	w := window(0, 40*sec)
	die := func(device string, watts float64) course {
		return course{"npu", telemetry.DevicePower, device, telemetry.Labels{"card": "1"}, sec, -2 * sec, 42 * sec, steady(watts), nil}
	}
	other := course{"npu", telemetry.DeviceUtilization, "3", nil, sec, -2 * sec, 42 * sec, steady(1), nil}
	for name, c := range map[string]struct {
		set   *telemetry.Set
		watts float64
		dies  Dies
	}{
		"the same":      {sampled(nil, die("2", 245), die("3", 245.6)), 245, OfCard},
		"their own":     {sampled(nil, die("2", 245), die("3", 100)), 345, OfDies},
		"of one die":    {sampled(nil, die("2", 245), other), 245, ""},
		"of two cards":  {sampled(nil, course{"npu", telemetry.DevicePower, "0", nil, sec, -2 * sec, 42 * sec, steady(245), nil}, die("3", 245)), 490, ""},
		"of the second": {sampled(nil, die("3", 245)), 245, ""},
	} {
		r := Summarize(c.set, w, none, 0, 0)
		if e := r.Energy; !e.Method.Known() || math.Abs(e.Joules-40*c.watts) > 1 || e.Dies != c.dies || *r.Devices.Power != c.watts {
			t.Errorf("%s: %+v, %v W", name, e, *r.Devices.Power)
		}
	}
	l := LiveAt(sampled(nil, die("2", 245), die("3", 245.6)), 20*sec, SpansOf(sec))
	if len(l.Devices) != 2 || l.Devices[0].Metered || !l.Devices[1].Metered {
		t.Errorf("%+v", l.Devices)
	}
}

// States of health are those of the window, with the sample before it, and memory likewise.
func TestHealthAndMemory(t *testing.T) {
	before := func(name, device string, labels telemetry.Labels, v float64) course {
		return course{"npu", name, device, labels, 10 * sec, -8 * sec, -8 * sec, steady(v), nil}
	}
	alarm, warning := telemetry.Labels{"state": telemetry.HealthAlarm}, telemetry.Labels{"state": telemetry.HealthWarning}
	set := sampled(nil, before(telemetry.DeviceUnhealthy, "0", alarm, 1), before(telemetry.DeviceUnhealthy, "0", warning, 0),
		before(telemetry.DeviceUnhealthy, "1", warning, 1), before(telemetry.DeviceMemoryUsed, "1", nil, 48e9),
		before(telemetry.DeviceMemoryTotal, "1", nil, 64e9))
	d := Summarize(set, window(0, 5*sec), none, 0, 0).Devices
	if len(d.Unhealthy) != 2 || d.Unhealthy[0] != (Unhealthy{"npu 0", "alarm"}) || d.Unhealthy[1] != (Unhealthy{"npu 1", "warning"}) ||
		*d.MemoryUse != 0.75 || *d.MemoryUsed != 48e9 {
		t.Errorf("%+v", d)
	}
	l := LiveAt(set, 3*sec, SpansOf(sec))
	if one := l.Devices[1]; *one.MemoryUsed != 48e9 || len(one.Unhealthy) != 1 || len(LiveAt(set, 9*sec, SpansOf(sec)).Devices[1].Unhealthy) != 0 {
		t.Errorf("%+v", one)
	}
}
