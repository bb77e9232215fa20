package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// vary reports whether steps of the same work differ.
func (c *Costs) vary() bool { return c.Jitter > 0 || c.JitterQuantiles != nil || c.SlowSteps != nil }

// varied is a duration of t as one step takes it: with jitter, and longer if it is one of
// the slow steps.
func (c *Costs) varied(t Seconds, r *rand.Rand) Seconds {
	if c.JitterQuantiles != nil {
		t = t.times(quantile(c.JitterQuantiles, r.Float64()))
	} else if c.Jitter > 0 {
		t *= Seconds(factor(c.Jitter, r))
	}
	if s := c.SlowSteps; s != nil && s.Share > 0 {
		if u, share := r.Float64(), float64(s.Share); u < share {
			t += quantile(s.Extra, u/share) // u/share is again uniform
		}
	}
	return t
}

// factor is a lognormal draw with mean 1 and coefficient of variation cv.
func factor(cv float64, r *rand.Rand) float64 {
	v := math.Log1p(cv * cv)
	f := math.Exp(float64(math.Sqrt(v)*r.NormFloat64()) - v/2)
	return portable(f)
}

// quantile is the one at probability p, from 0 to 1, linear between those in q, of which
// the first is at 0 and the last at 1. Products are rounded separately, see Seconds.times.
func quantile[T ~float64](q []T, p float64) T {
	at := float64(p * float64(len(q)-1))
	i := min(int(at), len(q)-2)
	return q[i] + T(float64(q[i+1]-q[i])*(at-float64(i)))
}

func (v *checker) variation(path string, c Costs) {
	v.If(!(c.Jitter >= 0 && c.Jitter <= 2), path+".jitter", c.Jitter, "must be between 0 and 2")
	v.If(c.JitterQuantiles != nil && c.Jitter > 0, path+".jitter_quantiles", nil, "replaces jitter: leave it out")
	quantiles(v, path+".jitter_quantiles", c.JitterQuantiles, func(at string, f float64) {
		v.If(!(f > 0 && f <= 1000), at, f, "must be above 0 and at most 1000")
	})
	if s := c.SlowSteps; s != nil {
		path += ".slow_steps"
		v.Share(path+".share", float64(s.Share))
		v.If(s.Share > 0 && s.Extra == nil, path+".extra", nil,
			"is missing: quantiles of the added time, such as [4ms, 10ms, 60ms]")
		quantiles(v, path+".extra", s.Extra, v.time)
	}
}

// quantiles requires two or more that do not fall, each of which passes check.
func quantiles[T ~float64](v *checker, path string, q []T, check func(path string, x T)) {
	v.If(q != nil && len(q) < 2, path, nil, "needs at least two quantiles")
	for i, x := range q {
		at := fmt.Sprintf("%s[%d]", path, i)
		check(at, x)
		v.If(i > 0 && x < q[i-1], at, x, "must not be below the previous one")
	}
}
