package live

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

var english = words.In("en")

// busy is a server in its last minute, with a gap, two devices and two hosts; others are servers
// beside it.
func busy(others ...string) View {
	v := View{
		Target: "pitot watch http://127.0.0.1:8000", Time: time.Date(2026, 11, 2, 9, 5, 7, 0, time.UTC), Every: time.Second,
		Sources: []Source{
			{Source: telemetry.Source{Name: "server", Reads: 60}},
			{Source: telemetry.Source{Name: "nvidia-smi@gpu1", Reads: 40, Lost: 2, Notes: []plan.Message{plan.Msg("telemetry.silent", "program", "nvidia-smi", "for", 10)}}, Silent: 14 * time.Second},
		},
	}
	for i := range 60 {
		wave := math.Sin(float64(i) / 10)
		s := resources.LiveServer{
			Source: "server", Running: is(16 + math.Round(8*wave)), Waiting: is(max(0, math.Round(30*wave))), KVUse: is(0.5 + 0.4*wave), CacheHits: is(0.412),
			Preemptions: is(3), Prompt: is(5120 + 1000*wave), Output: is(1234.5 + 200*wave), StepTokens: is(41.25),
		}
		if i >= 20 && i < 25 {
			s = resources.LiveServer{Source: "server"}
		}
		l := resources.Live{
			At: time.Duration(i) * time.Second, Servers: []resources.LiveServer{s},
			Devices: []resources.LiveDevice{
				{Device: "nvidia-smi@gpu1 0", Utilization: is(0.75 + 0.25*wave), Power: is(612.4), Clock: is(1.98e9), Temperature: is(63), MemoryUsed: is(71.5 * (1 << 30)), MemoryTotal: is(79.6 * (1 << 30)), Throttled: []string{telemetry.ThrottledHWThermal, telemetry.ThrottledSWPower}},
				{Device: "nvidia-smi@gpu1 1", Power: is(88), Throttled: []string{}},
			},
			Hosts: []resources.LiveHost{
				{Source: "host", CPU: is(1.26), CPUs: is(2), MemoryUsed: is(3.1 * (1 << 30)), MemoryTotal: is(15.6 * (1 << 30)), CPUPressure: is(0.12), MemoryPressure: is(0), IOPressure: is(0.034)},
				{Source: "host@gpu1", CPU: is(14.2), CPUs: is(96)},
			},
		}
		for _, name := range others {
			l.Servers = append(l.Servers, resources.LiveServer{Source: name, Running: is(4), KVUse: is(0.034), Output: is(88.4)})
		}
		v.Course = append(v.Course, l)
	}
	return v
}

func drawn(v View, columns, rows int, lang string) string {
	return strings.Join(WatchLines(v, Paper{Columns: columns, Rows: rows, Lang: words.In(lang)}), "\n") + "\n"
}

func TestScreens(t *testing.T) {
	for _, c := range []struct {
		file          string
		v             View
		columns, rows int
		lang          string
	}{
		{"80x24", busy(), 80, 24, "en"},
		{"120x40", busy(), 120, 40, "en"},
		{"60x24", busy(), 60, 24, "en"},
		{"80x12", busy(), 80, 12, "en"},
		{"80x24-zh", busy(), 80, 24, "zh"},
		{"servers-120x40", busy("10.0.0.2:8000", "10.0.0.3:8000"), 120, 40, "en"},
		{"servers-60x24", busy("10.0.0.2:8000", "10.0.0.3:8000"), 60, 24, "en"},
		{"nothing-60x24", View{Target: "pitot watch http://127.0.0.1:8000", Time: busy().Time, Every: time.Minute}, 60, 24, "en"},
	} {
		golden.Check(t, "testdata/watch/"+c.file+".txt", drawn(c.v, c.columns, c.rows, c.lang))
	}
}

func TestLines(t *testing.T) {
	golden.Check(t, "testdata/watch/line.txt", Line(busy(), english)+"\n"+Line(busy("10.0.0.2:8000"), english)+"\n"+Line(View{Time: busy().Time}, english)+"\n")
}

func TestJSON(t *testing.T) {
	v := busy()
	v.Course = v.Course[22:23]
	b, err := JSON(v, english)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/watch/gap.json", string(b)+"\n")
}

// A screen is never wider or higher than its terminal, whatever others call themselves, and what
// they say cannot leave its line or move the cursor.
func TestNothingLeavesTheScreen(t *testing.T) {
	v := busy("evil\x1b[2J\x1b[H\r\n\u202e名字名字名字名字名字名字")
	v.Sources[0].Notes = []plan.Message{plan.Msg("telemetry.ended", "why", "\x1b]0;title\a"+strings.Repeat("長い ", 90))}
	v.Course[59].Devices[0].Device = "\x1b[31m\x00gpu"
	for columns := 1; columns <= 150; columns++ {
		for _, rows := range []int{1, 2, 7, 24, 60} {
			lines := WatchLines(v, Paper{Columns: columns, Rows: rows, Lang: english})
			if len(lines) > rows {
				t.Fatalf("%dx%d: %d lines", columns, rows, len(lines))
			}
			for _, line := range lines {
				if doc.Width(line) > max(columns, 3) || plain.Line(line) != line { // a Chinese character and what tells of a cut take three
					t.Fatalf("%dx%d: %q", columns, rows, line)
				}
			}
		}
	}
}

// Colours are Pitot's, and go with what they colour: without them the text is the same.
func TestWatchColours(t *testing.T) {
	colored := strings.Join(WatchLines(busy(), Paper{Columns: 80, Rows: 24, Colors: true, Lang: english}), "\n") + "\n"
	if !strings.Contains(colored, plain.Paint("hw_thermal sw_power_cap", plain.Red)[:12]) {
		t.Errorf("no red in %q", colored)
	}
	bare := colored
	for _, code := range []string{"0", plain.Bold, plain.Dim, plain.Red, plain.Green} {
		bare = strings.ReplaceAll(bare, "\x1b["+code+"m", "")
	}
	if bare != drawn(busy(), 80, 24, "en") {
		t.Errorf("%q", bare)
	}
}
