package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// stopped is a run of streams with a chunk every gap but for a time without any, from
// at on.
func stopped(streams int, gap, at, length time.Duration) *trace.Trace {
	t := &trace.Trace{Run: trace.Run{Kind: trace.Measured, End: 1e9, Plan: trace.Plan{Stream: true}}}
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
	want := []Stall{{From: .5, To: 10.52, Streams: 3, InFlight: 3}}
	if diff := cmp.Diff(want, Summarize(long, Options{}).Stalls); diff != "" {
		t.Error(diff)
	}
	waiting := stopped(3, 20*ms, 500*ms, 10*time.Second)
	waiting.Records[1].Chunks = waiting.Records[1].Chunks[50:] // in prefill
	want[0].Streams = 2
	if diff := cmp.Diff(want, Summarize(waiting, Options{}).Stalls); diff != "" {
		t.Error(diff)
	}
	for name, tt := range map[string]*trace.Trace{
		"short":                   stopped(3, 20*ms, 500*ms, 900*ms),
		"not against the gaps":    stopped(3, 200*ms, 500*ms, 2*time.Second),
		"of no stream that began": stopped(3, 20*ms, 0, 10*time.Second),
		"not of all": {Run: long.Run, Records: append(stopped(3, 20*ms, 500*ms, 10*time.Second).Records,
			stopped(1, 120*ms, 0, 0).Records...)},
	} {
		if s := Summarize(tt, Options{}).Stalls; s != nil {
			t.Errorf("%s: %+v", name, s)
		}
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
