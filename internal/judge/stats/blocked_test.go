package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inOrder are units, one leg each, block by block; a dot is a leg that failed.
func inOrder(blocks ...string) (units []Unit) {
	at := 0.0
	for b, row := range blocks {
		for _, name := range row {
			if at++; name != '.' {
				units = append(units, Unit{Variant: int(name - 'A'), Block: b, Position: at, First: at})
			}
		}
	}
	return units
}

// values are of blocks at 1, 2, ..., a drift of 0.01 per leg, and variants at multiples of 0.1.
func values(units []Unit, drift float64) (y []float64) {
	for _, u := range units {
		y = append(y, float64(u.Block+1)+drift*u.Position+0.1*float64(u.Variant))
	}
	return y
}

func blockedNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestEffectsAreThoseOfTheModel(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []string
		df     int
		drift  bool
		factor float64 // of the first effect
	}{
		{"n blocks have 3n-2", []string{"ABBA", "BAAB", "ABBA"}, 7, true, 1 / math.Sqrt(3)},
		{"one block", []string{"ABBA"}, 1, true, 1},
		{"a leg that failed", []string{"ABBA", "BA.B"}, 3, true, 0},
		{"blocks of one variant tell nothing of the effect", []string{"ABBA", "A...", ".B.B"}, 2, true, 0},
		{"five variants", []string{"ABECD", "BCADE", "CDBEA"}, 7, true, 0},
		{"pairs in both orders", []string{"AB", "BA", "AB", "BA"}, 2, true, 1 / math.Sqrt(2)},
		{"AABB has little left", []string{"AABB", "AABB"}, 4, true, math.Sqrt(2.5)},
	} {
		units := inOrder(c.blocks...)
		variants := 0
		for _, u := range units {
			variants = max(variants, u.Variant+1)
		}
		d := New(units, variants)
		y := values(units, 0.01)
		for v := 1; v < variants; v++ {
			e := d.Effects[v]
			blockedNear(t, c.name, e.Value(y), 0.1*float64(v))
			blockedNear(t, c.name+": noise", e.SD(y), 0)
			if e.DF() != c.df || d.Drift != c.drift {
				t.Errorf("%s: %d degrees of freedom, drift %v", c.name, e.DF(), d.Drift)
			}
		}
		if c.factor > 0 {
			blockedNear(t, c.name+": factor", d.Effects[1].Factor, c.factor)
		}
		blockedNear(t, c.name+": slope", d.Slope.Value(y), 0.01)
	}
}

// A block in which each unit met requests of its own is judged where no other tells more: what they differ in is
// noise. Where others pair their units, it is left out.
func TestUnitsThatShareNoRequests(t *testing.T) {
	units := inOrder("ABBA", "BAAB")
	for i := range units {
		units[i].Load = i
	}
	if d := New(units, 2); d.Effects[1] == nil || d.Effects[1].DF() != 4 {
		t.Fatalf("%+v", d.Effects[1])
	} else {
		blockedNear(t, "effect", d.Effects[1].Value(values(units, 0.01)), 0.1)
	}
	for i := range 4 {
		units[i].Load = []int{0, 0, 1, 1}[i]
	}
	y := values(units, 0)
	y[4] += 100
	if d := New(units, 2); d.Effects[1] == nil {
		t.Fatal("no effect")
	} else {
		blockedNear(t, "effect of the pairs", d.Effects[1].Value(y), 0.1)
	}
}

func TestDriftThatCannotBeToldIsLeft(t *testing.T) {
	units := inOrder("AB", "AB", "AB")
	d := New(units, 2)
	if d.Drift || d.Effects[1].DF() != 2 || d.Slope != nil {
		t.Errorf("drift %v, %+v", d.Drift, d.Effects[1])
	}
	blockedNear(t, "with the drift", d.Effects[1].Value(values(units, 0.01)), 0.11)
	if d := New(inOrder("AB", "BA"), 2); d.Drift || d.Effects[1].DF() != 1 {
		t.Errorf("two pairs have one degree of freedom without a slope: drift %v", d.Drift)
	}
	for _, blocks := range [][]string{{"A", "B"}, {"AAAA"}, {"BB", "BB"}} {
		if d := New(inOrder(blocks...), 2); d.Effects[1] != nil {
			t.Errorf("%q have an effect", blocks)
		}
	}
	if e := New(inOrder("AB"), 2).Effects[1]; e.DF() != 0 || !math.IsNaN(e.SD([]float64{1, 2})) {
		t.Errorf("one pair has noise: %+v", e)
	}
}

func TestOrderIsWhatTheFirstOneGains(t *testing.T) {
	units := inOrder("ABBA", "BAAB", "ABBA")
	y := values(units, 0)
	for i, u := range units {
		if u.Block != 1 && u.Variant == 1 { // A leads
			y[i] += 0.03
		}
	}
	d := New(units, 2)
	blockedNear(t, "order", d.Orders[1].Value(y), 0.03)
	if d := New(inOrder("ABBA", "ABBA"), 2); d.Orders[1] != nil {
		t.Error("A always leads")
	}
}

// Coordinates of noise are of one variance and independent: their squares add up to what
// blocks and slope leave.
func TestCoordinatesKeepLengths(t *testing.T) {
	units := inOrder("ABBA", "BAAB", "A.BA")
	d := New(units, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	y := make([]float64, len(units))
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	e := d.Effects[1]
	x := e.Coordinates(y)
	blockedNear(t, "sd", math.Sqrt((dot(x, x)-x[0]*x[0])/float64(e.DF())), e.SD(y))
	blockedNear(t, "effect", x[0]*e.Factor, e.Value(y))
	left := 0.0
	for _, q := range newSpace(d.nuisance(true)).complement(len(units)) {
		left += math.Pow(dot(q, y), 2)
	}
	blockedNear(t, "length", dot(x, x), left)
}

// Noise of variances 1 and 36 in A B B A and B A A B. Of the orthonormal directions of noise
// (-1, 3, -3, 1)/√20 has (2·1 + 18·36)/20 = 32.5 in the first block and 4.5 in the second, the
// difference of both effects and that of both slopes have 18.5 each, and the first two share
// ∓10.5/√2 with the last: trace 74, squares 1981.5, 2.7636 degrees of freedom instead of 4. The
// mean, 18.5, is that of the effect.
func TestVariantsThatDifferInNoiseByHand(t *testing.T) {
	d := New(inOrder("ABBA", "BAAB"), 2)
	factor, df := d.Unlike(d.Effects[1], Noise{1, 36})
	blockedNear(t, "factor", factor, d.Effects[1].Factor)
	blockedNear(t, "degrees of freedom", df, 74*74/1981.5)
	factor, df = d.Unlike(d.Effects[1], Noise{1, 1})
	blockedNear(t, "factor, alike", factor, d.Effects[1].Factor)
	blockedNear(t, "degrees of freedom, alike", df, 4)
	// Of five variants the noisy one shows a fifth of its noise in the common deviation.
	d = New(inOrder("ABECD", "BCADE", "CDBEA"), 5)
	quiet, _ := d.Unlike(d.Effects[2], Noise{1, 1, 1, 1, 25})
	loud, _ := d.Unlike(d.Effects[4], Noise{1, 1, 1, 1, 25})
	if !(quiet < 0.6*d.Effects[2].Factor) || !(loud > 1.3*d.Effects[4].Factor) {
		t.Errorf("%v and %v of %v", quiet, loud, d.Effects[2].Factor)
	}
}

func TestNoiseOfVariantsIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, want := range []Noise{{1, 36}, {1, 1}, {4, 1}} {
		units := inOrder("ABBA", "BAAB", "BAAB", "ABBA")
		d := New(units, 2)
		figures := [][]float64{make([]float64, len(units))} // one that never varies
		for range 400 {
			y := values(units, 0.01)
			for i, u := range units {
				y[i] += math.Sqrt(want[u.Variant]) * rng.NormFloat64()
			}
			figures = append(figures, y)
		}
		got := d.Noise(figures)
		if ratio := got[1] / got[0] / (want[1] / want[0]); ratio < 0.7 || ratio > 1.4 {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := New(inOrder("ABBA"), 2).Noise([][]float64{{1, 1, 1, 1}}); got[0] != 1 || got[1] != 1 {
		t.Errorf("without noise: %v", got)
	}
}
