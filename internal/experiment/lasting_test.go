package experiment

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Twelve answers of a light run, half a minute and a hundred requests: the longest of them, but no
// half minute of more than ten thousand requests, and never more than thirty thousand.
func TestTimeOf(t *testing.T) {
	for _, c := range []struct {
		long time.Duration
		rate float64
		want time.Duration
	}{
		{450 * time.Millisecond, 200, 30 * time.Second},
		{5 * time.Second, 2, time.Minute},
		{0, 0.5, 200 * time.Second},
		{450 * time.Millisecond, 1000, 10 * time.Second},
		{450 * time.Millisecond, 10_000, 3 * time.Second}, // thirty thousand requests
		{0, 1e6, 30 * time.Millisecond},
		{time.Hour, 1e6, 30 * time.Millisecond},
	} {
		if got := timeOf(c.long, c.rate); got != c.want {
			t.Errorf("%v, %v/s: %v, want %v", c.long, c.rate, got, c.want)
		}
	}
}

func spec(t *testing.T, text string) *plan.Spec {
	t.Helper()
	s := new(plan.Spec)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A load is open that has a rate, draws its requests, and of which nothing says how many they are.
func TestOpen(t *testing.T) {
	const drawn = `"dataset": {"kind": "random"}`
	for text, want := range map[string]bool{
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, ` + drawn + `}]}`:                                                              true,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, ` + drawn + `}], "gate": {"concurrency": 4}}`:                                  true,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, "mix": [{` + drawn + `}, {` + drawn + `}]}]}`:                                  true,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, ` + drawn + `}], "requests": 100}`:                                             false,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, ` + drawn + `}], "duration": "9s"}`:                                            false,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, ` + drawn + `, "requests": 9}]}`:                                               false,
		`{"load": [{"arrival": {"kind": "poisson", "ramp": "linear:1..9"}, ` + drawn + `}]}`:                                                  false,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 1e12}, ` + drawn + `}]}`:                                                           false,
		`{"load": [{"arrival": {"kind": "at-once"}, ` + drawn + `}]}`:                                                                         false,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, "dataset": {"kind": "trace", "data": "x.jsonl"}}]}`:                            false,
		`{"load": [{"arrival": {"kind": "poisson", "rate": 5}, ` + drawn + `}, {"arrival": {"kind": "replay", "file": "x"}, ` + drawn + `}]}`: false,
	} {
		if got := OpenEnded(spec(t, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A light run is a few requests one at a time, and the load itself stays as it was.
func TestLight(t *testing.T) {
	s := spec(t, `{"load": [{"arrival": {"kind": "poisson", "rate": 5}, "dataset": {"kind": "random"}}]}`)
	l := LightLoad(*s)
	if l.Requests != lightSent || l.Gate.Concurrency != 1 || l.Load[0].Arrival.Kind != "at-once" || s.Rate() != 5 {
		t.Errorf("%+v of %+v", l, s)
	}
	if c := counted(*s); c.Requests != 150 || c.Duration != 0 {
		t.Errorf("%+v", c)
	}
	records := []*trace.Record{{Class: trace.HTTP, Done: trace.Instant(time.Hour)}}
	for range 9 {
		records = append(records, &trace.Record{Status: 200, Done: trace.Instant(2 * time.Second)})
	}
	if long := AnswerTime(records); long != 2*time.Second || AnswerTime(records[:1]) != 0 {
		t.Errorf("answers take %v", long)
	}
}
