package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/machine"

	"github.com/pitot-bench/pitot/internal/test/devices"
)

// files are the contents of files, of lines with the name of the file before each.
func files(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		all[name] += rest
	}
	return all
}

func hostSample(t testing.TB, name string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return files(string(b))
}

// told are values as text, in order.
func hostTold(values []collect.Value) (all []string) {
	for _, v := range values {
		all = append(all, fmt.Sprintf("%s%v %v", v.Name, slices.Sorted(maps.Values(v.Labels)), v.Value))
	}
	return all
}

func TestAHostWithControlGroupsOfVersion2(t *testing.T) {
	text := hostSample(t, "constructed-v2.txt")
	s := sampler{groups: machine.GroupsOf("0::/a/b\n")}
	if d := cmp.Diff([]string{
		"host.cpu_time[0] 8.19", "host.cpu_time[1] 5.14", "host.cpu_time[10] 0.05", "host.context_switches[] 1.23456789e+08",
		"host.memory_total[] 1.6777216e+10", "host.memory_used[] 1.024e+10",
		"host.received[eth0] 5e+09", "host.sent[eth0] 7000", "host.received[eth0.2] 1", "host.sent[eth0.2] 2",
		"host.pressure[cpu] 2.5", "host.pressure[memory] 0", "host.pressure[io] 0.001",
		"host.cpu_limit[] 1.5", "host.cpu_throttled[] 0.25", "host.memory_limit[] 1.073741824e+09",
	}, hostTold(s.values(func(file string) string { return text[file] }, time.Now()))); d != "" {
		t.Error(d)
	}
}

func TestAHostWithControlGroupsOfVersion1(t *testing.T) {
	text := hostSample(t, "constructed-v1.txt")
	s := sampler{groups: machine.GroupsOf("4:memory:/docker/1\n2:cpu,cpuacct:/docker/1\n1:name=systemd:/x\n")}
	if d := cmp.Diff([]string{
		"host.cpu_time[0] 0.03", "host.cpu_limit[] 2", "host.cpu_throttled[] 1.5", "host.memory_limit[] 4.294967296e+09",
	}, hostTold(s.values(func(file string) string { return text[file] }, time.Now()))); d != "" {
		t.Error(d)
	}
}

// The values equal those of the reference parser for the same files: of this machine, and
// constructed ones.
func TestItEqualsProcfs(t *testing.T) {
	proc := filepath.Join(t.TempDir(), "proc")
	for name, text := range hostSample(t, "constructed-v2.txt") {
		if rest, ok := strings.CutPrefix(name, "/proc/"); ok {
			write(t, filepath.Join(proc, rest), text)
		}
	}
	dirs := []string{proc}
	if runtime.GOOS == "linux" {
		here := filepath.Join(t.TempDir(), "proc")
		for _, file := range fixed() { // copied: another reading is another instant
			if b, err := os.ReadFile(file); err == nil {
				write(t, filepath.Join(here, strings.TrimPrefix(file, "/proc/")), string(b))
			}
		}
		dirs = append(dirs, here)
	}
	for _, dir := range dirs {
		got := map[string]float64{}
		read := func(file string) string {
			b, _ := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(file, "/proc/")))
			return string(b)
		}
		for _, v := range (&sampler{}).values(read, time.Now()) {
			got[v.Name+v.Labels.String()] = v.Value
		}
		want := reference(t, dir)
		if len(want) < 4 {
			t.Fatalf("%s: %v", dir, want)
		}
		if d := cmp.Diff(want, got, near); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
}

var near = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-6*(1+a) && b-a < 1e-6*(1+a) })

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, "/net/dev") { // procfs looks at that of the process
		self := filepath.Join(filepath.Dir(filepath.Dir(file)), "self", "net")
		if err := os.MkdirAll(self, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(self, "dev"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// reference is what procfs makes of a folder.
func reference(t *testing.T, dir string) map[string]float64 {
	fs, err := procfs.NewFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	stat, err := fs.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range stat.CPU {
		want[fmt.Sprintf("%scpu=%q", telemetry.HostCPUTime, fmt.Sprint(n))] = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
	}
	want[telemetry.HostSwitches] = float64(stat.ContextSwitches)
	memory, err := fs.Meminfo()
	if err != nil {
		t.Fatal(err)
	}
	want[telemetry.HostMemoryTotal] = float64(*memory.MemTotalBytes)
	want[telemetry.HostMemoryUsed] = float64(*memory.MemTotalBytes - *memory.MemAvailableBytes)
	network, err := fs.NetDev()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range network {
		if i.Name != "lo" && i.RxBytes+i.TxBytes > 0 {
			want[fmt.Sprintf("%sinterface=%q", telemetry.HostReceived, i.Name)] = float64(i.RxBytes)
			want[fmt.Sprintf("%sinterface=%q", telemetry.HostSent, i.Name)] = float64(i.TxBytes)
		}
	}
	for _, r := range resources {
		if p, err := fs.PSIStatsForResource(r); err == nil && p.Some != nil {
			want[fmt.Sprintf("%sresource=%q", telemetry.HostPressure, r)] = float64(p.Some.Total) / 1e6
		}
	}
	return want
}

// A host that answers after a while each time, in the time of a bubble.
type slowHost struct {
	text  string
	takes time.Duration
	lines chan string
	stop  chan struct{}
}

func (h *slowHost) Send(n string) error {
	go func() {
		time.Sleep(h.takes)
		for line := range strings.Lines(collect.Begin + " " + n + "\n" + h.text + collect.End + " " + n + "\n") {
			select {
			case h.lines <- strings.TrimSpace(line):
			case <-h.stop:
				return
			}
		}
	}()
	return nil
}

func (h *slowHost) Line() ([]byte, int, error) {
	select {
	case line := <-h.lines:
		return []byte(line), len(line), nil
	case <-h.stop:
		return nil, 0, io.EOF
	}
}

func (h *slowHost) End() error { close(h.stop); return nil }

func there(text string, takes time.Duration) RemoteHost {
	return RemoteHost{Host: "box", Start: func() (collect.Process, error) {
		h := &slowHost{text, takes, make(chan string, 1), make(chan struct{})}
		h.lines <- collect.Ready
		return h, nil
	}}
}

// An instant is the middle of the exchange, and is off by half of it. A host that takes longer
// than a period is asked less often.
func TestAnExchangeBoundsAnInstant(t *testing.T) {
	text, err := os.ReadFile("testdata/constructed-v2.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		takes time.Duration
		reads int
	}{{60 * time.Millisecond, 10}, {1500 * time.Millisecond, 5}} {
		synctest.Test(t, func(t *testing.T) {
			g := collect.Start(t.Context(), time.Second, []collect.Collector{there(string(text), x.takes)})
			zero := time.Now()
			time.Sleep(9900 * time.Millisecond)
			set := g.End(zero)
			s := set.Sources[0]
			if s.Name != "host@box" || s.Host != "box" || s.Reads != x.reads || len(s.Notes) != 0 || s.Clock.Own || s.Clock.Bound != x.takes/2+1 {
				t.Errorf("%+v", s)
			}
			if at := set.Named(telemetry.HostMemoryUsed)[0].Points[0].At; at != x.takes/2 {
				t.Error(at)
			}
		})
	}
}

// A host without /proc says so, and is given up.
func TestAHostOfAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := collect.Start(t.Context(), time.Second, []collect.Collector{there("", time.Millisecond)})
		time.Sleep(3 * time.Minute)
		notes := g.End(time.Now()).Sources[0].Notes
		if len(notes) != 3 || notes[0].Code != collect.Unreadable || notes[2].Code != collect.Ended {
			t.Error(notes)
		}
	})
}

// A real shell tells the same as files that are read here.
func TestThereIsHere(t *testing.T) {
	if !Known() {
		t.Skip("this system has no /proc")
	}
	devices.Install(t, devices.Fake{})
	first := func(c collect.Collector) (got collect.Reading) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		err := c.Collect(ctx, time.Hour, func(r collect.Reading) {
			got = r
			cancel()
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	names := func(r collect.Reading) (all []string) {
		for _, v := range r.Values {
			if v.Name != telemetry.HostCPULimit && v.Name != telemetry.HostCPUThrottled && v.Name != telemetry.HostMemoryLimit {
				all = append(all, v.Name+v.Labels.String())
			}
		}
		return all
	}
	here, remote := first(Host{}), first(RemoteHost{Host: "box"})
	if d := cmp.Diff(names(here), names(remote)); d != "" || len(here.Values) < 4 {
		t.Error(d)
	}
	for i, v := range names(here) {
		a, b := here.Values[i].Value, remote.Values[i].Value
		if strings.HasPrefix(v, telemetry.HostMemoryTotal) && a != b || strings.HasPrefix(v, telemetry.HostCPUTime) && (b < a || b-a > 30) {
			t.Errorf("%s: %v here, %v there", v, a, b)
		}
	}
}

func FuzzHost(f *testing.F) {
	text, err := os.ReadFile("testdata/constructed-v2.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, "0::/a/b\n1:cpu:/\n")
	f.Fuzz(func(t *testing.T, text []byte, groups string) {
		s := sampler{groups: machine.GroupsOf(groups)}
		all := files(string(bytes.ToValidUTF8(text, nil)))
		for _, v := range s.values(func(file string) string { return all[file] }, time.Now()) {
			if !(v.Value >= 0) && v.Name != telemetry.HostMemoryUsed {
				t.Errorf("%+v", v)
			}
		}
	})
}

// BenchmarkHere is what a sample of this machine costs.
func BenchmarkHere(b *testing.B) {
	s := sampler{groups: machine.GroupsOf("0::/")}
	b.ReportAllocs()
	for b.Loop() {
		if r := s.here(time.Now()); len(r.Values) == 0 {
			b.Skip("this system has no /proc")
		}
	}
}
