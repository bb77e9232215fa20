package view

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// drawn is a run of n requests, some of which fail, wait, stall or come in one piece, over so many
// times a few seconds.
func drawn(seed uint64, n int, scale float64) *trace.Trace {
	r := rand.New(rand.NewPCG(seed, 9))
	t := &trace.Trace{Run: trace.Run{ID: "r", Kind: trace.Measured, Status: trace.Complete, Plan: trace.Load{Stream: true, Requests: n}}}
	span := func(most float64) trace.Instant { return trace.Instant(r.Float64() * most * scale * 1e9) }
	now := trace.Instant(0)
	for i := range n {
		q := trace.NewRecord(i)
		now += span(0.1)
		q.Due = now
		q.Released = q.Due + span(0.02)
		q.Sent, q.PromptTokens, q.Stamps = q.Released, 1+r.IntN(1000), trace.KernelStamps
		at := q.Sent + span(0.3)
		q.FirstByte = at
		switch r.IntN(12) {
		case 0:
			q.Class, q.Status, q.Error, q.Done = trace.HTTP, 500+r.IntN(3), "busy", at
		case 1:
			q.Class, q.Done = trace.Refused, q.Sent
		case 2:
			q.OutputTokens, q.Done = 3, at // without a chunk
		default:
			q.Chunks = append(q.Chunks, trace.Chunk{At: at, Kind: trace.Role})
			for range 1 + r.IntN(30) {
				if at += span(0.02); r.IntN(60) == 0 {
					at += span(2)
				}
				q.Chunks = append(q.Chunks, trace.Chunk{At: at, Kind: trace.Text, Tokens: uint16(r.IntN(3))})
				q.OutputTokens += 2
			}
			q.Done = at + span(0.01)
		}
		t.Run.End = max(t.Run.End, q.Done)
		t.Records = append(t.Records, q)
	}
	return t
}

// digested reads a run in the order in which its requests are done.
func digested(t *trace.Trace) *Digest {
	d := NewDigest(t.Run)
	records := slices.Clone(t.Records)
	slices.SortStableFunc(records, func(a, b *trace.Record) int { return int(a.Done - b.Done) })
	for _, r := range records {
		d.Add(r)
	}
	d.SetComplete(true)
	return d
}

// runs are runs of all lengths of time, from a fraction of a second to months.
func runs() (all []*trace.Trace) {
	for i, scale := range []float64{0.01, 1, 30, 3000, 300_000} {
		all = append(all, drawn(uint64(i), 400, scale), drawn(uint64(i), 3, scale))
	}
	return all
}

func near(share float64) cmp.Option { return cmpopts.EquateApprox(share, 1e-9) }

// The figures of a digest are those of metrics.
func TestFiguresAreThoseOfMetrics(t *testing.T) {
	for _, tr := range runs() {
		want := map[string]float64{}
		for _, f := range metrics.PitotDefinitions().Figures(tr, "") {
			want[f.Name] = f.Value
		}
		got, doubt := digested(tr).Figures()
		for _, f := range got {
			share := 1e-5
			if metric := f.Name[:min(3, len(f.Name))]; metric == "itl" && f.Name != "itl.mean" {
				share = 0.02 // a percentile lies between two values, of which a bin takes one
			}
			if w, known := want[f.Name]; !known || len(tr.Records) > 100 && !cmp.Equal(w, f.Value, near(share)) {
				t.Errorf("%d requests in %v: %s is %v, not %v", len(tr.Records), time.Duration(tr.Run.End), f.Name, f.Value, w)
			}
		}
		if len(tr.Records) > 100 && (len(got) != len(want)-2 || doubt("itl", "p99").Code != binned || !doubt("itl", "mean").IsZero() || !doubt("ttft", "p99").IsZero()) {
			t.Errorf("%d figures of %d", len(got), len(want))
		}
	}
}

// Of a run that has ended and is not read to its end there is no rate.
func TestFiguresOfAPart(t *testing.T) {
	d := digested(drawn(1, 50, 1))
	d.SetComplete(false)
	all, doubt := d.Figures()
	if slices.ContainsFunc(all, func(f trace.ReportedFigure) bool { return f.Name == "throughput.output" }) || doubt("ttft", "mean").Code != soFar || doubt("ttft", "mean").Args["read"] != 50.0 {
		t.Errorf("%+v %v", all, doubt("ttft", "mean"))
	}
}

func TestDistributionsAreThoseOfMetrics(t *testing.T) {
	tr := drawn(1, 2000, 1)
	s := metrics.Summarize(tr, metrics.Options{Percentiles: plot.QuantilePercents()})
	want := map[string]metrics.Distribution{"ttft": s.Service.TTFT, "tpot": s.Service.TPOT, "itl": s.Service.ITL, "e2el": s.Service.E2EL}
	c := digested(tr).Course(words.In("en"))
	if len(c.Distributions) != 4 {
		t.Fatalf("%d distributions", len(c.Distributions))
	}
	for _, d := range c.Distributions {
		for i, p := range want[d.Name].Percentiles {
			share := 6e-4 // four digits
			if d.Approximate {
				share = 0.02
			}
			if d.N != want[d.Name].N || d.Share[i] != p.P/100 || d.Value[i] != 0 && !cmp.Equal(p.Value, d.Value[i], near(share)) {
				t.Errorf("%s P%g of %d is %v, not %v of %d", d.Name, p.P, d.N, d.Value[i], p.Value, want[d.Name].N)
			}
		}
		if d.Approximate != (d.Name == "itl") {
			t.Errorf("%s is approximate: %v", d.Name, d.Approximate)
		}
	}
}

// Stalls are those that reports name.
func TestStallsAreThoseOfMetrics(t *testing.T) {
	found := 0
	for seed := range uint64(40) {
		tr := drawn(seed, 60, 3)
		want := [][2]float64{}
		for _, s := range metrics.Summarize(tr, metrics.Options{}).Stalls {
			want = append(want, [2]float64{micro(s.From), micro(s.To)})
		}
		if diff := cmp.Diff(want, digested(tr).Course(words.In("en")).Stalls, cmpopts.EquateApprox(0, 3e-6)); diff != "" {
			t.Errorf("%d: %s", seed, diff)
		}
		found += len(want)
	}
	if found < 10 {
		t.Errorf("only %d stalls were there to be found", found)
	}
}

// What is counted in windows is all that there is, however often windows were joined.
func TestWindowsHaveEverything(t *testing.T) {
	for _, tr := range runs() {
		c := digested(tr).Course(words.In("en"))
		tokens, failed, ok, flight := 0.0, 0.0, 0.0, 0.0
		for _, r := range tr.Records {
			for _, n := range metrics.TokensByChunk(r) {
				tokens += n
			}
			flight += metrics.Between(r.Released, r.Done)
			if r.OK() {
				ok++
			} else {
				failed++
			}
		}
		for name, want := range map[string]float64{"output": tokens, "failed": failed, "requests": ok, "inflight": flight} {
			if got := total(c, name); !cmp.Equal(want, got, cmpopts.EquateApprox(2e-3, 1e-9)) {
				t.Errorf("%d requests in %v: %s adds up to %v, not %v", len(tr.Records), time.Duration(tr.Run.End), name, got, want)
			}
		}
		if n := len(c.Series[0].Values); n > mostWindows || float64(n)*c.Step < c.Seconds {
			t.Errorf("%d windows of %v s for %v s", n, c.Step, c.Seconds)
		}
	}
}

// total is a rate times the time that each window lasted.
func total(c Course, name string) (sum float64) {
	for _, s := range c.Series {
		if s.Name != name {
			continue
		}
		for i, v := range s.Values {
			if v != nil {
				sum += *v * min(c.Step, c.Seconds-float64(i)*c.Step)
			}
		}
	}
	return sum
}

func TestHeatCountsEachLatencyOnce(t *testing.T) {
	tr := drawn(4, 500, 10)
	c := digested(tr).Course(words.In("en"))
	of := map[string]int{}
	for _, d := range c.Distributions {
		of[d.Name] = d.N
	}
	if len(c.Heat) != 3 {
		t.Fatalf("%d heat maps", len(c.Heat))
	}
	for _, h := range c.Heat {
		n := 0
		for i := 0; i < len(h.Cells); i += 3 {
			n += h.Cells[i+2]
			if h.Cells[i+1] > len(h.Edges)-2 || float64(h.Cells[i])*h.Step > c.Seconds {
				t.Errorf("%s has a cell at %v", h.Name, h.Cells[i:i+3])
			}
		}
		if n != of[h.Name] || !slices.IsSorted(h.Edges) {
			t.Errorf("%s counts %d of %d, by %v", h.Name, n, of[h.Name], h.Edges)
		}
	}
}

func TestFailures(t *testing.T) {
	tr := drawn(2, 500, 1)
	want := metrics.Summarize(tr, metrics.Options{}).Requests
	got := digested(tr)
	sum := func(all []metrics.Class) map[metrics.Class]int {
		by := map[metrics.Class]int{}
		for _, c := range all {
			by[metrics.Class{Class: c.Class, Status: c.Status, Example: c.Example}] += c.Count
		}
		return by
	}
	if diff := cmp.Diff(sum(want.Classes), sum(got.Failures())); diff != "" {
		t.Error(diff)
	}
	if n := len(got.Course(words.In("en")).Failed); n != want.Failed {
		t.Errorf("%d instants of %d failures", n, want.Failed)
	}
}

// An answer in one piece has no first token.
func TestARunWithoutStreams(t *testing.T) {
	tr := drawn(3, 50, 1)
	tr.Run.Plan.Stream = false
	c := digested(tr).Course(words.In("en"))
	if len(c.Distributions) != 1 || c.Distributions[0].Name != "e2el" || len(c.Heat) != 1 || len(c.Stalls) != 0 {
		t.Errorf("%+v", c)
	}
}

// Requests that count from their own start have distributions, and no time.
func TestAnUndatedRun(t *testing.T) {
	tr := drawn(3, 50, 1)
	tr.Run.Origin = &trace.Origin{Tool: "vllm", Detail: trace.Undated}
	c := digested(tr).Course(words.In("en"))
	if !c.Undated || len(c.Distributions) != 4 || len(c.Series)+len(c.Heat)+len(c.Stalls)+len(c.Failed) > 0 || c.Seconds != 0 {
		t.Errorf("%+v", c)
	}
}

// Of a run under way the snapshots know what is in flight.
func TestARunUnderWay(t *testing.T) {
	d := NewDigest(trace.Run{Status: trace.Running, End: trace.Never, Plan: trace.Load{Stream: true}})
	if c := d.Course(words.In("en")); c.Seconds != 0 || len(c.Series) != 0 || len(c.Distributions) != 0 {
		t.Errorf("a run that has just begun: %+v", c)
	}
	if at := d.LastSnapshot(); at != trace.Never {
		t.Errorf("the last snapshot was at %v", at)
	}
	for i := range 8 {
		d.Snapshots([]trace.Snapshot{{At: trace.Instant(i+1) * 250e6, Released: 4, Tokens: 25 * (i + 1)}})
	}
	c := d.Course(words.In("en"))
	if c.Seconds != 2 || !cmp.Equal(total(c, "output"), 200.0, near(0.001)) || d.LastSnapshot() != 2e9 {
		t.Errorf("%v tokens in %v s", total(c, "output"), c.Seconds)
	}
	flight := 0
	for _, s := range c.Series {
		for _, v := range s.Values {
			if s.Name == "inflight" && v != nil && *v == 4 {
				flight++
			}
		}
	}
	if want := int(1.75 / c.Step); flight < want { // from the first snapshot on, of which windows are shorter
		t.Errorf("4 in flight in %d windows, not %d", flight, want)
	}
}

// Absurd instants, as a file of anybody's may have, stop nothing and are no numbers that JSON cannot have.
func TestAbsurdInstants(t *testing.T) {
	tr := drawn(5, 20, 1)
	tr.Records[0].Done = math.MaxInt64
	tr.Records[1].Chunks = []trace.Chunk{{At: math.MinInt64, Kind: trace.Text}, {At: math.MaxInt64, Kind: trace.Text}}
	tr.Records[2].Sent, tr.Records[2].Index, tr.Records[2].OutputTokens = trace.Never, -5, -7
	d := digested(tr)
	c := d.Course(words.In("en"))
	for _, s := range c.Series {
		for _, v := range s.Values {
			if v != nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
				t.Fatalf("%s has %v", s.Name, *v)
			}
		}
	}
	if rows := d.Rows(Window{}); rows.N != 20 {
		t.Errorf("%d rows", rows.N)
	}
}
