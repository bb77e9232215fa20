package source

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
)

func smiSample(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/constructed-" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// told are the values of lines: for each line with values these in order, as
// name{labels} value.
func smiTold(text string, read func(string) row) (rows []string) {
	for line := range strings.Lines(text) {
		r := read(strings.TrimRight(line, "\r\n"))
		if r.strange {
			rows = append(rows, "strange: "+line)
		}
		if len(r.values) > 0 {
			rows = append(rows, words(r.values))
		}
	}
	return rows
}

func words(values []collect.Value) string {
	var all []string
	for _, v := range values {
		name := strings.TrimPrefix(v.Name, "device.")
		for _, label := range []string{"device", "reason"} {
			if l, ok := v.Labels[label]; ok {
				name += " " + l
			}
		}
		if v.Name == telemetry.DeviceThrottled && v.Value == 0 {
			continue // the others are many
		}
		all = append(all, fmt.Sprintf("%s %.6g", name, v.Value))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestNVIDIA(t *testing.T) {
	fields := chosen(knownFields(smiSample(t, "nvidia-smi-help.txt")))
	want := "timestamp,index,uuid,utilization.gpu,memory.used,memory.total,clocks.sm,clocks.max.sm,clocks.mem,power.draw.average,power.draw,power.draw.instant,power.limit,temperature.gpu,clocks_event_reasons.active"
	if got := strings.Join(fields, ","); got != want {
		t.Fatal(got)
	}
	r := &nvidiaReader{fields: fields, devices: labels{}, index: map[string]string{}, used: map[string]float64{}}
	if d := cmp.Diff([]string{
		"clock 0 1.755e+09, clock_limit 0 1.98e+09, memory_clock 0 2.619e+09, memory_total 0 8.55208e+10, memory_used 0 7.39372e+10, power 0 698.31, power_instant 0 731.2, power_limit 0 700, power_span 0 1, temperature 0 71, throttled 0 sw_power_cap 1, utilization 0 0.97",
		"clock 1 3.45e+08, clock_limit 1 1.98e+09, memory_clock 1 2.619e+09, memory_total 1 8.55208e+10, memory_used 1 4.1943e+06, power 1 71.5, power_instant 1 71.5, temperature 1 33, utilization 1 0",
		"clock 0 1.2e+09, clock_limit 0 1.98e+09, memory_clock 0 2.619e+09, memory_total 0 8.55208e+10, memory_used 0 7.39372e+10, power 0 540.02, power_instant 0 122.75, power_limit 0 700, power_span 0 1, temperature 0 88, " +
			"throttled 0 hw_power_brake 1, throttled 0 hw_slowdown 1, throttled 0 hw_thermal 1, throttled 0 sw_thermal 1, utilization 0 1",
		"memory_total 1 8.55208e+10",
	}, smiTold(smiSample(t, "nvidia-smi.csv"), r.read)); d != "" {
		t.Error(d)
	}
	first, _, _ := strings.Cut(smiSample(t, "nvidia-smi.csv"), "\n")
	got := r.read(first)
	if want := time.Date(2026, 11, 24, 10, 2, 59, 123e6, time.UTC); !got.stamp.Equal(want) {
		t.Error(got.stamp)
	}
	zeros := 0
	for _, v := range got.values {
		if v.Name == telemetry.DeviceThrottled && v.Value == 0 {
			zeros++
		}
	}
	if zeros != len(smiReasons)-1 {
		t.Errorf("%d reasons are 0", zeros)
	}
	for _, line := range []string{"No devices were found", "1, 2", strings.Replace(first, ", 97,", ", busy,", 1), strings.Replace(first, "731.20", "nan", 1), strings.Replace(first, "698.31", "-1", 1)} {
		if got := r.read(line); !got.strange {
			t.Errorf("%q is as it should be: %v", line, got.values)
		}
	}
}

// A driver of 2021 has power.draw and clocks_throttle_reasons; one that tells no fields is asked
// for the few that all have.
func TestNVIDIADrivers(t *testing.T) {
	old := strings.NewReplacer(`"power.draw.instant"`, "", `"power.draw.average"`, "", `"clocks.max.sm"`, "", `"clocks_event_reasons.active" or `, "", `"clocks_event_reasons.gpu_idle" or `, "").Replace(smiSample(t, "nvidia-smi-help.txt"))
	forms := nvidia.forms(250*time.Millisecond, func(args ...string) string {
		if cmp.Diff([]string{"nvidia-smi", "--help-query-gpu"}, args) != "" {
			t.Error(args)
		}
		return old
	})
	if len(forms) != 2 || !strings.Contains(forms[0].args[1], ",power.draw,") || !strings.HasSuffix(forms[0].args[1], ",clocks_throttle_reasons.active") || forms[0].args[3] != "--loop-ms=250" {
		t.Fatal(forms[0].args)
	}
	if d := cmp.Diff([]string{"clock 0 1.53e+09, memory_clock 0 8.77e+08, memory_total 0 3.40892e+10, memory_used 0 1.07374e+09, power 0 55.21, power_limit 0 300, temperature 0 41, throttled 0 hw_thermal 1, utilization 0 0.12"},
		smiTold(smiSample(t, "nvidia-smi-old.csv"), forms[0].read)); d != "" {
		t.Error(d)
	}
	// One that has the power at an instant and no field for the mean has the mean as power.draw.
	named := strings.ReplaceAll(smiSample(t, "nvidia-smi-help.txt"), `"power.draw.average"`, "")
	forms = nvidia.forms(time.Second, func(...string) string { return named })
	line := "2026/11/24 10:02:59.123, 0, GPU-1, 97, 70512, 81559, 1755, 1980, 2619, 301.50, 522.25, 700.00, 71, 0x0000000000000000"
	if got := words(forms[0].read(line).values); !strings.Contains(got, "power 0 301.5, power_instant 0 522.25, power_limit 0 700, power_span 0 1,") {
		t.Error(got)
	}
	forms = nvidia.forms(time.Second, func(...string) string { return "" })
	if len(forms) != 1 || !strings.Contains(forms[0].args[1], "power.draw,temperature.gpu") {
		t.Error(forms[0].args)
	}
}

// Processes are counted by device. None on a device with memory in use may be one that
// cannot be seen from a container: that is not known.
func TestProcesses(t *testing.T) {
	r := &nvidiaReader{devices: labels{}, index: map[string]string{"GPU-a": "0", "GPU-b": "1", "GPU-c": "2"}, used: map[string]float64{"0": 70e9, "1": 4e6, "2": 70e9}}
	for text, want := range map[string]string{
		"GPU-a, 4000;GPU-a, 4001;":      "processes 0 2, processes 1 0",
		"GPU-a, 4000;GPU-c, 1;GPU-z, 2": "processes 0 1, processes 1 0, processes 2 1",
		"":                              "processes 1 0",
		"[Not Supported];":              "",
		"No running processes found":    "",
	} {
		if got := words(r.processes(text).values); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// The first die of a card with two reports its power, which so counts once in a sum.
func TestAscend(t *testing.T) {
	for name, want := range map[string][]string{
		"npu-smi-a2.txt": {
			"npu.ai_core 0.0 0.91, npu.memory_bandwidth 0.0 0.41, power 0.0 312.4, temperature 0.0 58, utilization 0.0 0.91",
			"npu.ai_core 1.0 0, npu.memory_bandwidth 1.0 0, power 1.0 93.1, temperature 1.0 44, utilization 1.0 0",
			"temperature 0.0 58",
		},
		"npu-smi-a3.txt": {
			"npu.ai_core 0.0 0.63, npu.ai_cube 0.0 0.6, npu.memory_bandwidth 0.0 0.22, power 0.0 407.2, temperature 0.0 49, utilization 0.0 0.88",
			"npu.ai_core 0.1 0.64, npu.ai_cube 0.1 0.61, npu.memory_bandwidth 0.1 0.23, temperature 0.1 50, utilization 0.1 0.89",
		},
		"npu-smi-nochip.txt": {
			"npu.ai_core 3 0, npu.ai_cube 3 0, npu.memory_bandwidth 3 0, power 3 288.5, temperature 3 48, utilization 3 0.02",
		},
	} {
		r := &ascendReader{devices: labels{}}
		if d := cmp.Diff(want, smiTold(smiSample(t, name), r.read)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	r := &ascendReader{devices: labels{}}
	if got := r.read("0 0 312.4 58"); !got.strange {
		t.Error("a row without a heading")
	}
}

// Memory, processes and health are those of the table, for devices that were seen, by the names that they have there.
func TestAscendTable(t *testing.T) {
	table := strings.ReplaceAll(smiSample(t, "npu-smi-info.txt"), "\n", ";")
	for seen, want := range map[string]string{
		"0.0": "memory_total 0.0 6.87195e+10, memory_used 0.0 5.90988e+10, unhealthy 0.0 0, unhealthy 0.0 0, unhealthy 0.0 0",
		"3":   "memory_total 3 3.43597e+10, memory_used 3 2.0615e+09, processes 3 0, unhealthy 3 0, unhealthy 3 0, unhealthy 3 1",
		"7":   "",
	} {
		r := &ascendReader{devices: labels{}}
		r.devices.get(seen)
		if got := words(r.table(table).values); got != want {
			t.Errorf("%s: %s", seen, got)
		}
	}
	r := &ascendReader{devices: labels{}}
	r.devices.get("0")
	if got := r.question(); got != "npu-smi info" {
		t.Error(got)
	}
	two := strings.ReplaceAll(strings.ReplaceAll(table, "| 3 ", "| 0 "), "| 0                         | 0000:C2", "| 1                         | 0000:C2")
	two = strings.ReplaceAll(two, "in NPU 3", "in NPU 0")
	if got := r.table(two); len(got.values) != 0 || got.unread != "" {
		t.Errorf("of two chips none is the card: %+v", got)
	}
	if got := r.table("dcmi model initialized failed. ret is -8005;"); got.unread != "dcmi model initialized failed. ret is -8005" || len(got.values) != 0 {
		t.Errorf("%+v", got)
	}
}

// The clock is below the rated one while the AI cores idle, which is no sign of anything.
func TestAscendClocks(t *testing.T) {
	r := &ascendReader{devices: labels{}}
	r.devices.get("0.0")
	r.devices.get("3.0")
	table := strings.ReplaceAll(smiSample(t, "npu-smi-info.txt"), "\n", ";")
	r.table(table)
	if got := r.question() + ", " + r.question(); got != "eval npu-smi info; npu-smi info -t common -i 3 || :, eval npu-smi info; npu-smi info -t common -i 0 || :" {
		t.Error(got)
	}
	common := func(usage, clock string) string {
		return "\tNPU ID                         : 3;\tChip Count                     : 1;;\tChip ID                        : 0;" +
			"\tMemory Usage Rate(%)           : 0;\tAicore Usage Rate(%)           : " + usage +
			";\tAicore Freq(MHZ)               : 1800;\tAicore curFreq(MHZ)            : " + clock + ";\tAicore Count                   : 20;"
	}
	for given, want := range map[string]string{
		common("0", "800"): "clock 3.0 8e+08", common("70", "1800"): "busy_clock 3.0 1, clock 3.0 1.8e+09",
		common("70", "1350"): "busy_clock 3.0 0.75, clock 3.0 1.35e+09", common("NA", "NA"): "", common("NA", "1350"): "clock 3.0 1.35e+09",
	} {
		if got := words(r.clocks(strings.ReplaceAll(given, ";", "\n"), environment.ReadNPUs(strings.ReplaceAll(table, ";", "\n")).Chips)); got != want {
			t.Errorf("%q: %s, want %s", given, got, want)
		}
	}
}

func TestAMD(t *testing.T) {
	for name, want := range map[string][]string{
		"amd-smi-6.csv": {
			"clock 0 2.098e+09, memory_clock 0 1.3e+09, memory_total 0 2.06142e+11, memory_used 0 1.90038e+11, power 0 742, temperature 0 86, utilization 0 1",
			"clock 1 1.32e+08, memory_clock 1 9e+08, memory_total 1 2.06142e+11, memory_used 1 2.97796e+08, utilization 1 0",
		},
		"amd-smi-7.csv": {
			"clock 0 1.7e+09, memory_clock 0 1.3e+09, memory_total 0 2.06142e+11, memory_used 0 1.90038e+11, power 0 751, power_limit 0 750, temperature 0 91, throttled 0 hw_thermal 1, throttled 0 sw_power_cap 1, utilization 0 1",
			"clock 0.1 1.701e+09, utilization 0.1 0.98",
		},
	} {
		r := &amdReader{devices: labels{}}
		if d := cmp.Diff(want, smiTold(smiSample(t, name), r.read)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// fuzz holds a reader to its promises for any text: finite values, shares that are not negative.
func fuzz(t *testing.T, text string, read func(string) row) {
	for line := range strings.Lines(text) {
		for _, v := range read(line).values {
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Value < 0 && v.Name != telemetry.DeviceTemperature || v.Labels["device"] == "" {
				t.Errorf("%q: %+v", line, v)
			}
		}
	}
}

func FuzzNVIDIA(f *testing.F) {
	f.Add(smiSample(f, "nvidia-smi.csv"))
	fields := chosen(knownFields(smiSample(f, "nvidia-smi-help.txt")))
	f.Fuzz(func(t *testing.T, text string) {
		r := &nvidiaReader{fields: fields, devices: labels{}, index: map[string]string{}, used: map[string]float64{}}
		fuzz(t, text, r.read)
		r.processes(text)
		chosen(knownFields(text))
	})
}

func FuzzAscend(f *testing.F) {
	f.Add(smiSample(f, "npu-smi-a3.txt"), smiSample(f, "npu-smi-info.txt"))
	f.Fuzz(func(t *testing.T, text, table string) {
		r := &ascendReader{devices: labels{}}
		fuzz(t, text, r.read)
		fuzz(t, strings.ReplaceAll(table, "\n", ";"), r.table)
	})
}

func FuzzAMD(f *testing.F) {
	f.Add(smiSample(f, "amd-smi-7.csv"))
	f.Fuzz(func(t *testing.T, text string) { fuzz(t, text, (&amdReader{devices: labels{}}).read) })
}
