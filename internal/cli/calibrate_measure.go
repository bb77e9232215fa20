package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
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

// A measuring is the runs of a calibration under way.
type measuring struct {
	calibrateCmd
	sess     *session.Session
	name     string // theirs begin with it
	seed     uint64 // the first of theirs
	d, plain *pitot.Draft
	bears    float64 // requests per second, at the most so far
	made     bool
}

// load compiles a try at load i, with a seed of its own: the server's cache must not have seen its prompts.
func (m *measuring) load(d *pitot.Draft, i, try int) (experiment.VariantLoad, error) {
	seed := design.LoadSeed(m.seed, try, i+1)
	more := append(loads[i](d, m.bears), d.Set("seed", seed), d.Set("name", fmt.Sprintf("%s/%d", m.name, i+1)))
	return m.sess.Load(d.With(usual(d)...).With(more...))
}

// check compiles all loads, so that a mistake is reported before any traffic.
func (m *measuring) check(d *pitot.Draft) error {
	for i := range loads {
		if _, err := m.load(d, i, 1); err != nil {
			return err
		}
	}
	return nil
}

// measure makes the runs, one after the other, under names that begin with name, but those that are stored already.
func (c calibrateCmd) measure(sess *session.Session, name string) (traces []*trace.Trace, err error) {
	m := &measuring{calibrateCmd: c, sess: sess, name: name, seed: drawSeed()}
	m.d, err = c.draft(sess)
	if err == nil {
		err = m.check(m.d)
	}
	if err != nil {
		return nil, err
	}
	m.plain = m.d
	if counted := m.d.With(m.d.Set(tokenUsage, true)); m.d.Gives(tokenUsage) == "" && m.check(counted) == nil {
		m.d = counted
	}
	stored, err := m.stored()
	if err != nil {
		return nil, err
	}
	comparing.WarnBusy(sess)
	for i := range loads {
		t := stored[i]
		if t == nil {
			if t, err = m.run(i); err != nil {
				return nil, m.unfinished(err)
			}
		}
		traces = append(traces, t)
		if t.Run.End > 0 {
			m.bears = max(m.bears, float64(len(t.Records))/t.Run.End.Seconds())
		}
	}
	return traces, nil
}

// stored are the runs of --resume that need not be made again, by their loads.
func (m *measuring) stored() (by map[int]*trace.Trace, err error) {
	by = map[int]*trace.Trace{}
	if m.Resume == "" {
		return by, nil
	}
	err = m.sess.With(m.Store, func(s *store.Store) error {
		list, err := s.List(store.Filter{Match: m.name + "/*", Kind: trace.Measured, Status: trace.Complete})
		there := false
		for _, l := range list {
			n, err := strconv.Atoi(strings.TrimPrefix(l.Name, m.name+"/"))
			i := n - 1
			if err != nil || i < 0 || i >= len(loads) || l.URL != m.sess.Masked([]string{m.URL})[0] {
				continue
			}
			if there = true; by[i] == nil && l.Validity != trace.Invalid && l.Failed == 0 {
				if t, err := s.Load(l.ID); err == nil { // a damaged one is made again
					by[i] = t
				}
			}
		}
		if err == nil && !there {
			err = session.Usagef("--resume %s: no stored runs of a calibration of %s have this name; "+
				"see `pitot runs list 'calibrate-*'`", m.name, m.URL)
		}
		return err
	})
	return by, err
}

// run makes the run of load i; an invalid one is made once more.
func (m *measuring) run(i int) (t *trace.Trace, err error) {
	for try := 1; try <= 2; try++ {
		why := plan.Message{}
		if err != nil {
			why = plan.Text(err.Error())
		}
		what := strings.Join(pitot.Words(loads[i](m.d, m.bears)...), " ")
		fmt.Fprintln(m.sess.Stderr, m.sess.Word("stage.run", "run", i+1, "of", len(loads), "what", what, "why", why))
		if t, err = m.try(i, try); !errors.As(err, new(invalidError)) {
			return t, err
		}
	}
	return nil, fmt.Errorf("run %d of %d, both tries: %w; `pitot doctor` examines this machine", i+1, len(loads), err)
}

// try makes a run of load i. The first of all is made once more if the server refuses to count tokens.
func (m *measuring) try(i, try int) (*trace.Trace, error) {
	l, err := m.load(m.d, i, try)
	if err != nil {
		return nil, err
	}
	t, err := m.one(l)
	if !m.made && m.d != m.plain && err != nil && refusedSome(t) {
		fmt.Fprintln(m.sess.Stderr, m.sess.Word("stage.uncounted"))
		m.d = m.plain
		if l, err = m.load(m.d, i, try); err == nil {
			t, err = m.one(l)
		}
	}
	m.made = true
	return t, err
}

// tokenUsage is the setting that asks for the tokens of each chunk: it tells tokens that a frontend joins from steps
// that make several.
const tokenUsage = "request.usage"

// refusedSome reports whether the server refused a request of a run as it was made; nil is no run.
func refusedSome(t *trace.Trace) bool {
	refuses := func(r *trace.Record) bool { return r.Status >= 400 && r.Status < 500 }
	return t != nil && slices.ContainsFunc(t.Records, refuses)
}

// An invalidError is a run that shows its client: no engine is found from it.
type invalidError struct{ why string }

func (e invalidError) Error() string { return e.why }

// one makes the run of a load, to its end. An invalid one shows its client.
func (m *measuring) one(l experiment.VariantLoad) (*trace.Trace, error) {
	r, err := m.sess.Make(l, session.Options{Store: m.Store})
	switch {
	case err != nil:
		return nil, err
	case r.Trace.Run.Status != trace.Complete:
		return nil, session.ErrInterrupted
	}
	if v := r.Summary.Health.Verdict; v.Validity == trace.Invalid && r.Unanswered() == nil {
		return nil, invalidError{m.sess.Say(metrics.Invalid(v))}
	}
	return r.Trace, r.Unanswered()
}

// unfinished says how to go on with runs that lack some.
func (m *measuring) unfinished(err error) error {
	words := m.sess.Masked(m.sess.Args)
	if m.Resume == "" {
		words = slices.Insert(words, 1, "--resume", m.name)
	}
	return errors.Join(err, fmt.Errorf("what was measured is kept; to go on: pitot %s", shell.Join(words)))
}
