package stats

import (
	"math"
	"slices"
)

// A Unit is one independent observation of a variant.
type Unit struct {
	Variant  int     // 0 is the baseline
	Block    int     // units with the same number are compared with each other
	Load     int     // units of a block with the same number met the same requests
	Position float64 // its place in time, counted in legs: the mean of its legs
	First    float64 // the place of its first leg
}

// A Design knows how to estimate from the values of its units.
type Design struct {
	// Drift: a linear drift within blocks is taken out.
	Drift   bool
	Effects []*Estimator // by variant; nil of the baseline, and where nothing can be estimated
	// Slope estimates the drift per leg, as one slope within all blocks; nil if it cannot be
	// estimated.
	Slope *Estimator
	// Orders estimate by how much the effect of a variant is larger in blocks in which the
	// baseline came before it than in those in which it came first; nil where there are not
	// both.
	Orders   []*Estimator
	units    []Unit
	variants int
	residual [][]float64 // orthonormal: what the effects leave
}

// New is the design of units. Where a slope would leave no degree of freedom, or cannot be
// separated from the effects, drift is not taken out. Where the loads would, since too few units
// met the same requests, all units of a block are compared, and what the loads differ in is noise.
func New(units []Unit, variants int) *Design {
	d := fitted(units, variants)
	if !d.works() {
		alike := slices.Clone(units)
		for i := range alike {
			alike[i].Load = 0
		}
		d = fitted(alike, variants)
	}
	d.Slope, d.Orders = d.coefficientOf(d.nuisance(false), d.slope()), make([]*Estimator, variants)
	for v := 1; v < variants; v++ {
		d.Orders[v] = d.coefficientOf(d.nuisance(d.Drift), d.order(v))
	}
	return d
}

// fitted is a design without Slope and Orders, with drift taken out where that works.
func fitted(units []Unit, variants int) *Design {
	d := &Design{Drift: true, units: units, variants: variants}
	if d.fit(); !d.works() {
		d.Drift = false
		d.fit()
	}
	return d
}

// works reports whether all variants that are there can be judged.
func (d *Design) works() bool {
	there := make([]bool, d.variants)
	for _, u := range d.units {
		there[u.Variant] = true
	}
	for v := 1; v < d.variants; v++ {
		if e := d.Effects[v]; there[0] && there[v] && (e == nil || e.DF() == 0) {
			return false
		}
	}
	return true
}

func (d *Design) fit() {
	nuisance := d.nuisance(d.Drift)
	d.Effects = make([]*Estimator, d.variants)
	d.residual = newSpace(nuisance, d.columns(0)).complement(len(d.units))
	for v := 1; v < d.variants; v++ {
		d.Effects[v] = estimator(newSpace(nuisance, d.columns(v)), d.column(v), d.residual)
	}
}

// nuisance are the nuisance columns: the loads of blocks, and their slope.
func (d *Design) nuisance(drift bool) (columns [][]float64) {
	for _, members := range d.blocks() {
		levels := map[int][]float64{} // by load
		for _, i := range members {
			level, ok := levels[d.units[i].Load]
			if !ok {
				level = make([]float64, len(d.units))
				levels[d.units[i].Load], columns = level, append(columns, level)
			}
			level[i] = 1
		}
	}
	if drift {
		columns = append(columns, d.slope())
	}
	return columns
}

// blocks are the units of each block, in the order of their first ones.
func (d *Design) blocks() (all [][]int) {
	at := map[int]int{}
	for i, u := range d.units {
		if _, ok := at[u.Block]; !ok {
			at[u.Block], all = len(all), append(all, nil)
		}
		all[at[u.Block]] = append(all[at[u.Block]], i)
	}
	return all
}

func (d *Design) slope() []float64 {
	out := make([]float64, len(d.units))
	for _, members := range d.blocks() {
		mean := 0.0
		for _, i := range members {
			mean += d.units[i].Position / float64(len(members))
		}
		for _, i := range members {
			out[i] = d.units[i].Position - mean
		}
	}
	return out
}

// column is 1 where a unit is of a variant.
func (d *Design) column(variant int) []float64 {
	out := make([]float64, len(d.units))
	for i, u := range d.units {
		if u.Variant == variant {
			out[i] = 1
		}
	}
	return out
}

// columns are those of the variants but the baseline and one.
func (d *Design) columns(but int) (all [][]float64) {
	for v := 1; v < d.variants; v++ {
		if v != but {
			all = append(all, d.column(v))
		}
	}
	return all
}

// order is ½ where a unit is of a variant and the baseline came first in the block, and -½
// where the variant did.
func (d *Design) order(variant int) []float64 {
	column := make([]float64, len(d.units))
	for _, members := range d.blocks() {
		first := math.Inf(1)
		leads := 0.0
		for _, i := range members {
			if u := d.units[i]; (u.Variant == 0 || u.Variant == variant) && u.First < first {
				first, leads = u.First, 0.5
				if u.Variant == variant {
					leads = -0.5
				}
			}
		}
		for _, i := range members {
			if d.units[i].Variant == variant {
				column[i] = leads
			}
		}
	}
	return column
}

// coefficientOf estimates the coefficient of a column in addition to those of the variants.
func (d *Design) coefficientOf(nuisance [][]float64, column []float64) *Estimator {
	s := newSpace(nuisance, d.columns(0))
	full := newSpace(nuisance, d.columns(0), [][]float64{column})
	return estimator(s, column, full.complement(len(d.units)))
}
