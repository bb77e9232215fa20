package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/stats"
)

// rates are counts over simulated experiments.
type rates struct {
	alarms      int // experiments without a difference in which some figure of some variant differs at some look
	held, of    int // intervals that held the truth at all looks
	some, found int // experiments, and figures, of which an effect was found
	figures     int
	legs, idle  int // until all is settled, with an effect and without one
	experiments int
}

func (r rates) alarmRate() float64 { return float64(r.alarms) / float64(r.experiments) }
func (r rates) coverage() float64  { return float64(r.held) / float64(r.of) }
func (r rates) power() float64     { return float64(r.found) / float64(r.figures) }

func (r *rates) add(o rates) {
	r.alarms, r.held, r.of = r.alarms+o.alarms, r.held+o.held, r.of+o.of
	r.some, r.found, r.figures = r.some+o.some, r.found+o.found, r.figures+o.figures
	r.legs, r.idle, r.experiments = r.legs+o.legs, r.idle+o.idle, r.experiments+o.experiments
}

// rate counts over experiments, on all processors, with seeds of their own.
func (w world) rate(t *testing.T, experiments int, effects []float64, looks bool) (sum rates) {
	t.Helper()
	var lock sync.Mutex
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		all.Go(func() {
			for i := worker; i < experiments; i += workers {
				one := w.count(uint64(i), effects, looks)
				lock.Lock()
				sum.add(one)
				lock.Unlock()
			}
		})
	}
	all.Wait()
	return sum
}

// count makes one experiment without a difference and one with one.
func (w world) count(seed uint64, effects []float64, looks bool) (r rates) {
	r.experiments = 1
	null := w.experiment(rand.New(rand.NewPCG(seed, 1)))
	held := make([]bool, len(judgedFigures)*(w.variants-1))
	for i := range held {
		held[i] = true
	}
	settled, alarm := false, false
	for _, done := range w.looks(looks) {
		c := w.look(null, done, looks)
		i := 0
		for _, change := range c.Workloads[0].Changes() {
			held[i] = held[i] && change.Interval.Low <= 0 && change.Interval.High >= 0
			alarm = alarm || change.Verdict.Differs()
			i++
		}
		if settled = settled || c.Settled(); !settled || r.idle == 0 {
			r.idle = w.legs(done)
		}
	}
	for _, h := range held {
		if r.of++; h {
			r.held++
		}
	}
	if alarm {
		r.alarms = 1
	}
	if effects != nil {
		w.find(seed, effects, looks, &r)
	}
	return r
}

// index is which variant of the world stands in a column.
func index(c Comparison, column int) int { return int(c.Workloads[0].Variants[column].Name[0] - 'A') }

func (w world) looks(looks bool) (done []int) {
	for b := 1; b <= w.blocks; b++ {
		if b == w.blocks || looks && b >= (Looks{Most: w.blocks}).First() {
			done = append(done, b)
		}
	}
	return done
}

func (w world) legs(blocks int) int {
	if w.variants == 2 {
		return 4 * blocks
	}
	return w.variants * blocks
}

func (w world) look(runs []ComparedRun, done int, looks bool) Comparison {
	o := Options{Baseline: "A"}
	if looks {
		o.Looks = Looks{Done: done, Most: w.blocks}
	}
	return judged(blocksOf(runs, done), o)
}

// judged is Compare without what it tells beside verdicts, which takes most of its time.
func judged(runs []ComparedRun, o Options) Comparison {
	o = o.withDefaults()
	o.levels = levelsOf(o.Looks, nil)
	byLegs, _, rest := byLeg(pointers(runs))
	tables, err := split(byLegs, rest, o)
	if err != nil {
		panic(err)
	}
	of := tables[0]
	of.rows()
	for _, v := range of.variants {
		of.out.Variants = append(of.out.Variants, Variant{Name: v.name})
	}
	for _, v := range of.variants[1:] {
		for i, f := range of.contrast(of.variants[0], v) {
			of.lines[i].Cells[v.column].Change = o.settle(f)
		}
	}
	levelsOf(o.Looks, o.levels)
	c := Comparison{Level: o.Level, Margin: o.Margin, Workloads: []Workload{of.out}}
	c.Conclude()
	return c
}

// knownLevels are those of looks, which take most of the time of a judgement.
var knownLevels = struct {
	sync.Mutex
	of map[Looks]map[float64]float64
}{of: map[Looks]map[float64]float64{}}

// levelsOf are the levels of a look that are known, with those that are so.
func levelsOf(l Looks, more map[float64]float64) map[float64]float64 {
	knownLevels.Lock()
	defer knownLevels.Unlock()
	if knownLevels.of[l] == nil {
		knownLevels.of[l] = map[float64]float64{}
	}
	maps.Copy(knownLevels.of[l], more)
	return maps.Clone(knownLevels.of[l])
}

// find counts what is found of effects, by the look at which all is settled or the last one.
func (w world) find(seed uint64, effects []float64, looks bool, r *rates) {
	runs := w.experiment(rand.New(rand.NewPCG(seed, 2)), effects...)
	for _, done := range w.looks(looks) {
		c := w.look(runs, done, looks)
		if done < w.blocks && !c.Settled() {
			continue
		}
		some := 0
		for _, row := range c.Workloads[0].Rows {
			for v, cell := range row.Cells {
				if v == 0 || effects[index(c, v)] == 0 {
					continue
				}
				if r.figures++; cell.Change.Verdict.Differs() {
					some++
				}
			}
		}
		r.legs, r.found = w.legs(done), some
		if some > 0 {
			r.some = 1
		}
		return
	}
}

// oracle is what the best analysis finds of an effect of the last variant: of a single figure
// at the level, and of each of the figures that are judged together. It knows the world:
// whether there is a drift and there are blocks at all, and by how much the largest t of any
// figures exceeds what in experiments without a difference, of which it has 4000. It steps down
// as Westfall and Young do.
func (w world) oracle(effect float64, drifts bool) (single, joint float64) {
	rng := rand.New(rand.NewPCG(9, 9))
	null := make([][]float64, 4000)
	for i := range null {
		null[i], _ = w.bestTests(rng, 0, drifts)
	}
	const experiments = 500
	own := len(judgedFigures) // the last ones are those of the last variant
	for range experiments {
		ts, ps := w.bestTests(rng, effect, drifts)
		adjusted := stepDown(ts, null)
		for i := len(ts) - own; i < len(ts); i++ {
			if ps[i] <= 0.05 {
				single++
			}
			if adjusted[i] <= 0.05 {
				joint++
			}
		}
	}
	n := float64(experiments * own)
	return single / n, joint / n
}

// stepDown are p-values of t-values among as many in experiments without a difference.
func stepDown(ts []float64, null [][]float64) []float64 {
	order := make([]int, len(ts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ts[i], ts[j]) }) // the least first
	reached := make([]float64, len(ts))
	for _, x := range null {
		largest := 0.0
		for _, i := range order {
			if largest = max(largest, x[i]); largest >= ts[i] {
				reached[i] += 1 / float64(len(null))
			}
		}
	}
	least := 0.0
	for _, i := range slices.Backward(order) {
		least = max(least, reached[i])
		reached[i] = least
	}
	return reached
}

// bestTests are the absolute t-values and p-values of an experiment, variant by variant.
func (w world) bestTests(rng *rand.Rand, effect float64, drifts bool) (ts, ps []float64) {
	effects := make([]float64, w.variants)
	effects[w.variants-1] = effect
	byLegs, _, _ := byLeg(pointers(w.experiment(rng, effects...)))
	tables, err := split(byLegs, nil, Options{Baseline: "A"}.withDefaults())
	if err != nil {
		panic(err)
	}
	t := tables[0]
	t.rows()
	for v := 1; v < w.variants; v++ {
		column := slices.IndexFunc(t.variants, func(of *variant) bool { return of.name == string(rune('A'+v)) })
		for _, l := range t.lines {
			seen := t.observe(l)
			e := stats.TwoGroupsOf(seen.of(0), seen.of(column)).Pooled(stats.Mean(seen.of(column)) - stats.Mean(seen.of(0)))
			if drifts {
				e = t.design(seen, 0).Effects[column].Estimate(seen.y)
			}
			ts, ps = append(ts, math.Abs(e.Value/e.Error)), append(ps, e.P())
		}
	}
	return ts, ps
}

// TestExperimentRates counts over many experiments and prints tables for docs:
//
//	EXPERIMENTS=2000 go test ./internal/judge/compare -run TestExperimentRates -v -timeout 3h
func TestExperimentRates(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("EXPERIMENTS"))
	if err != nil {
		t.Skip("takes an hour: EXPERIMENTS=2000")
	}
	t.Run("fixed", func(t *testing.T) { fixedRates(t, n) })
	t.Run("five", func(t *testing.T) { fiveRates(t, n) })
	t.Run("looks", func(t *testing.T) { lookRates(t, n) })
	t.Run("oracle", oracleRates)
	t.Run("order", func(*testing.T) { orderRates(n) })
}

// effects are those of a world in which power is counted: of its last variant. In others it is
// not, for the time it takes.
func (w world) effects(effect float64) []float64 {
	if !w.power {
		return nil
	}
	out := make([]float64, w.variants)
	out[w.variants-1] = effect
	return out
}

func (r rates) powers() string {
	if r.figures == 0 {
		return "| "
	}
	return fmt.Sprintf("%.1f %% | %.1f %%", 100*r.power(), 100*float64(r.some)/float64(r.experiments))
}

var three = math.Log1p(0.03)

func fixedRates(t *testing.T, n int) {
	fmt.Println("| noise and drift | blocks | false alarms | intervals that hold | 3 % found, of the figures | in some figure |\n|---|---|---|---|---|---|")
	for i := range worlds(2, 2) {
		for _, blocks := range []int{2, 3, 4, 6, 8} {
			w := worlds(2, blocks)[i]
			r := w.rate(t, n, w.effects(three), false)
			fmt.Printf("| %s | %d | %.2f %% | %.2f %% | %s |\n", w.name, blocks, 100*r.alarmRate(), 100*r.coverage(), r.powers())
		}
	}
}

func fiveRates(t *testing.T, n int) {
	fmt.Println("| noise and drift | blocks | false alarms | intervals that hold | 3 % in one variant found, of the figures | in some figure |\n|---|---|---|---|---|---|")
	for i := range worlds(5, 2) {
		for _, blocks := range []int{5, 6, 10} {
			w := worlds(5, blocks)[i]
			if blocks == 6 && !w.power {
				continue
			}
			r := w.rate(t, n, w.effects(three), false)
			fmt.Printf("| %s | %d | %.2f %% | %.2f %% | %s |\n", w.name, blocks, 100*r.alarmRate(), 100*r.coverage(), r.powers())
		}
	}
	for _, blocks := range []int{5, 10} {
		w := worlds(5, blocks)[0]
		fmt.Printf("| %s, one variant +10 %%: alarms in the other three | %d | %.2f %% | | | |\n", w.name, blocks, 100*w.others(n))
	}
}

// others is how often one of three variants without an effect is called different beside a
// fourth one with a large effect.
func (w world) others(n int) float64 {
	alarms := 0
	for seed := range n {
		c := w.look(w.experiment(rand.New(rand.NewPCG(uint64(seed), 3)), 0, 0.1), w.blocks, false)
		some := func(r Row) bool {
			for v, cell := range r.Cells {
				if v > 0 && index(c, v) > 1 && cell.Change.Verdict.Differs() {
					return true
				}
			}
			return false
		}
		if slices.ContainsFunc(c.Workloads[0].Rows, some) {
			alarms++
		}
	}
	return float64(alarms) / float64(n)
}

func lookRates(t *testing.T, n int) {
	fmt.Println("| noise and drift | variants | blocks at most | false alarms at any look | intervals that hold at all looks | 3 % found, of the figures | in some figure | legs until settled | without a difference |\n|---|---|---|---|---|---|---|---|---|")
	for _, size := range [][2]int{{2, 4}, {2, 8}, {5, 6}} {
		for i, w := range worlds(size[0], size[1]) {
			if size != [2]int{2, 8} && i != 0 && i != 1 && i != 6 {
				continue
			}
			r := w.rate(t, n, w.effects(three), true)
			legs := ""
			if r.figures > 0 {
				legs = fmt.Sprintf("%.1f", float64(r.legs)/float64(n))
			}
			fmt.Printf("| %s | %d | %d | %.2f %% | %.2f %% | %s | %s | %.1f |\n", w.name, size[0], size[1],
				100*r.alarmRate(), 100*r.coverage(), r.powers(), legs, float64(r.idle)/float64(n))
		}
	}
}

func oracleRates(*testing.T) {
	fmt.Println("| variants | blocks | one figure alone | of 25 figures together, no drift, no blocks | of 25 figures together, with a drift |\n|---|---|---|---|---|")
	for _, size := range [][2]int{{2, 2}, {2, 3}, {2, 4}, {2, 8}, {5, 5}, {5, 6}} {
		w := worlds(size[0], size[1])[0]
		single, drift := w.oracle(three, true)
		flat := "" // of five variants the others would tell of the noise, too
		if size[0] == 2 {
			_, joint := w.oracle(three, false)
			flat = fmt.Sprintf("%.1f %%", 100*joint)
		}
		fmt.Printf("| %d | %d | %.1f %% | %s | %.1f %% |\n", size[0], size[1], 100*single, flat, 100*drift)
	}
}

// orderRates holds A B B A against A A B B under a drift of 5 %.
func orderRates(n int) {
	fmt.Println("| order | judged as | mean error of the change | intervals that hold | half their width |\n|---|---|---|---|---|")
	for _, order := range []struct {
		name string
		of   func(rng *rand.Rand, variants, block int) []int
	}{{"3 blocks A B B A or B A A B", abba}, {"3 blocks A A B B", aabb}, {"A six times, then B six times", beforeAfter}} {
		w := worlds(2, 3)[2]
		w.order = order.of
		for _, plain := range []bool{true, false} {
			bias, held, width := w.bias(n, plain)
			as := map[bool]string{true: "runs, without their place", false: "blocks"}[plain]
			fmt.Printf("| %s | %s | %+.2f %% | %.1f %% | %.1f %% |\n", order.name, as, 100*bias, 100*held, 100*width)
		}
	}
}

// bias is the mean of the change where there is none, the share of intervals that hold, and
// half their mean width.
func (w world) bias(n int, plain bool) (mean, held, width float64) {
	for seed := range n {
		runs := w.experiment(rand.New(rand.NewPCG(uint64(seed), 4)))
		for i := range runs {
			if plain {
				runs[i].Variant, runs[i].run.Leg = runs[i].run.Leg.Variant, nil
			}
		}
		c, err := Compare(runs, Options{Baseline: "A"})
		if err != nil {
			panic(err)
		}
		change := c.Workloads[0].Rows[0].Cells[1].Change
		width += (change.Interval.High - change.Interval.Low) / 2 / float64(n)
		if mean += change.Relative / float64(n); change.Interval.Low <= 0 && change.Interval.High >= 0 {
			held += 1 / float64(n)
		}
	}
	return mean, held, width
}
