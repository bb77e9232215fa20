package cli

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
)

// An sglangLine is a command line of sglang.bench_serving.
type sglangLine struct {
	*sglang.Args
	program string   // as Python names it
	called  []string // the words ahead of the flags
	given   []string
	fleet   session.Fleet
	sess    *session.Session
	start   []string // lines that the dataset has for the start
}

func sglangOf(l foreignLine) *sglangLine {
	program := "bench_serving.py"
	if slices.Contains(l.Called, "sglang.benchmark.serving") {
		program = "serving.py"
	}
	return &sglangLine{program: program, called: l.Called, given: l.Flags}
}

func (l *sglangLine) parse() (err error) {
	if l.given, l.fleet, err = flags.TakeFleet(l.given); err == nil {
		l.Args, err = sglang.Parse(l.given)
	}
	return err
}

func (l *sglangLine) compile(sess *session.Session) (*compiled, error) {
	c, err := l.Checked(toolEnv(sess))
	if err != nil {
		return nil, err
	}
	c.Args = slices.Concat(l.called, l.Mask(l.given))
	return &compiled{*c, l.fleet}, nil
}

func runSGLang(given foreignLine, sess *session.Session) error {
	l := sglangOf(given)
	l.sess = sess
	err := l.parse()
	if errors.Is(err, python.ErrHelp) {
		_, err := fmt.Fprint(sess.Stdout, flags.SGLang(sess, l.program, l.given))
		return err
	}
	if err != nil {
		fmt.Fprint(sess.Stderr, sglang.Usage(l.program, l.given))
		return usagef("%s: error: %w", l.program, err)
	}
	if err := l.fleet.Check(sess.Getenv); err != nil {
		return err
	}
	if at, by := l.fleet.Named(sess.Getenv); at != "" && l.PrintRequests {
		return usagef("--print-requests does not go with %s: the requests are sent by other machines; leave it out", by)
	}
	l.print("benchmark_args=" + l.Namespace())
	l.print(l.Warnings()...)
	made, err := l.compile(sess)
	if err != nil {
		return err
	}
	if err := files.TryAppend(l.ResultFile(time.Now())); err != nil {
		return fmt.Errorf("the result file could not be written: %w", err)
	}
	t := toolRun{compiled: made, noProgress: l.DisableTqdm, requireValid: l.RequireValid, sinks: []run.Sink{run.SinkFunc(l.lines)}, report: l.report}
	if l.PrintRequests {
		t.sinks = append(t.sinks, &announcer{line: l})
	}
	return t.make(sess)
}

func (l *sglangLine) print(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(l.sess.Stdout, line)
	}
}

func (l *sglangLine) printf(format string, a ...any) { l.print(fmt.Sprintf(format, a...)) }

// lines prints those of the tool around a run.
func (l *sglangLine) lines(e run.Event) error {
	switch e := e.(type) {
	case run.Polling:
		l.printf(sglang.Waiting, e.Limit.Seconds(), e.URL)
	case run.Polled:
		if e.Err == nil {
			l.printf(sglang.Ready, e.Took.Seconds())
		} else {
			l.printf(sglang.NotReady, e.Limit.Seconds())
		}
	case run.ModelFound:
		l.Resolve(e.Root)
		l.print(l.Namespace(), "")
	case run.Built:
		l.start = e.Workload.Start
		l.print(e.Workload.Lines...)
	case run.WarmingUp:
		l.printf(sglang.WarmUp, l.WarmupRequests)
	case run.WarmedUp:
		l.printf(sglang.WarmedUp, l.WarmupRequests)
	case run.Profiling:
		if e.Start {
			l.print(sglang.StartProfiling)
		} else {
			l.print(sglang.StopProfiling)
		}
	case run.Profiled:
		l.print(l.Profiled(e.Start, e.Worker, e.Call, e.Err)...)
	case run.Starting:
		l.print(slices.Concat(l.Unprofiled(), l.start)...)
	}
	return nil
}

// An announcer prints the lines of --print-requests.
type announcer struct {
	line *sglangLine
	mu   sync.Mutex // of the output
}

func (*announcer) Handle(run.Event) error { return nil }

// Watch prints a line when a request is sent, and one when it is answered.
func (a *announcer) Watch(req *workload.Request) func(*trace.Record) {
	id, begin := sglang.NewUUID(), time.Now()
	a.print(a.line.StartLine(id, begin, req))
	return func(rec *trace.Record) { a.print(a.line.EndLine(id, time.Now(), time.Since(begin), rec)) }
}

func (a *announcer) print(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.line.print(line)
}

// report prints the table, adds a line to the result file, and prints remarks on the figures.
func (l *sglangLine) report(result *run.Result) error {
	r, err := sglang.NewReport(result.Trace, "")
	if err != nil {
		return err
	}
	l.print(l.Tips()...)
	l.print("")
	err = r.WriteTable(l.sess.Stdout)
	for _, n := range r.Notes() {
		fmt.Fprintln(l.sess.Stderr, l.sess.Word("report.note", "note", n))
	}
	if saved := files.Append(l.ResultFile(time.Now()), r.Result(result.Account)); saved != nil {
		err = errors.Join(err, fmt.Errorf("save the result: %w", saved))
	}
	return errors.Join(err, r.Unanswered())
}
