package search

import (
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/curve"
)

// MaxPoints is the largest number of points of a sweep.
const MaxPoints = 10_000

// An Axis is a setting with the values that it takes.
type Axis struct {
	Name   string
	Values []string
}

// Loads are settings that can order the points of a curve, the first one that varies does.
func Loads() []string {
	return []string{"concurrency", "rate", "gate.concurrency", "load[0].arrival.rate"}
}

// Combine makes the points of all combinations of the values of axes, the last axis changing
// fastest. The axes of a link go together: each takes its first value with the first ones of
// the others. Settings stand in the order of their axes.
func Combine(axes []Axis, links [][]string) ([]curve.Point, error) {
	groups, err := grouped(axes, links)
	if err != nil {
		return nil, err
	}
	total := 1
	for _, g := range groups {
		if total *= len(axes[g[0]].Values); total > MaxPoints {
			return nil, fmt.Errorf("more than %d points; take fewer values, or link settings that belong together", MaxPoints)
		}
	}
	points := make([]curve.Point, total)
	for n := range points {
		p, rest := make(curve.Point, len(axes)), n
		for _, g := range slices.Backward(groups) {
			length := len(axes[g[0]].Values)
			for _, i := range g {
				p[i] = curve.Setting{Name: axes[i].Name, Value: axes[i].Values[rest%length]}
			}
			rest /= length
		}
		points[n] = p
	}
	return points, nil
}

// grouped are the indices of axes that go together, each group where its first axis stands.
func grouped(axes []Axis, links [][]string) (groups [][]int, err error) {
	linked := map[int]bool{}
	byFirst := map[int][]int{}
	for _, link := range links {
		var group []int
		for _, name := range link {
			i := slices.IndexFunc(axes, func(a Axis) bool { return a.Name == name })
			switch {
			case i < 0:
				return nil, fmt.Errorf("%s has no list of values to link", name)
			case linked[i]:
				return nil, fmt.Errorf("%s is linked twice", name)
			case len(group) > 0 && len(axes[i].Values) != len(axes[group[0]].Values):
				first := axes[group[0]]
				return nil, fmt.Errorf("%s has %d values and %s has %d; linked settings need as many", first.Name, len(first.Values), name, len(axes[i].Values))
			}
			linked[i] = true
			group = append(group, i)
		}
		slices.Sort(group)
		byFirst[group[0]] = group
	}
	for i := range axes {
		switch {
		case byFirst[i] != nil:
			groups = append(groups, byFirst[i])
		case !linked[i]:
			groups = append(groups, []int{i})
		}
	}
	return groups, nil
}
