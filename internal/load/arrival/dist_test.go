package arrival

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestParseDist(t *testing.T) {
	for _, test := range []struct{ in, out, err string }{
		{"20ms", "20ms", ""},
		{" 1m30s ", "1m30s", ""},
		{"0", "0s", ""},
		{"uniform(10ms,30ms)", "uniform(10ms,30ms)", ""},
		{"normal( 20ms , 2ms )", "normal(20ms,2ms)", ""},
		{"lognormal(20ms,0.30)", "lognormal(20ms,0.3)", ""},
		{"exponential(1.5ms)", "exponential(1.5ms)", ""},
		{"gamma(20ms,1e-1)", "gamma(20ms,0.1)", ""},
		{
			"20ns s", "",
			`value "20ns s" is not a duration such as 20ms; allowed: a duration such as 20ms, uniform(low,high), normal(mean,sd)`,
		},
		{"20", "", `"20": needs a unit: 20ms, 20s`},
		{"-20ms", "", `value "-20ms" is negative`},
		{"", "", `value "" is not a duration`},
		{"gama(20ms,0.5)", "", `unknown distribution "gama", did you mean "gamma"?; allowed: `},
		{"poisson(20ms)", "", `unknown distribution "poisson"; allowed: `},
		{"normal(20ms)", "", "normal takes (mean,sd), got 1 arguments"},
		{"exponential(1ms,2ms)", "", "exponential takes (mean), got 2 arguments"},
		{"gamma(20ms,5ms)", "", `cv "5ms" is not a number such as 0.5`},
		{"gamma(20ms,-1)", "", `cv "-1" is negative`},
		{"gamma(20ms,NaN)", "", `cv "NaN" is not a number`},
		{"normal(20ms,0.1)", "", `sd "0.1" needs a unit: 0.1ms, 0.1s`},
		{"24h", "24h0m0s", ""},
		{"25h", "", `value "25h" is above 24h0m0s`},
		{"uniform(1h,2562047h)", "", `high "2562047h" is above 24h0m0s`},
		{"gamma(20ms,1e300)", "", `cv "1e300" is above 100`},
		{"uniform(30ms,10ms)", "", "low 30ms is above high 10ms"},
		{"uniform(30ms,40ms", "", "missing the closing parenthesis"},
	} {
		d, err := ParseDuration(test.in)
		checkParse(t, test.in, d.String(), test.out, err, test.err)
	}
	for _, test := range []struct{ in, out, err string }{
		{"128", "128", ""},
		{"uniform(1,6)", "uniform(1,6)", ""},
		{"lognormal(128,0.5)", "lognormal(128,0.5)", ""},
		{"0", "", "a count must be at least 1"},
		{"1.5", "", `value "1.5" is not a whole number such as 128`},
		{"1k", "", `"1k": must be a whole number; write 1000`},
		{"uniform(1k,2k)", "", `low "1k" must be a whole number; write 1000`},
		{"10,000", "", `"10,000": must be a whole number; write 10000`},
	} {
		c, err := ParseCount(test.in)
		checkParse(t, test.in, c.String(), test.out, err, test.err)
	}
}

func checkParse(t *testing.T, in, got, want string, err error, wantErr string) {
	t.Helper()
	switch {
	case wantErr == "" && (err != nil || got != want):
		t.Errorf("%q: %s, %v; want %s", in, got, err, want)
	case wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)):
		t.Errorf("%q: error %v, want %s", in, err, wantErr)
	}
}

func FuzzParseDist(f *testing.F) {
	for _, s := range []string{
		"20ms", "uniform(10ms,30ms)", "normal(20ms,2ms)", "lognormal(20ms,0.3)", "exponential(1h)", "gamma(20ms,5)", "128",
		"x(", "uniform(1,6)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := rand.New(rand.NewPCG(1, 2))
		if d, err := ParseDuration(s); err == nil {
			if again, err := ParseDuration(d.String()); err != nil || again != d {
				t.Errorf("%q is %s and comes back as %s, %v", s, d, again, err)
			}
			if x := d.Draw(r); x < 0 {
				t.Errorf("%q draws %v", s, x)
			}
		}
		if c, err := ParseCount(s); err == nil {
			if again, err := ParseCount(c.String()); err != nil || again != c {
				t.Errorf("%q is %s and comes back as %s, %v", s, c, again, err)
			}
			if n := c.Draw(r); n < 1 {
				t.Errorf("%q draws %d", s, n)
			}
		}
	})
}

// The sample mean of n draws has standard error sd/√n, and the sample standard
// deviation a relative one of √((κ-1)/4n) for kurtosis κ. Five of them are allowed;
// the seed is fixed, so the result is always the same.
func TestDrawsHaveTheStatedMoments(t *testing.T) {
	const n = 200_000
	for _, test := range []struct {
		dist               string
		mean, cv, kurtosis float64 // mean in ms
	}{
		{"20ms", 20, 0, 1},
		{"uniform(10ms,30ms)", 20, 1 / math.Sqrt(12), 1.8},
		{"normal(20ms,2ms)", 20, 0.1, 3},
		// A half-normal: mean √(2/π)·sd, variance (1-2/π)·sd².
		{"normal(0s,10ms)", 10 * math.Sqrt(2/math.Pi), math.Sqrt(math.Pi/2 - 1), 3.87},
		{"lognormal(20ms,0.3)", 20, 0.3, lognormalKurtosis(0.3)},
		{"exponential(20ms)", 20, 1, 9},
		{"gamma(20ms,0.5)", 20, 0.5, 3 + 6*0.25},
		{"gamma(20ms,2)", 20, 2, 3 + 6*4},
		{"gamma(20ms,0)", 20, 0, 1},
	} {
		d := mustDist(t, test.dist)
		r := rand.New(rand.NewPCG(3, 4))
		var sum, squares float64
		for range n {
			x := float64(d.Draw(r)) / float64(time.Millisecond)
			sum += x
			squares += x * x
		}
		mean := sum / n
		cv := math.Sqrt(max(squares/n-mean*mean, 0)) / mean
		sd := test.mean * test.cv
		if e := math.Abs(mean - test.mean); e > 5*sd/math.Sqrt(n)+1e-9 {
			t.Errorf("%s: mean %.4f, want %.4f", test.dist, mean, test.mean)
		}
		if e := math.Abs(cv - test.cv); e > 5*test.cv*math.Sqrt((test.kurtosis-1)/(4*n))+5*test.cv*test.cv/math.Sqrt(n)+1e-6 {
			t.Errorf("%s: cv %.4f, want %.4f", test.dist, cv, test.cv)
		}
	}
}

func lognormalKurtosis(cv float64) float64 {
	w := 1 + cv*cv
	return w*w*w*w + 2*w*w*w + 3*w*w - 3
}

func TestCountDraws(t *testing.T) {
	c, err := ParseCount("uniform(2,4)")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[int]int{}
	for range 30_000 {
		seen[c.Draw(r)]++
	}
	for n := 2; n <= 4; n++ { // a binomial share of 1/3 has sd 82
		if seen[n] < 10_000-410 || seen[n] > 10_000+410 {
			t.Errorf("%d drawn %d times of 30000", n, seen[n])
		}
	}
	if len(seen) != 3 {
		t.Errorf("drawn: %v", seen)
	}
}

func TestDistText(t *testing.T) {
	var d Duration
	if err := d.UnmarshalText([]byte("gamma(20ms,0.5)")); err != nil {
		t.Fatal(err)
	}
	if b, err := d.MarshalText(); err != nil || string(b) != "gamma(20ms,0.5)" {
		t.Errorf("%s, %v", b, err)
	}
	if err := d.UnmarshalText([]byte("x")); err == nil {
		t.Error("x is taken")
	}
	if FixedDuration(-ms) != (Duration{}) {
		t.Error("a negative constant is not 0")
	}
}

const ms = time.Millisecond

func mustDist(t testing.TB, s string) Duration {
	t.Helper()
	d, err := ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
