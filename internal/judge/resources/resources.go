package resources

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// Resources are what telemetry says of a window of a run.
type Resources struct {
	Window  telemetry.Window `json:"window"`
	Sources []string         `json:"sources"` // those that gave something, by name

	Server  ServerLoad `json:"server"`
	Devices *Devices   `json:"devices,omitempty"` // nil without any
	Hosts   []Host     `json:"hosts,omitempty"`
	Energy  *Energy    `json:"energy,omitempty"` // nil without devices

	Troubles []Trouble `json:"troubles,omitempty"`
}

// A Trouble is what went wrong with a source.
type Trouble struct {
	Source string       `json:"source"`
	What   plan.Message `json:"what"`
}

// ServerLoad is the load that servers report; of several the sum, or the largest of a share.
type ServerLoad struct {
	RunningMax  *float64 `json:"running_max,omitempty"`
	RunningMean *float64 `json:"running_mean,omitempty"`
	WaitingMax  *float64 `json:"waiting_max,omitempty"`
	KVUseMax    *float64 `json:"kv_use_max,omitempty"` // share
	KVUseMean   *float64 `json:"kv_use_mean,omitempty"`
	Preemptions *float64 `json:"preemptions,omitempty"`
	CacheHits   *float64 `json:"cache_hits,omitempty"` // share of the prompt tokens that were looked up
	Accepted    *float64 `json:"accepted,omitempty"`   // share of the drafted tokens
	Restarted   bool     `json:"restarted,omitempty"`  // a counter of it fell: the server began anew
}

// Devices are the devices of all sources, each counted once.
type Devices struct {
	Count       int         `json:"count"`
	Utilization *float64    `json:"utilization,omitempty"` // share, mean over time and devices
	MemoryUse   *float64    `json:"memory_use,omitempty"`  // share, the largest
	MemoryUsed  *float64    `json:"memory_used,omitempty"` // B, of that device
	Power       *float64    `json:"power,omitempty"`       // W, mean over time, sum over devices
	Temperature *float64    `json:"temperature,omitempty"` // °C, the highest
	Clock       *float64    `json:"clock,omitempty"`       // Hz, mean over time and devices
	ClockMin    *float64    `json:"clock_min,omitempty"`   // Hz, the lowest
	ClockLimit  *float64    `json:"clock_limit,omitempty"` // Hz, the highest that they could have
	BusyClock   *float64    `json:"busy_clock,omitempty"`  // share of the rated clock while cores computed, the lowest
	Throttled   []Throttled `json:"throttled,omitempty"`   // the longest first
	Capped      *Capped     `json:"capped,omitempty"`      // that was at its power limit longest; nil: none was
	Processes   *float64    `json:"processes,omitempty"`   // on one device, at most
	Unhealthy   []Unhealthy `json:"unhealthy,omitempty"`
}

// Unhealthy is a state other than OK that a device reported.
type Unhealthy struct {
	Device string `json:"device"`
	State  string `json:"state"`
}

// Throttled is for how long the clocks of a device were held down for one reason.
type Throttled struct {
	Device  string  `json:"device"`
	Reason  string  `json:"reason"`
	Seconds float64 `json:"seconds"`
}

// Capped is a device that its driver reported to be at its power limit, and the power that it drew meanwhile and
// otherwise: the driver acts on excursions of milliseconds, which a mean does not show.
type Capped struct {
	Device  string   `json:"device"`
	Seconds float64  `json:"seconds"`
	Limit   *float64 `json:"limit,omitempty"` // W
	Power   *float64 `json:"power,omitempty"` // W, mean over the run
	Peak    *float64 `json:"peak,omitempty"`  // W, the highest sample
}

// A Host is one machine.
type Host struct {
	Source    string   `json:"source"`
	CPU       *float64 `json:"cpu,omitempty"`        // processors in use, mean
	CPUMax    *float64 `json:"cpu_max,omitempty"`    // share of the busiest processor in its busiest moment
	MemoryUse *float64 `json:"memory_use,omitempty"` // share, the largest
	Pressure  *float64 `json:"pressure,omitempty"`   // share of the time in which some task waited for a processor
	Throttled *float64 `json:"throttled,omitempty"`  // s, of the control group
}

// Summarize reads telemetry in a window. idle is a window in which the server had nothing to do, of no
// length where there was none. tokens and requests are those of all answers. It is nil if there
// is no telemetry.
func Summarize(set *telemetry.Set, w, idle telemetry.Window, tokens, requests int) *Resources {
	if set.Empty() {
		return nil
	}
	r := &Resources{Window: w, Server: serverOf(set, w), Hosts: hosts(set, w)}
	for _, s := range set.Sources {
		if s.Reads > 0 {
			r.Sources = append(r.Sources, s.Name)
		}
		for _, n := range s.Notes {
			r.Troubles = append(r.Troubles, Trouble{s.Name, n})
		}
	}
	if all := devices(set); len(all) > 0 {
		e := energy(all, w, idle)
		if e.Method.Known() {
			e.PerToken, e.PerRequest = per(e.Joules, tokens), per(e.Joules, requests)
		}
		r.Devices, r.Energy = devicesOf(all, w, idle), &e
		if e.Error != nil {
			r.Devices.Power = new(e.Joules / e.Window)
		}
	}
	return r
}

func per(joules float64, n int) float64 {
	if n <= 0 {
		return 0
	}
	return joules / float64(n)
}

func serverOf(set *telemetry.Set, w telemetry.Window) ServerLoad {
	in := func(name string) []*telemetry.Series { return set.Named(name) }
	s := ServerLoad{
		RunningMax: sumOf(in(telemetry.ServerRunning), w, largest), RunningMean: sumOf(in(telemetry.ServerRunning), w, average),
		WaitingMax: sumOf(in(telemetry.ServerWaiting), w, largest),
		KVUseMax:   greatest(in(telemetry.ServerKVUse), w, largest), KVUseMean: greatest(in(telemetry.ServerKVUse), w, average),
	}
	grown := func(name string) *float64 {
		return sumOf(in(name), w, func(points []telemetry.Point) (float64, bool) {
			v, restarts := telemetry.Growth(points)
			s.Restarted = s.Restarted || restarts > 0
			return v, len(points) > 1
		})
	}
	s.Preemptions = grown(telemetry.ServerPreemptions)
	s.CacheHits = share(grown(telemetry.ServerCacheHits), grown(telemetry.ServerCacheQueries))
	s.Accepted = share(grown(telemetry.ServerAccepted), grown(telemetry.ServerDraftTokens))
	return s
}

func share(part, all *float64) *float64 {
	if part == nil || all == nil || *all <= 0 {
		return nil
	}
	v := *part / *all
	return &v
}

// A statistic is one number of points; ok is false if they are too few for it.
type statistic func([]telemetry.Point) (v float64, ok bool)

func largest(points []telemetry.Point) (v float64, ok bool) {
	v = math.Inf(-1)
	for _, p := range points {
		v = max(v, p.Value)
	}
	return v, len(points) > 0
}

func smallest(points []telemetry.Point) (v float64, ok bool) {
	v = math.Inf(1)
	for _, p := range points {
		v = min(v, p.Value)
	}
	return v, len(points) > 0
}

// average is over time, since intervals differ: each sample counts for half of the gaps around it,
// of at most 3 s.
func average(points []telemetry.Point) (v float64, ok bool) {
	if len(points) == 0 {
		return 0, false
	}
	sum, weight := 0.0, 0.0
	for i, p := range points {
		half := 0.0
		if i > 0 {
			half += min(p.At-points[i-1].At, widestGap).Seconds()
		}
		if i+1 < len(points) {
			half += min(points[i+1].At-p.At, widestGap).Seconds()
		}
		if len(points) == 1 {
			half = 1
		}
		sum, weight = sum+half*p.Value, weight+half
	}
	return sum / weight, true
}

// sumOf adds up a statistic of several series; nil where none has it.
func sumOf(all []*telemetry.Series, w telemetry.Window, of statistic) *float64 {
	sum, found := 0.0, false
	for _, s := range all {
		if v, ok := of(s.Between(w.From, w.To)); ok {
			sum, found = sum+v, true
		}
	}
	if !found {
		return nil
	}
	return &sum
}

// greatest is the largest of a statistic of several series; nil where none has it.
func greatest(all []*telemetry.Series, w telemetry.Window, of statistic) *float64 {
	most, found := math.Inf(-1), false
	for _, s := range all {
		if v, ok := of(s.Between(w.From, w.To)); ok {
			most, found = max(most, v), true
		}
	}
	if !found {
		return nil
	}
	return &most
}

// devices are those of a set. If several sources report the devices of one host, those of the best one are taken.
func devices(set *telemetry.Set) (all []*device) {
	bySource := map[string]map[string]*device{}
	for _, s := range set.Series {
		if !isDevice(s.Name) {
			continue
		}
		mine := bySource[s.Source]
		if mine == nil {
			mine = map[string]*device{}
			bySource[s.Source] = mine
		}
		label := s.Labels["device"]
		if mine[label] == nil {
			card, _, _ := strings.Cut(label, ".")
			mine[label] = &device{source: s.Source, label: s.Source + " " + label, card: s.Source + " " + card, series: map[string][]*telemetry.Series{}}
		}
		mine[label].series[s.Name] = append(mine[label].series[s.Name], s)
	}
	best := map[string]string{} // the source, by host
	for _, name := range slices.Sorted(maps.Keys(bySource)) {
		source, _ := set.Source(name)
		if had, ok := best[source.Host]; !ok || rank(bySource[name]) > rank(bySource[had]) {
			best[source.Host] = name
		}
	}
	for _, host := range slices.Sorted(maps.Keys(best)) {
		mine := bySource[best[host]]
		pairDies(mine)
		for _, label := range slices.Sorted(maps.Keys(mine)) {
			all = append(all, mine[label])
		}
	}
	return all
}

// pairDies gives the two dies of an Atlas A3 their card, which is a label of the power of one of them at least.
func pairDies(all map[string]*device) {
	for _, d := range all {
		for _, s := range d.series[telemetry.DevicePower] {
			n, err := strconv.ParseUint(s.Labels["card"], 10, 16)
			for i := range uint64(2) {
				if die := all[strconv.FormatUint(2*n+i, 10)]; err == nil && die != nil {
					die.card, die.second = d.source+" card "+s.Labels["card"], i == 1
				}
			}
		}
	}
}

func isDevice(name string) bool { return len(name) > 7 && name[:7] == "device." }

// rank orders sources of the same devices: an energy counter that is renewed often, means of power, whatever else says
// something of it, most devices.
func rank(all map[string]*device) int {
	best := 0
	for _, d := range all {
		switch counter := rises(d.one(telemetry.DeviceEnergy)); {
		case len(counter) > 1 && every(counter) <= often:
			best = 3
		case d.span() > 0:
			best = max(best, 2)
		case d.reports():
			best = max(best, 1)
		}
	}
	return best*1_000_000 + len(all)
}

// often is how often a counter is renewed that is better than means of power.
const often = 2 * time.Second

func devicesOf(all []*device, w, idle telemetry.Window) *Devices {
	named := func(name string) (series []*telemetry.Series) {
		for _, d := range all {
			series = append(series, d.series[name]...)
		}
		return series
	}
	mean := func(name string) *float64 {
		series := named(name)
		sum := sumOf(series, w, average)
		if sum == nil {
			return nil
		}
		v := *sum / *sumOf(series, w, func(p []telemetry.Point) (float64, bool) { return 1, len(p) > 0 })
		return &v
	}
	var power []*telemetry.Series
	for _, d := range all {
		if _, same := d.repeats(all, w); !same {
			power = append(power, d.series[telemetry.DevicePower]...)
		}
	}
	long := withPrecedingSample(named(telemetry.DeviceProcesses), w)
	d := &Devices{
		Count: len(all), Utilization: mean(telemetry.DeviceUtilization), Power: sumOf(power, w, average),
		Temperature: greatest(named(telemetry.DeviceTemperature), w, largest),
		Clock:       mean(telemetry.DeviceClock), ClockMin: least(named(telemetry.DeviceClock), w),
		ClockLimit: greatest(named(telemetry.DeviceClockLimit), w, largest),
		Processes:  greatest(named(telemetry.DeviceProcesses), long, largest),
		BusyClock:  least(named(telemetry.DeviceBusyClock), w),
		Throttled:  throttled(all, w), Unhealthy: unhealthy(all, w),
	}
	d.MemoryUse, d.MemoryUsed = memory(all, w)
	d.Capped = capped(all, d.Throttled, w, idle)
	return d
}

// capped is the device that was at its power limit longest, if one was.
func capped(all []*device, held []Throttled, w, idle telemetry.Window) *Capped {
	i := slices.IndexFunc(held, func(h Throttled) bool { return !telemetry.SeriousThrottling(h.Reason) })
	if i < 0 {
		return nil
	}
	c := &Capped{Device: held[i].Device, Seconds: held[i].Seconds}
	d := all[slices.IndexFunc(all, func(d *device) bool { return d.label == c.Device })]
	c.Limit = greatest(d.series[telemetry.DevicePowerLimit], w, largest)
	c.Power = sumOf(d.series[telemetry.DevicePower], w, average)
	if r := d.energy(w, idle); r.open != nil {
		c.Power = new(r.joules / w.Length().Seconds())
	}
	if c.Peak = greatest(d.series[telemetry.DevicePowerInstant], w, largest); c.Peak == nil {
		c.Peak = greatest(d.series[telemetry.DevicePower], w, largest)
	}
	return c
}

// unhealthy are the states other than OK that devices reported, in the order of the devices.
func unhealthy(all []*device, w telemetry.Window) (found []Unhealthy) {
	for _, d := range all {
		for _, s := range d.series[telemetry.DeviceUnhealthy] {
			one := []*telemetry.Series{s}
			if is := greatest(one, withPrecedingSample(one, w), largest); is != nil && *is > 0 {
				found = append(found, Unhealthy{d.label, s.Labels["state"]})
			}
		}
	}
	return found
}

// holds is how long a sample of a quantity counts that is asked for every 10 s.
const holds = 12 * time.Second

// withPrecedingSample is a window with the last sample before it, of a quantity that is asked for every 10 s and
// stays as it is meanwhile.
func withPrecedingSample(all []*telemetry.Series, w telemetry.Window) telemetry.Window {
	from := w.From
	for _, s := range all {
		if before := s.Between(w.From-holds, w.From); len(before) > 0 {
			from = min(from, before[len(before)-1].At)
		}
	}
	return telemetry.Window{From: from, To: w.To}
}

func least(all []*telemetry.Series, w telemetry.Window) *float64 {
	v := greatest(all, w, func(p []telemetry.Point) (float64, bool) {
		low, ok := smallest(p)
		return -low, ok
	})
	if v == nil {
		return nil
	}
	low := -*v
	return &low
}

// memory is the largest share of its memory that a device had in use, and how much that is.
func memory(all []*device, w telemetry.Window) (most, bytes *float64) {
	for _, d := range all {
		w := withPrecedingSample(d.series[telemetry.DeviceMemoryUsed], w)
		used := greatest(d.series[telemetry.DeviceMemoryUsed], w, largest)
		total := greatest(d.series[telemetry.DeviceMemoryTotal], w, largest)
		if s := share(used, total); s != nil && (most == nil || *s > *most) {
			most, bytes = s, used
		}
	}
	return most, bytes
}

// throttled are the devices with throttled clocks, and for how long: each sample holds until the
// next one, for 3 s at most.
func throttled(all []*device, w telemetry.Window) (found []Throttled) {
	for _, d := range all {
		for _, s := range d.series[telemetry.DeviceThrottled] {
			points, held := s.Between(w.From, w.To), time.Duration(0)
			for i, p := range points {
				until := w.To
				if i+1 < len(points) {
					until = points[i+1].At
				}
				if p.Value > 0 {
					held += min(until-p.At, widestGap)
				}
			}
			if held > 0 {
				found = append(found, Throttled{d.label, s.Labels["reason"], held.Seconds()})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Throttled) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return found
}

// hosts are the machines of a set, by source.
func hosts(set *telemetry.Set, w telemetry.Window) (all []Host) {
	for _, source := range set.Sources {
		mine := func(name string) (series []*telemetry.Series) {
			for _, s := range set.Named(name) {
				if s.Source == source.Name {
					series = append(series, s)
				}
			}
			return series
		}
		h := Host{
			Source: source.Name, CPU: sumOf(mine(telemetry.HostCPUTime), w, rate), CPUMax: greatest(mine(telemetry.HostCPUTime), w, steepest),
			MemoryUse: share(greatest(mine(telemetry.HostMemoryUsed), w, largest), greatest(mine(telemetry.HostMemoryTotal), w, largest)),
			Throttled: sumOf(mine(telemetry.HostCPUThrottled), w, growth),
		}
		for _, s := range mine(telemetry.HostPressure) {
			if s.Labels["resource"] == "cpu" {
				h.Pressure = sumOf([]*telemetry.Series{s}, w, rate)
			}
		}
		if h != (Host{Source: source.Name}) {
			all = append(all, h)
		}
	}
	return all
}

func growth(points []telemetry.Point) (v float64, ok bool) {
	v, _ = telemetry.Growth(points)
	return v, len(points) > 1
}

// rate is by how much a counter grew a second.
func rate(points []telemetry.Point) (v float64, ok bool) {
	v, ok = growth(points)
	if !ok {
		return 0, false
	}
	return v / (points[len(points)-1].At - points[0].At).Seconds(), true
}

// steepest is the largest rate between two samples at a distance of at least half a second.
func steepest(points []telemetry.Point) (v float64, ok bool) {
	for i := 0; i < len(points); {
		j := i + 1
		for j < len(points) && points[j].At-points[i].At < 500*time.Millisecond {
			j++
		}
		if j == len(points) {
			break
		}
		if r, _ := rate(points[i : j+1]); !ok || r > v {
			v, ok = r, true
		}
		i = j
	}
	return v, ok
}
