package traffic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// arrivalOf decodes an arrival from what a file says of it.
func arrivalOf(t *testing.T, text string) (workload.Arrival, error) {
	t.Helper()
	doc, err := plan.Parse("arrival.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var thing plan.Typed
	if p := thing.DecodeNode(doc.Root); p != nil {
		t.Fatal(p)
	}
	a := Arrivals()[thing.Kind]()
	if thing.Settings != nil {
		if p := plan.DecodeJSON(thing.Settings, a); p != nil {
			return a, p
		}
	}
	return a, a.Check().Err()
}

func TestArrivals(t *testing.T) {
	for text, want := range map[string]struct {
		rate float64
		ramp bool
		last time.Duration // of 100, about; 0 exactly for a burst
	}{
		"kind: at-once":                                  {0, false, 0},
		"{kind: constant, rate: 10}":                     {10, false, 10 * time.Second},
		"{kind: poisson, rate: 50}":                      {50, false, 2 * time.Second},
		"{kind: gamma, rate: 50, burstiness: 2}":         {50, false, 2 * time.Second},
		"{kind: constant, ramp: \"linear:10..30\"}":      {0, true, 5 * time.Second},
		"{kind: constant, ramp: \"exponential:10..30\"}": {0, true, 6 * time.Second},
	} {
		a, err := arrivalOf(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		out, err := a.Arrange(&workload.Workload{Requests: make([]workload.Request, 100)}, workload.Arranging{Seed: 1})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		at := firsts(out, 100)
		last := at[len(at)-1].Seconds()
		if len(at) != 100 || !slices.IsSorted(at) || out.Requests != 100 || out.Rate != want.rate || out.Ramp != want.ramp ||
			math.Abs(last-want.last.Seconds()) > 0.3*want.last.Seconds() {
			t.Errorf("%s: %d times up to %v, rate %v, ramp %v", text, len(at), last, out.Rate, out.Ramp)
		}
	}
}

// firsts are the first n times.
func firsts(a workload.Arrangement, n int) (at []time.Duration) {
	for due := range a.Schedule {
		if at = append(at, due); len(at) == n {
			break
		}
	}
	return at
}

func TestArrivalsThatCannotBe(t *testing.T) {
	for text, want := range map[string]plan.Problem{
		"{kind: poisson}": {Path: "rate", Why: "a rate or a ramp is needed"},
		"{kind: poisson, rate: 1, ramp: \"linear:1..2\"}": {Path: "rate", Why: "a ramp is given too"},
		"{kind: poisson, rate: -1}":                       {Path: "rate"},
		"{kind: poisson, ramp: \"steep:1..2\"}":           {Path: "ramp", Why: "linear:FROM..TO"},
		"{kind: poisson, ramp: \"linear:1..-2\"}":         {Path: "ramp"},
		"{kind: gamma, rate: 1, burstiness: 0}":           {Path: "burstiness", Why: "must be a positive number"},
		"{kind: poisson, rate: 1, burstiness: 2}":         {Path: "burstiness", Why: "unknown field"},
		"{kind: at-once, rate: 3}":                        {Path: "rate", Why: "unknown field"},
		"{kind: replay}":                                  {Path: "file", Why: "is missing"},
		"{kind: replay, file: data, speed: -1}":           {Path: "speed", Why: "must be a positive number"},
	} {
		_, err := arrivalOf(t, text)
		var p plan.Problems
		if !errors.As(err, &p) || p[0].Path != want.Path || !strings.Contains(p[0].Why, want.Why) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// A replay leaves out requests beyond its times, and times beyond the requests; turns of a
// conversation need none.
func TestAReplayOfTheData(t *testing.T) {
	a, err := arrivalOf(t, "{kind: replay, file: data, speed: 2}")
	if err != nil {
		t.Fatal(err)
	}
	w := workload.Workload{Requests: []workload.Request{
		{At: 0}, {Turn: workload.Turn{After: 1}}, {At: time.Second}, {At: 3 * time.Second},
	}}
	out, err := a.Arrange(&w, workload.Arranging{})
	if err != nil {
		t.Fatal(err)
	}
	if at := firsts(out, 10); !slices.Equal(at, []time.Duration{0, time.Second / 2, 3 * time.Second / 2}) ||
		out.Requests != 4 {
		t.Errorf("%v, %d requests", at, out.Requests)
	}
}

// Times come back as they were read, as far as a float64 tells nanoseconds.
func FuzzReplay(f *testing.F) {
	for _, text := range []string{
		"0\n0.5\n1e0\n", "# a comment\n\n  2.25  \r\n", "soon\n", "1e300", "-1\n", "NaN\n", "0x1p-2\n1_0\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := readTimes(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(at) == 0 || len(at) > 1+strings.Count(text, "\n") {
			t.Fatalf("%q gives %d times", text, len(at))
		}
		var lines []string
		for i := range at {
			at[i] %= 1 << 50
			sign := ""
			if at[i] < 0 {
				sign = "-"
			}
			n := at[i].Abs()
			lines = append(lines, fmt.Sprintf("%s%d.%09d", sign, n/time.Second, n%time.Second))
		}
		again, err := readTimes(strings.NewReader(strings.Join(lines, "\n")))
		if err != nil || !slices.Equal(again, at) {
			t.Errorf("%q is %v and comes back as %v, %v", text, at, again, err)
		}
	})
}
