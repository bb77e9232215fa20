package experiment

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// A Noise is how much the figures of a load vary on a machine, as an experiment saw it.
type Noise struct {
	Machine string        `json:"machine"` // of the server
	Model   string        `json:"model"`
	Load    string        `json:"load"`   // LoadKey
	Judged  int           `json:"judged"` // figures that are judged together
	Figures []FigureNoise `json:"figures"`
}

// A FigureNoise is that of one figure.
type FigureNoise struct {
	Quantity figure.Figure  `json:"quantity"`
	Rank     int            `json:"rank"` // compare.Row
	Spread   compare.Spread `json:"spread"`
}

// noise is the noise that a comparison of an experiment saw, by workload. The load is the baseline's.
func (j *Journal) noise(c compare.Comparison, baseline string) (all []Noise) {
	for _, w := range c.Workloads {
		made, ok := j.evidenceRun(baseline, w.Name)
		if !ok || w.Layout == nil {
			continue
		}
		n := Noise{Machine: made.Machine, Model: made.Model, Load: made.Load}
		for _, r := range w.Rows {
			if r.Input || r.Constant {
				continue
			}
			if n.Judged++; r.Spread != nil && r.Rank > 0 {
				n.Figures = append(n.Figures, FigureNoise{r.Quantity, r.Rank, *r.Spread})
			}
		}
		slices.SortStableFunc(n.Figures, func(a, b FigureNoise) int { return cmp.Compare(a.Rank, b.Rank) })
		if n.Figures != nil {
			all = append(all, n)
		}
	}
	return all
}

func (j *Journal) evidenceRun(variant, workload string) (LegRun, bool) {
	for _, l := range j.With(Done) {
		for _, r := range l.Runs {
			if l.Variant == variant && r.Workload == workload {
				return r, true
			}
		}
	}
	return LegRun{}, false
}

// noiseOf merges the noise that earlier experiments saw with a load; of is their number.
func noiseOf(before []*Journal, machine, key, model string) (all Noise, of int) {
	spreads := map[string][]compare.Spread{}
	for _, j := range before {
		for _, n := range j.Noise {
			if n.Load != key || n.Machine != machine || model != "" && n.Model != model {
				continue
			}
			if of++; of == 1 { // the newest
				all = n
			}
			for _, f := range n.Figures {
				spreads[f.Quantity.Name] = append(spreads[f.Quantity.Name], f.Spread)
			}
		}
	}
	all.Figures = slices.Clone(all.Figures)
	for i := range all.Figures {
		all.Figures[i].Spread = compare.PoolSpreads(spreads[all.Figures[i].Quantity.Name]...)
	}
	return all, of
}

// An Effect is the smallest change in a figure that an experiment will find four times in
// five.
type Effect struct {
	Quantity figure.Figure
	Relative float64
	// Blocks is how many find a change of the size of the margin; 0: unknown.
	Blocks int
}

// effects are those of a workload, by the noise that is known.
func (p *CheckedExperiment) effects(n Noise) (all []Effect) {
	size := compare.DesignSize{
		Blocks: p.Design.Most(), Variants: len(p.Variants), Each: len(design.Order(len(p.Variants), p.Design, 1)) / len(p.Variants),
		Runs: max(1, p.Design.Runs), Figures: n.Judged * len(p.Workloads), Looks: Looks(p.Design).Most > 1,
	}
	level, margin := cmp.Or(float64(p.Level), compare.DefaultLevel), cmp.Or(float64(p.Margin), compare.DefaultMargin)
	for _, f := range n.Figures {
		e := Effect{Quantity: f.Quantity}
		e.Relative, _ = f.Spread.Smallest(size, level, compare.DefaultPower)
		e.Blocks, _ = f.Spread.Blocks(size, margin, level, compare.DefaultPower)
		all = append(all, e)
	}
	return all
}
