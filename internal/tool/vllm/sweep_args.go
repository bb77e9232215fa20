package vllm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// SweepArgs is the command line of `vllm bench sweep serve`.
type SweepArgs struct {
	ServeCmd      string  `arg:"serve-cmd"`
	BenchCmd      string  `arg:"bench-cmd"`
	AfterBenchCmd *string `arg:"after-bench-cmd"`
	ShowStdout    bool    `arg:"show-stdout"`
	ReadyTimeout  int     `arg:"server-ready-timeout" default:"300"` // s
	ServeParams   *string `arg:"serve-params"`
	LinkVars      string  `arg:"link-vars"`
	BenchParams   *string `arg:"bench-params"`
	OutputDir     string  `arg:"output-dir" default:"results"`
	Experiment    *string `arg:"experiment-name"`
	NumRuns       int     `arg:"num-runs" default:"3"`
	WarmupPrompts int     `arg:"warmup-num-prompts"`
	GoOn          bool    `arg:"continue-on-error"`
	DryRun        bool    `arg:"dry-run"`
	Resume        bool    `arg:"resume"`
}

// A Line is a command line with its commands as words.
type Line struct {
	SweepArgs
	Serve, Bench, After []string
	Links               [][2]string // names of parameters of the server and of the load that must be equal
}

// short are the names of options of one letter.
var short = map[string]string{"-o": "--output-dir", "-e": "--experiment-name"}

// ParseSweep reads what stands behind `vllm bench sweep serve`.
func ParseSweep(args []string) (*Line, error) {
	l := new(Line)
	p := python.Parser{Options: python.Options(&l.SweepArgs, "", nil)}
	args = slices.Clone(args)
	for i, arg := range args {
		if long := short[arg]; long != "" {
			args[i] = long
		}
	}
	if err := p.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case l.ServeCmd == "" || l.BenchCmd == "":
		return nil, python.Usagef("the following arguments are required: --serve-cmd, --bench-cmd")
	case l.NumRuns < 1:
		return nil, python.Usagef("--num-runs: must be at least 1")
	case l.WarmupPrompts < 0:
		return nil, python.Usagef("--warmup-num-prompts: must be at least 0")
	case l.Resume && l.Experiment == nil:
		return nil, python.Usagef("--resume: needs --experiment-name")
	}
	return l, l.split()
}

// split makes words of the commands, and pairs of the links.
func (l *Line) split() (err error) {
	for _, c := range []struct {
		flag, text string
		to         *[]string
	}{{"--serve-cmd", l.ServeCmd, &l.Serve}, {"--bench-cmd", l.BenchCmd, &l.Bench}, {"--after-bench-cmd", python.Value(l.AfterBenchCmd), &l.After}} {
		if *c.to, err = shell.Split(c.text); err != nil {
			return fmt.Errorf("%s: %w", c.flag, err)
		}
	}
	for item := range strings.SplitSeq(l.LinkVars, ",") {
		serve, bench, ok := strings.Cut(item, "=")
		if !ok && l.LinkVars != "" {
			return python.Usagef("--link-vars: %q must be SERVER_PARAMETER=BENCH_PARAMETER", item)
		}
		if ok {
			l.Links = append(l.Links, [2]string{strings.TrimSpace(serve), strings.TrimSpace(bench)})
		}
	}
	return nil
}

// SweepHelp lists the options with their defaults.
func SweepHelp() string { return python.Help(python.Options(new(SweepArgs), "", nil)) }

// Address is where a server of a command line answers, by its --host and --port.
func Address(serve []string) string {
	host, port := "localhost", "8000"
	for i, word := range serve[:max(0, len(serve)-1)] {
		switch word {
		case "--host":
			host = serve[i+1]
		case "--port", "-p":
			port = serve[i+1]
		}
	}
	return "http://" + host + ":" + port
}
