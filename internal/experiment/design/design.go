// Package design describes experiments: their variants, loads and order.
//
// An Experiment is data, as a plan.Spec is a run's. It comes from a YAML file (Read) or from
// the flags of `pitot ab`, and is written back as YAML. Everything in it is checked before a
// server is started. The package decides the order of the legs as well (Order), which is a
// pure function of the design and its seed; it starts nothing and measures nothing.
package design

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Version is the version of the form of an Experiment.
const Version = 1

// An Experiment is variants that are measured under workloads, in blocks.
type Experiment struct {
	Version int    `json:"version"`
	Name    string `json:"name"` // of the experiment in the store
	// Server has the settings common to the servers of all variants. A field of a variant's own server replaces it;
	// environments are joined.
	Server    ServerSetup `json:"server,omitzero"`
	Variants  []Variant   `json:"variants,omitempty"` // the baseline first, unless Baseline names another
	Matrix    *Matrix     `json:"matrix,omitempty"`   // further variants; nil: none
	Baseline  string      `json:"baseline,omitempty"`
	Workloads []Workload  `json:"workloads"`
	Design    Design      `json:"design,omitzero"`
	WarmUp    WarmUp      `json:"warm_up,omitempty"` // empty: Steady
	Cache     plan.Cache  `json:"cache,omitempty"`   // of prompts, at the start of each run; empty: not declared
	// Level is that of all verdicts of the experiment together, and Margin the relative
	// difference below which nobody cares; 0 for compare's defaults.
	Level  Share    `json:"level,omitempty"`
	Margin Share    `json:"margin,omitempty"`
	FailIf []string `json:"fail_if,omitempty"` // gates, as of `pitot compare --fail-if`
	// Answers is whether it is judged if answers changed; empty: they are.
	Answers Answers `json:"answers,omitempty"`
	// NotWorse is the loss of accuracy that is accepted; 0 for none.
	NotWorse Points `json:"not_worse,omitempty"`
}

// Answers is whether answers are judged.
type Answers string

// Whether they are.
const (
	JudgeAnswers Answers = "on"
	NoAnswers    Answers = "off"
)

// A Variant is one side of the comparison.
type Variant struct {
	Name   string      `json:"name"`
	Server ServerSetup `json:"server,omitzero"`
	// Flags are appended to the command lines of workloads, or replace theirs of the same
	// name, in the tool's own form: `--max-concurrency 32`. Settings are members of the
	// Spec of a workload that has one, and replace its own.
	Flags    string          `json:"flags,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	// Cell holds the values of the axes, of a variant that comes from a matrix. Expanded
	// fills it; it is in no file.
	Cell map[string]string `json:"-"`
}

// A Matrix is variants with all combinations of values. ${axis} in Server, in Flags, in
// Settings, and in the server that all variants have in common, stands for the value.
type Matrix struct {
	Axes     Axes                `json:"axes"`
	Exclude  []map[string]string `json:"exclude,omitempty"` // cells with all of these values are left out
	Server   ServerSetup         `json:"server,omitzero"`
	Flags    string              `json:"flags,omitempty"`
	Settings json.RawMessage     `json:"settings,omitempty"`
}

// Axes are in the order of the names of their variants. In a file they are a map:
// {tp: [1, 2], graph: [on, off]}.
type Axes []Axis

// An Axis is a name with its values, the baseline's first.
type Axis struct {
	Name   string
	Values []string
}

// A Runner is how a server is started.
type Runner string

// The runners.
const (
	Local   Runner = "local" // a process of this machine
	Docker  Runner = "docker"
	Podman  Runner = "podman"
	SSH     Runner = "ssh"
	Kubectl Runner = "kubectl" // a rollout of a deployment
)

// A ServerSetup is the system under test of a variant: one that Pitot starts (Command, Image or
// Deployment), one that is up (only URL), or the embedded engine (Profile or Engine). Without
// any of these the target is the one of the workload.
type ServerSetup struct {
	Runner  Runner            `json:"runner,omitempty"`  // empty: local
	Command string            `json:"command,omitempty"` // for sh; ${port} is a free port of this machine
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`

	Image   string `json:"image,omitempty"`   // docker and podman: with Command as its command
	Options string `json:"options,omitempty"` // further ones of docker, podman, ssh or kubectl, for sh

	Host string `json:"host,omitempty"` // ssh: USER@HOST

	Manifest   string `json:"manifest,omitempty"`   // kubectl: a file to apply; empty: the deployment exists
	Deployment string `json:"deployment,omitempty"` // kubectl
	Namespace  string `json:"namespace,omitempty"`  // kubectl

	Profile string          `json:"profile,omitempty"` // of the embedded engine
	Engine  json.RawMessage `json:"engine,omitempty"`  // its settings, as of plan.Target

	URL          string        `json:"url,omitempty"`          // where it answers; empty: as the workload says
	Ready        string        `json:"ready,omitempty"`        // answers 200 when up; empty: /health, else /v1/models
	ReadyTimeout plan.Duration `json:"ready_timeout,omitzero"` // 0: 30 minutes
	StopTimeout  plan.Duration `json:"stop_timeout,omitzero"`  // between TERM and KILL; 0: 60 s
	Settle       plan.Duration `json:"settle,omitzero"`        // rest between a stop and the next start
}

// Starts reports whether Pitot starts it.
func (s ServerSetup) Starts() bool {
	return s.Command != "" || s.Image != "" || s.Deployment != "" || s.Manifest != ""
}

// Embedded reports whether it is the embedded engine.
func (s ServerSetup) Embedded() bool { return s.Profile != "" || s.Engine != nil }

// A Workload is a load that all variants meet: a command line as it stands, or a Spec. In a file it may be only a
// command line.
type Workload struct {
	Name    string          `json:"name"`
	Command string          `json:"command,omitempty"` // of vllm bench serve, sglang.bench_serving, bench or sim
	Spec    json.RawMessage `json:"spec,omitempty"`
}

// Restart says when servers are started anew.
type Restart string

// When servers are started anew. With PerLeg one server is up at a time. Otherwise those of all variants are up at
// once, for a block or for the experiment, and each needs another address.
const (
	PerLeg   Restart = "leg" // the default
	PerBlock Restart = "block"
	Never    Restart = "never"
)

// Until is when an experiment has seen enough.
type Until string

// UntilVerdict ends an experiment when each judged main figure is better, worse or the same.
const UntilVerdict Until = "verdict"

// A Design says how many legs there are and in which order.
type Design struct {
	// Blocks is their number; 0: DefaultBlocks, or with Until, Precision or a Budget as many
	// as those allow, at most MaxBlocks.
	Blocks    int     `json:"blocks,omitempty"`
	Restart   Restart `json:"restart,omitempty"`
	Runs      int     `json:"runs,omitempty"` // of each workload in a leg; 0: 1
	Seed      uint64  `json:"seed,omitempty"` // of the order, and the first of the loads
	Until     Until   `json:"until,omitempty"`
	Precision Share   `json:"precision,omitempty"`  // half the width of the main intervals to reach; 0: none
	MaxBlocks int     `json:"max_blocks,omitempty"` // 0: DefaultMaxBlocks, or of a budget alone as many as it allows
	// Budget is the time after which no block begins that would not end in it; 0: none.
	Budget plan.Duration `json:"budget,omitzero"`
	// Confirm is how many fresh blocks of the baseline and the best confirm a choice among
	// more than two variants; nil: 3.
	Confirm *int `json:"confirm,omitempty"`
}

// The defaults of a Design.
const (
	DefaultBlocks    = 3
	DefaultMaxBlocks = 8
	DefaultConfirm   = 3
)

// Adaptive reports whether the number of blocks depends on the results or on time.
func (d Design) Adaptive() bool { return d.Until != "" || d.Precision > 0 || d.Budget > 0 }

// Most is the largest number of blocks, without those of a confirmation.
func (d Design) Most() int {
	switch {
	case d.Blocks > 0:
		return d.Blocks
	case d.Until != "" || d.Precision > 0:
		return cmp.Or(d.MaxBlocks, DefaultMaxBlocks)
	case d.Budget > 0:
		return cmp.Or(d.MaxBlocks, maxBlocks)
	}
	return DefaultBlocks
}

// Confirmations is the number of blocks that confirm a choice among variants.
func (d Design) Confirmations(variants int) int {
	switch {
	case variants < 3:
		return 0
	case d.Confirm != nil:
		return *d.Confirm
	}
	return DefaultConfirm
}

// A WarmUp precedes each run.
type WarmUp string

// The warm-ups, besides those of the workload itself.
const (
	Steady WarmUp = "steady" // waves until two of them agree, plan.WarmUp.Steady
	Own    WarmUp = "own"    // as the workload says
)

// axisName matches a name that ${...} can hold.
var axisName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// check reports problems with the axes of a matrix and with the combinations left out. misspelt means that some
// reference is no axis: it may be the one that an axis lacks.
func (m *Matrix) check(common ServerSetup, misspelt bool) (p plan.Problems) {
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
func (m *Matrix) uses(name string, common ServerSetup) bool {
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
		p.If(slices.ContainsFunc(m.Exclude[:i], func(y map[string]string) bool { return len(y) > 0 && matchesExclusion(y, x) }), at, nil, "matches nothing that is not left out already")
	}
	p.If(!wrong && p == nil && len(m.Exclude) > 0 && len(m.cells()) == 0, "matrix.exclude", nil, "leaves out everything")
	return p
}
