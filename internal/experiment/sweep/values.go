package sweep

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/curve"
)

// MaxPoints is the largest number of points of a sweep.
const MaxPoints = 10_000

// An Axis is a setting with the values that it takes.
type Axis struct {
	Name   string
	Values []string
}

// Values are those of a list: items separated by commas outside of brackets and quotes. An
// item of the form 1..5 is the numbers from 1 to 5, 1..64x2 those that double, and 1..10+3
// those that grow by 3; the end belongs to them if it is met.
func Values(list string) (all []string, err error) {
	for _, item := range split(list) {
		if item == "" {
			return nil, fmt.Errorf("%q: has an empty value", list)
		}
		m := span.FindStringSubmatch(item)
		if m == nil {
			all = append(all, item)
			continue
		}
		numbers, err := series(m[1], m[2], m[3], m[4])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		all = append(all, numbers...)
	}
	for i, v := range all {
		if slices.Contains(all[:i], v) {
			return nil, fmt.Errorf("%q: has %s twice", list, v)
		}
	}
	return all, nil
}

const number = `(-?[0-9]+(?:\.[0-9]+)?)`

// span matches FROM..TO, FROM..TOxFACTOR and FROM..TO+STEP.
var span = regexp.MustCompile(`^` + number + `\.\.` + number + `(?:([x+])` + number + `)?$`)

// series are the numbers of a span; by is x, + or nothing, which stands for +1.
func series(first, last, by, step string) (all []string, err error) {
	from, to, change := parse(first), parse(last), 1.0
	if by != "" {
		change = parse(step)
	}
	switch {
	case to < from:
		return nil, errors.New("ends below where it begins")
	case by == "x" && (change <= 1 || from <= 0):
		return nil, errors.New("must begin above 0 and grow by a factor above 1")
	case by != "x" && change <= 0:
		return nil, errors.New("must grow by more than 0")
	}
	for n := 0; ; n++ {
		v := from + float64(n)*change
		if by == "x" {
			v = from * math.Pow(change, float64(n))
		}
		if v > to*(1+rounding) {
			return all, nil
		}
		if n == MaxPoints {
			return nil, fmt.Errorf("has more than %d values", MaxPoints)
		}
		all = append(all, shortest(v))
	}
}

// rounding is by how much a value may miss the end that it meets, relatively.
const rounding = 1e-9

// parse reads what span has matched.
func parse(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// shortest is v without the digits that arithmetic adds.
func shortest(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// split splits at commas outside of brackets and quotes.
func split(list string) (items []string) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			items = append(items, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	return append(items, strings.TrimSpace(list[from:]))
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
