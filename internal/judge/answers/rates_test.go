package answers

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

// long counts as many experiments as docs/answers.md has; without it there are enough to notice a rate that doubled.
var long = flag.Bool("long", false, "count false alarms and power over as many experiments as the docs state")

// shift is the offset, in units of the noise of a start, that multiplies the hazard: two starts differ at a tie if their
// noise, a normal number of deviation √2, takes the gap across zero.
func shift(ratio float64) float64 {
	s := math.Sqrt2
	mean := func(c float64) float64 {
		return s*math.Sqrt(2/math.Pi)*math.Exp(-c*c/(2*s*s)) + c*math.Erf(c/(s*math.Sqrt2))
	}
	low, high := 0.0, 100.0
	for range 60 {
		if c := (low + high) / 2; mean(c) < ratio*mean(0) {
			low = c
		} else {
			high = c
		}
	}
	return low
}

// floors are numbers of ties at which two starts of a variant differ in so many percent of the answers.
var floors = []struct {
	percent int
	ties    float64
}{{1, 0.9}, {9, 9}, {33, 45}, {58, 130}}

const noise = 0.02

// A rate is how often things happened.
type rate struct {
	of        int
	parts     map[Part]int
	any, same int
	floor     float64
}

// count makes experiments in a world.
func (w world) count(experiments int, seed uint64) rate {
	r := rate{parts: map[Part]int{}, of: experiments}
	rng := rand.New(rand.NewPCG(seed, 43))
	for range experiments {
		got := w.judge(rng, Options{Alpha: 0.05, Level: 0.95})
		for _, p := range got.Parts {
			r.parts[p]++
		}
		if got.Verdict == Changed {
			r.any++
		}
		if got.Verdict == Same {
			r.same++
		}
		r.floor += got.Before.Share() / float64(experiments)
	}
	return r
}

func (r rate) percent(n int) float64 { return 100 * float64(n) / float64(r.of) }

// quiet are the worlds without a change.
var quiet = []world{
	{name: "alike"},
	{name: "noise differs by 30 %", noisier: 1.3},
	{name: "each start picks one of two kernels", kernels: 2},
	{name: "kernels twice as far apart", kernels: 4},
	{name: "noise grows by 30 % within a block", grows: 0.3},
	{name: "alike, lengths open", open: true},
	{name: "1 % defective", broken: [2]float64{0.01, 0.01}},
	{name: "1 % defective, by half more or less at each start", broken: [2]float64{0.01, 0.01}, varies: 0.5},
}

func (w world) at(floor, blocks, requests int) world {
	w.ties, w.noise, w.blocks, w.requests = floors[floor].ties, noise, blocks, requests
	return w
}

// A world without a change: false alarms are rarer than 6 %, in the short form beyond doubt (P < 0.1 %).
func TestFalseAlarms(t *testing.T) {
	if !*long {
		for _, w := range []world{quiet[0], quiet[2]} {
			if r := w.at(1, 3, 50).count(300, 21); r.any > 32 { // 6 % of 300 are 18
				t.Errorf("%s: %d of 300 experiments are false alarms", w.name, r.any)
			}
		}
		return
	}
	t.Log("| starts | requests | floor | hazard | defects | repeat | length | any | shown the same |")
	for _, w := range quiet {
		for _, size := range [][2]int{{2, 50}, {2, 200}, {3, 50}, {3, 200}, {5, 200}} {
			for i := range floors {
				r := w.at(i, size[0], size[1]).count(1000, 22)
				t.Logf("| %s | %d x %d | %.0f %% | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |", w.name, size[0], size[1], 100*r.floor,
					r.percent(r.parts[Hazard]), r.percent(r.parts[Defects]), r.percent(r.parts[Repeat]), r.percent(r.parts[Length]), r.percent(r.any), r.percent(r.same))
			}
		}
	}
}

// changes are what is to be found.
var changes = []world{
	{name: "hazard x 1.25", change: shift(1.25)},
	{name: "hazard x 1.5", change: shift(1.5)},
	{name: "hazard x 2", change: shift(2)},
	{name: "hazard x 3", change: shift(3)},
	{name: "twice as noisy", noisier: 2},
	{name: "1 % broken", broken: [2]float64{0, 0.01}, everywhere: true},
	{name: "1 to 2 % broken", broken: [2]float64{0.01, 0.02}, everywhere: true},
	{name: "hazard x 2, lengths open", change: shift(2), open: true},
	{name: "5 % longer", longer: 0.05, open: true},
}

func TestPower(t *testing.T) {
	if !*long {
		if r := changes[2].at(1, 3, 50).count(60, 23); r.any < 45 { // of 92 % P < 0.1 %
			t.Errorf("a hazard that doubled is found in %d of 60", r.any)
		}
		if r := changes[5].at(1, 3, 200).count(40, 24); r.any < 28 {
			t.Errorf("1 %% of broken answers are found in %d of 40", r.any)
		}
		return
	}
	t.Log("| change | requests | floor | hazard | defects | repeat | length | any |")
	for _, w := range changes {
		for _, size := range [][2]int{{2, 200}, {3, 50}, {3, 200}, {4, 200}} {
			for i := range floors {
				r := w.at(i, size[0], size[1]).count(400, 25)
				t.Logf("| %s | %d x %d | %.0f %% | %.1f | %.1f | %.1f | %.1f | %.1f |", w.name, size[0], size[1], 100*r.floor,
					r.percent(r.parts[Hazard]), r.percent(r.parts[Defects]), r.percent(r.parts[Repeat]), r.percent(r.parts[Length]), r.percent(r.any))
			}
		}
	}
}
