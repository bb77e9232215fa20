package design

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Expanded are the variants as they are measured: with the server that all have in common, those of the matrix in
// the order of its cells, and the baseline first. References that Check refuses stay as they are.
func (e *Experiment) Expanded() []Variant {
	placed, _ := e.expand()
	out := make([]Variant, len(placed))
	for i, v := range placed {
		out[i] = v.Variant
	}
	return out
}

// Same reports whether all variants are equal but for their names: an A/A experiment.
func (e *Experiment) Same() bool {
	all := e.Expanded()
	for i := range all {
		all[i].Name, all[i].Cell = "", nil
	}
	return len(all) > 1 && !slices.ContainsFunc(all[1:], func(v Variant) bool { return !reflect.DeepEqual(v, all[0]) })
}

// A placed variant knows where its fields are in the file.
type placed struct {
	Variant
	path string      // of the variant, or of the matrix
	own  ServerSetup // without common settings
}

// at is the path of a field of its server: its own, if it gives that field or all do not.
func (v placed) at(common ServerSetup, field string) string {
	if !isSet(v.own, field) && isSet(common, field) {
		return plan.Join("server", field)
	}
	return plan.Join(v.path, plan.Join("server", field))
}

// expand makes all variants, and reports problems with their references.
func (e *Experiment) expand() (all []placed, p plan.Problems) {
	for i, v := range e.Variants {
		path := plan.Item("variants", i)
		all = append(all, placed{v, path, v.Server})
		p = append(p, e.reference(&all[i], nil)...)
	}
	for _, cell := range e.Matrix.cells() {
		v := placed{Variant{e.Matrix.name(cell), e.Matrix.Server, e.Matrix.Flags, e.Matrix.Settings, cell}, "matrix", e.Matrix.Server}
		p = append(p, e.reference(&v, cell)...)
		all = append(all, v)
	}
	if i := slices.IndexFunc(all, func(v placed) bool { return v.Name == e.Baseline }); i > 0 {
		first := all[i]
		all = slices.Insert(slices.Delete(all, i, i+1), 0, first)
	}
	return all, p
}

// reference gives a variant the common server, and the values of its cell.
func (e *Experiment) reference(v *placed, cell map[string]string) plan.Problems {
	v.Server = joined(e.Server, v.Server)
	r := references{cell: cell, axes: e.Matrix.names()}
	r.ports = true
	r.server(v.at, e.Server, &v.Server)
	r.ports = false
	v.Flags = r.text(plan.Join(v.path, "flags"), v.Flags)
	v.Settings = r.json(plan.Join(v.path, "settings"), v.Settings)
	return r.problems
}

// joined is a server with missing settings from the common one. The embedded engine and a server have nothing in
// common.
func joined(common, own ServerSetup) ServerSetup {
	switch {
	case own.Embedded():
		common = ServerSetup{Profile: common.Profile, Engine: common.Engine}
	case own.Starts() || own.URL != "":
		common.Profile, common.Engine = "", nil
	}
	out := common
	to, from := reflect.ValueOf(&out).Elem(), reflect.ValueOf(own)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	if len(common.Env) > 0 {
		out.Env = maps.Clone(common.Env)
		maps.Copy(out.Env, own.Env)
	}
	return out
}

// isSet reports whether a server has a field, by its name in a file; of the fields below it, only variables of the
// environment count separately.
func isSet(s ServerSetup, field string) bool {
	name, below, _ := strings.Cut(field, ".")
	if name == "env" && below != "" {
		_, ok := s.Env[below]
		return ok
	}
	return slices.Contains(setFields(s), name)
}

func setFields(s ServerSetup) (names []string) {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

func (m *Matrix) names() (names []string) {
	if m != nil {
		for _, a := range m.Axes {
			names = append(names, a.Name)
		}
	}
	return names
}

// maxCells is the largest number of combinations that are formed.
const maxCells = 4096

// combinations is the number of cells before any is left out, at most maxCells+1.
func (m *Matrix) combinations() int {
	n := min(1, len(m.Axes))
	for _, a := range m.Axes {
		n = min(n*len(a.Values), maxCells+1)
	}
	return n
}

// cells are the combinations of values that are not left out, the last axis changing fastest.
func (m *Matrix) cells() (cells []map[string]string) {
	if m == nil || m.combinations() > maxCells {
		return nil
	}
	for n := range m.combinations() {
		if cell := m.cell(n); !slices.ContainsFunc(m.Exclude, func(x map[string]string) bool { return matchesExclusion(x, cell) }) {
			cells = append(cells, cell)
		}
	}
	return cells
}

// cell is the nth combination.
func (m *Matrix) cell(n int) map[string]string {
	cell := map[string]string{}
	for _, a := range slices.Backward(m.Axes) {
		cell[a.Name] = a.Values[n%len(a.Values)]
		n /= len(a.Values)
	}
	return cell
}

func matchesExclusion(exclusion, cell map[string]string) bool {
	for axis, value := range exclusion {
		if v, ok := cell[axis]; !ok || v != value {
			return false
		}
	}
	return len(exclusion) > 0
}

// name is the name of the variant of a cell: "tp=2 graph=off".
func (m *Matrix) name(cell map[string]string) string {
	words := make([]string, len(m.Axes))
	for i, a := range m.Axes {
		words[i] = a.Name + "=" + cell[a.Name]
	}
	return strings.Join(words, " ")
}

// Port stands for a free port of this machine in the texts of a server.
const Port = "${port}"

// reference matches ${name}. ${name:-value} is left to the shell.
var reference = lazy.Regexp(`\$\{[A-Za-z_][A-Za-z0-9_-]*\}`)

// references puts the values of a cell in, and reports other names.
type references struct {
	cell     map[string]string // nil: not of a matrix
	axes     []string
	ports    bool // ${port} may stand here
	problems plan.Problems
}

// server does so in all texts of a server, which are given by their owner's paths.
func (r *references) server(at func(ServerSetup, string) string, common ServerSetup, s *ServerSetup) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch f := v.Field(i).Addr().Interface().(type) {
		case *string:
			*f = r.text(at(common, name), *f)
		case *map[string]string:
			env := maps.Clone(*f)
			for _, key := range slices.Sorted(maps.Keys(env)) {
				env[key] = r.text(at(common, plan.Join(name, key)), env[key])
			}
			*f = env
		case *json.RawMessage:
			*f = r.json(at(common, name), *f)
		}
	}
}

func (r *references) text(path, text string) string {
	return reference.ReplaceAllStringFunc(text, func(whole string) string {
		name := whole[2 : len(whole)-1]
		if value, ok := r.cell[name]; ok {
			return value
		}
		if whole != Port || !r.ports {
			r.reportUnknown(path, name)
		}
		return whole
	})
}

// reportUnknown reports a name that stands for nothing at a place.
func (r *references) reportUnknown(path, name string) {
	problem := plan.Problem{Path: path, Value: "${" + name + "}", Hint: "a variable of the shell is written $" + name}
	switch {
	case slices.Contains(r.axes, name):
		problem.Why = "stands for a value of the matrix, and there is a variant that is not of the matrix"
		problem.Hint = "give that variant a value of its own for this field"
	case "${"+name+"}" == Port:
		problem.Why = "stands for a port, which only servers have"
		problem.Hint = ""
	default:
		problem.Why = "is not an axis of the matrix" + plan.Suggest(name, r.axes)
	}
	if !slices.Contains(r.problems, problem) {
		r.problems = append(r.problems, problem)
	}
}

// json does so in the texts of a value of JSON. A text that is nothing but a name becomes a
// number, true or false if the value looks like one.
func (r *references) json(path string, raw json.RawMessage) json.RawMessage {
	if !reference.MatchString(string(raw)) {
		return raw
	}
	n, err := plan.ParseJSON(raw)
	if err != nil {
		return raw
	}
	r.node(path, n)
	out, err := n.JSON()
	if err != nil {
		return raw
	}
	return out
}

func (r *references) node(path string, n *plan.Node) {
	switch {
	case n.Kind == plan.String && reference.MatchString(n.Text):
		whole := reference.FindString(n.Text) == n.Text
		text := r.text(path, n.Text)
		if whole && text != n.Text {
			*n = plain(text)
		}
		n.Text = text
	case n.Kind == plan.List:
		for i, item := range n.Items {
			r.node(plan.Item(path, i), item)
		}
	case n.Kind == plan.Map:
		for _, m := range n.Members {
			r.node(plan.Join(path, m.Key), m.Value)
		}
	}
}

// number matches numbers of JSON that are short enough to be exact.
var number = lazy.Regexp(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$`)

// plain is a value as a file without quotes would have it.
func plain(text string) plan.Node {
	switch {
	case number.MatchString(text):
		return plan.Node{Kind: plan.Number, Text: text}
	case text == "true" || text == "false":
		return plan.Node{Kind: plan.Bool, Text: text}
	}
	return plan.Node{Kind: plan.String, Text: text, Quoted: true}
}
