package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/help"
	"github.com/pitot-bench/pitot/internal/cli/vllmsweep"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// vllmCmd is `pitot vllm`: a vllm command line with pitot before it.
type vllmCmd struct {
	Args []string `arg:"" optional:"" help:"bench serve, and its flags."`
}

// A vllmLine is a parsed command line.
type vllmLine struct {
	*vllm.Args
	given []string
	fleet flags.Fleet
}

func (c *vllmCmd) parse() (*vllmLine, error) {
	switch {
	case slices.ContainsFunc(c.Args[:min(2, len(c.Args))], help.Flag):
		return nil, argparse.ErrHelp
	case len(c.Args) < 2 || c.Args[0] != "bench" || c.Args[1] != "serve":
		return nil, usagef("pitot knows two vllm commands: pitot vllm bench serve <flags>, and pitot vllm bench sweep serve <flags>")
	}
	words, sent, err := flags.TakeFleet(c.Args[2:])
	if err != nil {
		return nil, err
	}
	args, err := vllm.ExpandConfig(words, files.ReadSmall)
	if err != nil {
		return nil, usage(err)
	}
	a, err := vllm.Parse(args, "bench-"+random()+"-")
	switch {
	case errors.Is(err, argparse.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usagef("vllm bench serve: error: %w", err)
	}
	return &vllmLine{a, args, sent}, nil
}

func (l *vllmLine) compile(p *Process) (*compiled, error) {
	c, err := l.Checked(p.toolEnv())
	if err != nil {
		return nil, err
	}
	made := newCompiled(c, slices.Concat([]string{"vllm", "bench", "serve"}, l.Mask(l.given))...)
	made.fleet = l.fleet
	return made, nil
}

func (c *vllmCmd) compile(p *Process, _ *kong.Context) (*compiled, error) {
	l, err := c.parse()
	if err != nil {
		return nil, err
	}
	made, err := l.compile(p)
	return made, usage(err)
}

// Run runs `bench serve`, or `bench sweep serve`, which is many of them.
func (c *vllmCmd) Run(p *Process) error {
	if len(c.Args) > 1 && c.Args[0] == "bench" && c.Args[1] == "sweep" {
		words, sent, err := flags.TakeFleet(c.Args[2:])
		if err != nil {
			return err
		}
		return vllmsweep.Run(p.console(), runner{compiler{p}}, words, sent)
	}
	l, err := c.parse()
	if errors.Is(err, argparse.ErrHelp) {
		_, err = fmt.Fprint(p.Stdout, help.VLLM())
		return err
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, l.Namespace())
	made, err := l.compile(p)
	if err == nil {
		err = l.tryResults()
	}
	if err != nil {
		return err
	}
	traffic := func(e run.Event) error {
		if _, ok := e.(run.Starting); ok {
			fmt.Fprint(p.Stdout, l.Traffic())
		}
		return nil
	}
	t := toolRun{
		compiled: made, noProgress: l.DisableTqdm, requireValid: l.RequireValid, sinks: []run.Sink{run.SinkFunc(traffic)},
		report: func(r *run.Result) error { return l.report(p, r) },
	}
	return t.make(p)
}

// tryResults makes sure that the result file can be written.
func (l *vllmLine) tryResults() error {
	if !l.SaveResult && !l.AppendResult {
		return nil
	}
	dir := l.resultDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usagef("--result-dir: %w", err)
	}
	if l.ResultFilename != nil {
		dir = filepath.Dir(pythonJoin(dir, *l.ResultFilename))
	}
	if err := files.TryAppend(filepath.Join(dir, ".pitot-"+random())); err != nil {
		return usagef("the result file could not be written: %w", err)
	}
	return nil
}

func (l *vllmLine) resultDir() string { return cmp.Or(argparse.Value(l.ResultDir), ".") }

// report prints the table and writes the result files.
func (l *vllmLine) report(p *Process, result *run.Result) error {
	r, err := vllm.NewReport(result.Trace, "")
	if err != nil {
		return err
	}
	if err := errors.Join(r.WriteErrors(p.Stdout), r.WriteTable(p.Stdout)); err != nil {
		return err
	}
	if n := result.Summary.Tokens.Assumed; n > 0 && !l.SkipTokenizerInit {
		fmt.Fprintln(p.Stderr, "note: "+english.Say(plan.Say("report.output-assumed", "requests", n)))
	}
	for _, n := range r.Figures.Notes("vllm") {
		fmt.Fprintln(p.Stderr, "note: "+english.Say(n))
	}
	name := r.ResultFile()
	if name == "" {
		return nil
	}
	name = pythonJoin(l.resultDir(), name)
	if err := l.save(name, r.Result()); err != nil {
		return fmt.Errorf("save the result: %w", err)
	}
	return l.savePyTorch(p, name, r)
}

// save writes the result file, or adds a line to it.
func (l *vllmLine) save(name string, result []byte) error {
	if !l.AppendResult {
		return files.WriteBytes(name, result)
	}
	if info, err := os.Stat(name); err == nil && info.Size() > 0 {
		result = slices.Concat([]byte("\n"), result)
	}
	return files.Append(name, result)
}

// savePyTorch writes the file for the PyTorch benchmark database, if the environment asks
// for it.
func (l *vllmLine) savePyTorch(p *Process, name string, r *vllm.Report) error {
	if p.getenv("SAVE_TO_PYTORCH_BENCHMARK_FORMAT") == "" {
		return nil
	}
	b, err := r.PyTorch(l.Args)
	if err != nil || b == nil {
		return err
	}
	return files.WriteBytes(strings.TrimSuffix(name, filepath.Ext(name))+".pytorch.json", b)
}
