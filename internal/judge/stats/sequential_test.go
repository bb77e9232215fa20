package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// bounds are levels as bounds of z.
func bounds(levels []float64) (z []float64) {
	for _, p := range levels {
		z = append(z, distuv.UnitNormal.Quantile(1-p/2))
	}
	return z
}

// The bounds of five looks at 0.05 by Lan and DeMets's spending function after O'Brien and
// Fleming, each side with half of it, as textbooks and the program of Reboussin et al. (2000) print them.
func TestBoundsAreThePublishedOnes(t *testing.T) {
	spend := func(share float64) float64 {
		if share <= 0 {
			return 0
		}
		return 4 * distuv.UnitNormal.Survival(distuv.UnitNormal.Quantile(1-0.05/4)/math.Sqrt(share))
	}
	want := []float64{4.8769, 3.3569, 2.6803, 2.2898, 2.0310}
	for i, z := range bounds(levels(5, 5, spend)) {
		if math.Abs(z-want[i]) > 5e-4 {
			t.Errorf("look %d: %.4f, want %.4f", i+1, z, want[i])
		}
	}
}

// Pocock's constant of five looks at 0.05 is 2.413, and that of O'Brien and Fleming 2.040
// (Jennison and Turnbull 2000, tables 2.1 and 2.3): such bounds are left with 0.05.
func TestConstantsLeaveWhatTheySay(t *testing.T) {
	for name, bound := range map[string]func(k float64) float64{
		"Pocock":              func(float64) float64 { return 2.413 },
		"O'Brien and Fleming": func(k float64) float64 { return 2.040 * math.Sqrt(5/k) },
	} {
		p, left := start(), 0.0
		for k := 1.0; k <= 5; k++ {
			at := bound(k) * math.Sqrt(k/5)
			left += p.beyond(at, math.Sqrt(0.2))
			p = p.next(at, math.Sqrt(0.2))
		}
		if math.Abs(left-0.05) > 1e-4 {
			t.Errorf("%s: left with %.5f", name, left)
		}
	}
}

func TestLevel(t *testing.T) {
	if l := Level(0.05, 1, 1); l != 0.05 {
		t.Errorf("one look: %v", l)
	}
	if l := Level(0.05, 0, 0); l != 0.05 {
		t.Errorf("no looks: %v", l)
	}
	sum := 0.0
	for k := 1; k <= 30; k++ {
		l := Level(0.05, k, 30)
		if sum += l; l >= 0.05 || l < 0.05/900*0.999 {
			t.Errorf("look %d of 30: %v", k, l)
		}
	}
	if sum < 0.05 {
		t.Errorf("the levels sum up to %v", sum)
	}
}
