// Package experiment makes many runs, in an order in which they can be judged.
//
//	design.Experiment ─ Prepare ─> Plan: every workload of every variant as a Spec, checked
//	Plan ─ Run ─> block ─> leg ─> server, workloads, runs ─> Journal ─> judgement ─┐
//	               ^                                                              │
//	               └───────────── unless enough was seen, or time is up ──────────┘
//
// A leg is one turn of a variant: its server is started, its workloads are measured, and the server is stopped.
// Package design orders the legs, and package compare judges the runs, after each block if the experiment may end
// early.
//
// The Journal is the memory of an experiment. It is stored after every change, so a process that is killed loses
// only the leg under way, which Run makes again with the same journal. A leg that fails stays in it, is made again
// once, and is not judged.
//
// The package knows no terminal, store or process: its dependencies come in through Deps, so a run may be local or
// a fleet's, and a test runs in virtual time.
package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/run/inspect"
	"github.com/pitot-bench/pitot/internal/tool"
)

// Deps are what an experiment depends on.
type Deps struct {
	// Measure makes a run and keeps it. Closing stop ends it early.
	Measure func(ctx context.Context, stop <-chan struct{}, l VariantLoad, leg trace.Leg) (*run.Result, error)
	// Start starts a server of Pitot's.
	Start func(context.Context, design.ServerSetup, server.Options) (Server, error)
	// Keep stores the journal.
	Keep func(*Journal) error
	// Observed are the runs of the legs of a journal, to be judged.
	Observed func(legs []*Leg) ([]compare.ComparedRun, error)
	// Void marks all stored runs of a leg as no evidence, also one that Measure has not come to
	// the end of.
	Void func(*Leg) error
	// OnEvent receives the events, also from several goroutines at once; may be nil.
	OnEvent func(Event)
	Now     func() time.Time
	// Port is a free port of this machine.
	Port func() (int, error)
	// Space is an error if there is too little space for the files of another leg; may be nil.
	Space func() error
	// Log is the name of the file for the output of a server.
	Log func(leg *Leg) string
	// Options are those of every judgement, without looks.
	Options compare.Options
}

// A Server was started.
type Server interface {
	// Ready waits until it answers.
	Ready(context.Context) (took time.Duration, err error)
	// Done is closed when it has ended by itself, and Ended says how.
	Done() <-chan struct{}
	Ended() server.End
	// Stop ends it, with all that it started.
	Stop(context.Context) (server.Stopped, error)
	// Life is its lifetime, as stored.
	Life() server.Lifetime
}

// A CheckedExperiment is an experiment in which everything was checked.
type CheckedExperiment struct {
	*design.Experiment
	Variants []design.Variant // the baseline first
	Loads    [][]VariantLoad  // by variant and workload
}

// A VariantLoad is a workload as a variant meets it.
type VariantLoad struct {
	Workload string
	tool.Compiled
	// Serving is where the server of a run is, of one that Pitot has started.
	Serving inspect.Subject
}

// A Compiler makes a VariantLoad of a workload.
type Compiler interface {
	// Command compiles a command line: words of a shell.
	Command(words []string) (VariantLoad, error)
	// Spec checks a Spec.
	Spec(plan.Spec) (VariantLoad, error)
}

// Prepare compiles the workloads of all variants. Its errors are plan.Problems, all in one go.
func Prepare(e *design.Experiment, c Compiler) (*CheckedExperiment, error) {
	problems := e.Check()
	if problems != nil {
		return nil, problems
	}
	p := &CheckedExperiment{Experiment: e, Variants: e.Expanded()}
	for v, variant := range p.Variants {
		if variant.Server.Starts() {
			problems = append(problems, server.Check(variant.Server).Below(plan.Item("variants", v)+".server")...)
		}
		var loads []VariantLoad
		for w, workload := range e.Workloads {
			l, err := compile(c, variant, workload)
			path := pathOf(e, w)
			if err != nil && (v == 0 || variant.Flags != "" || variant.Settings != nil) { // common ones once
				problems = append(problems, plan.Problem{Path: path, Why: err.Error()})
			}
			if err == nil {
				problems = append(problems, p.target(&l.Spec, variant.Server).Below(path)...)
			}
			loads = append(loads, l)
		}
		p.Loads = append(p.Loads, loads)
	}
	return p, problems.Err()
}

// pathOf is the path of a workload in the file.
func pathOf(e *design.Experiment, workload int) string {
	return plan.Item("workloads", workload) + "." + map[bool]string{true: "command", false: "spec"}[e.Workloads[workload].Command != ""]
}

func compile(c Compiler, v design.Variant, w design.Workload) (l VariantLoad, err error) {
	if w.Command != "" {
		var words []string
		if words, err = v.Words(w); err == nil {
			l, err = c.Command(words)
		}
	} else {
		var spec *plan.Spec
		if spec, err = v.Spec(w); err == nil {
			l, err = c.Spec(*spec)
		}
	}
	l.Workload = w.Name
	if err == nil && OpenEnded(&l.Spec) {
		l.Spec = counted(l.Spec)
	}
	return l, inVariant(v, v.Flags != "" || v.Settings != nil, err)
}

// inVariant says which variant has an error that is its own.
func inVariant(v design.Variant, own bool, err error) error {
	if err == nil || !own {
		return err
	}
	return fmt.Errorf("variant %s: %w", v.Name, err)
}

// target directs a Spec at the server of a variant.
func (p *CheckedExperiment) target(s *plan.Spec, own design.ServerSetup) (problems plan.Problems) {
	switch {
	case own.Embedded():
		s.Target = plan.Target{Simulated: s.Target.Simulated, Engine: engine(s.Target.Engine, own)}
	case own.URL != "":
		s.Target.URL, s.Target.Engine = own.URL, nil
	case strings.Contains(own.Command, design.Port):
		s.Target.URL, s.Target.Engine = "http://127.0.0.1:"+design.Port, nil
	}
	problems.If(own.Starts() && s.Target.Simulated, "", nil, "is simulated, and a variant has a server; use bench")
	problems.If(own.Starts() && s.Target.URL == "", "", nil, "has no address of the server that is started; put ${port} into its command, or give the load a URL")
	s.Cache = cmp.Or(p.Cache, s.Cache)
	if p.WarmUp != design.Own && !s.Target.Simulated {
		s.Before.WarmUp = plan.WarmUp{Steady: true, From: plan.WarmOther}
	}
	return problems
}

// engine are settings of the engine: those of the load with those of a variant over them.
func engine(of json.RawMessage, own design.ServerSetup) json.RawMessage {
	all := map[string]any{}
	_ = json.Unmarshal(of, &all)
	_ = json.Unmarshal(own.Engine, &all)
	if own.Profile != "" {
		all["profile"] = own.Profile
	}
	b, _ := json.Marshal(all) // of JSON
	return b
}
