package resources

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// busy is a set of 20 s, sampled every second, whose every figure can be worked out by hand.
func busy() *telemetry.Set {
	rising := func(perSecond float64) func(float64) float64 {
		return func(s float64) float64 { return perSecond * s }
	}
	one := func(name string, of func(float64) float64, labels telemetry.Labels) course {
		return course{source: "server", name: name, labels: labels, every: sec, to: 20 * sec, value: of}
	}
	all := []course{
		one(telemetry.ServerRunning, steady(3), telemetry.Labels{"replica": "0"}),
		one(telemetry.ServerRunning, steady(5), telemetry.Labels{"replica": "1"}),
		one(telemetry.ServerWaiting, rising(1), nil),
		one(telemetry.ServerKVUse, steady(0.25), telemetry.Labels{"replica": "0"}),
		one(telemetry.ServerKVUse, steady(0.75), telemetry.Labels{"replica": "1"}),
		one(telemetry.ServerCacheQueries, rising(200), nil),
		one(telemetry.ServerCacheHits, rising(50), nil),
		one(telemetry.ServerPreemptions, func(s float64) float64 { return float64(int(s) / 10) }, nil),
		one(telemetry.ServerPromptTokens, rising(1000), nil),
		one(telemetry.ServerOutputTokens, rising(400), nil),
		one(telemetry.ServerSteps, rising(20), nil),
		one(telemetry.ServerStepPrefill, rising(800), nil),
		one(telemetry.ServerStepDecode, rising(400), nil),
	}
	for _, reason := range []string{telemetry.ThrottledSWPower, telemetry.ThrottledHWThermal} {
		value := map[string]float64{telemetry.ThrottledSWPower: 1}[reason]
		all = append(all, course{source: "gpu", name: telemetry.DeviceThrottled, device: "0", labels: telemetry.Labels{"reason": reason}, every: sec, to: 20 * sec, value: steady(value)})
	}
	all = append(all,
		course{source: "gpu", name: telemetry.DevicePower, device: "0", every: sec, to: 20 * sec, value: steady(600)},
		course{source: "gpu", name: telemetry.DevicePower, device: "1", every: sec, to: 14 * sec, value: steady(90)},
		course{source: "host", name: telemetry.HostCPUTime, labels: telemetry.Labels{"cpu": "0"}, every: sec, to: 20 * sec, value: rising(0.5)},
		course{source: "host", name: telemetry.HostCPUTime, labels: telemetry.Labels{"cpu": "1"}, every: sec, to: 20 * sec, value: rising(1)},
		course{source: "host", name: telemetry.HostPressure, labels: telemetry.Labels{"resource": "io"}, every: sec, to: 20 * sec, value: rising(0.125)},
	)
	return sampled(nil, all...)
}

var back = Spans{Fresh: 3 * sec, Own: 10 * sec, Rate: 5 * sec, Count: 15 * sec}

// What was last said counts, and what grew over the last seconds; a device that has said nothing
// for longer than is fresh is not known.
func TestLive(t *testing.T) {
	want := `{"servers":[{"source":"server","running":8,"waiting":20,"kv_use":0.75,"cache_hits":0.25,"preemptions":2,"prompt_tokens_s":1000,"output_tokens_s":400,"tokens_per_step":60,"accepted_drafts":null}],` +
		`"devices":[{"device":"gpu 0","utilization":null,"power_w":600,"clock_hz":null,"temperature_c":null,"memory_used_b":null,"memory_total_b":null,"throttled":["sw_power_cap"],"unhealthy":null},` +
		`{"device":"gpu 1","utilization":null,"power_w":null,"clock_hz":null,"temperature_c":null,"memory_used_b":null,"memory_total_b":null,"throttled":null,"unhealthy":null}],` +
		`"hosts":[{"source":"host","cpu":1.5,"cpus":2,"memory_used_b":null,"memory_total_b":null,"cpu_pressure":null,"memory_pressure":null,"io_pressure":0.125}]}`
	if d := cmp.Diff(want, text(t, LiveAt(busy(), 20*sec, back))); d != "" {
		t.Error(d)
	}
}

// A source that stamps its samples itself is heard later: what it said 6 s ago still counts.
func TestLateSamplesAreNotStale(t *testing.T) {
	set := busy()
	for i := range set.Sources {
		set.Sources[i].Clock.Own = set.Sources[i].Name == "gpu"
	}
	if l := LiveAt(set, 20*sec, back); l.Devices[1].Power == nil || *l.Devices[1].Power != 90 {
		t.Error(text(t, l))
	}
}

// Of a source that fell silent nothing is known, not even what it said last; nor are rates known of
// one sample.
func TestNothingIsKnownOfSilence(t *testing.T) {
	set := busy()
	l := LiveAt(set, time.Minute, back)
	if l.Servers[0] != (LiveServer{Source: "server"}) || l.Hosts[0] != (LiveHost{Source: "host"}) {
		t.Error(text(t, l))
	}
	l = LiveAt(set, 0, back)
	if s := l.Servers[0]; s.Running == nil || *s.Running != 8 || s.Output != nil || s.CacheHits != nil || s.Preemptions != nil || s.StepTokens != nil {
		t.Error(text(t, l))
	}
}

func text(t *testing.T, l Live) string {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
