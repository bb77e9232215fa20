package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// A load is the settings in which one differs from the others.
type load func(d *pitot.Draft, bears float64) []pitot.Setting

// loads are the runs that show most of an engine: few and many requests at once, arrivals at a quarter of the rate
// that it bears, all in turns, so that a host that changes its pace does so in each; waves of equal requests, which
// come and go together; and a burst of at most ten seconds' work. bears is in requests per second.
var loads = append(slices.Concat(turn, turn), wave, func(d *pitot.Draft, bears float64) []pitot.Setting {
	return []pitot.Setting{d.Set(pitot.Rate, 1000), d.Set(pitot.Requests, min(320, max(40, int(10*bears))))}
})

// turn is the loads that are made twice.
var turn = []load{closed(1), closed(4), closed(16), closed(64), func(d *pitot.Draft, bears float64) []pitot.Setting {
	quarter, _ := strconv.ParseFloat(fmt.Sprintf("%.3g", max(0.1, bears/4)), 64) // of a formatted number
	return []pitot.Setting{d.Set(pitot.Rate, quarter), d.Set(pitot.Duration, 6*time.Second)}
}}

func closed(n int) load {
	return func(d *pitot.Draft, _ float64) []pitot.Setting {
		return []pitot.Setting{d.Set(pitot.InFlight, n), d.Set(pitot.Duration, 4*time.Second)}
	}
}

// wave is 64 requests of the same lengths at once, as long as the lengths are not given.
func wave(d *pitot.Draft, _ float64) []pitot.Setting {
	out := []pitot.Setting{d.Set(pitot.InFlight, 64), d.Set(pitot.Duration, 4*time.Second)}
	if d.Gives(lengths...) == "" {
		out = append(out, d.Set(lengths[0], "256"), d.Set(lengths[1], "128"))
	}
	return out
}

// lengths are the settings of the lengths of prompts and answers.
var lengths = []string{"load[0].dataset.input_len", "load[0].dataset.output_len"}

// draft is that of all loads.
func (c calibrateCmd) draft(sess *session.Session) (*pitot.Draft, error) {
	d, err := sess.Draft(append([]string{"bench"}, c.words...)...)
	if err != nil {
		return nil, err
	}
	if flag := d.Gives(""); flag != "" {
		return nil, session.Usagef("%s: is about the results of a single run; leave it out", flag)
	}
	if flag := d.Gives(pitot.OfLegs...); flag != "" {
		return nil, session.Usagef("%s: each of the loads has its own; leave it out, "+
			"or make runs with `pitot bench` and name them: pitot calibrate RUN...", flag)
	}
	return d.With(d.Set("target.url", c.URL)), nil
}

// usual are the lengths that are not given: a fixed one would show no cost per token.
func usual(d *pitot.Draft) []pitot.Setting {
	if d.Gives(lengths...) != "" {
		return nil
	}
	return []pitot.Setting{d.Set(lengths[0], "lognormal(400,0.8)"), d.Set(lengths[1], "lognormal(120,0.7)")}
}

// load compiles load i.
func (c calibrateCmd) load(sess *session.Session, d *pitot.Draft, i int, bears float64, name string) (experiment.VariantLoad, error) {
	more := append(loads[i](d, bears), d.Set("seed", i+1), d.Set("name", fmt.Sprintf("%s/%d", name, i+1)))
	return sess.Load(d.With(usual(d)...).With(more...))
}

// check compiles all loads, so that a mistake is reported before any traffic.
func (c calibrateCmd) check(sess *session.Session, d *pitot.Draft) error {
	for i := range loads {
		if _, err := c.load(sess, d, i, 1, "calibrate"); err != nil {
			return err
		}
	}
	return nil
}

// measure makes the runs, one after the other, under names that begin with name.
func (c calibrateCmd) measure(sess *session.Session, name string) (traces []*trace.Trace, err error) {
	d, err := c.draft(sess)
	if err == nil {
		err = c.check(sess, d)
	}
	if err != nil {
		return nil, err
	}
	plain := d
	if counted := d.With(d.Set(tokenUsage, true)); d.Gives(tokenUsage) == "" && c.check(sess, counted) == nil {
		d = counted
	}
	bears := 0.0
	for i := range loads {
		fmt.Fprintln(sess.Stderr, sess.Word("stage.run", "run", i+1, "of", len(loads), "what", strings.Join(pitot.Words(loads[i](d, bears)...), " ")))
		l, err := c.load(sess, d, i, bears, name)
		if err != nil {
			return nil, err
		}
		t, err := c.one(sess, l)
		if i == 0 && d != plain && err != nil && refusedSome(t) {
			fmt.Fprintln(sess.Stderr, sess.Word("stage.uncounted"))
			d = plain
			if l, err = c.load(sess, d, i, bears, name); err == nil {
				t, err = c.one(sess, l)
			}
		}
		if invalid := (invalidError{}); errors.As(err, &invalid) {
			return nil, fmt.Errorf("run %d of %d: %w; repeat the command where the client has time enough, see `pitot doctor`", i+1, len(loads), err)
		}
		if err != nil {
			return nil, errors.Join(err, resumeHint(name, i))
		}
		traces = append(traces, t)
		if t.Run.End > 0 {
			bears = max(bears, float64(len(t.Records))/t.Run.End.Seconds())
		}
	}
	return traces, nil
}

// tokenUsage is the setting that asks for the tokens of each chunk: it tells tokens that a frontend joins from steps
// that make several.
const tokenUsage = "request.usage"

// refusedSome reports whether the server refused a request of a run as it was made; nil is no run.
func refusedSome(t *trace.Trace) bool {
	refuses := func(r *trace.Record) bool { return r.Status >= 400 && r.Status < 500 }
	return t != nil && slices.ContainsFunc(t.Records, refuses)
}

// An invalidError is a run that shows its client: no engine is found from such runs.
type invalidError struct{ why string }

func (e invalidError) Error() string { return e.why }

// one makes the run of a load, to its end. An invalid one shows its client and ends all.
func (c calibrateCmd) one(sess *session.Session, l experiment.VariantLoad) (*trace.Trace, error) {
	r, err := sess.Make(l, session.Options{Store: c.Store})
	switch {
	case err != nil:
		return nil, err
	case r.Trace.Run.Status != trace.Complete:
		return nil, session.ErrInterrupted
	}
	if v := r.Summary.Health.Verdict; v.Validity == trace.Invalid && r.Unanswered() == nil {
		return nil, invalidError{sess.Say(metrics.Invalid(v))}
	}
	return r.Trace, r.Unanswered()
}

// resumeHint describes the runs of an unfinished calibration; nil if there are none.
func resumeHint(name string, runs int) error {
	if runs == 0 {
		return nil
	}
	return fmt.Errorf("what was measured is kept: pitot calibrate '%s/*'", name)
}
