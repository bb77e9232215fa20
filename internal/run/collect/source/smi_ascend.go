package source

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// ascend is npu-smi.
var ascend = smiKind{
	name:    "npu-smi",
	answers: []string{"npu-smi", "info", "-l"},
	forms: func(every time.Duration, ask func(args ...string) string) (forms []form) {
		totals := npuMemory(ask("npu-smi", "info"))
		seconds := wholeSeconds(every, 100)
		for _, letters := range []string{"ptambnu", "ptamb", ""} {
			args := []string{"npu-smi", "info", "watch", "-d", strconv.Itoa(seconds)}
			if letters != "" {
				args = append(args, "-s", letters)
			}
			r := &ascendReader{devices: labels{}, totals: totals}
			forms = append(forms, form{args: args, period: time.Duration(seconds) * time.Second, read: r.read})
		}
		return forms
	},
}

// wholeSeconds is a period for a program that knows seconds only.
func wholeSeconds(every time.Duration, most int) int {
	return min(max(1, int((every+time.Second/2)/time.Second)), most)
}

// npuMemory reads the table of npu-smi info: the memory of each chip in bytes, by card.chip. Of
// a chip there are two rows: number and name of the card; then number and bus of the chip, with
// memory in MB as USED / TOTAL, that of the device last.
func npuMemory(table string) map[string]float64 {
	totals, card := map[string]float64{}, ""
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		head := strings.Fields(cells[1])
		if len(head) == 0 || strings.Trim(head[0], "0123456789") != "" {
			continue
		}
		if !strings.Contains(cells[2], ":") {
			card = head[0]
			continue
		}
		if all := ofTotal.FindAllStringSubmatch(cells[3], -1); len(all) > 0 {
			if mb, ok := number(all[len(all)-1][1], smiMebi); ok && mb > 0 {
				totals[card+"."+head[0]] = mb
			}
		}
	}
	return totals
}

var ofTotal = regexp.MustCompile(`\d+\s*/\s*(\d+)`)

// An ascendReader reads the columns of npu-smi info watch, which its heading names.
type ascendReader struct {
	devices labels
	totals  map[string]float64 // bytes of memory by device
	columns []string
}

// heading finds the columns: each is some words with a unit in parentheses.
var heading = regexp.MustCompile(`[A-Za-z][A-Za-z ]*\([^)]*\)`)

// Columns of npu-smi info watch.
const (
	npuCard, npuChip  = "NpuID(Idx)", "ChipId(Idx)"
	npuPower, npuTemp = "Pwr(W)", "Temp(C)"
	npuUtil, npuCore  = "NPU Util(%)", "AI Core(%)"
	npuMem            = "Memory(%)"
)

// npuOwn are columns stored under names that only NPUs have, as shares from 0 to 1.
var npuOwn = map[string]string{npuCore: "npu.ai_core", "AI Cube(%)": "npu.ai_cube", "Memory BW(%)": "npu.memory_bandwidth"}

func (a *ascendReader) read(text string) (r row) {
	if strings.Contains(text, "NpuID") {
		a.columns = nil
		for _, c := range heading.FindAllString(text, -1) {
			a.columns = append(a.columns, strings.TrimSpace(c))
		}
		return row{known: true}
	}
	cells := strings.Fields(text)
	if len(cells) == 0 {
		return row{}
	}
	if len(cells) != len(a.columns) {
		return row{strange: true}
	}
	cell := map[string]string{}
	for i, c := range a.columns {
		cell[c] = cells[i]
	}
	id := cell[npuCard]
	if chip, has := cell[npuChip]; has {
		id += "." + chip
	}
	if strings.Trim(id, "0123456789.") != "" || cell[npuCard] == "" {
		return row{strange: true}
	}
	r.known = true
	a.values(&r, a.devices.get(id), id, cell)
	return r
}

// values reads the cells of a device. On cards of two dies the second one prints - for power: the first one prints
// that of the card, so a sum over devices counts it once.
func (a *ascendReader) values(r *row, d *device, id string, cell map[string]string) {
	add := func(column, name string, factor float64) bool {
		text, has := cell[column]
		if !has || unknown(text) {
			return false
		}
		v, ok := number(text, factor)
		if !ok || v < 0 && column != npuTemp {
			r.strange = true
			return false
		}
		r.values = append(r.values, d.value(name, v))
		return true
	}
	add(npuPower, telemetry.DevicePower, 1)
	add(npuTemp, telemetry.DeviceTemperature, 1)
	if !add(npuUtil, telemetry.DeviceUtilization, smiPercent) {
		add(npuCore, telemetry.DeviceUtilization, smiPercent)
	}
	for column, name := range npuOwn {
		add(column, name, smiPercent)
	}
	total, has := a.totals[id]
	if !has {
		total, has = a.totals[id+".0"] // versions that print no chip have one in each card
	}
	if has && add(npuMem, telemetry.DeviceMemoryUsed, smiPercent*total) {
		r.values = append(r.values, d.value(telemetry.DeviceMemoryTotal, total))
	}
	for i := range r.values {
		if r.values[i].Kind == "" {
			r.values[i].Kind = telemetry.Gauge
		}
	}
}
