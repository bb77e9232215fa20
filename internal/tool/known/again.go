package known

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Command makes a run again.
type Command struct {
	Dialect string
	Line    string         // for a shell; empty: there is none, and Notes say why
	Notes   []plan.Message // why it is not the same run; none: it is
}

// The notes on a line.
const (
	ownPrompts  plan.Code = "again.own-prompts"  // tool
	leftOut     plan.Code = "again.left-out"     // settings
	noDataset   plan.Code = "again.no-dataset"   // tool, dataset
	noProtocol  plan.Code = "again.no-protocol"  // tool, protocol
	severalOnes plan.Code = "again.several-ones" // tool
	noServer    plan.Code = "again.no-server"
	giveSecrets plan.Code = "again.give-secrets"
)

// CommandsAgain are the command lines that make a run once more: with Pitot, from its plan, and with the other tools,
// as far as they can send the same load. Pitot's is the first; none of a run that another tool made. store is the
// store as a command line has to name it, empty for the default one. A line never has a secret: it names the variable of
// the environment that has it.
func CommandsAgain(run trace.Run, store string) (all []Command) {
	if run.Origin != nil || run.Plan.Spec == nil {
		return nil
	}
	typed := run.Env.Invocation
	all = append(all, fromPlan(run, store))
	for _, t := range []struct {
		dialect string
		begins  []string // of a command line of the tool behind pitot
		program []string
		of      func(load) command
	}{
		{"vllm", []string{"vllm", "bench", "serve"}, []string{"vllm", "bench", "serve"}, forVLLM},
		{"sglang", []string{"sglang", "bench_serving"}, []string{"python", "-m", "sglang.bench_serving"}, forSGLang},
		{"sglang", []string{"python", "-m", "sglang.bench_serving"}, []string{"python", "-m", "sglang.bench_serving"}, forSGLang},
	} {
		have := slices.ContainsFunc(all, func(c Command) bool { return c.Dialect == t.dialect })
		own := len(typed) >= len(t.begins) && slices.Equal(typed[:len(t.begins)], t.begins)
		switch {
		case own:
			line := Command{Dialect: t.dialect, Line: shell.Join(append(slices.Clone(t.program), typed[len(t.begins):]...)), Notes: secretsOf(typed)}
			all = append(slices.DeleteFunc(all, func(c Command) bool { return c.Dialect == t.dialect }), line)
		case !have:
			all = append(all, t.of(loadOf(run)).line(t.dialect, t.program))
		}
	}
	return all
}

// fromPlan sends exactly the requests of the run.
func fromPlan(run trace.Run, store string) Command {
	args := []string{"pitot", "plan", run.ID}
	if store != "" {
		args = append(args, "--store", store)
	}
	c := Command{Dialect: "pitot", Line: shell.Join(args) + " > again.yaml && pitot bench --config again.yaml"}
	if needsSecrets(run.Plan.Spec) {
		c.Notes = append(c.Notes, plan.Msg(giveSecrets))
	}
	return c
}

// secretsOf notes that a stored command line had secrets.
func secretsOf(args []string) []plan.Message {
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, secret.Mark) }) {
		return []plan.Message{plan.Msg(giveSecrets)}
	}
	return nil
}

// needsSecrets reports whether a run had secrets that stood on its command line.
func needsSecrets(s *plan.Spec) bool {
	given := func(from *plan.Source) bool { return from != nil && from.Given }
	headers := slices.Concat(s.Target.Headers, s.Request.Headers)
	for _, l := range s.Load {
		headers = append(headers, l.Headers...)
		if given(l.Key) {
			return true
		}
		for _, m := range l.Mix {
			headers = append(headers, m.Headers...)
			if given(m.Key) {
				return true
			}
		}
	}
	return given(s.Target.Key) || slices.ContainsFunc(headers, func(h plan.Header) bool { return given(h.From) })
}

// A command is the line of another tool in the making.
type command struct {
	args  []string
	env   string // what stands before the line
	notes []plan.Message
}

func (c *command) add(flag string, values ...string) {
	c.args = append(append(c.args, flag), values...)
}

func (c *command) note(code plan.Code, args ...any) {
	c.notes = append(c.notes, plan.Msg(code, args...))
}

// line is the command; without arguments there is none.
func (c command) line(dialect string, program []string) Command {
	out := Command{Dialect: dialect, Notes: c.notes}
	if c.args != nil {
		out.Line = c.env + shell.Join(append(slices.Clone(program), c.args...))
	}
	return out
}
