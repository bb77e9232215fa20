package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// A vllmLine is a parsed command line of vllm bench serve.
type vllmLine struct {
	*vllm.Args
	called, given []string
	fleet         session.Fleet
}

func parseVLLM(l foreignLine) (*vllmLine, error) {
	words, sent, err := flags.TakeFleet(l.Flags)
	if err != nil {
		return nil, err
	}
	args, err := vllm.ExpandConfig(words, files.ReadSmall)
	if err != nil {
		return nil, usage(err)
	}
	parse := vllm.Parse
	if l.foreignClient == clientVLLMRust {
		parse = vllm.ParseRust
	}
	a, err := parse(args, "bench-"+random()+"-")
	switch {
	case errors.Is(err, python.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usagef("vllm bench serve: error: %w", err)
	}
	return &vllmLine{a, l.Called, args, sent}, nil
}

func (l *vllmLine) compile(sess *session.Session) (*compiled, error) {
	c, err := l.Checked(toolEnv(sess))
	if err != nil {
		return nil, err
	}
	c.Args = slices.Concat(l.called, l.Mask(l.given))
	return &compiled{*c, l.fleet}, nil
}

func runVLLM(given foreignLine, sess *session.Session) error {
	l, err := parseVLLM(given)
	if errors.Is(err, python.ErrHelp) {
		_, err = fmt.Fprint(sess.Stdout, flags.VLLM(sess))
		return err
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(sess.Stdout, l.Namespace())
	made, err := l.compile(sess)
	leaves := newVLLMFiles(l.Args, sess)
	if err == nil {
		err = leaves.Try()
	}
	if err != nil {
		return err
	}
	traffic := func(e run.Event) error {
		if _, ok := e.(run.Starting); ok {
			fmt.Fprint(sess.Stdout, l.Traffic())
		}
		return nil
	}
	t := toolRun{
		compiled: made, noProgress: l.DisableTqdm, requireValid: l.RequireValid, sinks: []run.Sink{run.SinkFunc(traffic)}, report: leaves.Report,
	}
	return t.make(sess)
}

// vllmBench makes the run of a command line of vllm bench serve, and prints its output on stdout.
func vllmBench(sess *session.Session) func(words []string, stdout io.Writer) error {
	return func(words []string, stdout io.Writer) error {
		own := *sess
		own.Args, own.Stdout = words, stdout
		l, err := foreignLineOf(words)
		if err != nil {
			return err
		}
		return runVLLM(l, &own)
	}
}
