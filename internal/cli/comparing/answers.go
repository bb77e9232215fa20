package comparing

import (
	"errors"
	"slices"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// AnswersCmd is `pitot runs answers`.
type AnswersCmd struct {
	A       string `arg:"" help:"Id, prefix of an id, or name of a run."`
	B       string `arg:"" help:"Another run, which sent the same requests."`
	Request *int   `placeholder:"N" help:"Only the request with this index, with both texts where they were kept."`
	N       int    `short:"n" default:"20" placeholder:"N" help:"Requests to list at most (${default})."`
	flags.StoreFlag
}

// Run lists the requests of two runs that were answered differently, earliest difference first.
func (c AnswersCmd) Run(sess *session.Session) error {
	if c.N < 1 {
		return session.Usagef("-n %d: must be at least 1", c.N)
	}
	if c.Request != nil && *c.Request < 0 {
		return session.Usagef("--request %d: must be the index of a request, from 0", *c.Request)
	}
	return sess.With(c.Store, func(s *store.Store) error {
		var runs [2]trace.Run
		var legs [2]*answers.Leg
		for i, name := range []string{c.A, c.B} {
			t, err := s.Telemetry(name)
			if errors.Is(err, store.ErrNoRun) {
				err = session.Usage(err)
			}
			if err == nil {
				runs[i] = t.Run
				legs[i], err = c.read(s, t.Run)
			}
			if err != nil {
				return err
			}
		}
		if runs[0].MarkedBy != runs[1].MarkedBy {
			return session.Usagef("%s and %s have marks of different keys, which cannot be compared", runs[0].ID, runs[1].ID)
		}
		d, err := c.differing(s, runs, legs)
		if err != nil {
			return err
		}
		width := 0
		if sess.Columns != nil {
			width = sess.Columns()
		}
		return doc.Text(sess.Stdout, comparison.AnswersThatDiffer(d, sess.Words()), width, sess.Colors())
	})
}

// differing are the requests to show.
func (c AnswersCmd) differing(s *store.Store, runs [2]trace.Run, legs [2]*answers.Leg) (d comparison.Differing, err error) {
	places, compared := answers.Places(legs[0], legs[1])
	d = comparison.Differing{Differ: len(places), Of: compared, Places: places[:min(c.N, len(places))], Whole: c.Request != nil, Gaps: otherRequests(runs)}
	if c.Request != nil {
		d.Places = slices.DeleteFunc(places, func(p answers.Place) bool { return p.Index != *c.Request })
		if len(d.Places) == 0 && len(s.Records(runs[0].ID, []int{*c.Request})) == 0 {
			return d, session.Usagef("--request %d: run %s has no such request", *c.Request, runs[0].ID)
		}
	}
	indices := make([]int, len(d.Places))
	for i, p := range d.Places {
		indices[i] = p.Index
	}
	for i := range runs {
		d.Records[i] = map[int]*trace.Record{}
		for _, r := range s.Records(runs[i].ID, indices) {
			d.Records[i][r.Index] = r
		}
	}
	return d, nil
}

// otherRequests are the settings for which two runs may have sent other requests.
func otherRequests(runs [2]trace.Run) (gaps []plan.Message) {
	for _, d := range compare.Differences(runs[0], runs[1]) {
		if d.Of == "plan" && slices.Contains([]string{"workload", "seed"}, d.Name) && !d.Values[0].IsZero() && !d.Values[1].IsZero() {
			gaps = append(gaps, plan.Msg("compare.gap", "setting", plan.Msg(plan.Code("setting."+d.Name)), "one", d.Values[0], "other", d.Values[1]))
		}
	}
	return gaps
}

// read reads the marks of a run.
func (c AnswersCmd) read(s *store.Store, run trace.Run) (*answers.Leg, error) {
	if run.MarkedBy == "" {
		return nil, session.Usagef("run %s has no marks of its answers, as of runs of earlier versions and of loads without text", run.ID)
	}
	l := &answers.Leg{Whole: true}
	for some, err := range s.EachMarked(run.ID) {
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			l.Add(r)
		}
	}
	return l, nil
}
