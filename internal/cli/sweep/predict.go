package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A prediction has the predicted figures of simulated points.
type prediction struct {
	points       []curve.Prediction // by point; nil: no point has one
	uncalibrated []string           // profiles
	refused      string             // why the first point is refused
	profile      string             // that refuses it
}

// predict predicts the points with a calibrated profile, each as `pitot predict` would. Points that are refused are
// skipped.
func (c *Cmd) predict(ctx context.Context, sess *session.Session, p *search.PointLoads) (*prediction, error) {
	d, l := &prediction{}, &loads{sess: sess, seed: uint64(c.Seed)}
	p.Skipped = map[int]bool{}
	for i, load := range p.Loads {
		changed, base, err := apiserver.Deployment(load.Spec.Target.Engine, files.ReadSmall)
		if err != nil {
			return nil, session.Usage(plan.Below("target.engine", err))
		}
		if base == nil || base.Calibration == nil {
			d.unpredicted(base)
			continue
		}
		row, err := c.point(ctx, l.of(load.Spec, p.Lasting[i] > 0), changed, base)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Points[i], err)
		}
		if d.points == nil {
			d.points = make([]curve.Prediction, len(p.Loads))
		}
		d.points[i] = row
		if p.Skipped[i] = row.Refused != ""; p.Skipped[i] && d.refused == "" {
			d.refused, d.profile = row.Refused, base.Name
		}
	}
	return d, d.allRefused(p)
}

// unpredicted notes a profile without a calibration, with an empty name for latencies in place of
// one.
func (d *prediction) unpredicted(p *profile.Profile) {
	name := ""
	if p != nil {
		name = p.Name
	}
	if !slices.Contains(d.uncalibrated, name) {
		d.uncalibrated = append(d.uncalibrated, name)
	}
}

// allRefused is the error of a sweep of which nothing would be left.
func (d *prediction) allRefused(p *search.PointLoads) error {
	for i := range p.Points {
		if !p.Skipped[i] {
			return nil
		}
	}
	return session.Usagef("not predicted: %s when profile %s was calibrated; calibrate it with such loads, or use --extrapolate", d.refused, d.profile)
}

func (c *Cmd) point(ctx context.Context, l *session.PredictedLoad, changed, base *profile.Profile) (row curve.Prediction, err error) {
	one, _, err := l.Case(ctx, changed)
	if err != nil {
		return row, err
	}
	one.Base, one.Level = base, c.Level/100
	made, err := predict.Simulate(ctx, one)
	if err != nil {
		return row, err
	}
	switch beyond := made.Hull.String(); {
	case c.Extrapolate:
		row.Extrapolated = beyond
	case beyond != "":
		row.Refused = beyond
		return row, nil
	}
	row.Predicted, row.Unsettled = map[string]curve.Reach{}, made.Unsettled
	for _, f := range made.Figures {
		row.Predicted[f.Name] = curve.Reach{Value: f.Point, Low: f.Low, High: f.High}
	}
	return row, nil
}

// loads are those of the points. Points that differ in the profile alone follow each other, and
// have their requests drawn once.
type loads struct {
	sess *session.Session
	seed uint64
	last string
	load *session.PredictedLoad
}

func (l *loads) of(s plan.Spec, settled bool) *session.PredictedLoad {
	s = session.AsSimulation(s)
	s.Seed = l.seed
	b, err := json.Marshal(s)
	if err != nil || l.load == nil || string(b) != l.last {
		l.last, l.load = string(b), session.NewPredictedLoad(l.sess, s, settled, func(err error) error { return err })
	}
	return l.load
}
