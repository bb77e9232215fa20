package telemetry

// Pitot's names, each a code with a title in the catalogues. The first part of a name is its subject: server, device,
// host.
const (
	ServerRunning      = "server.running"
	ServerWaiting      = "server.waiting"
	ServerKVUse        = "server.kv_use"
	ServerKVTokens     = "server.kv_tokens"
	ServerCacheQueries = "server.prefix_cache_queries"
	ServerCacheHits    = "server.prefix_cache_hits"
	ServerCacheHitRate = "server.prefix_cache_hit_rate"
	ServerPreemptions  = "server.preemptions"
	ServerDrafts       = "server.drafts"
	ServerDraftTokens  = "server.draft_tokens"
	ServerAccepted     = "server.accepted_tokens"
	ServerPromptTokens = "server.prompt_tokens"
	ServerOutputTokens = "server.output_tokens"
	ServerSteps        = "server.steps"
	ServerStepPrefill  = "server.step_prefill_tokens"
	ServerStepDecode   = "server.step_decode_tokens"
	ServerFinished     = "server.finished"
	DeviceUtilization  = "device.utilization"
	DeviceMemoryUsed   = "device.memory_used"
	DeviceMemoryTotal  = "device.memory_total"
	DevicePower        = "device.power"
	DevicePowerSpan    = "device.power_span"
	DevicePowerInstant = "device.power_instant"
	DevicePowerLimit   = "device.power_limit"
	DeviceEnergy       = "device.energy"
	DeviceTemperature  = "device.temperature"
	DeviceClock        = "device.clock"
	DeviceClockLimit   = "device.clock_limit"
	DeviceMemoryClock  = "device.memory_clock"
	DeviceBusyClock    = "device.busy_clock"
	DeviceThrottled    = "device.throttled"
	DeviceProcesses    = "device.processes"
	DeviceUnhealthy    = "device.unhealthy"
	HostCPUTime        = "host.cpu_time"
	HostMemoryUsed     = "host.memory_used"
	HostMemoryTotal    = "host.memory_total"
	HostReceived       = "host.received"
	HostSent           = "host.sent"
	HostSwitches       = "host.context_switches"
	HostPressure       = "host.pressure"
	HostCPULimit       = "host.cpu_limit"
	HostCPUThrottled   = "host.cpu_throttled"
	HostMemoryLimit    = "host.memory_limit"
)

// A Name is a quantity that Pitot knows.
type Name struct {
	Name string
	Unit string
	Kind Kind
	Doc  string // one sentence, with what the labels are
}

// Names are all that Pitot knows, in the order in which they are shown.
var Names = []Name{
	{ServerRunning, "requests", Gauge, "Requests in the batch."},
	{ServerWaiting, "requests", Gauge, "Requests that wait for a place in the batch."},
	{ServerKVUse, "", Gauge, "Share of the KV cache that is in use, from 0 to 1."},
	{ServerKVTokens, "tokens", Gauge, "Tokens that the KV cache holds at most."},
	{ServerCacheQueries, "tokens", Counter, "Prompt tokens looked up in the prefix cache."},
	{ServerCacheHits, "tokens", Counter, "Prompt tokens found in the prefix cache."},
	{
		ServerCacheHitRate, "", Gauge,
		"Share of prompt tokens found in the prefix cache, over a window of the server's choice.",
	},
	{ServerPreemptions, "requests", Counter, "Requests that lost their place in the batch and are computed again."},
	{ServerDrafts, "drafts", Counter, "Steps of speculative decoding."},
	{ServerDraftTokens, "tokens", Counter, "Tokens drafted."},
	{ServerAccepted, "tokens", Counter, "Drafted tokens that were accepted."},
	{ServerPromptTokens, "tokens", Counter, "Prompt tokens computed."},
	{ServerOutputTokens, "tokens", Counter, "Output tokens generated."},
	{ServerSteps, "steps", Counter, "Steps of the engine."},
	{ServerStepPrefill, "tokens", Counter, "Prompt tokens computed in steps, for tokens per step."},
	{ServerStepDecode, "tokens", Counter, "Output tokens computed in steps, for tokens per step."},
	{ServerFinished, "requests", Counter, "Requests that ended."},
	{DeviceUtilization, "", Gauge, "Share of the time in which the device computed something, from 0 to 1, by device."},
	{DeviceMemoryUsed, "B", Gauge, "Memory of the device in use."},
	{DeviceMemoryTotal, "B", Gauge, "Memory of the device."},
	{DevicePower, "W", Gauge, "Power that the device draws."},
	{DevicePowerSpan, "s", Gauge, "Time up to the sample over which the device's power is a mean."},
	{DevicePowerInstant, "W", Gauge, "Power that the device draws at the instant, where its power is a mean."},
	{DevicePowerLimit, "W", Gauge, "Power that the device may draw."},
	{DeviceEnergy, "J", Counter, "Energy that the device has drawn."},
	{DeviceTemperature, "°C", Gauge, "Temperature of the device."},
	{DeviceClock, "Hz", Gauge, "Clock of the device's cores."},
	{DeviceClockLimit, "Hz", Gauge, "Highest clock of the device's cores."},
	{DeviceMemoryClock, "Hz", Gauge, "Clock of the device's memory."},
	{DeviceBusyClock, "", Gauge, "Clock of the device's cores while they compute, as a share of the rated one."},
	{DeviceThrottled, "", Gauge, "1 while the clocks of the device are held down, by reason."},
	{DeviceProcesses, "processes", Gauge, "Processes that compute on the device."},
	{DeviceUnhealthy, "", Gauge, "1 while the device reports that it is not well, by state."},
	{HostCPUTime, "s", Counter, "Time in which a processor was not idle, by cpu."},
	{HostMemoryUsed, "B", Gauge, "Memory of the host that is not available to new programs."},
	{HostMemoryTotal, "B", Gauge, "Memory of the host."},
	{HostReceived, "B", Counter, "Bytes received, by interface; the loopback interface is left out."},
	{HostSent, "B", Counter, "Bytes sent, by interface."},
	{HostSwitches, "switches", Counter, "Context switches."},
	{HostPressure, "s", Counter, "Time in which some task waited, by resource: cpu, memory or io (Linux PSI)."},
	{HostCPULimit, "", Gauge, "Processors that the control group may use."},
	{HostCPUThrottled, "s", Counter, "Time in which the control group was held down to its limit."},
	{HostMemoryLimit, "B", Gauge, "Memory that the control group may use."},
}

// Known finds a name among Names.
func Known(name string) (Name, bool) {
	for _, n := range Names {
		if n.Name == name {
			return n, true
		}
	}
	return Name{}, false
}

// NewValue is a value of a known name with its unit and kind. It panics on another name.
func NewValue(source, name string, labels Labels, p Point) Value {
	n, ok := Known(name)
	if !ok {
		panic("telemetry: unknown name " + name)
	}
	return Value{Key{source, name, labels}, n.Unit, n.Kind, p}
}
