package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
)

// usualLoad is what is sent where the flags say nothing else: prompts and answers of all
// lengths, since what does not vary has no cost of its own.
var usualLoad = []string{"--input-len", "lognormal(400,0.8)", "--output-len", "lognormal(120,0.7)"}

// own are flags that the loads of a calibration have themselves.
var own = []string{"--url", "--rate", "--concurrency", "-c", "--num-requests", "-n", "--duration", "--seed", "--name", "--repeat", "--store"}

// loads are the runs that show most of an engine: few and many requests at once, arrivals at a
// quarter of what it was seen to bear, and a burst of at most ten seconds' work. bears is in
// requests per second.
var loads = []func(bears float64) []string{
	closed(1), closed(4), closed(16), closed(64),
	func(bears float64) []string {
		return []string{"--rate", fmt.Sprintf("%.3g", max(0.1, bears/4)), "--duration", "12s"}
	},
	func(bears float64) []string {
		return []string{"--rate", "1000", "-n", strconv.Itoa(min(320, max(40, int(10*bears))))}
	},
}

func closed(n int) func(float64) []string {
	return func(float64) []string { return []string{"-c", strconv.Itoa(n), "--duration", "8s"} }
}

// words are a command line for load i.
func (c Cmd) words(i int, bears float64, name string) []string {
	all := slices.Concat([]string{"bench", "--url", c.URL}, c.Runs)
	if !slices.ContainsFunc(c.Runs, func(word string) bool {
		return strings.HasPrefix(word, "--input-len") || strings.HasPrefix(word, "--output-len")
	}) {
		all = append(all, usualLoad...)
	}
	return slices.Concat(all, loads[i](bears), []string{"--seed", strconv.Itoa(i + 1), "--name", fmt.Sprintf("%s/%d", name, i+1)})
}

// check compiles all loads, so that a mistake is told before any traffic.
func (c Cmd) check(con *session.Session) error {
	for _, word := range c.Runs {
		flag, _, _ := strings.Cut(word, "=")
		if slices.Contains(own, flag) {
			return session.Usagef("%s: each of the six loads has its own; leave it out, or make runs with `pitot bench` and name them: pitot calibrate RUN...", flag)
		}
	}
	for i := range loads {
		if _, err := con.Command(c.words(i, 1, "calibrate")); err != nil {
			return err
		}
	}
	return nil
}

// measure makes the runs, one after the other.
func (c Cmd) measure(con *session.Session) (traces []*trace.Trace, err error) {
	if err := c.check(con); err != nil {
		return nil, err
	}
	name := "calibrate-" + time.Now().Format("20060102-150405")
	bears := 0.0
	for i := range loads {
		fmt.Fprintf(con.Stderr, "run %d of %d: %s\n", i+1, len(loads), strings.Join(loads[i](bears), " "))
		l, err := con.Command(c.words(i, bears, name))
		if err != nil {
			return nil, err
		}
		t, err := c.one(con, l)
		if invalid := (invalidError{}); errors.As(err, &invalid) {
			return nil, fmt.Errorf("run %d of %d: %w; repeat the command where the client has time enough, see `pitot doctor`", i+1, len(loads), err)
		}
		if err != nil {
			return nil, errors.Join(err, kept(name, i))
		}
		traces = append(traces, t)
		if t.Run.End > 0 {
			bears = max(bears, float64(len(t.Records))/t.Run.End.Seconds())
		}
	}
	return traces, nil
}

// An invalidError is a run that shows its client: no engine is found from such runs.
type invalidError struct{ why string }

func (e invalidError) Error() string { return e.why }

// one makes the run of a load, to its end. An invalid one shows its client and ends all.
func (c Cmd) one(con *session.Session, l experiment.Load) (*trace.Trace, error) {
	r, err := con.Make(l, session.Options{Store: c.Store})
	switch {
	case err != nil:
		return nil, err
	case r.Trace.Run.Status != trace.Complete:
		return nil, session.ErrInterrupted
	}
	if v := r.Summary.Health.Verdict; v.Validity == trace.Invalid && r.Unanswered() == nil {
		return nil, invalidError{session.English.Say(plan.Say("experiment.leg-invalid", "reasons", v.Reasons))}
	}
	return r.Trace, r.Unanswered()
}

// kept says what there is of a calibration that did not come to its end; nil if nothing is.
func kept(name string, runs int) error {
	if runs == 0 {
		return nil
	}
	return fmt.Errorf("what was measured is kept: pitot calibrate '%s/*'", name)
}
