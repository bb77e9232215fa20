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
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool"
)

// foreignCmd is a command line of another tool with pitot before it.
type foreignCmd struct {
	Args []string `arg:"" optional:"" help:"The client, and its flags."`
}

func (*foreignCmd) compile(sess *session.Session, k *kong.Context) (*compiled, error) {
	l, err := foreignLineOf(k.Args)
	if err != nil {
		return nil, err
	}
	var line interface {
		compile(sess *session.Session) (*compiled, error)
	}
	switch l.foreignClient {
	case clientVLLMSweep:
		return nil, usagef("a sweep is many runs; `pitot vllm bench sweep serve --dry-run` shows their command lines")
	case clientSGLang:
		s := sglangOf(l)
		line, err = s, s.parse()
	default:
		line, err = parseVLLM(l)
	}
	if err != nil {
		return nil, usage(err)
	}
	made, err := line.compile(sess)
	return made, usage(err)
}

// Run runs the client that the words name.
func (*foreignCmd) Run(sess *session.Session, k *kong.Context) error {
	l, err := foreignLineOf(k.Args)
	if err != nil {
		return err
	}
	switch l.foreignClient {
	case clientVLLMSweep:
		words, sent, err := flags.TakeFleet(l.Flags)
		if err != nil {
			return err
		}
		return runVLLMSweep(sess, vllmBench(sess), words, sent)
	case clientSGLang:
		return runSGLang(l, sess)
	}
	return runVLLM(l, sess)
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
func (t *toolRun) make(sess *session.Session) error {
	t.collect(sess.Getenv(collectVariable))
	shown := live.Plain // mixes with the tool's output
	if t.noProgress {
		shown = live.Off
	}
	end, err := sess.JoinFleet(t.fleet, false)
	if err != nil {
		return err
	}
	defer end()
	view := sess.NewView(session.ViewOptions{Progress: shown})
	made, err := sess.Make(experiment.VariantLoad{Compiled: t.Compiled}, session.Options{View: view, Sinks: t.sinks})
	if made.Result == nil {
		return err
	}
	reported := t.report(made.Result)
	printHealth(sess, made.Summary.Health)
	err = ended(view, made, err, reported, t.requireValid)
	if none := inWords(t.Front, made.Unanswered()); none != nil && err == nil { // by that tool's rules no failure
		view.Print("pitot: " + indent(none.Error()))
	}
	return err
}

// collectVariable has the sources of telemetry, with commas between, for command lines of other
// tools, which have no flag for them.
const collectVariable = "PITOT_COLLECT"

func (t *toolRun) collect(sources string) {
	if sources == "" {
		return
	}
	t.Spec.Telemetry.Sources = strings.Split(sources, ",")
	if names, ok := t.Front.(tool.Names); ok {
		names = maps.Clone(names)
		names["telemetry.sources"] = collectVariable
		t.Front = names
	}
}

// toolEnv is this process as a tool's command line sees it.
func toolEnv(sess *session.Session) tool.Env {
	return tool.Env{Getenv: sess.Getenv, Exists: files.IsRegular, Temp: os.TempDir(), Now: time.Now(), Random: random()}
}

// random are a few hexadecimal digits.
func random() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
