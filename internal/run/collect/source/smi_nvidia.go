package source

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// nvidia is nvidia-smi, of any driver that has --query-gpu.
var nvidia = smiKind{
	name:    "nvidia-smi",
	means:   true,
	answers: []string{"nvidia-smi", "-L"},
	forms: func(every time.Duration, ask func(args ...string) string) []form {
		known := knownFields(ask("nvidia-smi", "--help-query-gpu"))
		var forms []form
		for _, fields := range [][]string{chosen(known), {"timestamp", "index", "uuid", "utilization.gpu", "memory.used", "memory.total", "power.draw", "temperature.gpu"}} {
			if len(fields) > 0 {
				r := &nvidiaReader{fields: fields, devices: labels{}, index: map[string]string{}, used: map[string]float64{}}
				forms = append(forms, form{
					args: queryGPU(fields, every), period: every, read: r.read, question: computing, answer: r.processes,
				})
			}
		}
		return forms
	},
}

func computing() string {
	return "nvidia-smi --query-compute-apps=gpu_uuid,pid --format=csv,noheader,nounits"
}

func queryGPU(fields []string, every time.Duration) []string {
	return []string{
		"nvidia-smi", "--query-gpu=" + strings.Join(fields, ","), "--format=csv,noheader,nounits",
		"--loop-ms=" + strconv.FormatInt(max(1, every.Milliseconds()), 10),
	}
}

// wanted are fields of nvidia-smi --help-query-gpu, each with the names that it has had, of
// which the first one that the driver knows is asked for.
var wanted = [][]string{
	{"timestamp"},
	{"index"},
	{"uuid"},
	{"utilization.gpu"},
	{"memory.used"},
	{"memory.total"},
	{"clocks.sm", "clocks.current.sm"},
	{"clocks.max.sm"},
	{"clocks.mem", "clocks.current.memory"},
	{averageDraw},
	{"power.draw"},
	{instantDraw},
	{"power.limit", "enforced.power.limit"},
	{"temperature.gpu"},
	{"clocks_event_reasons.active", "clocks_throttle_reasons.active"},
}

// Fields that newer drivers have. By its help, nvidia-smi's power.draw is the mean of the last second on Ampere and
// newer, and the power at an instant on older devices; power.draw.average is [N/A] on those and on GA100 (A100, A30).
const (
	averageDraw = "power.draw.average"
	instantDraw = "power.draw.instant"
	drawSpan    = 1 // s
)

// quantities are those of the fields, with the factor to the unit of the quantity.
var quantities = map[string]column{
	"utilization.gpu":       {telemetry.DeviceUtilization, smiPercent},
	"memory.used":           {telemetry.DeviceMemoryUsed, smiMebi},
	"memory.total":          {telemetry.DeviceMemoryTotal, smiMebi},
	"clocks.sm":             {telemetry.DeviceClock, smiMega},
	"clocks.current.sm":     {telemetry.DeviceClock, smiMega},
	"clocks.max.sm":         {telemetry.DeviceClockLimit, smiMega},
	"clocks.mem":            {telemetry.DeviceMemoryClock, smiMega},
	"clocks.current.memory": {telemetry.DeviceMemoryClock, smiMega},
	averageDraw:             {telemetry.DevicePower, 1},
	instantDraw:             {telemetry.DevicePowerInstant, 1},
	"power.draw":            {telemetry.DevicePower, 1},
	"power.limit":           {telemetry.DevicePowerLimit, 1},
	"enforced.power.limit":  {telemetry.DevicePowerLimit, 1},
	"temperature.gpu":       {telemetry.DeviceTemperature, 1},
}

// smiReasons are bits of clocks_event_reasons.active that hold clocks down, as nvml.h has them
// (nvmlClocksEventReason...). Clocks that are low since the device is idle, since they were set by hand, for a
// display or in step with other devices are none.
var smiReasons = []struct {
	bit  uint64
	name string
}{
	{0x04, telemetry.ThrottledSWPower},
	{0x08, telemetry.ThrottledHWSlowdown},
	{0x20, telemetry.ThrottledSWThermal},
	{0x40, telemetry.ThrottledHWThermal},
	{0x80, telemetry.ThrottledPowerBrake},
}

var quotedField = lazy.Regexp(`"([a-z0-9_.]+)"`)

// knownFields are the names in quotes in the help of a driver.
func knownFields(help string) map[string]bool {
	known := map[string]bool{}
	for _, m := range quotedField.FindAllStringSubmatch(help, -1) {
		known[m[1]] = true
	}
	return known
}

// chosen are the fields to ask for; none if the driver lists none.
func chosen(known map[string]bool) (fields []string) {
	if !known["index"] {
		return nil
	}
	for _, names := range wanted {
		for _, name := range names {
			if known[name] {
				fields = append(fields, name)
				break
			}
		}
	}
	return fields
}

// A nvidiaReader reads rows of CSV without heading and units.
type nvidiaReader struct {
	fields  []string
	devices labels
	index   map[string]string  // of a device by its UUID
	used    map[string]float64 // bytes, by index
}

// stampForm is that of timestamp: local time, here in UTC.
const stampForm = "2006/01/02 15:04:05.000"

func (n *nvidiaReader) read(text string) (r row) {
	cells := strings.Split(text, ",")
	at := func(field string) string {
		for i, f := range n.fields {
			if f == field {
				return strings.TrimSpace(cells[i])
			}
		}
		return ""
	}
	if len(cells) != len(n.fields) {
		return row{strange: strings.TrimSpace(text) != ""}
	}
	id := at("index")
	if _, err := strconv.ParseUint(id, 10, 16); err != nil {
		return row{strange: true}
	}
	d := n.devices.get(id)
	r.known = true
	r.stamp, _ = time.Parse(stampForm, at("timestamp")) // without one it is zero
	n.quantities(&r, d, cells)
	r.values = append(r.values, throttling(d, at("clocks_event_reasons.active"))...)
	r.values = append(r.values, throttling(d, at("clocks_throttle_reasons.active"))...)
	if uuid := at("uuid"); !unknown(uuid) && len(n.index) < mostDevices {
		n.index[uuid] = id
	}
	return r
}

func (n *nvidiaReader) quantities(r *row, d *device, cells []string) {
	mean, power := false, false
	for i, field := range n.fields {
		cell := strings.TrimSpace(cells[i])
		q, known := quantities[field]
		if unknown(cell) || !known || q.name == telemetry.DevicePower && power {
			continue
		}
		v, ok := number(cell, q.factor)
		if !ok || v < 0 && q.name != telemetry.DeviceTemperature {
			r.strange = true
			continue
		}
		r.values = append(r.values, d.value(q.name, v))
		mean, power = mean || field == averageDraw, power || q.name == telemetry.DevicePower
		if field == "memory.used" {
			n.used[d.label["device"]] = v
		}
	}
	// A driver that has a field for the power at an instant, and none for the mean, means that by power.draw.
	if mean || power && !slices.Contains(n.fields, averageDraw) && slices.Contains(n.fields, instantDraw) {
		r.values = append(r.values, d.value(telemetry.DevicePowerSpan, drawSpan))
	}
}

// throttling reads a set of reasons, such as 0x0000000000000004.
func throttling(d *device, cell string) (all []collect.Value) {
	bits, err := strconv.ParseUint(cell, 0, 64)
	if err != nil {
		return nil
	}
	for _, r := range smiReasons {
		all = append(all, d.throttled(r.name, bits&r.bit != 0))
	}
	return all
}

// idleMemory is the most memory that a device without programs uses. A container does not see programs outside, so
// that none in the list of a device with more in use is not 0.
const idleMemory = 1 << 30

// processes reads rows of UUID and process id, with ; for line ends: how many there are on each
// device that has reported its UUID.
func (n *nvidiaReader) processes(text string) (r row) {
	count := map[string]int{}
	for line := range strings.SplitSeq(text, ";") {
		uuid, pid, _ := strings.Cut(line, ",")
		if _, err := strconv.ParseUint(strings.TrimSpace(pid), 10, 32); err == nil {
			count[strings.TrimSpace(uuid)]++
		} else if strings.TrimSpace(line) != "" {
			return row{} // [Not Supported], or words
		}
	}
	for uuid, id := range n.index {
		if c := count[uuid]; c > 0 || n.used[id] < idleMemory {
			r.values = append(r.values, n.devices.get(id).value(telemetry.DeviceProcesses, float64(c)))
		}
	}
	return r
}
