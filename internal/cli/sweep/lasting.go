package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/live"
)

// lengthen sets the time of points without requests or time, long enough to show the effect of their rate on the
// server: the time that they had, by name, if the sweep goes on, else by a light run, one for all points that
// differ in the rate alone.
func (c *Cmd) lengthen(
	ctx context.Context, sess *session.Session, p *search.PointLoads, had map[string]time.Duration,
) error {
	p.Lasting = make([]time.Duration, len(p.Points))
	known := map[string]time.Duration{}
	for i := range p.Loads {
		s := &p.Loads[i].Spec
		if !experiment.OpenEnded(s) {
			continue
		}
		if d := had[p.Points[i].String()]; d > 0 {
			s.Duration = plan.Duration(d)
		} else {
			long, err := c.answers(ctx, sess, p, i, known)
			if err != nil {
				return err
			}
			*s = experiment.Lengthened(*s, long)
		}
		p.Lasting[i] = s.Duration.Std()
	}
	return nil
}

// answers is how long most answers of a point take, one at a time; 0 if unknown, for reasons that its runs will
// report.
func (c *Cmd) answers(ctx context.Context, sess *session.Session, p *search.PointLoads, point int, known map[string]time.Duration) (time.Duration, error) {
	l := p.Light(point)
	key, _ := json.Marshal(experiment.LightLoad(p.Loads[point].Spec)) // of what was decoded
	if long, ok := known[string(key)]; ok {
		return long, nil
	}
	var r *run.Result
	var err error
	if l.Spec.Target.Simulated {
		r, err = sess.Simulate(ctx, l.Spec)
	} else {
		var made session.Made
		made, err = sess.Make(l, session.Options{Store: c.Store, Quiet: c.Quiet, Progress: live.Mode(c.Progress)})
		r = made.Result
	}
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.Is(err, session.ErrInterrupted) || r != nil && r.Trace.Run.Status == trace.Interrupted:
		return 0, session.ErrInterrupted
	case r != nil:
		known[string(key)] = experiment.AnswerTime(r.Trace.Records)
	default:
		known[string(key)] = 0
	}
	return known[string(key)], nil
}
