package python

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// mergeDotted collects arguments of the form --name.path value into one JSON
// argument a name, put at the end. A path that ends in "+" appends the items of
// its value, separated by commas, to a list of texts.
func (p *Parser) mergeDotted(args []string) ([]string, error) {
	trees := map[string]map[string]any{}
	var order, rest []string
	for len(args) > 0 {
		arg := Canonical(args[0])
		args = args[1:]
		key, value, explicit := strings.Cut(arg, "=")
		name, path, dotted := strings.Cut(key, ".")
		if !strings.HasPrefix(arg, "--") || !dotted {
			rest = append(rest, arg)
			continue
		}
		if !explicit {
			if len(args) == 0 {
				return nil, Usagef("argument %s: expected one argument", key)
			}
			value, args = args[0], args[1:]
		}
		if trees[name] == nil {
			trees[name] = map[string]any{}
			order = append(order, name)
		}
		if err := plant(trees[name], key, strings.Split(path, "."), value); err != nil {
			return nil, err
		}
	}
	for _, name := range order {
		b, err := json.Marshal(trees[name])
		if err != nil {
			return nil, Usagef("argument %s: %v", name, err)
		}
		rest = append(rest, name, string(b))
	}
	return rest, nil
}

// plant stores value under path in tree.
func plant(tree map[string]any, arg string, path []string, value string) error {
	for _, step := range path[:len(path)-1] {
		child, ok := tree[step].(map[string]any)
		if !ok {
			if tree[step] != nil {
				return Usagef("argument %s: %q already has a value that is not an object", arg, step)
			}
			child = map[string]any{}
			tree[step] = child
		}
		tree = child
	}
	leaf := path[len(path)-1]
	if name, list := strings.CutSuffix(leaf, "+"); list {
		have, _ := tree[name].([]any)
		have = slices.Clone(have)
		for item := range strings.SplitSeq(value, ",") {
			have = append(have, item)
		}
		tree[name] = have
		return nil
	}
	tree[leaf] = dottedValue(value)
	return nil
}

// dottedValue is JSON if it can be, else a number with a unit, else text.
func dottedValue(s string) any {
	var v any
	if json.Unmarshal([]byte(s), &v) == nil {
		return json.RawMessage(s)
	}
	if n, ok := humanInt(s); ok {
		return n
	}
	return s
}

var human = lazy.Regexp(`^(\d+(?:\.\d+)?)([kKmMgGtT])$`)

// humanInt reads 1k as 1000, 1K as 1024 and so on; a fraction needs a decimal
// unit.
func humanInt(s string) (int64, bool) {
	m := human.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	power := 1 + strings.Index("kmgt", strings.ToLower(m[2]))
	base := 1000.0
	if strings.ToUpper(m[2]) == m[2] {
		if base = 1024; strings.Contains(m[1], ".") {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(m[1], 64)
	n *= math.Pow(base, float64(power))
	return int64(n), err == nil && n < math.MaxInt64
}
