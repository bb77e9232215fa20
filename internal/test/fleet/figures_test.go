package fleet

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/test/fleettest"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/proof/verify"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// elsewhere are words that start a program with its monotonic clock ahead by so many seconds; none
// where that is not permitted.
func elsewhere(t testing.TB, seconds int) []string {
	words := []string{"unshare", "--time", "--monotonic", fmt.Sprint(seconds), "--"}
	if err := exec.Command(words[0], append(words[1:], "true")...).Run(); err != nil {
		t.Logf("all monotonic clocks are one: unshare --time: %v", err)
		return nil
	}
	return words
}

// The requests of workers whose clocks stand hours apart arrive when they are due, and the figures of
// all together are those of the server.
func TestFiguresOfAFleetAreTheServers(t *testing.T) {
	sizes := []int{2}
	if *long {
		sizes = []int{1, 2, 4, 8}
	}
	for _, n := range sizes {
		for _, cell := range []conform.Cell{
			{Name: "open", Rate: 80, Requests: 200, Input: 16, Output: 12, First: 20 * time.Millisecond, Step: 6 * time.Millisecond, Arrivals: conform.Spread},
			{Name: "closed", Streams: 24, Requests: 200, Input: 16, Output: 12, First: 20 * time.Millisecond, Step: 6 * time.Millisecond, Arrivals: conform.Spread},
		} {
			t.Run(fmt.Sprint(n, " ", cell.Name), func(t *testing.T) {
				if !*long {
					t.Parallel()
				}
				asTheServer(t, n, cell)
			})
		}
	}
}

func asTheServer(t *testing.T, n int, cell conform.Cell) {
	config := verify.Server(cell, 1)
	config.Clock = clock.New()
	server, url := fleettest.Truth(t, config)
	p := newPlace(t)
	p.up()
	for i := range n {
		p.workerWith(fmt.Sprintf("w%d", i), elsewhere(t, 5000*(i+1)))
	}
	args := []string{
		"--url", url, "--tokenizer", "none", "--warmup", "0", "--ready-timeout", "0", "--collect", "none", "-n", fmt.Sprint(cell.Requests),
		"--input-len", fmt.Sprint(cell.Input), "--output-len", fmt.Sprint(cell.Output),
	}
	if cell.Open() {
		args = append(args, "--rate", fmt.Sprint(cell.Rate))
	} else {
		args = append(args, "-c", fmt.Sprint(cell.Streams))
	}
	p.ends(p.bench(args...))
	r := p.stored()
	f := against(t, r, server.Log(), config.Clock)
	if len(f.pairs) != cell.Requests {
		t.Fatalf("%d of %d requests", len(f.pairs), cell.Requests)
	}
	f.instants()
	f.latencies(cell)
	f.together(cell)
}

// figures are a run of a fleet beside the log of its server, which has the clock of this process.
type figures struct {
	t     testing.TB
	run   *trace.Trace
	log   truth.Log
	zero  int64 // instant 0 of the run, on the server's clock
	apart int64
	pairs []pair
}

// A pair is a request as both sides saw it; instants are nanoseconds of the server's clock, as
// far as the worker's agrees.
type pair struct {
	*trace.Record
	worker                    int
	due, released, sent, done int64
	received, last            int64 // by the server: the request, the last write of the answer
}

func against(t testing.TB, r *trace.Trace, log truth.Log, c *clock.Clock) *figures {
	t.Helper()
	f := &figures{t: t, run: r, log: log, zero: c.FromWall(r.Run.Started.UnixNano()), apart: int64(r.Run.Fleet.MaxOffset)}
	if f.apart < 0 {
		t.Fatal("it is not known how far the clocks are apart")
	}
	byID := map[string]*truth.Request{}
	for i := range log.Requests {
		byID[log.Requests[i].ID] = &log.Requests[i]
	}
	at := func(i trace.Instant) int64 { return f.zero + int64(i) }
	for _, r := range r.Records {
		q := byID[r.ID]
		if q == nil || q.Ended != truth.Complete || !r.OK() || len(r.Chunks) == 0 {
			t.Errorf("request %s: %+v, at the server %+v", r.ID, r, q)
			continue
		}
		f.pairs = append(f.pairs, pair{
			Record: r, worker: r.Index % len(f.run.Run.Fleet.Workers), due: at(r.Due), released: at(r.Released), sent: at(r.Sent), done: at(r.Done),
			received: q.Received, last: q.Writes[len(q.Writes)-1].Before,
		})
	}
	return f
}

// stampNoise is by how much stamps of one machine may differ that are converted from its wall clock.
const stampNoise = int64(50 * time.Microsecond)

// instants holds the arrivals against what the workers say, and against the schedule: a request
// cannot arrive before it was sent. The one that was fastest on its way shows the worker's clock
// from the other side.
func (f *figures) instants() {
	f.t.Helper()
	for i, w := range f.run.Run.Fleet.Workers {
		var after, late []int64
		for _, p := range f.pairs {
			if p.worker == i {
				after, late = append(after, p.received-p.sent), append(late, p.received-p.due-int64(p.Sent-p.Due))
			}
		}
		slices.Sort(after)
		bound := int64(w.Clock.Bound)
		f.t.Logf("worker %d: %d requests arrive %.3f ms after they were sent at least, %.3f ms (median); the clock is known within %.3f ms, round trip %.3f ms",
			i, len(after), ms(after[0]), ms(after[len(after)/2]), ms(bound), ms(int64(w.Clock.RoundTrip)))
		if after[0] < -bound-stampNoise || after[0] > bound+int64(2*time.Millisecond) {
			f.t.Errorf("worker %d: a request arrives %.3f ms after it was sent, and the clock is within %.3f ms", i, ms(after[0]), ms(bound))
		}
		if f.run.Run.Plan.Spec.Gate.Concurrency == 0 && slices.Min(late) < -bound-stampNoise {
			f.t.Errorf("worker %d: a request arrives %.3f ms before it is due, and the clock is within %.3f ms", i, ms(-slices.Min(late)), ms(bound))
		}
	}
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

// latencies holds them to what conform does of a client without a fleet: nothing is lost or invented,
// no latency is shorter than the server knows, bounds hold.
func (f *figures) latencies(cell conform.Cell) {
	f.t.Helper()
	var report bytes.Buffer
	if err := store.WriteJSON(&report, f.run); err != nil {
		f.t.Fatal(err)
	}
	claim, err := verify.Read("", report.Bytes())
	if err != nil {
		f.t.Fatal(err)
	}
	got := verify.Compare(verify.CellRun{Cell: cell, Log: f.log, Claim: &claim, Records: f.run.Records, Others: -1})
	n := cell.Requests
	want := conform.Requests{Asked: n, Served: n, OK: n, Peak: got.Requests.Peak}
	if got.Requests != want || got.Tokens != (conform.Tokens{Written: n * cell.Output, Claimed: n * cell.Output}) {
		f.t.Errorf("%+v, %+v", got.Requests, got.Tokens)
	}
	if len(got.Figures) != 16 {
		f.t.Errorf("%d figures", len(got.Figures))
	}
	for _, x := range got.Figures {
		f.t.Logf("%s %s: %.3f ms, truly %.3f", x.Metric, x.Statistic, 1e3*x.Claimed, 1e3*x.True)
		short := (x.Metric == conform.TTFT || x.Metric == conform.E2EL) && x.Error() < 0
		if short || x.Bound != nil && !x.Void && !x.InBounds() {
			f.t.Errorf("%s %s is %v within %v, truly %v", x.Metric, x.Statistic, x.Claimed, x.Bound, x.True)
		}
	}
	if p := got.Precision; p == nil || p.Answers < n*9/10 || p.InBounds < 0.999 || p.TTFT.Median > 0.001 || p.Gap.N > 0 && p.Gap.Median > 50e-6 {
		f.t.Errorf("precision %+v", p)
	} else {
		f.t.Logf("gaps within bounds %.2f %%, of %d answers; TTFT off by %.1f µs (median), gaps by %.1f µs", 100*p.InBounds, p.Answers, 1e6*p.TTFT.Median, 1e6*p.Gap.Median)
	}
}

// together holds the figures that need the clocks of all workers: throughput and peak concurrency.
//
// On one clock, a request is in flight for the client from before it arrives until after its last write,
// by as much as both durations differ. So the peak lies between that of the spans of the server
// made shorter by the clock bounds, and that of the spans made longer by those and by the difference.
func (f *figures) together(cell conform.Cell) {
	f.t.Helper()
	var least, most []span
	for _, p := range f.pairs {
		bound, excess := int64(f.run.Run.Fleet.Workers[p.worker].Clock.Bound)+stampNoise, p.done-p.released-(p.last-p.received)
		if excess < -stampNoise {
			f.t.Errorf("request %s takes %.3f ms here and %.3f ms at the server", p.ID, ms(p.done-p.released), ms(p.last-p.received))
		}
		if p.received+bound < p.last-bound {
			least = append(least, span{p.received + bound, p.last - bound})
		}
		most = append(most, span{p.received - excess - bound, p.last + excess + bound})
	}
	s := metrics.Summarize(f.run, metrics.Options{})
	low, high := peakOf(least), peakOf(most)
	f.t.Logf("at most %d in flight, at the server between %d and %d; instants agree within %.3f ms", s.Concurrency.Peak, low, high, ms(f.apart))
	if s.Concurrency.Peak < low || s.Concurrency.Peak > high {
		f.t.Errorf("at most %d in flight, at the server between %d and %d", s.Concurrency.Peak, low, high)
	}
	if cell.Streams > 0 && s.Concurrency.Peak > cell.Streams {
		f.t.Errorf("%d in flight of at most %d", s.Concurrency.Peak, cell.Streams)
	}
	f.duration(s)
}

// duration holds the length of the run, which is that of all rates.
func (f *figures) duration(s metrics.Summary) {
	f.t.Helper()
	end := f.pairs[0].last
	behind := int64(0) // of the client, at the end of a request
	for _, p := range f.pairs {
		end = max(end, p.last)
		behind = max(behind, p.done-p.last)
	}
	got, want := s.Duration, float64(end-f.zero)/1e9
	f.t.Logf("%.4f s, to the last write %.4f s", got, want)
	if d := int64((got - want) * 1e9); d < -f.apart-stampNoise || d > f.apart+behind+int64(50*time.Millisecond) {
		f.t.Errorf("the run takes %.4f s, and %.4f s to the last write at the server", got, want)
	}
}

type span struct{ from, to int64 }

// peakOf is how many spans overlap, at most; one that ends as another begins does not.
func peakOf(spans []span) (most int) {
	type change struct {
		at    int64
		delta int
	}
	var changes []change
	for _, s := range spans {
		changes = append(changes, change{s.from, 1}, change{s.to, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.delta-b.delta) })
	n := 0
	for _, c := range changes {
		n += c.delta
		most = max(most, n)
	}
	return most
}
