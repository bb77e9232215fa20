package devices

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// play is a program: it prints lines until print or stop say that nobody reads them, and
// returns the exit code.
func (f Fake) play(args []string, print func(line string) bool, stop <-chan struct{}) (code int) {
	if f.Devices == 0 {
		f.Devices = 1
	}
	once, sample, period := f.program(args)
	if f.Period > 0 {
		period = f.Period
	}
	if sample == nil {
		for line := range strings.Lines(once) {
			print(strings.TrimRight(line, "\n"))
		}
		if once == "" {
			print("unknown arguments: " + strings.Join(args, " "))
			return 2
		}
		return 0
	}
	pause := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-stop:
			return false
		}
	}
	if !pause(f.Delay) {
		return 0
	}
	return f.loop(sample, period, print, pause)
}

// loop prints samples, and then what Then says.
func (f Fake) loop(sample func(now time.Time, n int) []string, period time.Duration, print func(string) bool, pause func(time.Duration) bool) (code int) {
	if f.Text != "" {
		sample = recording(f.Text)
	}
	for n := 0; ; n++ {
		lines, wait := sample(time.Now().Add(f.Offset), n), period
		if f.Then != GoOn && n >= f.Samples {
			switch f.Then {
			case Die:
				return 3
			case Hang:
				lines = nil
			case Garbage:
				lines, wait = []string{"*** what is this, a line ***"}, period/10
			case Long:
				if n == f.Samples {
					lines = append([]string{strings.Repeat("x", 10<<20)}, lines...)
				}
			}
		}
		for _, line := range lines {
			if !print(line) {
				return 0
			}
		}
		if !pause(wait) {
			return 0
		}
	}
}

// recording is a sample of one line of a text after the other; behind the last one it is silent.
func recording(text string) func(time.Time, int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return func(_ time.Time, n int) []string {
		if n >= len(lines) {
			return nil
		}
		return lines[n : n+1]
	}
}

// program is what arguments ask for: a text, or samples with a period. Neither: it does not
// know the arguments.
func (f Fake) program(args []string) (once string, sample func(now time.Time, n int) []string, period time.Duration) {
	line := strings.Join(args, " ")
	flag := func(name string) string {
		_, rest, _ := strings.Cut(line+" ", " "+name)
		value, _, _ := strings.Cut(strings.TrimLeft(rest, " ="), " ")
		return value
	}
	switch {
	case line == "nvidia-smi -L":
		return f.each("GPU %d: NVIDIA Fake (UUID: " + uuid + ")\n"), nil, 0
	case line == "nvidia-smi --help-query-gpu":
		return f.help(), nil, 0
	case strings.HasPrefix(line, "nvidia-smi --query-compute-apps=gpu_uuid,pid "):
		apps := ""
		for i := range f.Others {
			apps += fmt.Sprintf(uuid+", %d\n", 0, 4000+i)
		}
		return cmp.Or(apps, "\n"), nil, 0
	case strings.HasPrefix(line, "nvidia-smi --query-gpu="):
		ms, _ := strconv.Atoi(flag("--loop-ms"))
		fields := strings.Split(flag("--query-gpu"), ",")
		for _, field := range fields {
			if f.Old && (field == instant || field == average) {
				return fmt.Sprintf("Field %q is not a valid field to query.\n", field), nil, 0
			}
		}
		return "", func(now time.Time, _ int) []string { return f.nvidia(fields, now) }, time.Duration(ms) * time.Millisecond
	case line == "npu-smi info -l":
		return "\tTotal Count                    : 1\n\n\tNPU ID                         : 0\n\tChip Count                     : " + strconv.Itoa(f.Devices) + "\n", nil, 0
	case line == "npu-smi info":
		return f.npuTable(), nil, 0
	case strings.HasPrefix(line, "npu-smi info watch") && (!f.Old || !strings.Contains(line, "ptambnu")):
		s, _ := strconv.Atoi(flag("-d"))
		return "", f.npu, time.Duration(s) * time.Second
	case line == "amd-smi list":
		return f.each("GPU: %d\n    BDF: 0000:01:00.0\n    UUID: 00ff74a1-0000-1000-80cf-000000000000\n"), nil, 0
	case strings.HasPrefix(line, "amd-smi monitor") && (!f.Old || !strings.Contains(line, "--violation")):
		s, _ := strconv.Atoi(flag("--watch"))
		return "", f.amd, time.Duration(s) * time.Second
	}
	return "", nil, 0
}

// Fields of nvidia-smi that came with newer drivers, and the form of a UUID.
const (
	instant = "power.draw.instant"
	average = "power.draw.average"
	events  = "clocks_event_reasons.active"
	uuid    = "GPU-00000000-0000-0000-0000-%012d"
)

// each is a text with the number of a device, for each of them.
func (f Fake) each(format string) (all string) {
	for i := range f.Devices {
		n := strings.Count(format, "%")
		all += fmt.Sprintf(format, []any{i, i}[:n]...)
	}
	return all
}

// help is the list of fields, in the form of the real one.
func (f Fake) help() string {
	names := []string{
		"timestamp", "index", "uuid", "utilization.gpu", "memory.used", "memory.total", `clocks.current.sm" or "clocks.sm`,
		`clocks.current.memory" or "clocks.mem`, "power.draw", "power.limit", "temperature.gpu",
		"clocks.max.sm",
	}
	if f.Old {
		names = append(names, "clocks_throttle_reasons.active")
	} else {
		names = append(names, instant, average, events+`" or "clocks_throttle_reasons.active`)
	}
	text := "List of valid properties to query for the switch \"--query-gpu=\":\n\n"
	for _, name := range names {
		text += "\"" + name + "\"\nA field.\n\n"
	}
	return text
}

func (f Fake) nvidia(fields []string, now time.Time) (rows []string) {
	for i := range f.Devices {
		cell := map[string]string{
			"timestamp": now.UTC().Format("2006/01/02 15:04:05.000"), "index": strconv.Itoa(i), "uuid": fmt.Sprintf(uuid, i),
			"utilization.gpu": strconv.Itoa(f.Busy), "memory.used": "512", "memory.total": "81559", "clocks.sm": "1980", "clocks.max.sm": "1980", "clocks.mem": "2619",
			"power.draw": fmt.Sprintf("%.2f", f.Power.Watts(now)), "power.limit": "700.00", "temperature.gpu": "41",
			events: "0x0000000000000004", "clocks_throttle_reasons.active": "0x0000000000000048",
		}
		if !f.Old { // a mean of the last second, as since Ampere
			cell[instant], cell["power.draw"] = cell["power.draw"], fmt.Sprintf("%.2f", f.Power.Joules(now.Add(-time.Second), now))
		}
		if !f.Replay.IsZero() {
			row := H200At(now.Sub(f.Replay))
			cell["power.draw"], cell[instant], cell["clocks.sm"] = fmt.Sprintf("%.2f", row.Mean), fmt.Sprintf("%.2f", row.Instant), fmt.Sprintf("%.0f", row.Clock)
			if !row.Capped {
				cell[events] = "0x0000000000000000"
			}
		}
		cell[average] = cell["power.draw"]
		var cells []string
		for _, field := range fields {
			cells = append(cells, cell[field])
		}
		rows = append(rows, strings.Join(cells, ", "))
	}
	return rows
}

// npu is one card, of which each device is a die: the first one tells the power of the card.
func (f Fake) npu(now time.Time, n int) (rows []string) {
	if n == 0 {
		rows = append(rows, "NpuID(Idx)  ChipId(Idx) Pwr(W)      Temp(C)     AI Core(%)  Memory(%)   Memory BW(%)   NPU Util(%)    AI Cube(%)")
	}
	for i := range f.Devices {
		power := "-"
		if i == 0 {
			power = fmt.Sprintf("%.1f", f.Power.Watts(now))
		}
		rows = append(rows, fmt.Sprintf("0           %-11d %-11s 45          %-11d 3           0              %-14d NA", i, power, f.Busy, f.Busy))
	}
	return rows
}

// npuTable is the part of npu-smi info that tells memory.
func (f Fake) npuTable() string {
	text := "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n" +
		"| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n"
	for i := range f.Devices {
		text += "| 0     910_9391            | OK            | 170.5       45                0    / 0             |\n" +
			fmt.Sprintf("| %d     %d                   | 0000:9D:00.0  | 0           0    / 0          3145 / 65536         |\n", i, i)
	}
	return text
}

// amd prints a heading before each sample, and an empty line after it.
func (f Fake) amd(now time.Time, _ int) []string {
	rows := []string{"timestamp,gpu,power_usage,hotspot_temperature,memory_temperature,gfx,gfx_clk,mem,mem_clock,vram_used,vram_total,pviol,tviol,phot_tviol,vr_tviol,hbm_tviol\r"}
	for i := range f.Devices {
		rows = append(rows, fmt.Sprintf("%d,%d,%.0f,47,38,%d,2100,0,1300,283,196300,100,0,0,N/A,0\r", now.Unix(), i, f.Power.Watts(now), f.Busy))
	}
	return append(rows, "")
}
