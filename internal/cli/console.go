package cli

import (
	"context"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/imports"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// console is the process as commands of other packages see it.
func (p *Process) console() *console.Console {
	return &console.Console{
		Stdout: p.Stdout, Stderr: p.Stderr, Env: p.Env, Signals: p.Signals, Listen: p.Listen,
		Dial: p.Dial, Proxy: p.proxy(), Screen: p.Screen, Terminal: p.Terminal, Secrets: p.secrets, Alone: p.Alone, Version: Version(),
	}
}

// What commands of this package share with those of others, under short names.
type (
	usageError    = console.UsageError
	notValidError = console.NotValidError
	gateError     = console.GateError
	namer         = console.Front
)

var (
	english        = console.English
	errInterrupted = console.ErrInterrupted
	usage          = console.Usage
	inWords        = console.InWords
	counted        = console.Counted
	some           = console.Some
	writeFile      = console.WriteFile
	sourceFiles    = imports.Files
	tools          = known.Tools
	toolNamed      = known.Named
	rules          = known.Rules
)

func usagef(format string, a ...any) error { return console.Usagef(format, a...) }

func (p *Process) getenv(name string) string {
	v, ok := p.Env(name)
	if !ok {
		return ""
	}
	return v
}

func (p *Process) colors() bool { return p.console().Colors() }

func (p *Process) readSettings(name string) ([]byte, error) { return p.console().ReadSettings(name) }

func (p *Process) untilInterrupt(ctx context.Context) (_ context.Context, release func()) {
	return p.console().UntilInterrupt(ctx)
}

func (p *Process) storePath(file string) (string, error) { return p.console().StorePath(file) }

func (p *Process) openRuns(file string) (*store.Store, error) { return p.console().OpenRuns(file) }

func (p *Process) openStore(file string) (*store.Store, error) { return p.console().OpenStore(file) }

func (p *Process) with(file string, use func(*store.Store) error) error {
	return p.console().With(file, use)
}

func (p *Process) complain(problems []result.Problem) { imports.Complain(p.console(), problems) }
