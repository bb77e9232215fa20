package metrics

import (
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// resourcesOf is what a run used, from its start to its last answer; nil without telemetry.
func resourcesOf(t *trace.Trace, end trace.Instant, s Summary) *resources.Resources {
	idle := telemetry.Window{}
	if t.Run.Idle != nil {
		idle = *t.Run.Idle
	}
	whole, tokens, requests := telemetry.Window{To: time.Duration(end)}, s.Tokens.Output, s.Requests.OK
	if s.Rates.AtLeast {
		tokens, requests = 0, 0 // not known
	}
	return resources.Summarize(t.Telemetry, whole, idle, tokens, requests)
}

// resourceFigures are those of telemetry.
func (s Summary) resourceFigures(l *List) {
	r := s.Resources
	if r == nil {
		return
	}
	add := func(name string, v *float64) {
		if v != nil {
			l.Add(name, *v)
		}
	}
	add(figure.KVUse, r.Server.KVUseMax)
	add(figure.Waiting, r.Server.WaitingMax)
	add(figure.Preemptions, r.Server.Preemptions)
	if d := r.Devices; d != nil {
		add(figure.DeviceUtilization, d.Utilization)
		add(figure.DevicePower, d.Power)
		add(figure.DeviceTemperature, d.Temperature)
	}
	e := r.Energy
	if e == nil || !e.Method.Known() {
		return
	}
	off := deref(e.Error) * e.Joules
	l.addWithin(figure.Energy, e.Joules, off)
	if e.PerToken > 0 {
		l.addWithin(figure.EnergyPerToken, e.PerToken, off*e.PerToken/e.Joules)
	}
	if e.PerRequest > 0 {
		l.addWithin(figure.EnergyPerRequest, e.PerRequest, off*e.PerRequest/e.Joules)
	}
	if net, ok := e.Net(); ok && s.Tokens.Output > 0 {
		l.addWithin(figure.NetEnergyPerToken, net/float64(s.Tokens.Output), off/float64(s.Tokens.Output))
	}
}

// leastThrottled is the share of a run in which the clocks of a device may be held down.
const leastThrottled = 0.01

// resources judges what telemetry says of the server's side.
func (j *judgement) resources() {
	r := j.s.Resources
	if r == nil {
		return
	}
	if d := r.Devices; d != nil {
		for _, held := range d.Throttled {
			if held.Seconds > leastThrottled*j.s.Duration && telemetry.SeriousThrottling(held.Reason) {
				j.doubtIf(true, "verdict.throttled", "device", held.Device, "reason", held.Reason, "time", held.Seconds)
				break // the longest
			}
		}
		for _, u := range d.Unhealthy {
			if telemetry.SeriousHealth(u.State) {
				j.doubtIf(true, "verdict.unhealthy", "device", u.Device, "state", u.State)
				break // one stands for all
			}
		}
		j.doubtIf(d.Processes != nil && *d.Processes > 1, "verdict.device-shared", "processes", deref(d.Processes))
	}
	j.doubtIf(r.Server.Restarted, "verdict.server-restarted")
	n := deref(r.Server.Preemptions)
	j.doubtIf(n > 0 && j.s.Steady.Found(), "verdict.preempted", "requests", n)
}

func deref(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
