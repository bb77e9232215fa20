package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// stopped is a run of streams with a chunk every gap but for a time without any, from
// at on.
func stopped(streams int, gap, at, length time.Duration) *trace.Trace {
	t := &trace.Trace{Run: trace.Run{Kind: trace.Measured, End: 1e9, Plan: trace.Load{Stream: true}}}
	for i := range streams {
		r := trace.NewRecord(i)
		r.Due, r.Released, r.Sent = 0, 0, 0
		now := time.Duration(0)
		for range 100 {
			if now += gap; now > at && now <= at+gap {
				now += length
			}
			r.Chunks = append(r.Chunks, trace.Chunk{At: trace.Instant(now), Kind: trace.Text})
		}
		r.Done, r.OutputTokens = trace.Instant(now), 100
		t.Records = append(t.Records, r)
	}
	return t
}

func TestStallsOverAllStreamsAreNamed(t *testing.T) {
	const ms = time.Millisecond
	long := stopped(3, 20*ms, 500*ms, 10*time.Second)
	want := []Stall{{From: .5, To: 10.52, Streams: 3, Of: 3, InFlight: 3}}
	if diff := cmp.Diff(want, Summarize(long, Options{}).Stalls); diff != "" {
		t.Error(diff)
	}
	waiting := stopped(3, 20*ms, 500*ms, 10*time.Second)
	waiting.Records[1].Chunks = waiting.Records[1].Chunks[50:] // in prefill
	want[0].Streams, want[0].Of = 2, 2
	if diff := cmp.Diff(want, Summarize(waiting, Options{}).Stalls); diff != "" {
		t.Error(diff)
	}
	for name, tt := range map[string]*trace.Trace{
		"short":                   stopped(3, 20*ms, 500*ms, 470*ms),
		"short of one":            stopped(1, 20*ms, 500*ms, 900*ms),
		"not against the gaps":    stopped(3, 200*ms, 500*ms, 1500*time.Millisecond),
		"of no stream that began": stopped(3, 20*ms, 0, 10*time.Second),
		"of less than half":       beside(long, 4),
	} {
		if s := Summarize(tt, Options{}).Stalls; s != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// beside is a run with more streams, which go on.
func beside(t *trace.Trace, more int) *trace.Trace {
	return &trace.Trace{Run: t.Run, Records: append(slices.Clone(t.Records), stopped(more, 120*time.Millisecond, 0, 0).Records...)}
}

func TestAStallOfHalfOfTheStreams(t *testing.T) {
	const ms = time.Millisecond
	got := Summarize(beside(stopped(3, 20*ms, 500*ms, 2*time.Second), 3), Options{}).Stalls
	if want := []Stall{{From: .5, To: 2.52, Streams: 3, Of: 6, InFlight: 6}}; !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got))
	}
}

// Two streams that are silent one after the other have no stall in common.
func TestAStallIsOfStreamsAtOnce(t *testing.T) {
	const ms = time.Millisecond
	one, other := stopped(1, 20*ms, 500*ms, 700*ms), stopped(1, 20*ms, 1300*ms, 700*ms)
	both := &trace.Trace{Run: one.Run, Records: append(one.Records, other.Records...)}
	if s := Summarize(both, Options{}).Stalls; s != nil {
		t.Errorf("%+v", s)
	}
}

// What the client read late had come before.
func TestAClientThatReadLateIsNoStall(t *testing.T) {
	const ms = time.Millisecond
	tr := stopped(3, 20*ms, 500*ms, 600*ms)
	for _, r := range tr.Records {
		for i := range r.Chunks {
			if r.Chunks[i].At > 1e9 {
				r.Chunks[i].Slack = 600_000
				break
			}
		}
	}
	if s := Summarize(tr, Options{}).Stalls; s != nil {
		t.Errorf("%+v", s)
	}
}

func TestFiguresWithoutStalls(t *testing.T) {
	const ms = time.Millisecond
	tr := stopped(3, 20*ms, 500*ms, 10*time.Second)
	later := stopped(2, 20*ms, 0, 0)
	for _, r := range later.Records {
		r.Rebase(-12e9)
		r.Index += 3
	}
	tr.Records = append(tr.Records, later.Records...)
	s := Summarize(tr, Options{})
	if s.Unstalled == nil || s.Unstalled.Touched != 3 || s.Unstalled.Service.ITL.N != 2*99 || s.Unstalled.Service.ITL.Max > .021 || s.Service.ITL.Max < 10 {
		t.Errorf("%+v", s.Unstalled)
	}
	if s := Summarize(stopped(3, 20*ms, 0, 0), Options{}); s.Unstalled != nil {
		t.Errorf("without a stall: %+v", s.Unstalled)
	}
}

// Instants of a file are anybody's.
func TestStallsOfAbsurdInstants(t *testing.T) {
	tr := stopped(1, 20*time.Millisecond, 0, 0)
	tr.Records[0].Done = 1<<63 - 1
	tr.Records[0].Chunks[3].At = -1 << 63
	if s := Summarize(tr, Options{}).Stalls; len(s) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestOnlyTheLongestStallsAreNamed(t *testing.T) {
	s := Summary{Stalls: []Stall{{From: 1, To: 3}, {From: 4, To: 14}, {From: 20, To: 25}, {From: 30, To: 39}, {From: 40, To: 41}}}
	var codes []string
	for _, m := range s.StallNotes() {
		codes = append(codes, string(m.Code))
	}
	if diff := cmp.Diff([]string{"report.stalled", "report.stalled", "report.stalled", "report.stalled-more"}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestFailuresHaveTheirTime(t *testing.T) {
	tr := stopped(4, time.Millisecond, 0, 0)
	tr.Records[1].Class, tr.Records[1].Done = trace.Refused, 3e9
	tr.Records[2].Class, tr.Records[2].Done = trace.Reset, 2e9
	if q := Summarize(tr, Options{}).Requests; q.FirstFailed != 2 || q.LastFailed != 3 {
		t.Errorf("%+v", q)
	}
}
