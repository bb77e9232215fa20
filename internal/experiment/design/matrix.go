package design

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// axisName matches a name that ${...} can hold.
var axisName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// check reports what is wrong with the axes of a matrix and with what is left out of it.
// misspelt means that some reference is no axis: it may be the one that an axis lacks.
func (m *Matrix) check(common Server, misspelt bool) (p plan.Problems) {
	if m == nil {
		return nil
	}
	const axes = "matrix.axes"
	p.If(len(m.Axes) == 0, axes, nil, "is missing: a matrix has at least one axis, such as {tp: [1, 2]}")
	for i, a := range m.Axes {
		at := plan.Join(axes, a.Name)
		p.If(!axisName.MatchString(a.Name) || "${"+a.Name+"}" == Port, at, strconv.Quote(a.Name), "must be a name of letters, digits, - and _, other than port")
		p.If(slices.ContainsFunc(m.Axes[:i], func(b Axis) bool { return b.Name == a.Name }), at, nil, "is given twice")
		p.If(len(a.Values) == 0, at, nil, "has no values")
		for j, v := range a.Values {
			p.If(slices.Contains(a.Values[:j], v), plan.Item(at, j), strconv.Quote(v), "is given twice")
			p.If(v != strings.TrimSpace(v) || v != "" && checkName("", v, 1<<20) != nil, plan.Item(at, j), strconv.Quote(v), "must be printable, without blanks around it")
		}
		p.If(!misspelt && !m.uses(a.Name, common), at, nil, "changes nothing: ${%s} stands nowhere in server, flags or settings", a.Name)
	}
	p.If(m.combinations() > maxCells, axes, nil, "have more than %d combinations", maxCells)
	return append(p, m.checkExclusions(p != nil)...)
}

// uses reports whether ${name} stands anywhere.
func (m *Matrix) uses(name string, common Server) bool {
	b, err := json.Marshal([]any{common, m.Server, m.Flags, m.Settings})
	return err != nil || strings.Contains(string(b), "${"+name+"}")
}

// checkExclusions requires that each leaves a cell out that no other one does, and that some
// cells are left.
func (m *Matrix) checkExclusions(wrong bool) (p plan.Problems) {
	for i, x := range m.Exclude {
		at := plan.Item("matrix.exclude", i)
		p.If(len(x) == 0, at, nil, "names no value; it would leave out everything")
		for _, name := range slices.Sorted(maps.Keys(x)) {
			j := slices.IndexFunc(m.Axes, func(a Axis) bool { return a.Name == name })
			p.If(j < 0, plan.Join(at, name), nil, "is not an axis%s", plan.Suggest(name, m.names()))
			p.If(j >= 0 && !slices.Contains(m.Axes[max(j, 0)].Values, x[name]), plan.Join(at, name), strconv.Quote(x[name]), "is not a value of that axis")
		}
		p.If(slices.ContainsFunc(m.Exclude[:i], func(y map[string]string) bool { return len(y) > 0 && within(y, x) }), at, nil, "matches nothing that is not left out already")
	}
	p.If(!wrong && p == nil && len(m.Exclude) > 0 && len(m.cells()) == 0, "matrix.exclude", nil, "leaves out everything")
	return p
}
