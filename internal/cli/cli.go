// Package cli is the command line: commands, flags, exit codes. It sees the operating system through a
// session.Session, so that tests can run complete command lines.
//
// A command that measures compiles its flags to a Spec, by tool/pitot (bench.go), tool/vllm (vllm.go) or
// tool/sglang (sglang.go), and calls Session.Make. Other commands read the store, and hand its runs to judge, show
// and proof. A small command is a file here; capacity, conform, fleet, predict, sweep and ui are folders.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/capacity"
	"github.com/pitot-bench/pitot/internal/cli/completion"
	"github.com/pitot-bench/pitot/internal/cli/conform"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/fleet"
	"github.com/pitot-bench/pitot/internal/cli/predict"
	"github.com/pitot-bench/pitot/internal/cli/sweep"
	"github.com/pitot-bench/pitot/internal/cli/ui"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a run or a command could not be completed
	exitUsage       = 2   // the command line, a config file or a plan is wrong
	exitNotMet      = 3   // all was done, and a gate of --fail-if failed, or a run is not as --require-valid wants it
	exitCannotTell  = 4   // all was done, and the data do not decide a gate of --fail-if or the capacity
	exitInterrupted = 130 // ended by an interrupt; results until then are reported
)

// Main runs the command line of this process and exits. version is that of the program.
func Main(version string) {
	caught, signals := make(chan os.Signal, 2), make(chan os.Signal)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(caught, syscall.SIGHUP)
	}
	out, errs := files.New(os.Stdout, os.Stderr), files.New(os.Stderr)
	go passOn(caught, signals, func() {
		out.Interrupted()
		errs.Interrupted()
	})
	sess := &session.Session{
		Args:    os.Args[1:],
		Env:     os.LookupEnv,
		Stdin:   atTerminal(os.Stdin),
		Stdout:  out,
		Stderr:  errs,
		Columns: machine.TerminalWidth(os.Stdout),
		Signals: signals,
		Alone:   true,
		Listen:  net.Listen,
		Version: version,
	}
	if t := machine.TerminalOf(os.Stdin, os.Stdout); t != nil {
		sess.Terminal = t
	}
	if s := machine.ScreenOf(os.Stderr); s != nil {
		sess.Screen = s
	}
	os.Exit(Run(sess))
}

// atTerminal is a file that somebody types into, nil if nobody does.
func atTerminal(f *os.File) io.Reader {
	if machine.TerminalWidth(f) == nil {
		return nil
	}
	return f
}

// passOn hands interrupts and requests to end to the listener, after a call of onInterrupt; without a listener the
// process ends.
func passOn(caught <-chan os.Signal, signals chan<- os.Signal, onInterrupt func()) {
	for s := range caught {
		onInterrupt()
		select {
		case signals <- s:
		case <-time.After(session.SignalGrace):
			os.Exit(exitInterrupted)
		}
	}
}

// grammar is the command line.
type grammar struct {
	Bench      benchCmd          `cmd:"" help:"Measure an endpoint, or the embedded engine."`
	Watch      watchCmd          `cmd:"" help:"Show live what a server, its devices and its host do, without sending any load."`
	Serve      serveCmd          `cmd:"" help:"Serve the simulated engine over HTTP."`
	Sim        simCmd            `cmd:"" help:"Simulate the run of bench in virtual time, against the engine model."`
	Profiles   profilesCmd       `cmd:"" help:"List, show, check and fit the profiles of the simulated engine."`
	Calibrate  calibrateCmd      `cmd:"" help:"Find the costs of an engine from runs, and write its profile."`
	Sweep      sweep.Cmd         `cmd:"" help:"Measure or simulate every combination of lists of settings: rates, concurrencies, lengths."`
	Predict    predict.Cmd       `cmd:"" help:"Predict the figures of a load from a profile, with intervals; size a deployment."`
	Capacity   capacity.Cmd      `cmd:"" help:"Find the highest load that meets objectives."`
	Runs       runsCmd           `cmd:"" help:"List, show, report, export and remove stored runs."`
	AB         abCmd             `cmd:"" name:"ab" help:"Compare two servers or settings in one experiment: does the change help?"`
	Experiment experimentCmd     `cmd:"" help:"Carry out, show and resume experiments: many runs, in an order in which they can be judged."`
	Compare    compareCmd        `cmd:"" help:"Compare variants: better, worse, the same, or undecided."`
	Fleet      fleet.Cmd         `cmd:"" help:"Run a fleet: workers on many machines that send the requests of one run."`
	Note       noteCmd           `cmd:"" help:"Write a lab note: comparison, tables, plots and verdict."`
	UI         ui.Cmd            `cmd:"" name:"ui" help:"Show stored runs, and the run under way, in a browser."`
	Import     importCmd         `cmd:"" help:"Import results of other tools: tables in notes and logs, result files."`
	Conform    conform.Cmd       `cmd:"" help:"Measure the error of a client's figures."`
	VLLM       foreignCmd        `cmd:"" name:"vllm" aliases:"vllm-rs,vllm-bench" passthrough:"" help:"Run a vllm command line: pitot vllm bench serve <flags>."`
	SGLang     foreignCmd        `cmd:"" name:"sglang" passthrough:"" help:"Run an sglang command line: pitot sglang bench_serving <flags>."`
	Python     foreignCmd        `cmd:"" name:"python" aliases:"python3" passthrough:"" help:"Run a python command line: pitot python -m sglang.bench_serving <flags>."`
	Plan       planCmd           `cmd:"" help:"Show the plan of a command line, a file or a stored run, without sending anything."`
	Env        envCmd            `cmd:"" help:"Print the environment of this machine or of a server: devices, image, commit, packages, arguments."`
	Doctor     conform.DoctorCmd `cmd:"" help:"Check whether this machine is fit to measure from."`
	Version    flags.VersionCmd  `cmd:"" help:"Print the version."`
	Man        flags.ManCmd      `cmd:"" hidden:"" help:"Write a manual page for each command into a folder, for packages."`

	Completion completion.Cmd         `cmd:"" help:"Print the completion script of a shell: bash, zsh or fish."`
	Complete   completion.CompleteCmd `cmd:"" hidden:"" passthrough:""`
	KeepLog    trimLogCmd             `cmd:"" name:"keep-log" hidden:""`

	PrintVersion kong.VersionFlag `name:"version" rare:"" help:"Print the version."`
	AllHelp      flags.AllHelp    `name:"help-all" rare:"" help:"Show all flags."`
	Lang         session.Language `placeholder:"LANG" help:"Language of output: ${languages}. Default: by PITOT_LANG, LC_ALL, LC_MESSAGES or LANG, else en."`
}

// Run runs one command line and returns its exit code.
func Run(sess *session.Session) int {
	sess = sess.Guarded()
	sess.Version, sess.Compile, sess.Parse = cmp.Or(sess.Version, "dev"), compileLoad, parseDraft
	var g grammar
	if err := errors.Join(takeLanguage(sess), withoutLaunchers(sess)); err != nil {
		return fail(sess, err)
	}
	args := flags.Asked(sess.Args)
	parser, exited, err := newParser(sess, onlyCommand(&g, args))
	if err != nil {
		fmt.Fprintf(sess.Stderr, "pitot: %v\n", err)
		return exitFailed
	}
	k, hints, err := parse(parser, args)
	if *exited { // help was printed
		return exitOK
	}
	if err != nil {
		return fail(sess, err)
	}
	if lang := flags.FlagOf(k.Model.Node, "--lang").Target.Interface().(session.Language); lang != "" {
		sess.Speak(lang)
	}
	for _, line := range hints {
		fmt.Fprintf(sess.Stderr, "note: %s\n", line)
	}
	return fail(sess, k.Run(sess))
}

// takeLanguage sets the language of output: by the environment, or by --lang ahead of the command, which it takes off
// the arguments, as those of another tool go on behind it.
func takeLanguage(sess *session.Session) error {
	sess.Speak("")
	for len(sess.Args) > 0 && (sess.Args[0] == "--lang" && len(sess.Args) > 1 || strings.HasPrefix(sess.Args[0], "--lang=")) {
		_, value, joined := strings.Cut(sess.Args[0], "=")
		sess.Args = sess.Args[1:]
		if !joined {
			value, sess.Args = sess.Args[0], sess.Args[1:]
		}
		lang := session.Language(value)
		if err := lang.Validate(); err != nil {
			return usagef("--lang: %w", err)
		}
		sess.Speak(lang)
	}
	return nil
}

// onlyCommand is the part of the grammar that a command line needs: its command alone, since to read all of them
// takes longer than anything else that a short command does.
func onlyCommand(g *grammar, args []string) any {
	if len(args) == 0 || args[0] == "" {
		return g
	}
	if len(args) == 1 && slices.Contains([]string{"--help", "-h", "--version"}, args[0]) {
		return flags.Outline(g)
	}
	all := reflect.TypeFor[grammar]()
	for f := range all.Fields() {
		_, command := f.Tag.Lookup("cmd")
		knowsAll := f.Type == reflect.TypeFor[completion.CompleteCmd]() || f.Type == reflect.TypeFor[flags.ManCmd]()
		names := append(strings.Split(f.Tag.Get("aliases"), ","), cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)))
		if command && !knowsAll && slices.Contains(names, args[0]) {
			version, _ := all.FieldByName("PrintVersion")
			help, _ := all.FieldByName("AllHelp")
			lang, _ := all.FieldByName("Lang")
			return reflect.New(reflect.StructOf([]reflect.StructField{f, version, help, lang})).Interface()
		}
	}
	return g
}

// newParser builds the parser of a grammar, or of a part of it. Kong calls exit after it printed help, and then
// goes on: exited remembers.
func newParser(sess *session.Session, grammar any) (parser *kong.Kong, exited *bool, err error) {
	exited = new(bool)
	parser, err = kong.New(grammar,
		kong.Name("pitot"),
		kong.Description(flags.Description),
		kong.Vars{"version": "pitot " + sess.Version, "picks": session.PickHelp, "languages": strings.Join(words.Names(), ", ")},
		kong.Vars(conform.Vars()),
		kong.Writers(sess.Stdout, sess.Stderr),
		kong.Exit(func(int) { *exited = true }),
		flags.Numbers,
		kong.PostBuild(bareEngineFlags),
		kong.PostBuild(sweep.Lists),
		kong.PostBuild(capacity.Flags),
		kong.PostBuild(calibrateFlags),
		kong.PostBuild(replayTakesRuns),
		kong.PostBuild(flags.Translate(sess)),
		kong.PostBuild(flags.EngineNames),
		kong.Help(flags.PrintHelp(sess)),
	)
	return parser, exited, err
}

// parse parses a command line, and returns its remarks. A usage error is one of ours.
func parse(parser *kong.Kong, args []string) (*kong.Context, []string, error) {
	k, hints, err := flags.Parse(parser, args)
	if err != nil && len(args) > 0 {
		err = flags.WithMeant(parser.Model.Node, args, err)
	}
	return k, hints, usage(err)
}

// fail prints err and returns its exit code.
func fail(sess *session.Session, err error) int {
	var mistake session.UsageError
	var notValid session.NotValidError
	var gate session.GateError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInterrupted):
		if rest := otherErrors(err, errInterrupted); rest != "" {
			fmt.Fprintf(sess.Stderr, "pitot: %s\n", indent(rest))
		}
		fmt.Fprintln(sess.Stderr, "pitot: interrupted")
		return exitInterrupted
	case errors.As(err, &mistake):
		fmt.Fprintf(sess.Stderr, "pitot: %s\n", indent(err.Error()))
		return exitUsage
	}
	fmt.Fprintf(sess.Stderr, "pitot: %s\n", indent(err.Error()))
	bad := errors.As(err, &notValid)
	unsure := errors.As(err, &gate)
	switch {
	case otherErrors(err, notValid, gate) != "" || !bad && !unsure:
		return exitFailed
	case bad || gate.Failed > 0:
		return exitNotMet
	}
	return exitCannotTell
}

// otherErrors are the errors joined in err but some, a line each.
func otherErrors(err error, but ...error) string {
	if !slices.ContainsFunc(but, func(one error) bool { return errors.Is(err, one) }) {
		return err.Error()
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return ""
	}
	var lines []string
	for _, e := range joined.Unwrap() { // the parser joins a command's errors once more
		if line := otherErrors(e, but...); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// indent puts the lines after the first under it.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n       ") }
