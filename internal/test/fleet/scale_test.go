package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/test/fleettest"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// More streams at once, and more requests a second, than a test takes without -long. All workers share
// the processors with each other and with the server: whether they keep up is told, not asked for. What
// must hold is that nothing is lost, and that the streams are there at once.
func TestScale(t *testing.T) {
	if !*long {
		t.Skip("with -long")
	}
	for _, tt := range []struct {
		name     string
		server   truth.Config
		requests int
		streams  int // at once, at least
		args     []string
	}{
		{
			"10 000 streams",
			truth.Config{TTFT: 10 * time.Second, Step: time.Second},
			10000, 10000,
			[]string{"-n", "10000", "--rate", "2000", "--arrival", "constant", "--output-len", "8"},
		},
		{
			"2 000 requests a second",
			truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond},
			40000, 0,
			[]string{"-n", "40000", "--rate", "2000", "--arrival", "constant", "--output-len", "4"},
		},
		{
			"2 000 requests a second, Poisson, 32 tokens",
			truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond},
			40000, 0,
			[]string{"-n", "40000", "--rate", "2000", "--output-len", "32"},
		},
	} {
		for _, n := range []int{4, 8} {
			t.Run(fmt.Sprint(tt.name, ", ", n, " workers"), func(t *testing.T) {
				tt.server.Clock = clock.New()
				server, url := fleettest.Truth(t, tt.server)
				p := newPlace(t)
				parts := []*process{p.up()}
				for i := range n {
					parts = append(parts, p.worker(fmt.Sprintf("w%d", i)))
				}
				before, own := cpuOf(t, parts), machine.OwnCPU()
				began := time.Now()
				c := p.bench(append([]string{"--url", url, "--tokenizer", "none", "--warmup", "0", "--ready-timeout", "0", "--collect", "none", "--input-len", "8", "-q"}, tt.args...)...)
				_ = c.wait() // 1: the run is not valid
				took, after := time.Since(began), cpuOf(t, parts)
				used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
				r := p.stored()
				s := metrics.Summarize(r, metrics.Options{Percentiles: []float64{50, 99}})
				t.Logf("load of the machine %s; %v in all; run %.2f s", machineLoad(), took.Round(time.Second), s.Duration)
				t.Logf("CPU: server and this test %v, NATS %v, controller %v", (machine.OwnCPU() - own).Round(time.Millisecond), after[0]-before[0], used.Round(time.Millisecond))
				for i, w := range r.Run.Fleet.Workers {
					t.Logf("worker %d: CPU %v in the run, %v in all; late P99 %v; read late P99 %v; %s", i, w.Client.CPU.Round(time.Millisecond), after[i+1]-before[i+1], w.Late, w.Client.Lag.P99, w.Verdict.Validity)
				}
				for _, why := range s.Health.Verdict.Reasons {
					t.Logf("%s %v", why.Code, why.Args)
				}
				log := server.Log()
				t.Logf("%d in flight at most, %.0f requests/s; server late P99 %v; apart %v; %s", s.Concurrency.Peak, float64(len(r.Records))/s.Duration, log.Lateness.P99, r.Run.Fleet.MaxOffset, s.Health.Verdict.Validity)
				f := against(t, r, log, tt.server.Clock)
				if len(f.pairs) != tt.requests || len(log.Requests) != tt.requests {
					t.Errorf("%d requests at the server, %d records, of %d", len(log.Requests), len(f.pairs), tt.requests)
				}
				var spans []span
				for _, p := range f.pairs {
					spans = append(spans, span{p.received, p.last})
				}
				if most := peakOf(spans); most < tt.streams {
					t.Errorf("%d streams at once, want %d", most, tt.streams)
				}
			})
		}
	}
}

// cpuOf is the CPU time of processes until now.
func cpuOf(t *testing.T, all []*process) (used []time.Duration) {
	t.Helper()
	const tick = 10 * time.Millisecond // of USER_HZ, which is 100 everywhere
	for _, c := range all {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.Process.Pid), "stat"))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		used = append(used, time.Duration(user+system)*tick)
	}
	return used
}

func machineLoad() string {
	b, _ := os.ReadFile("/proc/loadavg")
	return strings.TrimSpace(string(b))
}
