package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// fleet is a run of 400 requests that n workers sent, of which one was lost, one was late and one
// was suspended.
func fleet(n int) *trace.Trace {
	tr := sample(400, 0)
	f := &trace.Fleet{MaxOffset: 210 * time.Microsecond, Tolerate: true, Resumed: true}
	var clients []trace.Client
	for i := range n {
		w := trace.FleetWorker{
			Name: fmt.Sprintf("node-%d", i), Zone: "eu-north-1\x1b[31mb", Host: fmt.Sprintf("gpu-client-%d.example.com", i), CPUs: 4, Requests: (400 + n - 1 - i) / n,
			Client: trace.Client{CPU: time.Duration(1+i%4) * time.Second, GCMax: 100 * time.Microsecond, Lag: trace.Lag{Reads: 500, P50: 30 * time.Microsecond, P99: time.Duration(100+i) * time.Microsecond, Max: time.Millisecond}},
			Clock:  trace.FleetClock{Bound: time.Duration(50+7*i) * time.Microsecond, Drift: float64(i-3) * 1.7e-6, Exchanges: 40},
		}
		own := slices.DeleteFunc(slices.Clone(tr.Records), func(r *trace.Record) bool { return r.Index%n != i })
		for _, r := range own {
			r.Stamps = trace.KernelStamps
		}
		w.Records = len(own)
		switch i {
		case 1:
			w.LostWhy, w.Records, w.Client, w.Clock.Exchanges = plan.Text("silent\n for 5 s"), 7, trace.Client{}, 0
			for _, r := range own[7:] {
				due := r.Due
				*r = *trace.NewRecord(r.Index)
				r.Due, r.Class = due, trace.WorkerLost
			}
		case 2:
			own[0].Sent, own[1].Sent = own[0].Sent+25*milli, own[1].Sent+25*milli
		case 3:
			w.Clock.Steps, w.Clock.WallSteps = 2, 1
		}
		if !w.IsLost() {
			metrics.JudgeWorker(tr, own, &w)
			clients = append(clients, w.Client)
		}
		f.Workers = append(f.Workers, w)
	}
	tr.Run.Fleet, tr.Run.Client = f, metrics.MergeClients(clients)
	return tr
}

func TestReportOfAFleet(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{"fleet": fleet(4), "fleet-many": fleet(15)} {
		for lang, suffix := range map[string]string{"en": ".txt", "zh": "-zh.txt"} {
			var b strings.Builder
			if err := Text(&b, metrics.Summarize(tr, metrics.Options{}), words.In(lang)); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+name+suffix, b.String())
			_, table, _ := strings.Cut(b.String(), "\n\n")
			table, _, _ = strings.Cut(table, "\n\n")
			for line := range strings.Lines(table) {
				if doc.Width(strings.TrimSuffix(line, "\n")) > reportWidth {
					t.Errorf("%s, %s: it is wider than %d columns: %q", name, lang, reportWidth, line)
				}
			}
		}
	}
}

// A fleet whose names tell its hosts, without zones, needs no columns for them.
func TestWorkersNamedByTheirHosts(t *testing.T) {
	tr := fleet(4)
	for i := range tr.Run.Fleet.Workers {
		w := &tr.Run.Fleet.Workers[i]
		w.Zone, w.Name = "", w.Host+"-2"
	}
	r := report{Language: words.In("en")}
	rows := r.fleet(tr.Run).Rows
	if slices.Contains(rows[0], "host") || slices.Contains(rows[0], "zone") || rows[2][0] != "gpu-client-1.example.com-2" {
		t.Error(rows)
	}
}

// Where the clocks cannot be compared, no number says how far they agree.
func TestApartUnknown(t *testing.T) {
	tr := fleet(2)
	tr.Run.Fleet.MaxOffset, tr.Run.Fleet.Workers[0].Clock.Bound = -1, -1
	english := words.In("en")
	if got := ClockOffset(tr.Run.Fleet, english); got != english.Word("fleet.apart-unknown") {
		t.Errorf("%q", got)
	}
	for _, w := range metrics.Workers(tr.Run) {
		if got := workerClock(w); w.Name == "node-0" && got != none {
			t.Errorf("%q", got)
		}
	}
}
