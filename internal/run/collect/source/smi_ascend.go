package source

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

var ascend = smiKind{
	name:    "npu-smi",
	answers: []string{"npu-smi", "info", "-l"},
	forms: func(every time.Duration, _ func(args ...string) string) (forms []form) {
		seconds := wholeSeconds(every, 100)
		for _, letters := range []string{"ptambnu", "ptamb", ""} {
			args := []string{"npu-smi", "info", "watch", "-d", strconv.Itoa(seconds)}
			if letters != "" {
				args = append(args, "-s", letters)
			}
			r := &ascendReader{devices: labels{}}
			forms = append(forms, form{
				args: args, period: time.Duration(seconds) * time.Second, read: r.read, question: r.question, answer: r.table,
			})
		}
		return forms
	},
}

// wholeSeconds is a period for a program that knows seconds only.
func wholeSeconds(every time.Duration, most int) int {
	return min(max(1, int((every+time.Second/2)/time.Second)), most)
}

// An ascendReader reads the columns of npu-smi info watch, which its heading names.
type ascendReader struct {
	devices labels
	columns []string
	cards   []string // of the table
	asked   int      // questions
}

// heading finds the columns: each is some words with a unit in parentheses.
var heading = lazy.Regexp(`[A-Za-z][A-Za-z ]*\([^)]*\)`)

// Columns of npu-smi info watch.
const (
	npuCard, npuChip  = "NpuID(Idx)", "ChipId(Idx)"
	npuPower, npuTemp = "Pwr(W)", "Temp(C)"
	npuUtil, npuCore  = "NPU Util(%)", "AI Core(%)"
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
	a.values(&r, a.devices.get(id), cell)
	return r
}

// values reads the cells of a device. On cards of two dies the second one prints - for power: the first one prints
// that of the card, so a sum over devices counts it once. Memory(%) is that of the DDR on chips that have DDR and HBM:
// memory is read of the table.
func (a *ascendReader) values(r *row, d *device, cell map[string]string) {
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
	for i := range r.values {
		if r.values[i].Kind == "" {
			r.values[i].Kind = telemetry.Gauge
		}
	}
}

// question asks for the table, and for the clock of one card after the other: each takes a process.
func (a *ascendReader) question() string {
	if len(a.cards) == 0 {
		return "npu-smi info"
	}
	a.asked++
	return "eval npu-smi info; npu-smi info -t common -i " + a.cards[a.asked%len(a.cards)] + " || :"
}

// table reads memory, processes and health of the table of npu-smi info, with ; for line ends, and the clock of a card.
func (a *ascendReader) table(text string) (r row) {
	text = strings.ReplaceAll(text, ";", "\n")
	table := environment.ReadNPUs(text)
	r.unread, r.values, a.cards = table.Unread, a.clocks(text, table.Chips), nil
	for _, n := range table.Chips {
		if card, _, _ := strings.Cut(n.ID, "."); !slices.Contains(a.cards, card) {
			a.cards = append(a.cards, card)
		}
		d := a.device(n.ID, table.Chips)
		if d == nil {
			continue
		}
		if n.Total > 0 {
			r.values = append(r.values, d.value(telemetry.DeviceMemoryUsed, float64(n.Used)),
				d.value(telemetry.DeviceMemoryTotal, float64(n.Total)))
		}
		if n.Processes > 0 || n.Processes == 0 && n.Total > 0 && n.Used < n.Total/idleNPU {
			r.values = append(r.values, d.value(telemetry.DeviceProcesses, float64(n.Processes)))
		}
		r.values = append(r.values, d.unhealthy(n.Health)...)
	}
	return r
}

// busyCores is the share of the time in which AI cores compute from which on their clock is not low by idling.
const busyCores = 0.5

// clocks reads npu-smi info -t common, of a card with a block for each chip: lines NAME : VALUE, the share of the time
// before the rated clock and the current one.
func (a *ascendReader) clocks(text string, chips []environment.NPU) (all []collect.Value) {
	id, busy, rated := "", 0.0, 0.0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "NPU ID":
			id, busy, rated = value, 0, 0
		case "Chip ID":
			card, _, _ := strings.Cut(id, ".")
			id, busy, rated = card+"."+value, 0, 0
		case "Aicore Usage Rate(%)":
			busy, _ = number(value, smiPercent)
		case "Aicore Freq(MHZ)":
			rated, _ = number(value, smiMega)
		case "Aicore curFreq(MHZ)":
			clock, ok := number(value, smiMega)
			d := a.device(id, chips)
			if !ok || clock <= 0 || d == nil {
				continue
			}
			all = append(all, d.value(telemetry.DeviceClock, clock))
			if busy >= busyCores && rated >= smiMega {
				all = append(all, d.value(telemetry.DeviceBusyClock, clock/rated))
			}
		}
	}
	return all
}

// idleNPU is the part of its memory that an NPU without programs uses less than: its driver takes up to 3.4 of 64 GB.
// A container does not see programs outside, so that none in the list of an NPU with more in use is not 0.
const idleNPU = 16

// device is that of a chip of the table, by the name that npu-smi info watch has for it: it is without the chip
// where that prints none. nil: that has not been seen.
func (a *ascendReader) device(id string, all []environment.NPU) *device {
	card, chip, _ := strings.Cut(id, ".")
	switch {
	case a.devices[id] != nil:
		return a.devices[id]
	case chip == "":
		return a.devices[id+".0"]
	}
	for _, o := range all {
		if o.ID != id && strings.HasPrefix(o.ID, card+".") {
			return nil // of several chips none is the card
		}
	}
	return a.devices[card]
}
