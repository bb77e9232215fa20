package arrival

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Duration is a distribution of durations. Its zero value is the constant 0.
//
//	20ms                  always 20 ms
//	uniform(10ms,30ms)    flat between the two
//	normal(20ms,2ms)      mean and standard deviation, redrawn below 0
//	lognormal(20ms,0.3)   mean and coefficient of variation
//	exponential(20ms)     mean
//	gamma(20ms,0.5)       mean and coefficient of variation
//
// A mean is the mean of the draws, not a parameter of the logarithm. The exception
// is a normal truncated at 0: its mean is above the stated one unless the standard
// deviation is comparatively small.
type Duration struct{ law distSpec }

// FixedDuration is the Duration that always draws d, or 0 if d is negative.
func FixedDuration(d time.Duration) Duration { return Duration{distSpec{a: float64(max(d, 0))}} }

// ParseDuration parses the text form of a Duration.
func ParseDuration(s string) (Duration, error) {
	l, err := parseLaw(s, durationUnit())
	return Duration{l}, err
}

// Draw draws a duration, never negative, from r.
func (d Duration) Draw(r *rand.Rand) time.Duration {
	return time.Duration(math.Round(min(d.law.draw(r), float64(Longest))))
}

// Fixed returns the value of a constant Duration.
func (d Duration) Fixed() (time.Duration, bool) {
	return time.Duration(min(d.law.a, float64(Longest))), d.law.shape == constant
}

// Longest is the limit for a heavy tail, 73 years: the sum of two still fits a
// time.Duration.
const Longest time.Duration = 1 << 61

// String is the text form; ParseDuration parses it to the same Duration.
func (d Duration) String() string { return d.law.text(durationUnit()) }

// MarshalText returns the text form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the text form.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDuration(string(text))
	return err
}

// A Count is a distribution of integers from 1 to plan.MaxTokens, written like a Duration but
// without units: 128, uniform(64,256), lognormal(128,0.5). Draws are rounded to the
// nearest integer. Its zero value means "not set".
type Count struct{ law distSpec }

// ConstantCount is the Count that always draws n.
func ConstantCount(n int) Count { return Count{distSpec{a: float64(max(n, 1))}} }

// LognormalCount is the lognormal Count with this mean and coefficient of
// variation.
func LognormalCount(mean, cv float64) Count { return Count{distSpec{shape: lognormal, a: mean, b: cv}} }

// ParseCount parses the text form of a Count.
func ParseCount(s string) (Count, error) {
	l, err := parseLaw(s, countUnit())
	if err == nil && l == (distSpec{}) {
		return Count{}, fmt.Errorf("%q: a count must be at least 1", s)
	}
	return Count{l}, err
}

// Draw draws an integer, at least 1, from r.
func (c Count) Draw(r *rand.Rand) int {
	const limit = plan.MaxTokens // for a heavy tail
	l := c.law
	if l.shape == uniform { // the ends are as likely as the other values
		l.a, l.b = l.a-0.5, l.b+0.5
		return int(max(min(math.Round(l.draw(r)), c.law.b), c.law.a, 1))
	}
	return int(max(math.Round(min(l.draw(r), limit)), 1))
}

func (c Count) String() string { return c.law.text(countUnit()) }

// MarshalText returns the text form.
func (c Count) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses the text form.
func (c *Count) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCount(string(text))
	return err
}

type shape uint8

const (
	constant shape = iota
	uniform
	normal
	lognormal
	exponential
	gamma
)

// A distSpec is a shape with its one or two arguments, as written. Durations are in
// nanoseconds.
type distSpec struct {
	shape shape
	a, b  float64
}

func (l distSpec) draw(r *rand.Rand) float64 {
	switch l.shape {
	case uniform:
		return l.a + float64(r.Float64()*(l.b-l.a)) // rounded separately: fused products differ between machines
	case normal:
		for {
			if x := l.a + float64(l.b*r.NormFloat64()); x >= 0 {
				return x
			}
		}
	case lognormal:
		// For X = exp(N(m,s)): mean = exp(m+s²/2), cv² = exp(s²)-1.
		v := math.Log1p(l.b * l.b)
		return l.a * math.Exp(float64(math.Sqrt(v)*r.NormFloat64())-v/2)
	case exponential:
		return l.a * r.ExpFloat64()
	case gamma:
		return l.a * gammaUnitMean(r, l.b)
	}
	return l.a
}

// gammaUnitMean draws from the gamma distribution with mean 1 and coefficient of
// variation cv, which has shape k = 1/cv² and scale cv². Marsaglia and Tsang, "A
// simple method for generating gamma variables", 2000; a shape below 1 is drawn as
// Gamma(k+1)·U^(1/k).
func gammaUnitMean(r *rand.Rand, cv float64) float64 {
	if cv < 1e-6 { // 1 to six digits, and 1/cv² would have no end
		return 1
	}
	k, boost := 1/(cv*cv), 1.0
	scale := 1 / k
	if k < 1 {
		boost = math.Pow(r.Float64(), 1/k)
		k++
	}
	d := k - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * boost * scale
		}
	}
}

// A unit is the notation of the arguments with a unit.
type unit struct {
	example string
	most    float64             // largest value accepted
	hint    func(string) string // how to write a text that is none; empty: not known
	parse   func(string) (float64, error)
	format  func(float64) string
}

func durationUnit() unit {
	return unit{
		example: "a duration such as 20ms",
		most:    float64(24 * time.Hour),
		hint:    func(s string) string { return plan.Units(s, "ms", "s") },
		parse: func(s string) (float64, error) {
			d, err := time.ParseDuration(s)
			return float64(d), err
		},
		format: func(x float64) string { return time.Duration(x).String() },
	}
}

func countUnit() unit {
	return unit{
		example: "a whole number such as 128",
		most:    plan.MaxTokens,
		hint: func(s string) string {
			if h := plan.Spelling(s); h != "" {
				return "must be a whole number" + h
			}
			return ""
		},
		parse: func(s string) (float64, error) {
			n, err := strconv.ParseInt(s, 10, 32)
			return float64(n), err
		},
		format: func(x float64) string { return strconv.FormatInt(int64(x), 10) },
	}
}

// ratioUnit is that of a cv. Above its limit nearly every draw is 0.
func ratioUnit() unit {
	return unit{
		example: "a number such as 0.5",
		most:    100,
		hint:    func(string) string { return "" },
		parse:   func(s string) (float64, error) { return strconv.ParseFloat(s, 64) },
		format:  func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) },
	}
}

// A form is the notation of a shape: its name and arguments. An argument named cv
// is a plain number; the others have the unit.
type form struct {
	name string
	args []string
}

var forms = [...]form{
	uniform:     {"uniform", []string{"low", "high"}},
	normal:      {"normal", []string{"mean", "sd"}},
	lognormal:   {"lognormal", []string{"mean", "cv"}},
	exponential: {"exponential", []string{"mean"}},
	gamma:       {"gamma", []string{"mean", "cv"}},
}

func (l distSpec) text(u unit) string {
	f := forms[l.shape]
	switch len(f.args) {
	case 0:
		return u.format(l.a)
	case 1:
		return fmt.Sprintf("%s(%s)", f.name, u.format(l.a))
	}
	second := u.format(l.b)
	if f.args[1] == "cv" {
		second = ratioUnit().format(l.b)
	}
	return fmt.Sprintf("%s(%s,%s)", f.name, u.format(l.a), second)
}

func parseLaw(s string, u unit) (distSpec, error) {
	name, rest, call := strings.Cut(strings.TrimSpace(s), "(")
	if !call {
		a, err := parseArg("value", name, u)
		if err != nil && u.hint(name) != "" {
			return distSpec{}, fmt.Errorf("%q: %s", s, u.hint(name))
		}
		if err != nil {
			return distSpec{}, fmt.Errorf("%q: %w; %s", s, err, allowedForms(u))
		}
		return distSpec{a: a}, nil
	}
	inner, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return distSpec{}, fmt.Errorf("%q: missing the closing parenthesis", s)
	}
	l, err := parseCall(strings.TrimSpace(name), strings.Split(inner, ","), u)
	if err != nil {
		return distSpec{}, fmt.Errorf("%q: %w", s, err)
	}
	return l, nil
}

func parseCall(name string, args []string, u unit) (distSpec, error) {
	var names []string
	for i, f := range forms[uniform:] {
		if f.name != name {
			names = append(names, f.name)
			continue
		}
		if len(args) != len(f.args) {
			return distSpec{}, fmt.Errorf("%s takes (%s), got %d arguments", name, strings.Join(f.args, ","), len(args))
		}
		return parseArgs(uniform+shape(i), f, args, u)
	}
	return distSpec{}, fmt.Errorf("unknown distribution %q%s; %s", name, plan.Suggest(name, names), allowedForms(u))
}

func parseArgs(s shape, f form, args []string, u unit) (distSpec, error) {
	l := distSpec{shape: s}
	for i, dst := range []*float64{&l.a, &l.b}[:len(args)] {
		v, err := parseArg(f.args[i], strings.TrimSpace(args[i]), u)
		if err != nil {
			return distSpec{}, err
		}
		*dst = v
	}
	if s == uniform && l.a > l.b {
		return distSpec{}, fmt.Errorf("low %s is above high %s", u.format(l.a), u.format(l.b))
	}
	return l, nil
}

func parseArg(what, s string, u unit) (float64, error) {
	if what == "cv" {
		u = ratioUnit()
	}
	v, err := u.parse(s)
	switch {
	case err != nil && u.hint(s) != "":
		return 0, fmt.Errorf("%s %q %s", what, s, u.hint(s))
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%s %q is not %s", what, s, u.example)
	case v < 0:
		return 0, fmt.Errorf("%s %q is negative", what, s)
	case v > u.most:
		return 0, fmt.Errorf("%s %q is above %s", what, s, u.format(u.most))
	}
	return v, nil
}

func allowedForms(u unit) string {
	out := []string{u.example}
	for _, f := range forms[uniform:] {
		out = append(out, f.name+"("+strings.Join(f.args, ",")+")")
	}
	return "allowed: " + strings.Join(out, ", ")
}
