package resources

import (
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// Live is the state of servers, devices and hosts at an instant: their newest samples, and the
// recent growth of counters. Unknown is nil.
type Live struct {
	At      time.Duration `json:"-"`
	Servers []LiveServer  `json:"servers"`
	Devices []LiveDevice  `json:"devices"`
	Hosts   []LiveHost    `json:"hosts"`
}

// A LiveServer is one source of server quantities: its replicas and workers together, of KV use
// the largest.
type LiveServer struct {
	Source      string   `json:"source"`
	Running     *float64 `json:"running"`
	Waiting     *float64 `json:"waiting"`
	KVUse       *float64 `json:"kv_use"`          // share
	CacheHits   *float64 `json:"cache_hits"`      // share of the prompt tokens that were looked up
	Preemptions *float64 `json:"preemptions"`     // over Spans.Count
	Prompt      *float64 `json:"prompt_tokens_s"` // prompt tokens per second
	Output      *float64 `json:"output_tokens_s"` // output tokens per second
	StepTokens  *float64 `json:"tokens_per_step"` // of prompts and outputs
	Accepted    *float64 `json:"accepted_drafts"` // share of the drafted tokens
}

// A LiveDevice is one device, in SI units.
type LiveDevice struct {
	Device      string   `json:"device"` // source and index
	Utilization *float64 `json:"utilization"`
	Power       *float64 `json:"power_w"`
	Clock       *float64 `json:"clock_hz"`
	Temperature *float64 `json:"temperature_c"`
	MemoryUsed  *float64 `json:"memory_used_b"`
	MemoryTotal *float64 `json:"memory_total_b"`
	Throttled   []string `json:"throttled"` // reasons; empty: none; nil: not known
	Unhealthy   []string `json:"unhealthy"` // states; empty: OK; nil: not known
	// Metered means that its power is in that of another part of its card.
	Metered bool `json:"-"`
}

// A LiveHost is one machine. Pressures are shares of the time in which some task waited.
type LiveHost struct {
	Source         string   `json:"source"`
	CPU            *float64 `json:"cpu"`  // processors in use
	CPUs           *float64 `json:"cpus"` // processors that it has
	MemoryUsed     *float64 `json:"memory_used_b"`
	MemoryTotal    *float64 `json:"memory_total_b"`
	CPUPressure    *float64 `json:"cpu_pressure"`
	MemoryPressure *float64 `json:"memory_pressure"`
	IOPressure     *float64 `json:"io_pressure"`
}

// Spans are how far back Live looks.
type Spans struct {
	Fresh time.Duration // for a value: an older one is not known any more
	Own   time.Duration // the same of sources that stamp their samples themselves, which come later
	Rate  time.Duration // for what happens per second, and for shares of it
	Count time.Duration // for counters
}

// SpansOf are those of sources that are asked each period.
func SpansOf(every time.Duration) Spans {
	return Spans{Fresh: 3 * max(every, time.Second), Own: max(10*time.Second, 3*every), Rate: max(5*time.Second, 4*every), Count: max(time.Minute, 4*every)}
}

// LiveAt is what a set says at an instant.
func LiveAt(set *telemetry.Set, at time.Duration, back Spans) Live {
	l := Live{At: at, Servers: []LiveServer{}, Devices: []LiveDevice{}, Hosts: []LiveHost{}}
	for _, source := range set.Sources {
		n := of(source, at, back)
		if s, ok := n.server(set, source.Name); ok {
			l.Servers = append(l.Servers, s)
		}
		if h, ok := n.host(set, source.Name); ok {
			l.Hosts = append(l.Hosts, h)
		}
	}
	all := devices(set)
	for _, d := range all {
		source, _ := set.Source(d.source)
		n := of(source, at, back)
		one := n.device(d)
		_, same := d.repeats(all, n.since(n.back.Own))
		one.Metered = same || d.metered(all)
		l.Devices = append(l.Devices, one)
	}
	return l
}

// lookback is an instant, and how far to look back from it.
type lookback struct {
	at   time.Duration
	back Spans
}

func of(source telemetry.Source, at time.Duration, back Spans) lookback {
	if source.Clock.Own {
		back.Fresh = back.Own
	}
	return lookback{at, back}
}

func (n lookback) since(d time.Duration) telemetry.Window {
	return telemetry.Window{From: n.at - d, To: n.at}
}

type named map[string][]*telemetry.Series

func ofSource(set *telemetry.Set, source, area string) named {
	all := named{}
	for _, s := range set.Series {
		if s.Source == source && len(s.Name) > len(area) && s.Name[:len(area)] == area {
			all[s.Name] = append(all[s.Name], s)
		}
	}
	return all
}

func (n lookback) server(set *telemetry.Set, source string) (LiveServer, bool) {
	in := ofSource(set, source, "server.")
	value := func(name string) *float64 { return sumOf(in[name], n.since(n.back.Fresh), newest) }
	grown := func(name string) *float64 { return sumOf(in[name], n.since(n.back.Rate), growth) }
	perSecond := func(name string) *float64 { return sumOf(in[name], n.since(n.back.Rate), rate) }
	s := LiveServer{
		Source: source, Running: value(telemetry.ServerRunning), Waiting: value(telemetry.ServerWaiting),
		KVUse:       greatest(in[telemetry.ServerKVUse], n.since(n.back.Fresh), newest),
		CacheHits:   share(grown(telemetry.ServerCacheHits), grown(telemetry.ServerCacheQueries)),
		Preemptions: sumOf(in[telemetry.ServerPreemptions], n.since(n.back.Count), growth),
		Prompt:      perSecond(telemetry.ServerPromptTokens), Output: perSecond(telemetry.ServerOutputTokens),
		StepTokens: share(total(grown(telemetry.ServerStepPrefill), grown(telemetry.ServerStepDecode)), grown(telemetry.ServerSteps)),
		Accepted:   share(grown(telemetry.ServerAccepted), grown(telemetry.ServerDraftTokens)),
	}
	if s.CacheHits == nil && in[telemetry.ServerCacheHits] == nil {
		s.CacheHits = greatest(in[telemetry.ServerCacheHitRate], n.since(n.back.Fresh), newest)
	}
	return s, len(in) > 0
}

func (n lookback) device(d *device) LiveDevice {
	value := func(name string) *float64 { return greatest(d.series[name], n.since(n.back.Fresh), newest) }
	held := func(name string) *float64 { return greatest(d.series[name], n.hold(d.series[name]), newest) }
	l := LiveDevice{
		Device: d.label, Utilization: value(telemetry.DeviceUtilization), Power: value(telemetry.DevicePower),
		Clock: held(telemetry.DeviceClock), Temperature: value(telemetry.DeviceTemperature),
		MemoryUsed: held(telemetry.DeviceMemoryUsed), MemoryTotal: held(telemetry.DeviceMemoryTotal),
		Throttled: n.labels(d.series[telemetry.DeviceThrottled], "reason"),
		Unhealthy: n.labels(d.series[telemetry.DeviceUnhealthy], "state"),
	}
	return l
}

// hold is how far to look back for a series, which is further where it has a sample every 10 s.
func (n lookback) hold(all []*telemetry.Series) telemetry.Window {
	for _, s := range all {
		k := len(s.Points)
		if k == 1 || k > 1 && s.Points[k-1].At-s.Points[k-2].At > n.back.Fresh {
			return n.since(max(n.back.Fresh, holds))
		}
	}
	return n.since(n.back.Fresh)
}

// labels are those of the series that are above 0; nil if none is known.
func (n lookback) labels(all []*telemetry.Series, label string) (found []string) {
	for _, s := range all {
		one := []*telemetry.Series{s}
		v := greatest(one, n.hold(one), newest)
		if v != nil && found == nil {
			found = []string{}
		}
		if v != nil && *v > 0 {
			found = append(found, s.Labels[label])
		}
	}
	slices.Sort(found)
	return found
}

func (n lookback) host(set *telemetry.Set, source string) (LiveHost, bool) {
	in := ofSource(set, source, "host.")
	value := func(name string) *float64 { return greatest(in[name], n.since(n.back.Fresh), newest) }
	pressure := func(resource string) *float64 {
		of := slices.DeleteFunc(slices.Clone(in[telemetry.HostPressure]), func(s *telemetry.Series) bool { return s.Labels["resource"] != resource })
		return sumOf(of, n.since(n.back.Rate), rate)
	}
	h := LiveHost{
		Source: source, CPU: sumOf(in[telemetry.HostCPUTime], n.since(n.back.Rate), rate),
		CPUs:       sumOf(in[telemetry.HostCPUTime], n.since(n.back.Rate), one),
		MemoryUsed: value(telemetry.HostMemoryUsed), MemoryTotal: value(telemetry.HostMemoryTotal),
		CPUPressure: pressure("cpu"), MemoryPressure: pressure("memory"), IOPressure: pressure("io"),
	}
	return h, len(in) > 0
}

func newest(points []telemetry.Point) (v float64, ok bool) {
	if len(points) == 0 {
		return 0, false
	}
	return points[len(points)-1].Value, true
}

// one counts a series.
func one(points []telemetry.Point) (v float64, ok bool) { return 1, len(points) > 0 }

// total is the sum of two, nil if one is not known.
func total(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	v := *a + *b
	return &v
}
