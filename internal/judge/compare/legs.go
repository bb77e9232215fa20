package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Layout is how a workload was measured in an experiment, as far as its runs are evidence.
type Layout struct {
	Experiment string `json:"experiment"`
	// Confirms: these are the legs that confirm a choice among several variants.
	Confirms bool `json:"confirms,omitempty"`
	// Same: the variants differ in their names only (A/A), so that all differences are noise.
	Same   bool `json:"same,omitempty"`
	Blocks int  `json:"blocks"`
	// Restarted: the servers of all variants were started anew, so that a unit of replication
	// is a server start; else it is a leg, of those that were not.
	Restarted bool  `json:"restarted"`
	Units     []int `json:"units"` // of replication, by variant
	// Drift: a linear drift within blocks is taken out of all changes.
	Drift bool  `json:"drift"`
	Look  *Look `json:"look,omitempty"` // nil of an experiment that is judged once, at its end
}

// A Look is one of several at an experiment that goes on until something is settled.
type Look struct {
	Done int `json:"done"` // blocks, with a look after each
	Most int `json:"most"`
	// Level is the one that intervals have at this look, so that those of all looks together
	// hold the truth at the level of the comparison.
	Level float64 `json:"level"`
}

// legs are the runs of a workload of an experiment that are evidence.
type legs struct {
	experiment, workload string
	confirms             bool
	runs                 group
}

// excludedRuns are runs that are none, for one reason.
type excludedRuns struct {
	why  plan.Message
	runs int
}

// byLeg takes the runs that have a place in an experiment out of all runs. What the arguments
// of a command line say of variants goes before that.
func byLeg(runs []*ComparedRun) (all []*legs, voids []excludedRuns, rest []*ComparedRun) {
	if labelled(runs) {
		return nil, nil, runs
	}
	for i, r := range runs {
		leg := r.run.Leg
		if leg == nil {
			rest = append(rest, r)
			continue
		}
		if !leg.Void.IsZero() {
			voids = exclude(voids, leg.Void)
			continue
		}
		r.place, r.load = i, loadOf(r)
		at := slices.IndexFunc(all, func(l *legs) bool {
			return l.experiment == leg.Experiment && l.workload == leg.Workload && l.confirms == leg.Confirms
		})
		if at < 0 {
			at, all = len(all), append(all, &legs{experiment: leg.Experiment, workload: leg.Workload, confirms: leg.Confirms})
		}
		all[at].runs = append(all[at].runs, r)
	}
	return all, voids, rest
}

// labelled reports whether several arguments say otherwise than the legs do.
func labelled(runs []*ComparedRun) bool {
	labels, others := map[string]bool{}, false
	for _, r := range runs {
		labels[r.Variant] = true
		others = others || r.Variant != "" && (r.run.Leg == nil || r.run.Leg.Variant != r.Variant)
	}
	return others && len(labels) > 1
}

func exclude(all []excludedRuns, why plan.Message) []excludedRuns {
	at := slices.IndexFunc(all, func(v excludedRuns) bool { return v.why.Key() == why.Key() })
	if at < 0 {
		at, all = len(all), append(all, excludedRuns{why: why})
	}
	all[at].runs++
	return all
}

// splitLegs makes a table of the legs of a workload.
func splitLegs(l *legs, workloads int, o Options) *table {
	t := &table{runs: l.runs, legs: l, share: workloads}
	if t.out.Name = l.workload; l.confirms {
		o.Looks, t.share = Looks{}, 1
	}
	t.o = o
	l.order()
	for _, r := range l.runs {
		i := slices.IndexFunc(t.order, func(v *variant) bool { return v.name == r.run.Leg.Variant })
		if i < 0 {
			i, t.order = len(t.order), append(t.order, &variant{name: r.run.Leg.Variant})
		}
		t.order[i].runs = append(t.order[i].runs, r)
	}
	slices.SortStableFunc(t.order, func(a, b *variant) int {
		return cmp.Compare(slices.Index(o.Order, a.name), slices.Index(o.Order, b.name))
	})
	for _, v := range t.order {
		slices.SortStableFunc(v.runs, func(a, b *ComparedRun) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.run.Leg.Repeat, b.run.Leg.Repeat))
		})
	}
	return t
}

// order gives legs their places in time. A leg that failed took time of the others, unless time is
// virtual: legs of simulations stand one behind the other, in the order of their turns.
func (l *legs) order() {
	turns := map[[2]int]bool{}
	for _, r := range l.runs {
		turns[turnOf(r)] = true
	}
	sorted := slices.SortedFunc(maps.Keys(turns), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, r := range l.runs {
		if r.at = r.run.Leg.Position; r.run.Kind == trace.Simulated {
			r.at = slices.Index(sorted, turnOf(r)) + 1
		}
	}
}

// turnOf is the turn of the leg of a run: its block and its place there.
func turnOf(r *ComparedRun) [2]int { return [2]int{r.run.Leg.Block, r.run.Leg.Slot} }

// workloadsOf is how many workloads of an experiment share its level. The confirmation of a
// choice has a level of its own: it is made on fresh legs, once.
func workloadsOf(all []*legs, experiment string) (n int) {
	for _, l := range all {
		if l.experiment == experiment && !l.confirms {
			n++
		}
	}
	return n
}

// A unit is what replicates a variant: a server start, or a leg.
type unit struct {
	column          int
	start           int // 0 of a leg
	block           int
	slot            int
	position, first float64
	runs            []*ComparedRun
}

// seeds are those of its runs: units with the same ones met the same requests.
func (u *unit) seeds() string {
	var all []string
	for _, r := range u.runs {
		all = append(all, fmt.Sprint(r.run.Plan.Seed))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// layOut puts the runs of the table into units and blocks. One leg of each variant is no
// layout: nothing in it is repeated.
func (t *table) layOut() {
	if t.legs == nil || !t.repeats() {
		return
	}
	restarted := true
	for _, v := range t.variants {
		own := v.restarted()
		restarted = restarted && own
		for _, r := range v.runs {
			t.unitOf(v, r, own).add(r)
		}
	}
	slices.SortStableFunc(t.units, func(a, b *unit) int { return cmp.Compare(a.first, b.first) })
	t.out.Layout = &Layout{Experiment: t.legs.experiment, Confirms: t.legs.confirms, Same: t.o.Same, Restarted: restarted, Blocks: joinBlocks(t.units)}
	t.out.Layout.Units = make([]int, len(t.variants))
	for _, u := range t.units {
		t.out.Layout.Units[u.column]++
	}
	if l := t.o.Looks; l.Most > 1 {
		t.out.Layout.Look = &Look{Done: l.Done, Most: l.Most, Level: t.o.nominal(t.o.Level)}
	}
}

// repeats reports whether there is more than one block, or more than one leg of each variant.
func (t *table) repeats() bool {
	blocks, each := map[int]bool{}, true
	for _, v := range t.variants {
		for _, r := range v.runs {
			blocks[r.run.Leg.Block] = true
		}
		each = each && len(v.legs()) > 1
	}
	return each || len(blocks) > 1
}

// legs are the legs of a variant, by block and slot.
func (v *variant) legs() map[[2]int]bool {
	all := map[[2]int]bool{}
	for _, r := range v.runs {
		all[turnOf(r)] = true
	}
	return all
}

// restarted reports whether its server was started more than once.
func (v *variant) restarted() bool {
	starts := map[int]bool{}
	for _, r := range v.runs {
		if n := r.run.Leg.ServerStart; n > 0 {
			starts[n] = true
		}
	}
	return len(starts) > 1
}

func (t *table) unitOf(v *variant, r *ComparedRun, restarted bool) *unit {
	leg := r.run.Leg
	want := unit{column: v.column, block: leg.Block, slot: leg.Slot}
	if restarted {
		want.start = leg.ServerStart
	}
	for _, u := range t.units {
		same := u.start == want.start && (want.start > 0 || u.block == want.block && u.slot == want.slot)
		if u.column == want.column && same {
			return u
		}
	}
	t.units = append(t.units, &want)
	return &want
}

// add counts a run in. Where one start has several legs it stands at their mean.
func (u *unit) add(r *ComparedRun) {
	at, n := float64(r.at), float64(len(u.runs))
	if u.runs == nil {
		u.first = at
	}
	u.first, u.position = min(u.first, at), (u.position*n+at)/(n+1)
	u.runs = append(u.runs, r)
}

// joinBlocks makes one block of those that share a server start, since its runs are one unit,
// and gives the number of blocks that are left.
func joinBlocks(units []*unit) int {
	parent := map[int]int{}
	root := func(b int) int {
		for parent[b] != b {
			b = parent[b]
		}
		return b
	}
	for _, u := range units {
		for _, r := range u.runs {
			if b := r.run.Leg.Block; parent[b] == 0 {
				parent[b] = b
			}
			parent[root(r.run.Leg.Block)] = root(u.block)
		}
	}
	left := map[int]bool{}
	for _, u := range units {
		u.block = root(u.block)
		left[u.block] = true
	}
	return len(left)
}

// ErrAllVoid says that there is nothing to judge.
var ErrAllVoid = errors.New("all runs are void: their legs failed, or contradict what the experiment declares; `pitot experiment status` tells of each")

// noteLegs says on what the verdicts of an experiment rest, where that is less than it seems.
func (t *table) noteLegs() {
	if t.legs == nil {
		return
	}
	t.noteDoubts()
	l := t.out.Layout
	if t.legs.confirms {
		t.note("compare.confirms")
	}
	switch {
	case l == nil && len(t.variants) > 1:
		t.note("compare.one-leg-each")
		return
	case l == nil:
		return
	case !l.Restarted && len(t.variants) > 1:
		t.note("compare.this-start-only", "variants", t.standing())
	}
	if len(t.variants) > 1 && t.bestBlocks() == 0 {
		t.note("compare.blocks-short", "blocks", l.Blocks)
	}
	if l.Look != nil {
		t.note("compare.look", "done", l.Look.Done, "most", l.Look.Most, "level", t.o.Level)
	}
}

// noteDoubts says how many runs are doubtful, and why the first one is.
func (t *table) noteDoubts() {
	var first *ComparedRun
	n, of := 0, 0
	for _, v := range t.variants {
		for _, r := range v.runs {
			of++
			if d := r.run.Verdict; d == nil || d.Validity != trace.Doubtful || len(d.Reasons) == 0 {
				continue
			}
			if n++; first == nil || r.run.Leg.Position < first.run.Leg.Position {
				first = r
			}
		}
	}
	if first != nil {
		e := metrics.Explain(*first.run.Verdict)
		t.note("compare.doubtful-runs", "n", n, "of", of, "leg", first.run.Leg.Called(), "causes", e.Causes, "remedies", e.Remedies, "effects", e.Effects)
	}
}

// standing are the variants without a restart of their server.
func (t *table) standing() (names []string) {
	for _, v := range t.variants {
		if !v.restarted() {
			names = append(names, v.name)
		}
	}
	return names
}
