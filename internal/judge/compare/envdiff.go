package compare

import (
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An envFact is a fact of the environment of a run, under the name of its side: server.driver, prefill.driver,
// client.kernel.
type envFact struct {
	name  string
	value plan.Message
	main  bool
}

// envFacts returns the facts of the processes that serve, then those of a client on another machine. Name, system
// and processors of the client are settings of the run.
func envFacts(run trace.Run) (all []envFact) {
	for side, e := range run.Env.Sides {
		if side == "client" {
			return append(all, clientFacts(run)...)
		}
		for _, f := range e.Facts() {
			all = append(all, envFact{side + "." + f.Name, plan.Text(run.AnyPort(f.Value)), f.Main})
		}
	}
	return all
}

func clientFacts(run trace.Run) (all []envFact) {
	server, client := run.Env.Serving, run.Env.Client
	if server != nil && server.Machine.Host == client.Machine.Host {
		return nil
	}
	for _, f := range client.Facts() {
		if f.Name != "host" && f.Name != "processors" {
			all = append(all, envFact{"client." + f.Name, plan.Text(f.Value), false})
		}
	}
	return all
}

// knows reports whether what a run does not have of the environment is not set there, as
// opposed to not known.
func knows(run trace.Run, name string) bool {
	side, name, _ := strings.Cut(name, ".")
	e := run.Env.Side(side)
	if e == nil {
		return false
	}
	kind, _, _ := strings.Cut(name, ".")
	switch kind {
	case "arg", "command":
		return e.Process != nil && len(e.Process.Args) > 0
	case "env": // a note names a few of them, and of packages
		return e.Process != nil && e.Process.PID > 0 && len(e.Process.Env) > 0
	case "package":
		return e.Python != "" && e.Process != nil && e.Process.PID > 0 && len(e.Packages) > 0
	}
	return false
}

// ofEachStart reports facts that change with each start of a server, and those that identify
// machines and explain nothing.
func ofEachStart(name string, l *trace.Leg) bool {
	_, fact, _ := strings.Cut(name, ".")
	anew := l != nil && l.ServerStart > 0
	return anew && fact == "host" || fact == "devices.uuid"
}

// variableOf is the variable that a fact is of, empty for any other fact.
func variableOf(name string) string {
	_, fact, _ := strings.Cut(name, ".")
	variable, ok := strings.CutPrefix(fact, "env.")
	if !ok {
		return ""
	}
	return variable
}

// idle reports facts that explain nothing.
func idle(name string) bool { return variableOf(name) != "" && environment.Idle(variableOf(name)) }

// importance orders facts: the main ones, the others that an engine is known to read, other variables, and those that
// never matter.
func importance(name string, main bool) int {
	switch variable := variableOf(name); {
	case main:
		return 0
	case variable == "" || environment.Tunes(variable):
		return 1
	case environment.Idle(variable):
		return 3
	}
	return 2
}

// mostEnvDiffs limits the listed facts of the environment that differ.
const mostEnvDiffs = 24

// Surroundings are the facts of environments in which variants differ.
type surroundings struct {
	diffs   []SettingDiff // the main ones first, at most mostEnvDiffs
	further int           // in addition
	idle    int           // variables that never matter, which are in none of both
}

// envDiffs lists the facts of the environment in which the runs of variants differ.
func envDiffs(variants []*variant, o Options) (out surroundings) {
	order, names := map[string]int{}, []string(nil)
	of := map[*ComparedRun]map[string]plan.Message{}
	for _, v := range variants {
		for _, r := range v.runs {
			of[r] = map[string]plan.Message{}
			for _, s := range envFacts(r.run) {
				if ofEachStart(s.name, r.run.Leg) || slices.Contains(o.Ignore, canonical(s.name)) {
					continue
				}
				of[r][s.name] = s.value
				if _, known := order[s.name]; !known {
					names, order[s.name] = append(names, s.name), importance(s.name, s.main)
				}
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return order[a] - order[b] })
	for _, name := range names {
		all := make([][]plan.Message, len(variants))
		for i, v := range variants {
			for _, r := range v.runs {
				if value, has := of[r][name]; has {
					all[i] = append(all[i], value)
				} else if knows(r.run, name) {
					all[i] = append(all[i], unset)
				}
			}
		}
		switch {
		case !differ(all, o.Paired):
		case idle(name):
			out.idle++
		case len(out.diffs) == mostEnvDiffs:
			out.further++
		default:
			out.diffs = append(out.diffs, SettingDiff{Setting: name, Values: shortest(all)})
		}
	}
	return out
}

// A Difference is a setting or a fact in which two runs differ.
type Difference struct {
	Name string `json:"name"`
	// Of is plan, server, the role of another process that serves, or client.
	Of string `json:"of"`
	// Main are those that explain most: model, image, commit, packages, driver, arguments.
	Main bool `json:"main,omitempty"`
	// Idle are variables that never matter.
	Idle bool `json:"idle,omitempty"`
	// Values are those of the two runs; a zero one is not known.
	Values [2]plan.Message `json:"values"`
}

// Differences are all that differs between the plans and the environments of two runs, those that explain most
// first.
func Differences(a, b trace.Run) []Difference {
	var out []Difference
	add := func(name, of string, main bool, one, two plan.Message) {
		if one.Key() != two.Key() {
			out = append(out, Difference{name, of, main, of != "plan" && idle(of+"."+name), [2]plan.Message{one, two}})
		}
	}
	left, right := settingsOfRun(a), settingsOfRun(b)
	for _, name := range namesOf(left, right) {
		add(name, "plan", name == "model" || name == "server", left.values[name], right.values[name])
	}
	if cachesDiffer([]trace.Run{a}, []trace.Run{b}) {
		add(cachedSetting, "plan", true, cachedBefore(a), cachedBefore(b))
	}
	with, without := envFacts(a), envFacts(b)
	find := func(in []envFact, run trace.Run, name string) plan.Message {
		if i := slices.IndexFunc(in, func(s envFact) bool { return s.name == name }); i >= 0 {
			return in[i].value
		}
		if knows(run, name) {
			return unset
		}
		return plan.Message{}
	}
	seen := map[string]bool{}
	for _, s := range slices.Concat(with, without) {
		if !seen[s.name] {
			side, name, _ := strings.Cut(s.name, ".")
			seen[s.name] = true
			add(name, side, s.main, find(with, a, s.name), find(without, b, s.name))
		}
	}
	rank := func(d Difference) int {
		if d.Of == "plan" {
			return importance("", d.Main)
		}
		return importance(d.Of+"."+d.Name, d.Main)
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return rank(a) - rank(b) })
	return out
}

// A runSettings is the settings of a run by name.
type runSettings struct {
	names  []string
	values map[string]plan.Message
}

// settingsOfRun are the settings of a run: those of its load, then the others.
func settingsOfRun(run trace.Run) runSettings {
	r := &ComparedRun{run: run}
	s := runSettings{values: maps.Clone(loadOf(r).values)}
	for _, name := range loadSettings {
		if _, known := s.values[name]; known {
			s.names = append(s.names, name)
		}
	}
	for _, f := range r.settings() {
		s.names = append(s.names, f.Name)
		s.values[f.Name] = f.Value
	}
	return s
}

// namesOf are those of both, in the order of the first.
func namesOf(a, b runSettings) []string {
	names := slices.Clone(a.names)
	for _, name := range b.names {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
