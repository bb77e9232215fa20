package stats

import (
	"testing"
)

// Cohen (1988), table 2.4.1: 80 % at 0.05 takes 64 of each group for d = 0.5, 26
// for 0.8, 17 for 1. His 393 for 0.2 is an approximation; G*Power has 394, and 199
// pairs for 0.2, 34 for 0.5, 15 for 0.8, 10 for 1.
func TestRunsNeeded(t *testing.T) {
	for d, want := range map[float64][2]int{0.2: {394, 199}, 0.5: {64, 34}, 0.8: {26, 15}, 1: {17, 10}, -1: {17, 10}, 0.05: {0, 0}, 0: {0, 0}} {
		if n, m := RunsNeeded(1, d, false, 0.05, 0.8), RunsNeeded(1, d, true, 0.05, 0.8); n != want[0] || m != want[1] {
			t.Errorf("d = %v: %d runs, %d pairs, want %v", d, n, m, want)
		}
	}
	if n := RunsNeeded(3, 3, false, 0.05, 0.8); n != 17 {
		t.Errorf("d = 3/3: %d runs", n)
	}
	if n := RunsNeeded(0, 1, false, 0.05, 0.8); n != 2 {
		t.Errorf("without noise: %d runs", n)
	}
}

// How often Student's test finds 10 % with 5 and 5 runs and 5 % noise.
func TestPowerIsHowOftenATestFinds(t *testing.T) {
	dice := seeded("power", 5)
	found := 0
	for range dataSets {
		a, b := noises[0].runs(dice, 5), noises[0].runs(dice, 5)
		for i := range b {
			b[i] += 10
		}
		if StudentDifference(a, b).P() <= 0.05 {
			found++
		}
	}
	near(t, "found", float64(found)/dataSets, Power(5, 10, 5, false, 0.05), 0.02)
}
