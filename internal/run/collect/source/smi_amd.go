package source

import (
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// smiAmd is amd-smi. Only MI300 and newer know violations, and only newer versions the flag.
var smiAmd = smiKind{
	name:    "amd-smi",
	answers: []string{"amd-smi", "list"},
	forms: func(every time.Duration, _ func(args ...string) string) (forms []form) {
		seconds := wholeSeconds(every, 3600)
		for _, more := range [][]string{{"--violation"}, nil} {
			args := append([]string{"amd-smi", "monitor", "--power-usage", "--temperature", "--gfx", "--mem", "--vram-usage"}, more...)
			r := &amdReader{devices: labels{}}
			forms = append(forms, form{
				args:   append(args, "--watch", strconv.Itoa(seconds), "--csv"),
				period: time.Duration(seconds) * time.Second, read: r.read,
			})
		}
		return forms
	},
}

// amdColumns are columns of amd-smi monitor --csv, by all names that they have had.
var amdColumns = map[string]column{
	"power_usage":         {telemetry.DevicePower, 1},
	"max_power":           {telemetry.DevicePowerLimit, 1},
	"power_cap":           {telemetry.DevicePowerLimit, 1},
	"hotspot_temperature": {telemetry.DeviceTemperature, 1},
	"gfx":                 {telemetry.DeviceUtilization, smiPercent},
	"gfx_util":            {telemetry.DeviceUtilization, smiPercent},
	"gfx_clk":             {telemetry.DeviceClock, smiMega},
	"gfx_clock":           {telemetry.DeviceClock, smiMega},
	"mem_clock":           {telemetry.DeviceMemoryClock, smiMega},
	"mem_clk":             {telemetry.DeviceMemoryClock, smiMega},
	"vram_used":           {telemetry.DeviceMemoryUsed, smiMebi},
	"vram_total":          {telemetry.DeviceMemoryTotal, smiMebi},
}

// amdViolations are columns with the share of the time in which a limit held the clocks down.
var amdViolations = map[string]string{
	"pviol":      telemetry.ThrottledSWPower,
	"tviol":      telemetry.ThrottledHWThermal,
	"phot_tviol": telemetry.ThrottledHWSlowdown, // PROCHOT, a signal from outside of the chip
	"vr_tviol":   telemetry.ThrottledRegulator,
	"hbm_tviol":  telemetry.ThrottledMemory,
}

// An amdReader reads CSV that has its heading before each sample.
type amdReader struct {
	devices labels
	columns []string
}

func (a *amdReader) read(text string) (r row) {
	cells := strings.Split(text, ",")
	for i := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cells[i]), `"`)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return row{}
	case cells[0] == "gpu" || len(cells) > 1 && cells[1] == "gpu":
		a.columns = cells
		return row{known: true}
	case len(cells) != len(a.columns):
		return row{strange: true}
	}
	id, part := "", ""
	for i, name := range a.columns {
		switch name {
		case "gpu":
			id = cells[i]
		case "xcp": // a part of the device
			part = cells[i]
		}
	}
	if strings.Trim(id, "0123456789") != "" || id == "" {
		return row{strange: true}
	}
	if part != "" && part != "0" && !unknown(part) {
		id += "." + part
	}
	r.known = true
	a.cells(&r, a.devices.get(id), cells)
	return r
}

func (a *amdReader) cells(r *row, d *device, cells []string) {
	for i, name := range a.columns {
		c, quantity := amdColumns[name]
		reason, violation := amdViolations[name]
		if !quantity && !violation || unknown(cells[i]) {
			continue
		}
		text, _, _ := strings.Cut(cells[i], " ") // some versions print the unit
		v, ok := number(text, 1)
		switch {
		case !ok || v < 0 && c.name != telemetry.DeviceTemperature:
			r.strange = true
		case quantity:
			r.values = append(r.values, d.value(c.name, v*c.factor))
		default:
			r.values = append(r.values, d.throttled(reason, v > 0))
		}
	}
}
