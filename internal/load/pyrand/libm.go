package pyrand

import "math"

// Logarithm and power, computed in about a hundred bits and rounded once. The
// functions of package math differ in the last bit between architectures, and so
// would these without their conversions to float64 (see legacy.go).

// A wide is the unevaluated sum of two floats, |lo| ≤ ½ ulp(hi), which carries
// about 106 bits (Dekker, "A Floating-Point Technique for Extending the
// Available Precision", 1971).
type wide struct{ hi, lo float64 }

// wideLn2 is ln 2: its float64, and the float64 of the remainder.
var wideLn2 = wide{math.Ln2, 2.3190468138462996e-17}

// widen normalises a + b, for |a| ≥ |b| or a = 0.
func widen(a, b float64) wide {
	s := a + b
	return wide{s, b - (s - a)}
}

func (x wide) add(y wide) wide {
	s := x.hi + y.hi
	t := s - x.hi
	err := (x.hi - (s - t)) + (y.hi - t)
	return widen(s, err+(x.lo+y.lo))
}

func (x wide) mul(y wide) wide {
	p := float64(x.hi * y.hi)
	err := math.FMA(x.hi, y.hi, -p)
	return widen(p, err+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

func (x wide) div(y wide) wide {
	q := x.hi / y.hi
	rest := x.add(y.mul(wide{hi: -q}))
	return widen(q, rest.hi/y.hi)
}

// logWide is the natural logarithm of a positive finite x. With x = m·2^e and
// m within a factor √2 of 1,
//
//	ln x = e·ln 2 + 2·artanh s,  s = (m-1)/(m+1),  |s| < 0.172
//	artanh s = s·(1 + s²/3 + s⁴/5 + …)
//
// and 21 terms leave an error below 2^-106.
func logWide(x float64) wide {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := wide{hi: m - 1}.div(wide{hi: m}.add(wide{hi: 1}))
	square := s.mul(s)
	var sum wide
	for k := 41.0; k >= 1; k -= 2 {
		sum = sum.mul(square).add(wide{hi: 1}.div(wide{hi: k}))
	}
	twice := s.mul(wide{hi: 2})
	return wideLn2.mul(wide{hi: float64(e)}).add(sum.mul(twice))
}

// log is the natural logarithm of x ≥ 0.
func log(x float64) float64 {
	if x == 0 {
		return math.Inf(-1)
	}
	return logWide(x).hi
}

// pow is x to the power y for finite x ≥ 0 and y > 0: e^(y·ln x), with the
// exponent split into n·ln 2 + r, |r| ≤ ½ ln 2, and 24 terms of the series of
// e^r.
func pow(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	t := logWide(x).mul(wide{hi: y})
	if math.Abs(t.hi) > 800 {
		return math.Exp(t.hi) // 0 or +Inf
	}
	n := math.Round(t.hi / math.Ln2)
	r := t.add(wideLn2.mul(wide{hi: -n}))
	sum := wide{hi: 1}
	for k := 24.0; k >= 1; k-- {
		sum = sum.mul(r).div(wide{hi: k}).add(wide{hi: 1})
	}
	return math.Ldexp(sum.hi, int(n))
}
