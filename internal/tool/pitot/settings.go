package pitot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A settingsFile is a file with the names of flags for keys. The flags of the embedded
// engine may stand in a map named engine.
type settingsFile struct {
	*compiler
	doc    *plan.Document
	onLine []Setting // those on the command line, which have the last word
}

func (s *settingsFile) failf(at plan.Place, format string, a ...any) {
	s.inFile = append(s.inFile, placed{at, s.doc.At(at, fmt.Sprintf(format, a...))})
}

// members takes the keys of a map; prefix stands before each.
func (s *settingsFile) members(prefix string, n *plan.Node) {
	for _, m := range n.Members {
		name := prefix + m.Key
		switch {
		case prefix == "" && name == "engine" && m.Value.Kind == plan.Map:
			s.members("engine-", m.Value)
			continue
		case name == "engine-profile": // among the others, as the sense has it
			name = "profile"
		}
		i := slices.IndexFunc(s.flags, func(f *kong.Flag) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
		if i < 0 || name == "config" || strings.HasPrefix(name, "help") {
			s.failf(m.At, "unknown setting %q%s; `pitot %s --help` lists them", name, plan.Suggest(name, s.known()), s.command)
			continue
		}
		s.setting(s.flags[i], m)
	}
}

func (s *settingsFile) known() (names []string) {
	for _, f := range s.flags {
		names = append(append(names, f.Name), f.Aliases...)
	}
	return names
}

func (s *settingsFile) setting(f *kong.Flag, m plan.Member) {
	path, o := f.Tag.Get("path"), origin{name: m.Key, doc: s.doc, at: m.At}
	if at := m.Value.At; at.Line == m.At.Line && m.Value.Kind != plan.List && m.Value.Kind != plan.Map {
		o.at = at
	}
	switch given := slices.ContainsFunc(s.onLine, func(one Setting) bool { return one.Flag == "--"+f.Name }); {
	case m.Value.Kind == plan.Null || given:
	case s.names[path].doc != nil && path != "":
		s.failf(m.At, "%q is set twice, first in line %d", m.Key, s.names[path].at.Line)
	case path == "":
		s.flag(f, m)
	case f.IsSlice() && m.Value.Kind != plan.List && path != "target.headers":
		s.assign(path, &plan.Node{Kind: plan.List, Items: []*plan.Node{m.Value}, At: m.Value.At}, o)
	default:
		s.assign(path, m.Value, o)
	}
}

// flag gives the value to a flag that is about the results.
func (s *settingsFile) flag(f *kong.Flag, m plan.Member) {
	values := []*plan.Node{m.Value}
	if m.Value.Kind == plan.List {
		values = m.Value.Items
	}
	var texts []string
	for _, v := range values {
		if v.Kind == plan.List || v.Kind == plan.Map {
			s.failf(v.At, "%q takes a plain value%s", f.Name, map[bool]string{true: " or a list of them"}[f.IsSlice()])
			return
		}
		texts = append(texts, v.Text)
	}
	if len(texts) > 1 && !f.IsSlice() {
		s.failf(m.Value.At, "%q takes one value, not a list", f.Name)
		return
	}
	if err := f.Parse(kong.Scan(strings.Join(texts, ",")), f.Target); err != nil {
		s.failf(m.Value.At, "%v", err)
	}
}
