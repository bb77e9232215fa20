package search

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Set is a Spec with a value at a path, such as request.sampling.temperature or
// load[0].arrival.rate. A value is JSON, and a text where it is not.
func Set(s plan.Spec, path, value string) (out plan.Spec, problems plan.Problems) {
	b, err := json.Marshal(s)
	problems.If(err != nil, path, nil, "%v", err)
	problems.If(!paths.MatchString(path), path, nil, "must be a path in the plan of a run, such as load[0].arrival.rate; `pitot plan` prints one")
	if problems != nil {
		return s, problems
	}
	root, err := plan.ParseJSON(b)
	problems.If(err != nil, path, nil, "%v", err)
	if problems != nil {
		return s, problems
	}
	at := root
	for _, part := range parts.FindAllString(path, -1) {
		if at, problems = below(at, part, path); problems != nil {
			return s, problems
		}
	}
	*at = valueOf(value)
	problems = plan.Decode(root, &out)
	return out, problems
}

var (
	paths = lazy.Regexp(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[[0-9]{1,6}\])*$`)
	parts = lazy.Regexp(`\w+|\[[0-9]+\]`)
)

// IsPath reports whether a path begins with a setting of a Spec, rather than with a field of a
// profile: no name is both.
func IsPath(path string) bool {
	return slices.Contains(plan.Names(plan.Spec{}), parts.FindString(path))
}

// below is the node of a part of a path, which is added to a map that lacks it.
func below(n *plan.Node, part, path string) (_ *plan.Node, problems plan.Problems) {
	if index, ok := strings.CutPrefix(part, "["); ok {
		i, _ := strconv.Atoi(strings.TrimSuffix(index, "]"))
		problems.If(n.Kind != plan.List || i >= len(n.Items), path, nil, "there is no %s in the plan of this load", part)
		if problems != nil {
			return nil, problems
		}
		return n.Items[i], nil
	}
	if n.Kind == plan.Null {
		*n = plan.Node{Kind: plan.Map}
	}
	problems.If(n.Kind != plan.Map, path, nil, "has %s below what is no map", part)
	if problems != nil {
		return nil, problems
	}
	if m := n.Member(part); m != nil {
		return m, nil
	}
	made := &plan.Node{Kind: plan.Null}
	n.Members = append(n.Members, plan.Member{Key: part, Value: made})
	return made, nil
}

func valueOf(text string) plan.Node {
	if n, err := plan.ParseJSON([]byte(text)); err == nil {
		return *n
	}
	return plan.Node{Kind: plan.String, Text: text, Quoted: true}
}
