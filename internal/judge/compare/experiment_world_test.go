package compare

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// judgedFigures are those of a simulated leg: each shares half of its noise with all others.
var judgedFigures = strings.Fields(`ttft.mean ttft.median ttft.p90 ttft.p95 ttft.p99 tpot.mean tpot.median tpot.p90 tpot.p95 tpot.p99
	itl.mean itl.median itl.p90 itl.p95 itl.p99 e2el.mean e2el.median e2el.p90 e2el.p99
	throughput.output throughput.total throughput.requests throughput.input goodput duration`)

// latencies is how many of them, the first ones, are latencies.
const latencies = 19

// A world is what experiments are made in.
type world struct {
	name     string
	variants int
	blocks   int
	runs     int     // of a server start
	start    float64 // standard deviation between server starts
	run      float64 // between runs of a start
	one      func(rng *rand.Rand) float64
	drift    func(share, leg float64) float64 // of all figures, by share of the experiment and number of the leg
	walk     float64                          // standard deviation of a step from leg to leg
	stall    float64                          // of the latencies of one leg
	power    bool                             // is counted in it
	order    func(rng *rand.Rand, variants, block int) []int
}

func normal(rng *rand.Rand) float64 { return rng.NormFloat64() }

// heavy has Student's distribution with 3 degrees of freedom, scaled to a deviation of 1.
func heavy(rng *rand.Rand) float64 {
	square := 0.0
	for range 3 {
		square += math.Pow(rng.NormFloat64(), 2)
	}
	return rng.NormFloat64() / math.Sqrt(square/3) / math.Sqrt(3)
}

// skewed is lognormal noise of a deviation of 1 about 0.
func skewed(rng *rand.Rand) float64 {
	return (math.Exp(rng.NormFloat64()) - math.Exp(0.5)) / math.Sqrt((math.E-1)*math.E)
}

// scatter adds noise of a deviation to the figures of a leg or a run.
func (w world) scatter(rng *rand.Rand, sd float64, logs []float64) {
	if sd == 0 {
		return
	}
	shared := w.one(rng)
	for i := range logs {
		logs[i] += sd * (shared + w.one(rng)) / math.Sqrt2
	}
}

// abba is A B B A or B A A B, by chance.
func abba(rng *rand.Rand, _, _ int) []int {
	if rng.IntN(2) == 0 {
		return []int{1, 0, 0, 1}
	}
	return []int{0, 1, 1, 0}
}

func aabb(*rand.Rand, int, int) []int { return []int{0, 0, 1, 1} }

// beforeAfter is all of A before all of B, in three blocks of four.
func beforeAfter(_ *rand.Rand, _, block int) []int {
	return [][]int{{0, 0, 0, 0}, {0, 0, 1, 1}, {1, 1, 1, 1}}[block]
}

// williams are rows of Williams's (1949) squares: each variant once in a block, and after
// each other one equally often over all rows.
func williams(rng *rand.Rand, variants, block int) []int {
	row := make([]int, variants)
	for i := range row {
		at := (i + 1) / 2
		if i%2 == 0 {
			at = variants - i/2
		}
		row[i] = (at + block) % variants
	}
	if rng.IntN(2) == 0 {
		for i, j := 0, variants-1; i < j; i, j = i+1, j-1 {
			row[i], row[j] = row[j], row[i]
		}
	}
	return row
}

// experiment makes the runs of all blocks; effects are of the variants, as logarithms.
func (w world) experiment(rng *rand.Rand, effects ...float64) (runs []ComparedRun) {
	n := len(judgedFigures)
	walked := make([]float64, n)
	var order [][]int
	legs := 0
	for b := range w.blocks {
		order = append(order, w.order(rng, w.variants, b))
		legs += len(order[b])
	}
	stalled, at := rng.IntN(legs), 0
	for b, row := range order {
		for slot, v := range row {
			w.scatter(rng, w.walk, walked)
			leg := make([]float64, n)
			w.scatter(rng, w.start, leg)
			for i := range leg {
				leg[i] += walked[i]
				if w.drift != nil {
					leg[i] += w.drift(float64(at)/float64(legs-1), float64(at))
				}
				if v < len(effects) {
					leg[i] += effects[v]
				}
				if at == stalled && i < latencies {
					leg[i] += math.Log1p(w.stall)
				}
			}
			at++
			for repeat := range w.runs {
				logs := append([]float64(nil), leg...)
				w.scatter(rng, w.run, logs)
				runs = append(runs, legRun(trace.Leg{
					Variant: string(rune('A' + v)), Block: b + 1, Slot: slot + 1, Position: at, ServerStart: at, Repeat: repeat + 1,
				}, logs))
			}
		}
	}
	return runs
}

// legRun is a run of a leg, with figures as logarithms.
func legRun(leg trace.Leg, logs []float64) ComparedRun {
	leg.Experiment, leg.Workload = "e", "chat"
	id := "leg-" + strconv.Itoa(leg.Position) + "-" + strconv.Itoa(leg.Repeat)
	r := ComparedRun{run: trace.Run{ID: id, Name: id, Status: trace.Complete, Leg: &leg, Plan: trace.Load{Dialect: "pitot", Requests: 100}}}
	for i, l := range logs {
		f := trace.ReportedFigure{Name: judgedFigures[i], Value: math.Exp(l)}
		r.figures = append(r.figures, runFigure{ReportedFigure: f, definition: foreign.Definition("pitot", f.Name)})
	}
	return r
}

// blocksOf are the runs of the first blocks.
func blocksOf(runs []ComparedRun, blocks int) (out []ComparedRun) {
	for _, r := range runs {
		if r.run.Leg.Block <= blocks {
			out = append(out, r)
		}
	}
	return out
}

// worlds are those that rates are counted in, for a number of variants and blocks.
func worlds(variants, blocks int) []world {
	base := world{name: "noise 1 % between legs", variants: variants, blocks: blocks, runs: 1, start: 0.01, one: normal, order: abba, power: true}
	if variants > 2 {
		base.order = williams
	}
	with := func(name string, change func(w *world)) world {
		w := base
		w.name, w.power = name, variants == 2 && blocks != 4 && blocks != 6
		change(&w)
		return w
	}
	return []world{
		base,
		with("starts 1 %, runs 1 %, 3 runs a start", func(w *world) { w.run, w.runs = 0.01, 3 }),
		with("linear drift 5 %", func(w *world) { w.drift = func(share, _ float64) float64 { return 0.05 * share } }),
		with("warm-up 5 %, fading by e every 2 legs", func(w *world) { w.drift = func(_, leg float64) float64 { return 0.05 * math.Exp(-leg/2) } }),
		with("random walk, 0.5 % a leg", func(w *world) { w.walk = 0.005 }),
		with("one stalled leg, latencies +20 %", func(w *world) { w.stall = 0.2 }),
		with("lognormal noise", func(w *world) { w.one, w.power = skewed, false }),
		with("heavy tails (t, 3 degrees of freedom)", func(w *world) { w.one, w.power = heavy, false }),
	}
}
