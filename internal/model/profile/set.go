package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A Set is a field of a profile with another value: what if?
type Set struct {
	Field string // its path, such as kv.tokens or cost.decode_table[1].time
	Value string // as in the file; or a factor of the value there, such as 2x
}

// ParseSet reads FIELD=VALUE.
func ParseSet(text string) (Set, error) {
	field, value, ok := strings.Cut(text, "=")
	s := Set{strings.TrimSpace(field), strings.TrimSpace(value)}
	if !ok || s.Field == "" || s.Value == "" {
		return s, fmt.Errorf("%q is not FIELD=VALUE, such as kv.tokens=2x or replicas.count=4", text)
	}
	return s, nil
}

// String is FIELD=VALUE.
func (s Set) String() string { return s.Field + "=" + s.Value }

// IsField reports whether the path of a field begins as one of a profile does.
func IsField(path string) bool {
	m := step.FindStringSubmatch(path)
	return m != nil && slices.Contains(plan.Names(Profile{}), m[1])
}

// With reads the profile in data with some fields set. A cost is also set in the draws of its
// calibration. The error is plan.Mistakes of the file as it is, or plan.Problems, each with
// the Set that made it as its path.
func With(file string, data []byte, sets []Set) (*Profile, error) {
	p, err := Parse(file, data)
	if err != nil || len(sets) == 0 {
		return p, err
	}
	doc, err := plan.Parse(file, data)
	if err != nil {
		return nil, err
	}
	var problems plan.Problems
	for _, s := range sets {
		for i, at := range s.places(doc.Root) {
			if why := s.set(doc.Root, at); why != "" && i == 0 {
				problems = append(problems, plan.Problem{Path: s.String(), Why: why})
			}
		}
	}
	if problems != nil {
		return nil, problems
	}
	changed := &Profile{Name: p.Name, Text: p.Text}
	for _, wrong := range plan.Merge(plan.Decoder{Unknown: hint}.Decode(doc.Root, changed), changed.Validate()) {
		one := namedProblem(wrong, sets)
		// The problem of a draw repeats that of the cost.
		if !slices.ContainsFunc(problems, func(p plan.Problem) bool { return p.Path == one.Path }) {
			problems = append(problems, one)
		}
	}
	return changed, problems.Err()
}

// namedProblem is a problem under the name of the Set that made it: of that field, or of its neighbours.
func namedProblem(p plan.Problem, sets []Set) plan.Problem {
	by := sets[len(sets)-1]
	group := func(path string) string {
		return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })[0]
	}
	near := false
	for _, s := range sets {
		switch {
		case s.Field == p.Path:
			return plan.Problem{Path: s.String(), Why: p.Why, Hint: p.Hint}
		case !near && p.Path != "" && group(s.Field) == group(p.Path):
			by, near = s, true
		}
	}
	return plan.Problem{Path: by.String(), Why: p.Error()}
}

// places are the paths that it sets: of a cost, that of each draw as well. A host is the same for all draws.
func (s Set) places(root *plan.Node) []string {
	all := []string{s.Field}
	k := root.Member("calibration")
	if k == nil || !strings.HasPrefix(s.Field, "cost.") || strings.HasPrefix(s.Field, "cost.host") {
		return all
	}
	for i := range k.Member("draws").All() {
		all = append(all, plan.Join(fmt.Sprintf("calibration.draws[%d]", i), strings.TrimPrefix(s.Field, "cost.")))
	}
	return all
}

// set changes the node at a path; why is what keeps it from that.
func (s Set) set(root *plan.Node, path string) (why string) {
	at, why := reach(root, path)
	if why != "" {
		return why
	}
	if factor, ok := strings.CutSuffix(s.Value, "x"); ok {
		if by, err := strconv.ParseFloat(factor, 64); err == nil {
			return multiply(at, by)
		}
	}
	doc, err := plan.Parse("", []byte(s.Value))
	if err != nil {
		return "is no value"
	}
	*at = *doc.Root
	return ""
}

// step matches a name, or a place in a list, at the beginning of a path.
var step = lazy.Regexp(`^(?:\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\])`)

// reach is the node at a path. Maps that are not there are made, items of lists are not.
func reach(n *plan.Node, path string) (_ *plan.Node, why string) {
	for rest := path; rest != ""; {
		m := step.FindStringSubmatch(rest)
		if m == nil || strings.HasPrefix(rest, ".") && rest == path {
			return nil, fmt.Sprintf("%q is not the path of a field, such as kv.tokens", path)
		}
		rest = rest[len(m[0]):]
		if m[2] != "" {
			i, err := strconv.Atoi(m[2])
			if err != nil || i >= len(n.Items) {
				return nil, fmt.Sprintf("there is no item %s", m[2])
			}
			n = n.Items[i]
			continue
		}
		if n.Kind != plan.Map && n.Kind != plan.Null {
			return nil, fmt.Sprintf("%s is not the name of a field of what is there", m[1])
		}
		next := n.Member(m[1])
		if next == nil {
			n.Kind, next = plan.Map, &plan.Node{}
			n.Members = append(n.Members, plan.Member{Key: m[1], Value: next})
		}
		n = next
	}
	return n, ""
}

// quantity matches a number and its unit.
var quantity = lazy.Regexp(`^([-+0-9.eE]+)\s*([a-zA-Zµ%]*)$`)

func multiply(n *plan.Node, by float64) (why string) {
	if !(by > 0) || math.IsInf(by, 0) {
		return "a factor must be above 0"
	}
	m := quantity.FindStringSubmatch(n.Text)
	if m == nil {
		return "there is no number in the profile to multiply; give its value"
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return "there is no number in the profile to multiply; give its value"
	}
	*n = plan.Node{Kind: n.Kind, Text: strconv.FormatFloat(v*by, 'g', exactly, 64) + m[2]}
	if v := v * by; m[2] == "" && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		n.Text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// exactly is the number of digits that a product of decimal numbers keeps.
const exactly = 12
