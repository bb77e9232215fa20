package doctor

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

var english = words.In("en")

// good is a machine about which there is nothing to say.
func good() Facts {
	return Facts{
		Facts: machine.Facts{
			OS: "linux", Files: 20_000, FilesHard: 20_000, Ports: &machine.Ports{Low: 32_768, High: 60_999}, Memory: 16 << 30,
			CPUs: machine.CPUs{Machine: 8, Usable: 8}, Quota: &machine.Quota{}, Governors: []string{"performance"},
		},
		Others:  &machine.Others{Busy: 0.05},
		Clock:   Clock{Source: "tsc", Reading: 25},
		Timer:   trace.Lag{Reads: 100, P50: 12 * time.Microsecond, P99: 80 * time.Microsecond},
		Runtime: trace.Lag{Reads: 100, P50: 500 * time.Microsecond, P99: 1100 * time.Microsecond},
		Stamps: &trace.SelfTest{
			Writes: 200, Stamped: 200, Inside: 199,
			Error: trace.Lag{Reads: 200, P50: 5400, P99: 9810}, Lag: trace.Lag{Reads: 200, P50: 12 * time.Microsecond, P99: 40 * time.Microsecond},
		},
	}
}

func TestAGoodMachine(t *testing.T) {
	want := [][2]string{
		{"open files", "20000, enough for 19936 streams"},
		{"local ports", "28232 to one server (32768 to 60999)"},
		{"memory", "16.0 GiB available"},
		{"processors", "8 usable"},
		{"processor quota", "none"},
		{"frequency", "governor performance"},
		{"other load", "5 % of the machine, 0 % stolen"},
		{"clock", "tsc, 25 ns per reading"},
		{"timer", "12 µs late, P99 80 µs"},
		{"Go's timer", "500 µs late, P99 1.1 ms"},
		{"kernel stamps", "on 200 of 200 reads, off by at most 5.4 µs, P99 9.81 µs"},
		{"reading", "12 µs late, P99 40 µs"},
	}
	for _, plan := range []PlannedLoad{{}, {Streams: 19_936, Rate: 470}} {
		findings := Examine(good(), plan)
		var got [][2]string
		for _, f := range findings {
			if got = append(got, [2]string{english.Word(f.Item), english.Say(f.Value)}); f.Verdict != OK || !f.Advice.IsZero() {
				t.Errorf("%+v: %+v", plan, f)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got\n%+v, want\n%+v", plan, got, want)
		}
		if w := Worst(findings); w != OK {
			t.Errorf("%+v: verdict %s", plan, w)
		}
	}
}

// Each machine is the good one with one thing changed: only the finding of that
// item is not ok.
func TestWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*Facts)
		plan    PlannedLoad
		item    string
		verdict Verdict
		says    string // in value and advice
	}{
		{"one file too few", func(f *Facts) { f.Files = 1063; f.FilesHard = 1063 }, PlannedLoad{Streams: 1000}, "open files", Bad, "1000 streams need about 1088"},
		{"files for a plan", func(f *Facts) { f.Files = 1088; f.FilesHard = 1088 }, PlannedLoad{Streams: 1024}, "open files", OK, "enough for 1024 streams"},
		{"few files, no plan", func(f *Facts) { f.Files = 1024; f.FilesHard = 4096 }, PlannedLoad{}, "open files", Warn, "`ulimit -n 1088`"},
		{"few files, hard", func(f *Facts) { f.Files = 1024; f.FilesHard = 1024 }, PlannedLoad{}, "open files", Warn, "the hard limit is 1024: raise it to 1088"},
		{"hardly any files", func(f *Facts) { f.Files = 20 }, PlannedLoad{}, "open files", Warn, "enough for 0 streams"},
		{"files not known", func(f *Facts) { f.Files = 0 }, PlannedLoad{Streams: 25_000}, "open files", Unknown, "not known on linux"},

		{"a port too few", func(f *Facts) { f.Files = 1e6 }, PlannedLoad{Streams: 28_233}, "local ports", Bad, "several addresses"},
		{"ports enough", func(f *Facts) { f.Files = 1e6 }, PlannedLoad{Streams: 28_232}, "local ports", OK, "28232"},
		{"ports held a minute", func(*Facts) {}, PlannedLoad{Rate: 471}, "local ports", Warn, "hold 28260 ports"},
		{"ports held a second", func(f *Facts) { f.Ports.Reuse = true }, PlannedLoad{Rate: 471}, "local ports", OK, ""},
		{"a narrow range", func(f *Facts) { f.Ports.High = 33_000 }, PlannedLoad{}, "local ports", Warn, "ip_local_port_range"},
		{"a narrow range that is enough", func(f *Facts) { f.Ports.High = 33_000 }, PlannedLoad{Streams: 100}, "local ports", OK, "233 to one server"},
		{"ports not known", func(f *Facts) { f.Ports = nil }, PlannedLoad{Streams: 19_000}, "local ports", Unknown, "not known"},

		{"little memory", func(f *Facts) { f.Memory = 200 << 20 }, PlannedLoad{}, "memory", Bad, "256 MiB"},
		{"little memory for a plan", func(f *Facts) { f.Memory = 500 << 20 }, PlannedLoad{Streams: 10_000}, "memory", Bad, "a run needs about 744 MiB"},
		{"some memory", func(f *Facts) { f.Memory = 1 << 30 }, PlannedLoad{}, "memory", Warn, "leave 2.0 GiB free"},

		{"one processor", func(f *Facts) { f.CPUs = machine.CPUs{Machine: 1, Usable: 1} }, PlannedLoad{}, "processors", Warn, "with two"},
		{"one of eight", func(f *Facts) { f.CPUs.Usable = 1 }, PlannedLoad{}, "processors", Warn, "1 usable, the machine has 8"},
		{"two of eight", func(f *Facts) { f.CPUs.Usable = 2 }, PlannedLoad{}, "processors", OK, "2 usable, the machine has 8"},

		{"a wide quota", func(f *Facts) { f.Quota.CPUs = 8 }, PlannedLoad{}, "processor quota", OK, "8 processors, paused 0 times"},
		{"a quota", func(f *Facts) { f.Quota.CPUs = 2 }, PlannedLoad{}, "processor quota", Warn, "stands still"},
		{"a quota that was used up", func(f *Facts) { f.Quota = &machine.Quota{CPUs: 9, Throttled: 3} }, PlannedLoad{}, "processor quota", Warn, "paused 3 times"},
		{"half a processor", func(f *Facts) { f.Quota.CPUs = 0.5 }, PlannedLoad{}, "processor quota", Bad, "0.5 processors"},
		{"quota not known", func(f *Facts) { f.Quota = nil }, PlannedLoad{}, "processor quota", Unknown, "not known"},

		{"powersave", func(f *Facts) { f.Governors = []string{"powersave"} }, PlannedLoad{}, "frequency", Warn, "-g performance"},
		{"two governors", func(f *Facts) { f.Governors = []string{"performance", "schedutil"} }, PlannedLoad{}, "frequency", Warn, "governor performance, schedutil"},
		{"no governor", func(f *Facts) { f.Governors = nil }, PlannedLoad{}, "frequency", Unknown, "virtual machines"},

		{"a neighbour", func(f *Facts) { f.Others.Busy = 0.5 }, PlannedLoad{}, "other load", Warn, "other programs"},
		{"a hypervisor", func(f *Facts) { f.Others.Steal = 0.02 }, PlannedLoad{}, "other load", Warn, "2 % stolen"},
		{"both", func(f *Facts) { f.Others = &machine.Others{Busy: 0.5, Steal: 0.1} }, PlannedLoad{}, "other load", Warn, "(taskset); the hypervisor"},

		{"hpet", func(f *Facts) { f.Clock = Clock{"hpet", 900} }, PlannedLoad{}, "clock", Bad, "echo tsc"},
		{"a strange clock", func(f *Facts) { f.Clock = Clock{"riscv_clocksource", 60} }, PlannedLoad{}, "clock", OK, "riscv_clocksource, 60 ns"},
		{"a strange slow clock", func(f *Facts) { f.Clock = Clock{"xen", 1500} }, PlannedLoad{}, "clock", Warn, "echo tsc"},
		{"a slow tsc", func(f *Facts) { f.Clock.Reading = 300 }, PlannedLoad{}, "clock", Warn, "sandbox"},

		{"a late timer", func(f *Facts) { f.Timer.P50 = 300 * time.Microsecond }, PlannedLoad{}, "timer", Warn, "idle states"},
		{"a timer sometimes late", func(f *Facts) { f.Timer.P99 = 2 * time.Millisecond }, PlannedLoad{}, "timer", Warn, "leave that late"},
		{"no timer", func(f *Facts) { f.Timer = trace.Lag{} }, PlannedLoad{}, "timer", Unknown, "not known"},
		{"Go's late", func(f *Facts) { f.Runtime.P99 = 5 * time.Millisecond }, PlannedLoad{}, "Go's timer", Warn, "time limits"},

		{"late readings", func(f *Facts) { f.Stamps.Lag.P99 = 20 * time.Millisecond }, PlannedLoad{}, "reading", Warn, "merge"},
		{"stamps that are off", func(f *Facts) { f.Stamps.Error.P50 = -time.Second }, PlannedLoad{}, "kernel stamps", Bad, "wall clock"},
		{"stamps that are missing", func(f *Facts) { f.Stamps.Stamped = 199 }, PlannedLoad{}, "kernel stamps", Warn, "on 199 of 200"},
		{"stamps outside", func(f *Facts) { f.Stamps.Inside = 179 }, PlannedLoad{}, "kernel stamps", Warn, "21 of 200 stamps lie outside of the writes that made them"},
		{"stamps with a tail", func(f *Facts) { f.Stamps.Error.P99 = 101 * time.Microsecond }, PlannedLoad{}, "kernel stamps", Warn, "more than 100 µs"},
	} {
		f := good()
		c.change(&f)
		for _, got := range Examine(f, c.plan) {
			if english.Word(got.Item) == c.item {
				if got.Verdict != c.verdict || !strings.Contains(english.Say(got.Value)+" "+english.Say(got.Advice), c.says) {
					t.Errorf("%s: %+v, want %s with %q", c.name, got, c.verdict, c.says)
				}
				if advised := !got.Advice.IsZero(); advised != (got.Verdict == Warn || got.Verdict == Bad) {
					t.Errorf("%s: verdict %s with advice %q", c.name, got.Verdict, english.Say(got.Advice))
				}
			} else if got.Verdict != OK {
				t.Errorf("%s: also %+v", c.name, got)
			}
		}
	}
}

func TestStampsAreMissing(t *testing.T) {
	none := trace.SelfTest{Writes: 200}
	for _, c := range []struct {
		system string
		test   *trace.SelfTest
		want   Verdict
	}{{"linux", &none, Bad}, {"darwin", &none, Warn}, {"linux", nil, Unknown}} {
		if got := Stamps(c.system, c.test); got.Verdict != c.want {
			t.Errorf("%s, %+v: %+v, want %s", c.system, c.test, got, c.want)
		}
	}
	f := good()
	f.Stamps = &none
	if got := reading(f); got.Verdict != Unknown {
		t.Errorf("without stamps: %+v", got)
	}
}

// What a Mac tells, by the system's name.
func TestAnotherSystem(t *testing.T) {
	f := Facts{
		Facts: machine.Facts{OS: "darwin", Files: 61_440, FilesHard: math.MaxInt64, Ports: &machine.Ports{Low: 49_152, High: 65_535}, CPUs: machine.CPUs{Usable: 10}},
		Clock: Clock{Reading: 40}, Timer: trace.Lag{Reads: 100, P50: 600 * time.Microsecond, P99: 1200 * time.Microsecond},
		Runtime: trace.Lag{Reads: 100, P50: 600 * time.Microsecond, P99: 1200 * time.Microsecond}, Stamps: &trace.SelfTest{Writes: 200},
	}
	verdicts := map[string]Verdict{}
	for _, finding := range Examine(f, PlannedLoad{Streams: 20_000}) {
		verdicts[english.Word(finding.Item)] = finding.Verdict
		if finding.Verdict == Unknown && english.Say(finding.Value) != "not known on darwin" {
			t.Errorf("%+v", finding)
		}
		if strings.Contains(english.Say(finding.Advice), "net.ipv4") || strings.Contains(english.Say(finding.Advice), "cpupower") {
			t.Errorf("advice for another system: %+v", finding)
		}
	}
	for item, want := range map[string]Verdict{
		"open files": OK, "local ports": Bad, "memory": Unknown, "processors": OK, "processor quota": Unknown, "frequency": Unknown,
		"other load": Unknown, "clock": OK, "timer": Warn, "Go's timer": OK, "kernel stamps": Warn, "reading": Unknown,
	} {
		if verdicts[item] != want {
			t.Errorf("%s: %s, want %s", item, verdicts[item], want)
		}
	}
}

func TestWorst(t *testing.T) {
	of := []Finding{{Verdict: Unknown}, {Verdict: OK}}
	for _, next := range []Verdict{OK, Warn, Bad, Warn} {
		of = append(of, Finding{Verdict: next})
		want := next
		if len(of) == 6 {
			want = Bad
		}
		if got := Worst(of); got != want {
			t.Errorf("%d findings: %s, want %s", len(of), got, want)
		}
	}
}

func TestPlanValidate(t *testing.T) {
	for _, c := range []struct {
		plan PlannedLoad
		want []string
	}{
		{PlannedLoad{}, nil},
		{PlannedLoad{Streams: 10, Rate: 0.5}, nil},
		{PlannedLoad{Streams: -1, Rate: -2}, []string{"--streams -1", "--rate -2"}},
		{PlannedLoad{Streams: 1 << 32}, []string{"--streams 4294967296: must be from 0 to 4294967295"}},
		{PlannedLoad{Rate: math.NaN()}, []string{"--rate NaN"}},
		{PlannedLoad{Rate: math.Inf(1)}, []string{"--rate +Inf"}},
	} {
		err := c.plan.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v", c.plan, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c.plan, err, part)
			}
		}
	}
}
