package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Role says which part of a run a setting affects. The tag role:"..." of a field of the Spec gives it to the
// settings of that field. A field without the tag has the role of its parent, so that a new field is compared and
// listed unless someone decides otherwise.
type Role string

// The roles.
const (
	LoadRole   Role = "load"   // which requests are sent, and when; the role of the Spec itself
	ServerRole Role = "server" // of the engine that stands in for a server
	ClientRole Role = "client" // how requests are sent, and the steps before and after them
	ReportRole Role = "report" // figures computed from the answers
	SilentRole Role = "silent" // changes no figure: names, files of results, telemetry
)

// A Setting is one value of a Spec.
type Setting struct {
	Path  string // such as load[0].dataset.input_len
	Value string // as in JSON, without quotes
	Role  Role
}

// Flat returns the settings that a Spec has, none of nil, sorted by path; those of datasets, arrivals and
// engines as they are stored. In raw JSON an empty list or map is a setting too: [] or {}.
func Flat(s *Spec) []Setting {
	if s == nil {
		return nil
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil // every Spec came out of JSON
	}
	root, _ := ParseJSON(b)
	all := flatten(nil, "", root, reflect.TypeFor[Spec](), LoadRole)
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// flatten appends the settings at and below a node. of is the type that it was written from; the
// settings below anything but a struct, such as raw JSON, have the role of its field.
func flatten(all []Setting, path string, n *Node, of reflect.Type, role Role) []Setting {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	switch {
	case len(n.Members) > 0:
		for _, m := range n.Members {
			below, its := fieldOf(of, m.Key, role)
			all = flatten(all, Join(path, quoted(m.Key)), m.Value, below, its)
		}
		return all
	case len(n.Items) > 0:
		for i, item := range n.Items {
			all = flatten(all, Item(path, i), item, of, role)
		}
		return all
	}
	text, empty := map[NodeKind]string{Map: "{}", List: "[]", Null: "null"}[n.Kind]
	switch {
	case !empty:
		return append(all, Setting{path, n.Text, role})
	case of.Kind() == reflect.Struct && of != reflect.TypeFor[Typed]():
		return all // nothing is set
	}
	return append(all, Setting{path, text, role})
}

// fieldOf returns the type and the role of a member of a struct, those of the struct for a name
// that it has no field for.
func fieldOf(of reflect.Type, name string, role Role) (reflect.Type, Role) {
	if of.Kind() != reflect.Struct {
		return of, role
	}
	for _, f := range reflect.VisibleFields(of) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag != name {
			continue
		}
		if r := f.Tag.Get("role"); r != "" {
			role = Role(r)
		}
		return f.Type, role
	}
	return of, role
}

// quoted is a key as a part of a path, in quotes where a dot or a bracket is in it.
func quoted(key string) string {
	if key == "" || strings.ContainsAny(key, `.[]"`) {
		return "[" + strconv.Quote(key) + "]"
	}
	return key
}

// Name is the path without the parts that go without saying: input_len, rate, engine.seed. No two
// settings of a Spec have the same name.
func (s Setting) Name() string {
	if rest, ok := strings.CutPrefix(s.Path, "target.engine."); ok {
		return "engine." + rest
	}
	for _, group := range []string{"load[0].dataset.", "load[0].arrival.", "request."} {
		rest, ok := strings.CutPrefix(s.Path, group)
		first, _, _ := strings.Cut(strings.NewReplacer("[", ".").Replace(rest), ".")
		if ok && first != "kind" && !slices.Contains(Names(Spec{}), first) {
			return rest
		}
	}
	return s.Path
}
