package cli

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/foreign"
	"github.com/pitot-bench/pitot/internal/cli/live"
	"github.com/pitot-bench/pitot/internal/cli/vllmsweep"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/progress"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool"
)

// foreignCmd is a command line of another tool with pitot before it.
type foreignCmd struct {
	Args []string `arg:"" optional:"" help:"The client, and its flags."`
}

func (*foreignCmd) compile(p *Process, k *kong.Context) (*compiled, error) {
	l, err := foreign.Of(k.Args)
	if err != nil {
		return nil, err
	}
	var line interface {
		compile(p *Process) (*compiled, error)
	}
	switch l.Client {
	case foreign.VLLMSweep:
		return nil, usagef("a sweep is many runs; `pitot vllm bench sweep serve --dry-run` shows their command lines")
	case foreign.SGLang:
		s := sglangOf(l)
		line, err = s, s.parse()
	default:
		line, err = parseVLLM(l)
	}
	if err != nil {
		return nil, usage(err)
	}
	made, err := line.compile(p)
	return made, usage(err)
}

// Run runs the client that the words name.
func (*foreignCmd) Run(p *Process, k *kong.Context) error {
	l, err := foreign.Of(k.Args)
	if err != nil {
		return err
	}
	switch l.Client {
	case foreign.VLLMSweep:
		words, sent, err := flags.TakeFleet(l.Flags)
		if err != nil {
			return err
		}
		return vllmsweep.Run(p.console(), runner{compiler{p}}, words, sent)
	case foreign.SGLang:
		return runSGLang(l, p)
	}
	return runVLLM(l, p)
}

// A toolRun is a command line of another tool that makes a run: Pitot's run, with that
// tool's lines and files around it.
type toolRun struct {
	*compiled
	noProgress, requireValid bool
	sinks                    []run.Sink // that print what the tool does on the way
	// report prints that of the tool and writes its files.
	report func(*run.Result) error
}

// make makes the run, and reports it.
func (t *toolRun) make(p *Process) error {
	t.collect(p.getenv(collectVariable))
	shown := progress.Plain // beside what the tool prints
	if t.noProgress {
		shown = progress.Off
	}
	end, err := p.joinFleet(t.fleet, false)
	if err != nil {
		return err
	}
	defer end()
	m, err := p.newMaking(t.compiled, "", p.view(live.Options{Progress: shown}))
	if err != nil {
		return err
	}
	defer m.close()
	m.sinks = t.sinks
	result, err := m.make()
	if result == nil {
		return err
	}
	reported := t.report(result)
	p.warn(result.Summary.Health)
	err = m.end(result, err, reported, t.requireValid)
	if none := inWords(t.front, result.Unanswered()); none != nil && err == nil { // by that tool's rules no failure
		m.live.Sayf("pitot: %s", indent(none.Error()))
	}
	return err
}

// collectVariable has the sources of telemetry, with commas between, for command lines of other
// tools, which have no flag for them.
const collectVariable = "PITOT_COLLECT"

// collect takes the sources of a variable.
func (t *toolRun) collect(sources string) {
	if sources == "" {
		return
	}
	t.spec.Telemetry.Sources = strings.Split(sources, ",")
	if flags, ok := t.front.(asTool); ok {
		named := maps.Clone(flags)
		named["telemetry.sources"] = collectVariable
		t.front = named
	}
}

// asTool tells problems by the flags of another tool, which are here by the paths of what
// they set.
type asTool map[string]string

// Explain names the flags.
func (flags asTool) Explain(problems plan.Problems) error { return tool.Named(problems, flags) }

// NameOf is the flag of a setting.
func (flags asTool) NameOf(path string) string { return tool.NameIn(flags, path) }

// newCompiled is what a tool's command line was compiled to.
func newCompiled(c *tool.Compiled, args ...string) *compiled {
	return &compiled{spec: c.Spec, front: asTool(c.Flags), given: c.Given, notes: c.Notes, args: args}
}

// toolEnv is this process as a tool's command line sees it.
func (p *Process) toolEnv() tool.Env {
	return tool.Env{Getenv: p.getenv, Exists: files.IsRegular, Temp: os.TempDir(), Now: time.Now(), Random: random()}
}

// random are a few hexadecimal digits.
func random() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
