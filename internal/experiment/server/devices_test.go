package server

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// The tables have the form of Ascend 910B (one chip a card) and of A3 (two), with numbers
// made up.
const (
	npuSMI = `+------------------------------------------------------------------------------------------------+
| npu-smi 25.2.0                   Version: 25.2.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B4               | OK            | 90.1        40                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3200 / 65536         |
+===========================+===============+====================================================+
| 3     910B4               | OK            | 90.1        40                0    / 0             |
| 0                         | 0000:C2:00.0  | 50          0    / 0          61000/ 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 3       0                 | 4711          | python3                  | 57800                   |
+===========================+===============+====================================================+
`
	npuSMITwo = `| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 1     Ascend910           | OK            | 170.0       36                0    / 0             |
| 0     2                   | 0000:99:00.0  | 0           0    / 0          3415 / 65536         |
| 1     Ascend910           | OK            | -           36                0    / 0             |
| 1     3                   | 0000:9B:00.0  | 0           0    / 0          3196 / 65536         |
`
)

func TestReadDevices(t *testing.T) {
	for name, c := range map[string]struct {
		tool, text string
		want       []Device
		unread     string
	}{
		"NVIDIA":        {"nvidia-smi", "0, 4\n1, 79123\n2, [N/A]\n", []Device{{"0", 4 << 20}, {"1", 79123 << 20}}, ""},
		"Ascend":        {"npu-smi", npuSMI, []Device{{"0.0", 3200 << 20}, {"3.0", 61000 << 20}}, ""},
		"Ascend, two":   {"npu-smi", npuSMITwo, []Device{{"1.0", 3415 << 20}, {"1.1", 3196 << 20}}, ""},
		"memory, not":   {"npu-smi", strings.Replace(npuSMI, "61000/ 65536", "NA   / NA   ", 1), nil, "no memory of NPU 3.0"},
		"another form":  {"npu-smi", strings.Replace(npuSMI, "61000/ 65536", "61000", 1), nil, `cannot read "0 | 0000:C2:00.0 | 50 0 / 0 61000"`},
		"neither":       {"nvidia-smi", "No devices were found\n", nil, ""},
		"no privileges": {"npu-smi", "dcmi model initialized failed. ret is -8020\n", nil, `cannot read "dcmi model initialized failed. ret is -8020"`},
	} {
		if got, unread := readDevices(c.tool, c.text); !reflect.DeepEqual(got, c.want) || unread != c.unread {
			t.Errorf("%s: %v, want %v; %s", name, got, c.want, unread)
		}
	}
}

func FuzzReadDevices(f *testing.F) {
	f.Add(npuSMI)
	f.Add(npuSMITwo)
	f.Add("0, 4\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, tool := range []string{"nvidia-smi", "npu-smi"} {
			all, _ := readDevices(tool, text)
			for _, d := range all {
				if strings.Contains(d.ID, "\n") {
					t.Errorf("%q", d.ID)
				}
			}
		}
	})
}

// memory is a nvidia-smi that tells what is in a file.
func memory(t *testing.T) (set func(string)) {
	file := filepath.Join(t.TempDir(), "used")
	program(t, "nvidia-smi", `[ "$1" = --query-gpu=index,memory.used ] || exit 2
cat `+file+` || { echo "Failed to initialize NVML" >&2; exit 9; }
`)
	return func(text string) {
		if text == "" {
			_ = os.Remove(file) // it may not be there
		} else if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMemoryOfDevices(t *testing.T) {
	const before = "0, 500\n1, 3\n"
	for name, c := range map[string]struct {
		after string
		limit time.Duration
		want  plan.Code
	}{
		"is back":          {"0, 510\n1, 0\n", time.Minute, ""},
		"is not back":      {"0, 500\n1, 3003\n", time.Nanosecond, "server.memory-still-used"},
		"cannot be read":   {"", time.Nanosecond, "server.memory-unknown"},
		"is taken by more": {"0, 500\n1, 3\n2, 9000\n", time.Minute, ""}, // a device that was not there before
	} {
		t.Run(name, func(t *testing.T) {
			set := memory(t)
			set(before)
			g := newStage(t)
			g.o.Waits.Verify = c.limit
			r := g.start(t)
			g.up(t)
			if l := r.Life(); len(l.Before.Devices) != 2 || l.Before.Devices[0] != (Device{"0", 500 << 20}) {
				t.Errorf("%+v", l.Before)
			}
			set(c.after)
			s, err := r.Stop(t.Context())
			if err != nil || (c.want == "") != (len(s.Unverified) == 0) || c.want != "" && s.Unverified[0].Code != c.want {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// Stop waits until the memory is back, and says so once.
func TestMemoryThatComesBack(t *testing.T) {
	set := memory(t)
	set("0, 4000\n") // of what a start before has left behind
	g := newStage(t)
	g.o.Baseline = &Baseline{Devices: []Device{{"0", 0}}}
	reported := 0
	g.o.OnWait = func(m plan.Message) {
		if m.Code == "server.waiting-memory" {
			reported++
			set("0, 0\n")
		}
	}
	r := g.start(t)
	g.up(t)
	if s, err := r.Stop(t.Context()); err != nil || len(s.Unverified) > 0 || reported != 1 || s.Devices[0].Used != 0 {
		t.Errorf("%+v, %v, told %d times", s, err, reported)
	}
}

func TestLook(t *testing.T) {
	set := memory(t)
	if got := (Options{}).withDefaults().look(t.Context(), Handle{Runner: "local"}); !strings.HasSuffix(got.Unknown, "Failed to initialize NVML") || got.Devices != nil {
		t.Errorf("%+v", got)
	}
	set("0, 7\n")
	if got := (Options{}).withDefaults().look(t.Context(), Handle{Runner: "local"}); !reflect.DeepEqual(got, Baseline{Devices: []Device{{"0", 7 << 20}}}) {
		t.Errorf("%+v", got)
	}
	set("none\n")
	if got := (Options{}).withDefaults().look(t.Context(), Handle{Runner: "local"}); got.Unknown != "nvidia-smi lists no memory" {
		t.Errorf("%+v", got)
	}
	t.Setenv("PATH", "/nowhere")
	if got := (Options{}).withDefaults().look(t.Context(), Handle{Runner: "local"}); !reflect.DeepEqual(got, Baseline{}) {
		t.Errorf("%+v", got)
	}
}
