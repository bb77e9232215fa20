package report

import (
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// machine is what devices did and drew meanwhile, as far as that was sampled.
func (r *report) machine(s metrics.Summary) {
	used := s.Resources
	if used == nil {
		return
	}
	r.Field(r.Word("report.device"), r.devices(used.Devices)...)
	if e := used.Energy; e != nil && e.Method != resources.Unknown {
		r.Field(r.Word("report.energy"), r.energy(*e, s.Tokens.Output)...)
	}
}

// troubles are the notes on sources of telemetry.
func (r *report) troubles(s metrics.Summary) {
	if s.Resources == nil {
		return
	}
	for _, t := range s.Resources.Troubles {
		r.noteIf(true, "report.source-trouble", "source", t.Source, "what", t.What)
	}
}

// serverLoad is what the server reported of its load.
func (r *report) serverLoad(s resources.Server) (parts []string) {
	if s.KVUseMax != nil {
		parts = append(parts, r.Word("report.kv-use", "share", *s.KVUseMax))
	}
	if s.WaitingMax != nil && *s.WaitingMax > 0 {
		parts = append(parts, r.Word("report.waiting-most", "requests", *s.WaitingMax))
	}
	return parts
}

func (r *report) devices(d *resources.Devices) (parts []string) {
	if d == nil {
		return nil
	}
	parts = append(parts, r.Word("report.devices", "devices", d.Count))
	if d.Utilization != nil {
		parts = append(parts, r.Word("report.busy", "share", *d.Utilization))
	}
	if d.Power != nil {
		parts = append(parts, r.Word("report.power", "power", *d.Power))
	}
	if d.Temperature != nil {
		parts = append(parts, r.Word("report.hottest", "temperature", *d.Temperature))
	}
	return append(parts, r.throttled(d.Throttled)...)
}

// throttled are the device that was held down longest for a serious reason, and the longest time at
// a power limit, where full load is all the time.
func (r *report) throttled(all []resources.Throttled) (parts []string) {
	serious, limited := false, false
	for _, held := range all { // the longest first
		switch grave := telemetry.SeriousThrottling(held.Reason); {
		case grave && !serious:
			parts = append([]string{r.Word("report.throttled", "device", held.Device, "time", held.Seconds, "reason", held.Reason)}, parts...)
			serious = true
		case !grave && !limited:
			parts = append(parts, r.Word("report.power-limited", "time", held.Seconds))
			limited = true
		}
	}
	return parts
}

func (r *report) energy(e resources.Energy, tokens int) (parts []string) {
	how := plan.Say(plan.Code("energy-method."+string(e.Method)), "missing", 1-e.Covered)
	if !e.Method.Known() {
		return []string{r.Word("report.energy-none", "why", how)}
	}
	parts = append(parts, r.Word("report.energy-all", "energy", e.Joules/1000, "window", e.Window, "how", how))
	if e.PerToken > 0 {
		parts = append(parts, r.Word("report.energy-token", "energy", e.PerToken))
	}
	if net, ok := e.Net(); ok && tokens > 0 {
		parts = append(parts, r.Word("report.energy-net", "energy", net/float64(tokens)))
	}
	if e.PerRequest > 0 {
		parts = append(parts, r.Word("report.energy-request", "energy", e.PerRequest))
	}
	return parts
}
