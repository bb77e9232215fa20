package driver

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// fake is a server with its own latency for each request.
type fake struct {
	epoch  time.Time
	serve  func(req *workload.Request) time.Duration
	class  func(req *workload.Request) trace.Class
	encode func(req *workload.Request) error
	mu     sync.Mutex
	seen   []string // texts in the order of arrival
	most   int      // in flight at once
	now    int
	status int    // of the records, HTTP's
	text   string // their Error

	streams bool // an answer that is cut off has begun
}

func newFake(serve func(*workload.Request) time.Duration) *fake {
	return &fake{epoch: time.Now(), serve: serve}
}

func (f *fake) Now() int64 { return int64(time.Since(f.epoch)) }

func (f *fake) Encode(req *workload.Request) ([]byte, error) {
	if f.encode != nil {
		return nil, f.encode(req)
	}
	return []byte(req.Text), nil
}

func (f *fake) count(d int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += d
	f.most = max(f.most, f.now)
}

func (f *fake) Send(ctx context.Context, req *workload.Request, body []byte, rec *trace.Record) {
	f.count(1)
	defer f.count(-1)
	f.mu.Lock()
	f.seen = append(f.seen, string(body)+req.ID)
	f.mu.Unlock()
	rec.Sent = trace.Instant(f.Now())
	select {
	case <-time.After(f.serve(req)):
		if f.class != nil {
			rec.Class, rec.Status, rec.Error = f.class(req), f.status, f.text
		}
	case <-ctx.Done():
		rec.Class = trace.Cancelled
		if rec.Done = trace.Instant(f.Now()); !f.streams {
			return
		}
	}
	rec.Done = trace.Instant(f.Now())
	rec.Chunks = []trace.Chunk{{At: rec.Done}}
}

func always(d time.Duration) func(*workload.Request) time.Duration {
	return func(*workload.Request) time.Duration { return d }
}

func requests(n int) []workload.Request {
	r := make([]workload.Request, n)
	for i := range r {
		r[i].Text = string(rune('a' + i))
	}
	return r
}

const ms = trace.Instant(time.Millisecond)

// times are due, free, released, sent, done in milliseconds; -1 is Never.
func times(records []*trace.Record) [][5]int {
	slices.SortFunc(records, func(a, b *trace.Record) int { return a.Index - b.Index })
	in := func(t trace.Instant) int {
		if !t.Happened() {
			return -1
		}
		return int(t / ms)
	}
	var out [][5]int
	for _, r := range records {
		out = append(out, [5]int{in(r.Due), in(r.Free), in(r.Released), in(r.Sent), in(r.Done)})
	}
	return out
}

// drive runs the plan in virtual time, some time after the fake's clock began.
func drive(
	t *testing.T, f func() *fake, p Plan, with func(t *testing.T, d *Driver) (context.Context, chan struct{}),
	check func(t *testing.T, f *fake, o Outcome),
) {
	synctest.Test(t, func(t *testing.T) {
		server := f()
		time.Sleep(7 * time.Second) // records count from the start of the run all the same
		d := Driver{Sender: server, Now: server.Now}
		ctx, stop := t.Context(), make(chan struct{})
		if with != nil {
			ctx, stop = with(t, &d)
		}
		check(t, server, d.Run(ctx, stop, p))
	})
}

func TestOpenLoopKeepsItsScheduleWhateverTheServerDoes(t *testing.T) {
	slow := func() *fake { return newFake(always(time.Second)) }
	p := Plan{Requests: workload.Listed(requests(4)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(10))}
	drive(t, slow, p, nil, func(t *testing.T, f *fake, o Outcome) {
		want := [][5]int{{0, -1, 0, 0, 1000}, {100, -1, 100, 100, 1100}, {200, -1, 200, 200, 1200}, {300, -1, 300, 300, 1300}}
		if diff := cmp.Diff(want, times(o.Records)); diff != "" {
			t.Error(diff)
		}
		if o.End != 1300*ms || o.Stopped || f.most != 4 {
			t.Errorf("end %v, stopped %v, at most %d in flight", o.End, o.Stopped, f.most)
		}
	})
}

func TestClosedLoopIsAGateWithEverythingDueAtZero(t *testing.T) {
	uneven := func() *fake {
		return newFake(func(r *workload.Request) time.Duration {
			return map[string]time.Duration{"a": 300, "b": 100, "c": 50, "d": 10, "e": 10}[r.Text] * time.Millisecond
		})
	}
	p := Plan{Requests: workload.Listed(requests(5)), Schedule: arrival.Burst(), Concurrency: 2}
	drive(t, uneven, p, nil, func(t *testing.T, f *fake, o Outcome) {
		want := [][5]int{
			{0, 0, 0, 0, 300}, {0, 0, 0, 0, 100}, {0, 100, 100, 100, 150}, {0, 150, 150, 150, 160}, {0, 160, 160, 160, 170},
		}
		if diff := cmp.Diff(want, times(o.Records)); diff != "" {
			t.Error(diff)
		}
		if f.most != 2 {
			t.Errorf("%d in flight, the gate has 2 places", f.most)
		}
	})
}

func TestGateWithASchedule(t *testing.T) {
	p := Plan{Requests: workload.Listed(requests(4)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(10)), Concurrency: 1}
	drive(t, func() *fake { return newFake(always(150 * time.Millisecond)) }, p, nil,
		func(t *testing.T, _ *fake, o Outcome) {
			want := [][5]int{{0, 0, 0, 0, 150}, {100, 150, 150, 150, 300}, {200, 300, 300, 300, 450}, {300, 450, 450, 450, 600}}
			if diff := cmp.Diff(want, times(o.Records)); diff != "" {
				t.Error(diff)
			}
		})
}

func TestScheduleShorterThanTheWorkload(t *testing.T) {
	s, err := arrival.Replay([]time.Duration{0, time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Requests: workload.Listed(requests(200)), Schedule: s}
	drive(t, func() *fake { return newFake(always(0)) }, p, nil, func(t *testing.T, _ *fake, o Outcome) {
		if len(o.Records) != 2 || !o.Stopped {
			t.Errorf("%d records, stopped %v", len(o.Records), o.Stopped)
		}
	})
}

func TestStopEndsDispatchAndDrains(t *testing.T) {
	for _, gate := range []int{0, 1} {
		p := Plan{Requests: workload.Listed(requests(10)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(10)), Concurrency: gate}
		with := func(t *testing.T, _ *Driver) (context.Context, chan struct{}) {
			stop := make(chan struct{})
			time.AfterFunc(50*time.Millisecond, func() { close(stop) })
			return t.Context(), stop
		}
		drive(t, func() *fake { return newFake(always(time.Second)) }, p, with, func(t *testing.T, _ *fake, o Outcome) {
			want := [][5]int{{0, gate - 1, 0, 0, 1000}}
			if diff := cmp.Diff(want, times(o.Records)); diff != "" || !o.Stopped || !o.Records[0].OK() {
				t.Errorf("stopped %v, class %q: %s", o.Stopped, o.Records[0].Class, diff)
			}
		})
	}
}

// Until the time of the plan is over requests are released, and after it they are waited
// for: with a schedule, before a gate, and in a conversation. The run is not stopped by that.
func TestTheTimeOfAPlanEndsArrivals(t *testing.T) {
	talk := requests(9)
	for i := range talk[1:] {
		talk[i+1].After, talk[i+1].Think = i+1, 100*time.Millisecond
	}
	for name, tt := range map[string]struct {
		plan    Plan
		records int
		end     trace.Instant
	}{
		"a schedule": {
			Plan{Requests: workload.Listed(requests(9)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(10))}, 5, 900 * ms,
		},
		"a closed loop":  {Plan{Requests: workload.Listed(requests(9)), Schedule: arrival.Burst(), Concurrency: 2}, 2, 500 * ms},
		"a conversation": {Plan{Requests: workload.Listed(talk), Schedule: arrival.Burst()}, 1, 500 * ms},
		"one that holds its place": {
			Plan{Requests: workload.Listed(talk), Schedule: arrival.Burst(), Concurrency: 1, Hold: true}, 1, 500 * ms,
		},
		"all is sent before the end": {Plan{Requests: workload.Listed(requests(2)), Schedule: arrival.Burst()}, 2, 500 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(always(500 * time.Millisecond))
			tt.plan.Until = 500 * time.Millisecond
			out := Driver{Sender: f, Now: f.Now}.Run(t.Context(), nil, tt.plan)
			if len(out.Records) != tt.records || out.End != tt.end || out.Stopped {
				t.Errorf("%s: %d records, end %v, stopped %v; want %d, %v", name, len(out.Records), out.End, out.Stopped,
					tt.records, tt.end)
			}
		})
	}
}

func TestAStopBeforeTheTimeOfAPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stop := newFake(always(time.Second)), make(chan struct{})
		time.AfterFunc(1500*time.Millisecond, func() { close(stop) })
		out := Driver{Sender: f, Now: f.Now}.Run(t.Context(), stop,
			Plan{Requests: workload.Listed(requests(9)), Schedule: arrival.Burst(), Concurrency: 1, Until: time.Hour})
		if len(out.Records) != 2 || out.End != trace.Instant(2*time.Second) || !out.Stopped {
			t.Errorf("%d records, end %v, stopped %v", len(out.Records), out.End, out.Stopped)
		}
	})
}

func TestCancelEndsWhatIsInFlight(t *testing.T) {
	p := Plan{Requests: workload.Listed(requests(10)), Schedule: arrival.New(arrival.Regular(), arrival.Constant(10))}
	with := func(t *testing.T, _ *Driver) (context.Context, chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(150*time.Millisecond, cancel)
		return ctx, make(chan struct{})
	}
	drive(t, func() *fake { return newFake(always(time.Second)) }, p, with, func(t *testing.T, _ *fake, o Outcome) {
		want := [][5]int{{0, -1, 0, 0, 150}, {100, -1, 100, 100, 150}}
		if diff := cmp.Diff(want, times(o.Records)); diff != "" || !o.Stopped {
			t.Errorf("stopped %v: %s", o.Stopped, diff)
		}
		for _, r := range o.Records {
			if r.Class != trace.Cancelled {
				t.Errorf("request %d: class %q", r.Index, r.Class)
			}
		}
	})
}

func TestEveryRecordIsReportedOnceAndCounted(t *testing.T) {
	server := func() *fake {
		f := newFake(always(time.Millisecond))
		f.class = func(r *workload.Request) trace.Class {
			if r.Text == "c" {
				return trace.Reset
			}
			return ""
		}
		return f
	}
	got := make(chan int, 10)
	var progress Progress
	with := func(t *testing.T, d *Driver) (context.Context, chan struct{}) {
		d.OnRecord = func(r *trace.Record) { got <- r.Index }
		d.Progress = &progress
		return t.Context(), make(chan struct{})
	}
	drive(t, server, Plan{Requests: workload.Listed(requests(5)), Schedule: arrival.Burst()}, with, func(t *testing.T, _ *fake, o Outcome) {
		close(got)
		var seen []int
		for i := range got {
			seen = append(seen, i)
		}
		slices.Sort(seen)
		if !slices.Equal(seen, []int{0, 1, 2, 3, 4}) || len(o.Records) != 5 {
			t.Errorf("reported %v, %d records", seen, len(o.Records))
		}
		if r, d, f := progress.Released.Load(), progress.Done.Load(), progress.Failed.Load(); r != 5 || d != 5 || f != 1 {
			t.Errorf("released %d, done %d, failed %d", r, d, f)
		}
	})
}

func TestARequestThatCannotBeEncodedIsARecord(t *testing.T) {
	server := func() *fake {
		f := newFake(always(0))
		f.encode = func(*workload.Request) error { return errors.New("no such field") }
		return f
	}
	drive(t, server, Plan{Requests: workload.Listed(requests(1)), Schedule: arrival.Burst(), Concurrency: 1}, nil,
		func(t *testing.T, f *fake, o Outcome) {
			if len(o.Records) != 1 || o.Records[0].Class != trace.Other || o.Records[0].Error != "no such field" || f.most != 0 {
				t.Errorf("%+v", o.Records)
			}
		})
}

func TestProbesRunBesideTheLoad(t *testing.T) {
	p := Plan{
		Requests: workload.Listed(requests(2)), Schedule: arrival.Burst(), Concurrency: 1,
		Probe: &Probe{Request: workload.Request{Text: "Hi"}, Rate: 5},
	}
	server := func() *fake {
		return newFake(func(r *workload.Request) time.Duration {
			if r.Text == "Hi" {
				return 100 * time.Millisecond
			}
			return 350 * time.Millisecond
		})
	}
	drive(t, server, p, nil, func(t *testing.T, _ *fake, o Outcome) {
		// 100 ms of answer, 200 ms of pause; the run ends with the load
		want := [][5]int{{0, -1, 0, 0, 100}, {300, -1, 300, 300, 400}, {600, -1, 600, 600, 700}}
		if diff := cmp.Diff(want, times(o.Probes)); diff != "" {
			t.Error(diff)
		}
		if o.End != 700*ms || len(o.Records) != 2 {
			t.Errorf("end %v with %d records", o.End, len(o.Records))
		}
	})
}

func TestReady(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limit   time.Duration
		readyAt time.Duration
		want    string
		at      time.Duration // at the latest, and at the earliest three quarters of it
	}{
		{name: "at once", limit: time.Minute},
		{name: "sixth attempt", limit: time.Minute, readyAt: 7900 * time.Millisecond, at: 12500 * time.Millisecond},
		{
			name: "never", limit: 12 * time.Second, readyAt: time.Hour, want: "not ready after 12s: connection refused",
			at: 12 * time.Second,
		},
		{name: "a single attempt", readyAt: time.Hour, want: "connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(always(0))
				f.class = func(*workload.Request) trace.Class {
					if time.Since(f.epoch) < tt.readyAt {
						return trace.Refused
					}
					return ""
				}
				reported := 0
				err := Ready(t.Context(), f, workload.Request{Text: "a", ID: "x"}, tt.limit,
					func(error) bool { reported++; return true })
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				if at := time.Since(f.epoch); at > tt.at || at < tt.at*3/4 || err != nil && at != tt.at {
					t.Errorf("returned after %v, want %v", at, tt.at)
				}
				if err == nil && reported != len(f.seen)-1 {
					t.Errorf("asked %d times whether to go on after %d attempts", reported, len(f.seen))
				}
				if f.seen[0] != "a" {
					t.Errorf("sent %q: the ready check carries no id", f.seen[0])
				}
			})
		})
	}
}

// A server that is away for the first 20 of every 50 ms is found nevertheless: by
// chance it would be missed 14 times in a row less than once in 300 000 runs.
func TestReadyFindsAServerWithARhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(always(0))
		f.class = func(*workload.Request) trace.Class {
			if time.Since(f.epoch)%(50*time.Millisecond) < 20*time.Millisecond {
				return trace.Refused
			}
			return ""
		}
		if err := Ready(t.Context(), f, workload.Request{}, time.Minute, func(error) bool { return true }); err != nil {
			t.Error(err)
		}
	})
}

func TestReadyDoesNotWaitForWhatWillNotPass(t *testing.T) {
	for _, tt := range []struct {
		class  trace.Class
		status int
		text   string
		waits  bool
	}{
		{trace.HTTP, 503, "", true},
		{trace.HTTP, 429, "", true},
		{trace.HTTP, 404, "<html>no backend</html>", true},
		{trace.HTTP, 404, `{"detail":"Not Found"}`, false},
		{trace.HTTP, 400, "", false},
		{trace.HTTP, 401, "", false},
		{trace.HTTP, 307, "", false},
		{trace.TLS, 0, "", false},
		{trace.Malformed, 200, "", false},
		{trace.Reset, 0, "", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(always(0))
			f.class = func(*workload.Request) trace.Class { return tt.class }
			f.status, f.text = tt.status, tt.text
			err := Ready(t.Context(), f, workload.Request{}, time.Minute, func(err error) bool {
				failed := (*FailedError)(nil)
				return errors.As(err, &failed) && failed.MayPass()
			})
			if waited := time.Since(f.epoch) > 0; err == nil || waited != tt.waits {
				t.Errorf("%s %d: waited %v, error %v", tt.class, tt.status, waited, err)
			}
		})
	}
}

func TestReadyCutsOffAnAttemptAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(always(time.Hour))
		err := Ready(t.Context(), f, workload.Request{}, 3*time.Second, func(error) bool { return true })
		if err == nil || time.Since(f.epoch) != 3*time.Second {
			t.Errorf("error %v after %v", err, time.Since(f.epoch))
		}
	})
}

func TestReadyTakesAnAnswerUnderWayAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(always(time.Hour))
		f.streams = true
		if err := Ready(t.Context(), f, workload.Request{}, 3*time.Second, func(error) bool { return true }); err != nil ||
			time.Since(f.epoch) != 3*time.Second {
			t.Errorf("error %v after %v", err, time.Since(f.epoch))
		}
	})
}

// instantly answers at once.
type instantly struct{}

func (instantly) Encode(*workload.Request) ([]byte, error)                       { return nil, nil }
func (instantly) Send(context.Context, *workload.Request, []byte, *trace.Record) {}

// The driver's own cost per request.
func BenchmarkRun(b *testing.B) {
	p := Plan{Requests: workload.Listed(make([]workload.Request, b.N)), Schedule: arrival.Burst(), Concurrency: 64}
	b.ReportAllocs()
	b.ResetTimer()
	Driver{Sender: instantly{}, Now: func() int64 { return 1 }}.Run(b.Context(), nil, p)
}

// crowd counts requests that are released and do not leave yet.
type crowd struct {
	released    *atomic.Int64
	mu          sync.Mutex // guards the others
	begun, most int64
}

func (c *crowd) Encode(*workload.Request) ([]byte, error) { return nil, nil }

func (c *crowd) Send(context.Context, *workload.Request, []byte, *trace.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	c.most = max(c.most, c.released.Load()-c.begun)
}

// A dispatch that is late lets the requests before it leave, so that those on their way at once are few.
func TestALateDispatchLetsOthersLeave(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var c crowd
	var p Progress
	c.released = &p.Released
	var now atomic.Int64 // the start, then always the same
	d := Driver{Sender: &c, Progress: &p, Now: func() int64 { return now.Swap(int64(2 * behind)) }}
	const n = 10_000
	out := d.Run(t.Context(), nil, Plan{Requests: workload.Listed(requests(n)), Schedule: arrival.Burst()})
	if len(out.Records) != n || c.most > leastAhead/2 {
		t.Errorf("%d of %d are done, and at most %d were released and had not left", len(out.Records), n, c.most)
	}
}
