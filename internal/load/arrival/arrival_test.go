package arrival

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
)

// take returns the first n offsets of s.
func take(s Schedule, n int) []time.Duration {
	var out []time.Duration
	for d := range s {
		if len(out) == n {
			break
		}
		out = append(out, d)
	}
	return out
}

func seconds(x ...float64) []time.Duration {
	out := make([]time.Duration, len(x))
	for i, s := range x {
		out[i] = micros(s)
	}
	return out
}

func rng(seed uint32) *pyrand.Legacy { return pyrand.NewLegacy(seed) }

func TestSchedules(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    Schedule
		want []time.Duration
	}{
		{"all at once", Burst(), seconds(0, 0, 0, 0)},
		{"constant 10/s", New(Regular(), Constant(10)), seconds(0, .1, .2, .3)},
		// 0 to 2/s over 4 requests takes 4 s, Λ(t) = t²/4
		{"linear 0 to 2/s", New(Regular(), Linear{0, 2, 4}), seconds(0, 2, math.Sqrt(8), math.Sqrt(12), 4, 4.5, 5)},
		// 3 to 1/s over 4 requests takes 2 s, Λ(t) = 3t - t²/2
		{
			"linear 3 down to 1/s", New(Regular(), Linear{3, 1, 4}),
			seconds(0, 3-math.Sqrt(7), 3-math.Sqrt(5), 3-math.Sqrt(3), 2, 3),
		},
		// 1 to 4/s over 3 requests: g = 1, Λ(t) = e^t - 1, done at ln 4
		{
			"exponential 1 to 4/s", New(Regular(), Exponential{1, 4, 3}),
			seconds(0, math.Log(2), math.Log(3), math.Log(4), math.Log(4)+.25),
		},
		{"exponential without a slope", New(Regular(), Exponential{2, 2, 3}), seconds(0, .5, 1, 1.5, 2)},
	} {
		if diff := cmp.Diff(tt.want, take(tt.s, len(tt.want))); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestReplay(t *testing.T) {
	s, err := Replay(seconds(1000, 1000.5, 1000.5, 1003), 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seconds(0, .25, .25, 1.5), take(s, 9)); diff != "" {
		t.Error(diff)
	}
	if _, err := Replay(seconds(1, 3, 2), 1); err == nil ||
		err.Error() != "timestamp 3 (2s) is before the one ahead of it (3s)" {
		t.Errorf("out of order: %v", err)
	}
	for _, speed := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Replay(nil, speed); err == nil {
			t.Errorf("speed %v was accepted", speed)
		}
	}
}

// Gaps of a gamma process have mean 1 and a coefficient of variation of
// 1/sqrt(shape). Over n gaps the mean is within 4 standard errors, and the
// squared-variation estimate within 4 of its own, by the gamma's kurtosis.
func TestGammaGaps(t *testing.T) {
	const n = 200_000
	for _, shape := range []float64{0.25, 0.5, 1, 2, 8} {
		p, err := Gamma(shape, rng(7))
		if err != nil {
			t.Fatal(err)
		}
		checkGaps(t, fmt.Sprint("gamma ", shape), p, n, 1/shape, 6/shape)
	}
	checkGaps(t, "poisson", Poisson(rng(7)), n, 1, 6)
}

// checkGaps compares mean and variance of n gaps with 1 and variance; excess is
// the excess kurtosis of the gap's distribution.
func checkGaps(t *testing.T, name string, p Process, n int, variance, excess float64) {
	t.Helper()
	var sum, squares, prev float64
	i := 0
	for k := range p {
		if i == n {
			break
		}
		gap := k - prev
		sum, squares, prev, i = sum+gap, squares+(gap-1)*(gap-1), k, i+1
	}
	mean, v := sum/float64(n), squares/float64(n)
	if se := math.Sqrt(variance / float64(n)); math.Abs(mean-1) > 4*se {
		t.Errorf("%s: mean gap %v, want 1 ± %v", name, mean, 4*se)
	}
	if se := variance * math.Sqrt((2+excess)/float64(n)); math.Abs(v-variance) > 4*se {
		t.Errorf("%s: gap variance %v, want %v ± %v", name, v, variance, 4*se)
	}
}

func TestSameSeedSameSchedule(t *testing.T) {
	draw := func(seed uint32) []time.Duration { return take(New(Poisson(rng(seed)), Constant(10)), 50) }
	if diff := cmp.Diff(draw(3), draw(3)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(draw(3), draw(4)) {
		t.Error("seeds 3 and 4 give the same schedule")
	}
	p := Poisson(rng(1))
	if !cmp.Equal(take(New(p, Constant(1)), 3)[0], micros(rng(1).Exponential(1))) {
		t.Error("the first Poisson arrival is not one gap in")
	}
}

// Between two due times the rate adds up to the operational time between them.
func TestRampsIntegrateTheirRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Float64Range(0.1, 50).Draw(t, "from")
		to := rapid.Float64Range(0.1, 50).Draw(t, "to")
		n := rapid.IntRange(2, 1000).Draw(t, "requests")
		k := rapid.Float64Range(0, float64(n)).Draw(t, "k")
		linear, exponential := Linear{from, to, n}, Exponential{from, to, n}
		T := linear.Due(float64(n))
		at := linear.Due(k)
		if got := from*at + (to-from)*at*at/(2*T); math.Abs(got-k) > 1e-6*float64(n) {
			t.Fatalf("linear: Λ(%v) = %v, want %v", at, got, k)
		}
		T, at = exponential.Due(float64(n)), exponential.Due(k)
		g := math.Log(to/from) / T
		if got := from * math.Expm1(g*at) / g; math.Abs(g) > 1e-9 && math.Abs(got-k) > 1e-6*float64(n) {
			t.Fatalf("exponential: Λ(%v) = %v, want %v", at, got, k)
		}
	})
}

func TestValidate(t *testing.T) {
	for _, r := range []Rate{
		Constant(0), Constant(-1), Constant(math.NaN()), Constant(math.Inf(1)),
		Linear{-1, 2, 3},
		Linear{1, 0, 3},
		Linear{1, 2, 0},
		Exponential{0, 2, 3},
		Exponential{1, math.Inf(1), 3},
		Exponential{1, 2, -1},
	} {
		if r.Validate() == nil {
			t.Errorf("%#v was accepted", r)
		}
	}
	for _, r := range []Rate{Constant(0.5), Linear{0, 2, 3}, Linear{5, 1, 1}, Exponential{1, 2, 3}} {
		if err := r.Validate(); err != nil {
			t.Errorf("%#v: %v", r, err)
		}
	}
	for _, shape := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Gamma(shape, rng(1)); err == nil {
			t.Errorf("burstiness %v was accepted", shape)
		}
	}
}

func ExampleNew() {
	ramp := Linear{From: 0, To: 2, Requests: 4}
	for due := range New(Regular(), ramp) {
		if due > 4*time.Second {
			break
		}
		fmt.Println(due.Round(time.Millisecond))
	}
	// Output:
	// 0s
	// 2s
	// 2.828s
	// 3.464s
	// 4s
}
