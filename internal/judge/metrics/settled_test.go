package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A load of a rate shows what the rate does unless it is over before a few answers are, or its queue
// only grows. A burst and a closed loop have no rate.
func TestUnsettled(t *testing.T) {
	longer := func(i int) trace.Instant { return 20 + 10*trace.Instant(i) }
	for _, c := range []struct {
		name    string
		records []*trace.Record
		rate    float64
		code    plan.Code
		grows   bool
		needs   time.Duration
	}{
		{"steady", pulse(100, always(50), always(492)), 20, "", false, 0},
		{"half a second of load, answers of a second", pulse(100, always(5), always(1000)), 200, tooShort, false, 30 * time.Second},
		{"answers of 4 s", pulse(100, always(50), always(4000)), 20, tooShort, false, 48 * time.Second},
		{"a few requests, long enough", pulse(8, always(1000), always(500)), 1, "", false, 0},
		{"a few requests at once", pulse(8, always(10), always(500)), 100, tooShort, false, 30 * time.Second},
		{"one request", pulse(1, always(10), always(500)), 1, tooShort, false, 30 * time.Second},
		{"overload", pulse(400, always(10), longer), 100, steadySlowing, true, 0},
		{"the same, of no rate", pulse(400, always(10), longer), 0, "", false, 0},
		{"a gate that 20 per second do not pass", behind(pulse(100, always(100), always(500)), 20), 20, steadyWaiting, true, 0},
		{"a burst", pulse(50, always(0), always(500)), 0, "", false, 0},
	} {
		tr := run(9000, c.records...)
		tr.Run.Plan.Rate = c.rate
		why := Unsettled(tr)
		if why.Code != c.code || QueueGrows(why) != c.grows || NeedsTime(why) != c.needs {
			t.Errorf("%s: %+v", c.name, why)
		}
		tr.Run.Plan.Ramp = true
		if why := Unsettled(tr); !why.IsZero() {
			t.Errorf("%s, of a ramp: %+v", c.name, why)
		}
	}
}

// behind are requests that were due at a rate and waited for their turn.
func behind(records []*trace.Record, rate int) []*trace.Record {
	for i, r := range records {
		r.Due = trace.Instant(i) * trace.Instant(time.Second) / trace.Instant(rate)
	}
	return records
}

// What counts is the steady state: 90 of a hundred requests, of which one more failed, and the
// figures of it, as TestSteadyState has them.
func TestSettle(t *testing.T) {
	records := pulse(100, always(50), always(492))
	records[50].Class = trace.HTTP
	tr := run(6000, records...)
	tr.Run.Plan.Rate = 20
	counted, why := Settle(tr)
	if len(counted.Records) != 90 || !why.IsZero() || counted.Records[0].Released < trace.Instant(400*time.Millisecond) {
		t.Errorf("%d requests count, %+v", len(counted.Records), why)
	}
	values := map[string]float64{}
	for _, f := range SettledFigures(tr) {
		values[f.Name] = f.Value
	}
	for name, want := range map[string]float64{"throughput.requests": 20, "throughput.output": 20 * 49, "concurrency": 9.8, "requests.failed": 1} {
		if math.Abs(values[name]-want) > 0.03*want {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
}

// Half of the runs decide, by what most of them say.
func TestMostUnsettled(t *testing.T) {
	none, short, grows := plan.Message{}, plan.Msg(tooShort), plan.Msg(steadyGrowing)
	for _, c := range []struct {
		runs []plan.Message
		want plan.Code
	}{
		{nil, ""},
		{[]plan.Message{none, none, grows}, ""},
		{[]plan.Message{none, short}, tooShort},
		{[]plan.Message{short, short, grows}, tooShort},
		{[]plan.Message{short, grows, none, none}, steadyGrowing},
	} {
		if got := MostUnsettled(c.runs); got.Code != c.want {
			t.Errorf("%v: %v, want %v", c.runs, got, c.want)
		}
	}
}
