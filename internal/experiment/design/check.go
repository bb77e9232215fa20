package design

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
)

// The ranges of an experiment.
const (
	maxVariants  = 32
	maxWorkloads = 16
	maxRuns      = 100
	maxBlocks    = 64
	maxConfirm   = 16
	maxName      = 64  // characters of the name of an experiment or a workload
	maxVariant   = 100 // of a variant: a matrix makes long ones
)

// Check reports everything that is wrong and can be known before anything is started.
func (e *Experiment) Check() (p plan.Problems) {
	p.If(e.Version != Version, "version", e.Version, "must be %d", Version)
	p = append(p, checkName("name", e.Name, maxName)...)
	p.If(strings.ContainsAny(e.Name, `/\*?[`), "name", strconv.Quote(e.Name), `must not contain / \ * ? or [, which name runs and files`)
	p.If(strings.HasPrefix(e.Name, "-"), "name", strconv.Quote(e.Name), "must not begin with -, as flags do")
	p.If(e.Name == "last", "name", e.Name, "is reserved for the newest run")
	p = append(p, e.checkVariants()...)
	p = append(p, e.checkWorkloads()...)
	p = append(p, e.Design.check(len(e.Expanded()))...)
	p.OneOf("warm_up", string(e.WarmUp), string(Steady), string(Own))
	p.OneOf("answers", string(e.Answers), string(JudgeAnswers), string(NoAnswers))
	p.OneOf("cache", string(e.Cache), string(plan.ColdCache), string(plan.PrimedCache), string(plan.WarmCache))
	p = append(p, compare.Options{Level: float64(e.Level), Margin: float64(e.Margin)}.Validate()...)
	return append(p, e.checkGates()...)
}

func (e *Experiment) checkGates() (p plan.Problems) {
	for i, text := range e.FailIf {
		_, err := compare.ParseGate(text)
		var problem plan.Problem
		switch {
		case errors.As(err, &problem):
			problem.Path = plan.Item("fail_if", i)
			p = append(p, problem)
		case err != nil:
			p.If(true, plan.Item("fail_if", i), strconv.Quote(text), "%v", err)
		}
	}
	return p
}

// checkName reports problems with a name that is printed, stored and looked for.
func checkName(path, name string, most int) (p plan.Problems) {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case name == "":
		p.If(true, path, nil, "is missing")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		p.If(true, path, strconv.Quote(name), "has characters that cannot be printed")
	case strings.TrimSpace(name) != name:
		p.If(true, path, strconv.Quote(name), "begins or ends with a blank")
	default:
		n := utf8.RuneCountInString(name)
		p.If(n > most, path, nil, "is %d characters long, and %d are possible", n, most)
	}
	return p
}

// checkVariants checks the variants, the matrix and the servers of both.
func (e *Experiment) checkVariants() (p plan.Problems) {
	for i, v := range e.Variants {
		p = append(p, checkName(plan.Join(plan.Item("variants", i), "name"), v.Name, maxVariant)...)
	}
	all, unknown := e.expand()
	matrix := e.Matrix.check(e.Server, unknown != nil)
	p = append(append(p, matrix...), once(unknown)...)
	names := map[string]bool{}
	for _, v := range all {
		path := v.path
		if v.Cell == nil {
			path = plan.Join(path, "name")
		} else if n := utf8.RuneCountInString(v.Name); n > maxVariant {
			p.If(true, "matrix.axes", nil, "the values make a name of %d characters, and %d are possible", n, maxVariant)
			break
		}
		p.If(v.Name != "" && names[v.Name] && (v.Cell == nil || matrix == nil), path, strconv.Quote(v.Name), "names two variants")
		names[v.Name] = true
	}
	p.If(len(all) < 2 && matrix == nil, "variants", nil, "an experiment compares at least two variants, and there %s", counted(len(all)))
	p.Hint(len(all) == 1, "repeat it under another name to measure the noise (A/A)")
	if len(all) > maxVariants {
		p = nil
		p.If(true, "variants", nil, "there are %d variants, and at most %d are possible", len(all), maxVariants)
		return p
	}
	p.If(e.Baseline != "" && len(all) > 0 && !names[e.Baseline], "baseline", strconv.Quote(e.Baseline), "names no variant%s", plan.Suggest(e.Baseline, namesOf(all)))
	return append(p, e.checkServers(all)...)
}

// counted are so many variants.
func counted(n int) string {
	if n == 1 {
		return "is only one"
	}
	return "are none"
}

func namesOf(all []placed) []string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.Name
	}
	return names
}

func (e *Experiment) checkWorkloads() (p plan.Problems) {
	p.If(len(e.Workloads) == 0, "workloads", nil, "is missing: nothing would be measured")
	p.If(len(e.Workloads) > maxWorkloads, "workloads", nil, "there are %d, and at most %d are possible", len(e.Workloads), maxWorkloads)
	names := map[string]bool{}
	for i, w := range e.Workloads {
		at := plan.Item("workloads", i)
		p.If(w.Name == "", at, nil, "needs a name, as one of several")
		if w.Name != "" {
			p = append(p, checkName(plan.Join(at, "name"), w.Name, maxName)...)
		}
		p.If(w.Name != "" && names[w.Name], plan.Join(at, "name"), strconv.Quote(w.Name), "names two workloads")
		names[w.Name] = true
		p.If(w.Command != "" && w.Spec != nil, at, nil, "has a command and a spec; give one of them")
		p.If(w.Command == "" && w.Spec == nil, at, nil, "needs a command, such as `vllm bench serve --num-prompts 200`, or a spec")
		p = append(p, w.check(at)...)
	}
	return append(p, e.checkLoads()...)
}

// check reports problems with the command or the spec of a workload. The tool that a command names interprets its
// flags.
func (w Workload) check(at string) (p plan.Problems) {
	words, err := shell.Split(w.Command)
	command := plan.Join(at, "command")
	switch {
	case err != nil:
		p.If(true, command, nil, "%v", err)
	case w.Command == "":
	case len(words) == 0:
		p.If(true, command, nil, "has no words")
	case strings.Contains(words[0], "="):
		p.If(true, command, strconv.Quote(words[0]), "begins with a variable of the environment, and no shell runs this command")
	}
	if w.Spec != nil {
		_, err := Variant{}.Spec(w)
		p = append(p, below(plan.Join(at, "spec"), err)...)
	}
	return p
}

// checkLoads checks flags and settings, which change workloads.
func (e *Experiment) checkLoads() (p plan.Problems) {
	commands := slices.ContainsFunc(e.Workloads, func(w Workload) bool { return w.Command != "" })
	specs := slices.ContainsFunc(e.Workloads, func(w Workload) bool { return w.Spec != nil })
	all, _ := e.expand()
	for _, v := range all {
		flags, settings := plan.Join(v.path, "flags"), plan.Join(v.path, "settings")
		p.If(v.Flags != "" && !commands && len(e.Workloads) > 0, flags, nil, "only applies to workloads with a command; a spec has settings")
		p.If(v.Settings != nil && !specs && len(e.Workloads) > 0, settings, nil, "only applies to workloads with a spec; a command has flags")
		words, err := shell.Split(v.Flags)
		unknown := reference.MatchString(v.Flags) // reported already
		p.If(err != nil && !unknown, flags, nil, "%v", err)
		p.If(err == nil && len(words) > 0 && !strings.HasPrefix(words[0], "-"), flags, strconv.Quote(v.Flags), "must be flags such as --max-concurrency 32")
		p = append(p, v.checkSettings(e.Workloads)...)
	}
	return once(p)
}

// checkSettings reports mistakes in the settings of a variant: problems of specs that are valid without them.
func (v placed) checkSettings(workloads []Workload) (p plan.Problems) {
	at := plan.Join(v.path, "settings")
	p.If(v.Settings != nil && !bytes.HasPrefix(v.Settings, []byte("{")), at, nil, "must be a map of members of a spec")
	if v.Settings == nil || p != nil {
		return p
	}
	for _, w := range workloads {
		if w.Spec == nil || (Workload{Spec: w.Spec}).check("") != nil {
			continue
		}
		_, err := v.Spec(w)
		p = append(p, below(at, err)...)
	}
	return p
}

// below are the problems of an error, at a path.
func below(path string, err error) (p plan.Problems) {
	if errors.As(err, &p) {
		return p.Below(path)
	}
	p.If(err != nil, path, nil, "%v", err)
	return p
}

// once removes duplicates: a mistake that variants have in common is reported once.
func once(all plan.Problems) (p plan.Problems) {
	for _, problem := range all {
		if !slices.Contains(p, problem) {
			p = append(p, problem)
		}
	}
	return p
}

func (d Design) check(variants int) (p plan.Problems) {
	const at = "design."
	p.IntegerIn(at+"blocks", d.Blocks, 0, maxBlocks)
	p.IntegerIn(at+"runs", d.Runs, 0, maxRuns)
	p.IntegerIn(at+"max_blocks", d.MaxBlocks, 0, maxBlocks)
	p.If(d.Seed > math.MaxUint32, at+"seed", d.Seed, "must be at most %d", uint32(math.MaxUint32))
	p.OneOf(at+"restart", string(d.Restart), string(PerLeg), string(PerBlock), string(Never))
	p.OneOf(at+"until", string(d.Until), string(UntilVerdict))
	p.If(d.Precision != 0 && !(d.Precision > 0 && d.Precision < 1), at+"precision", d.Precision, "must be between 0 and 100%%, such as 2%%")
	p.Span(at+"budget", d.Budget)
	if d.Confirm != nil {
		p.IntegerIn(at+"confirm", *d.Confirm, 0, maxConfirm)
		p.If(*d.Confirm > 0 && variants == 2, at+"confirm", *d.Confirm, "only applies to a choice among more than two variants")
	}
	return append(p, d.checkStop()...)
}

// checkStop checks the settings that decide the number of blocks.
func (d Design) checkStop() (p plan.Problems) {
	const at = "design."
	p.If(d.MaxBlocks > 0 && !d.Adaptive(), at+"max_blocks", d.MaxBlocks, "only applies with until, precision or budget; blocks says how many there are")
	p.If(d.MaxBlocks > 0 && d.Blocks > 0 && d.Adaptive(), at+"max_blocks", d.MaxBlocks, "limits the blocks, and so does blocks; give one of them")
	looks := d.Until != "" || d.Precision > 0
	field := at + "max_blocks"
	if d.Blocks > 0 {
		field = at + "blocks"
	}
	p.If(looks && d.Most() == 1, field, 1, "leaves nothing to stop before: until and precision look after each block")
	p.Hint(looks && d.Most() == 1, "allow at least 2 blocks")
	return p
}
