package compare

import (
	"errors"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Compare decides what the differences between variants are. Runs are in the order in
// which they were named or stand in a file; variants follow it.
func Compare(runs []Run, o Options) (Comparison, error) {
	o = o.withDefaults()
	if err := o.Validate().Err(); err != nil {
		return Comparison{}, err
	}
	if len(runs) == 0 {
		return Comparison{}, errors.New("there are no runs to compare")
	}
	all, ignore := make([]*Run, len(runs)), make([]string, len(o.Ignore))
	for i := range runs {
		all[i] = &runs[i]
	}
	for i, name := range o.Ignore {
		ignore[i] = canonical(name)
	}
	if err := checkIgnore(all, ignore); err != nil {
		return Comparison{}, err
	}
	o.Ignore = ignore
	tables, err := split(all, o)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Level: o.Level, Margin: o.Margin}
	for _, t := range tables {
		if err := t.fill(); err != nil {
			return Comparison{}, err
		}
		c.Workloads = append(c.Workloads, t.out)
	}
	c.notes(tables, o)
	c.Conclude()
	c.Gates, err = judgeGates(tables, o)
	return c, err
}

// split puts runs into workloads and variants.
func split(runs []*Run, o Options) ([]*table, error) {
	groups, parts := groups(runs, o.Ignore), nameParts(runs)
	elsewhere := telling(groups, parts)
	var tables []*table
	var variants [][]*variant
	for _, g := range groups {
		t := &table{o: o, group: g}
		t.out.Name, t.order = g.split(parts, elsewhere)
		t.base = chooseBaseline(t.order, o.Baseline)
		baseline := t.order[t.base.index]
		t.variants = append([]*variant{baseline}, slices.DeleteFunc(slices.Clone(t.order), func(v *variant) bool { return v == baseline })...)
		tables, variants = append(tables, t), append(variants, t.order)
	}
	return tables, checkBaseline(variants, o.Baseline)
}

// A table is a workload in the making.
type table struct {
	o        Options
	group    *group
	variants []*variant // the baseline first
	order    []*variant // as they came
	base     choice
	keys     []rowKey
	plain    []bool // by row: compared on the plain scale
	out      Workload
}

// fill computes the table.
func (t *table) fill() error {
	if err := t.checkPairs(); err != nil {
		return err
	}
	t.out.Settings, t.out.Residue = t.group.settings(), residue(t.variants, t.o)
	for _, v := range t.variants {
		t.out.Variants = append(t.out.Variants, v.model())
	}
	t.rows()
	for row := range t.keys {
		t.center(row)
	}
	for i := range t.variants[1:] {
		t.changes(i + 1)
	}
	t.claims()
	t.notes()
	return nil
}

func (t *table) checkPairs() error {
	if !t.o.Paired {
		return nil
	}
	base := t.variants[0]
	for _, v := range t.variants[1:] {
		if len(v.runs) != len(base.runs) {
			var p plan.Problems
			p.If(true, "paired", nil, "%s has %d runs and %s has %d; pairs need as many of each", base.name, len(base.runs), v.name, len(v.runs))
			return p
		}
	}
	return nil
}

func (v *variant) model() Variant {
	out := Variant{Name: v.name}
	for _, r := range v.runs {
		out.Runs = append(out.Runs, r.ref())
	}
	return out
}

func (r *Run) ref() Ref {
	ref := Ref{ID: r.run.ID, Name: r.run.Name, Tool: "pitot", Detail: trace.Recorded}
	if o := r.run.Origin; o != nil {
		ref.File, ref.Line, ref.Tool, ref.Detail = o.File, o.Line, o.Tool, o.Detail
	}
	if v := r.run.Verdict; v != nil {
		ref.Verdict = v.Validity
	}
	return ref
}

// rows lists what any run has, quantities in the order of the first run that has
// them, their definitions side by side.
func (t *table) rows() {
	var names []string
	definitions := map[string][]metrics.Definition{}
	for _, v := range t.variants {
		for _, r := range v.runs {
			for _, f := range r.figures {
				if definitions[f.Name] == nil {
					names = append(names, f.Name)
				}
				if !slices.ContainsFunc(definitions[f.Name], func(d metrics.Definition) bool { return d.ID == f.definition.ID }) {
					definitions[f.Name] = append(definitions[f.Name], f.definition)
				}
			}
		}
	}
	for _, name := range names {
		for _, d := range definitions[name] {
			key := rowKey{name, d.ID}
			row := Row{Quantity: metrics.QuantityOf(name), Definition: d}
			for _, v := range t.variants {
				s := v.sample(key)
				row.Cells = append(row.Cells, Cell{Values: s.values, Step: slices.Max(append(s.steps, 0))})
			}
			row.Constant = constant(row)
			t.keys, t.plain = append(t.keys, key), append(t.plain, isPlain(row))
			t.out.Rows = append(t.out.Rows, row)
		}
	}
}

func (v *variant) sample(key rowKey) (s sample) {
	for _, r := range v.runs {
		if f, ok := r.figure(key.name, key.definition); ok {
			s.values, s.steps, s.runs = append(s.values, f.Value), append(s.steps, f.Step), append(s.runs, r)
		}
	}
	return s
}

// A sample is a figure of a variant, by run.
type sample struct {
	values []float64
	steps  []float64 // what one in the last printed digit is worth
	runs   []*Run
}

// A rowKey says what is comparable: a quantity by one definition.
type rowKey struct{ name, definition string }

// constant reports whether a row is a count that is the same in every run.
func constant(row Row) bool {
	var all []float64
	for _, c := range row.Cells {
		all = append(all, c.Values...)
	}
	return equalCounts(row.Quantity.Unit, all)
}

// equalCounts reports whether values are counts, all the same: then there is nothing to
// find out about their difference.
func equalCounts(unit metrics.Unit, values []float64) bool {
	return (unit == metrics.Count || unit == metrics.TokenCount) && slices.Min(values) == slices.Max(values)
}

// isPlain reports whether a row cannot be compared on the scale of logarithms, or
// should not: counts that may be 0.
func isPlain(row Row) bool {
	return row.Quantity.Name == "requests.failed" || slices.ContainsFunc(row.Cells, func(c Cell) bool {
		return slices.ContainsFunc(c.Values, func(v float64) bool { return v <= 0 })
	})
}

// changes fills in those of a variant against the baseline.
func (t *table) changes(variant int) {
	for row, f := range t.contrast(t.variants[0], t.variants[variant]) {
		if f == nil {
			continue
		}
		c := t.o.settle(f)
		if c.Verdict == CannotTell {
			c.More = t.o.more(f)
		}
		t.out.Rows[row].Cells[variant].Change = c
	}
}
