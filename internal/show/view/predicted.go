package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostOfEach is the most runs of each kind that are compared.
const mostOfEach = 20

// NewPredicted are the measured and the simulated runs of the load of a run. Invalid runs are left out, the
// requested one too: what a prediction is off by is no error where it is held against a busy client.
func NewPredicted(s *store.Store, id string, l *words.Language) (Predicted, error) {
	out := Predicted{Measured: []PredictedRun{}, Predictions: []Prediction{}}
	asked, err := s.Find(id)
	if err != nil {
		return out, err
	}
	out.Load = report.Load(asked.Plan(), l)
	measured, err := s.Alike(asked, trace.Measured, mostOfEach)
	if err != nil {
		return out, err
	}
	measured = slices.DeleteFunc(measured, func(r store.Listing) bool { return r.Validity == trace.Invalid })
	simulated, err := s.Alike(asked, trace.Simulated, mostOfEach)
	if asked.Validity == trace.Invalid && asked.Kind == trace.Measured && len(simulated) > 0 {
		out.LeftOut = l.Word("view.predicted.invalid")
	}
	if err != nil || len(measured) == 0 {
		return out, err
	}
	truth, err := gather(s, measured)
	if err != nil {
		return out, err
	}
	out.Measured = truth.runs
	groups, err := byProfile(s, simulated)
	for _, g := range groups {
		out.Predictions = append(out.Predictions, g.against(truth, l))
	}
	slices.SortStableFunc(out.Predictions, func(a, b Prediction) int { return cmp.Compare(a.off(), b.off()) })
	return out, err
}

// off is the mean deviation of a prediction, as a share.
func (p Prediction) off() float64 {
	sum := 0.0
	for _, f := range p.Figures {
		sum += math.Abs(f.Share)
	}
	return sum / float64(max(1, len(p.Figures)))
}

type sample struct {
	runs    []PredictedRun
	order   []string // of the figures
	figures map[string]Reach
}

func gather(s *store.Store, list []store.Listing) (out sample, err error) {
	values := map[string][]float64{}
	for _, r := range list {
		out.runs = append(out.runs, PredictedRun{ID: r.ID, Name: r.Name})
		all, err := OwnFigures(s, r.ID, false)
		if err != nil {
			return out, err
		}
		for _, f := range all {
			if values[f.Name] == nil {
				out.order = append(out.order, f.Name)
			}
			values[f.Name] = append(values[f.Name], f.Value)
		}
	}
	out.figures = map[string]Reach{}
	for name, all := range values {
		reach := Reach{Low: slices.Min(all), High: slices.Max(all), N: len(all)}
		for _, v := range all {
			reach.Value += v / float64(len(all))
		}
		if len(all) == len(list) && !math.IsNaN(reach.Value) && !math.IsInf(reach.Value, 0) {
			out.figures[name] = reach
		}
	}
	return out, nil
}

// OwnFigures are those of a complete run by Pitot's definitions, or settled, those of its steady
// state, from the store; missing ones are computed, and stored if the store can be written.
func OwnFigures(s *store.Store, id string, settled bool) ([]trace.ReportedFigure, error) {
	own := "pitot"
	if settled {
		own = "pitot, settled"
	}
	all, known, err := s.Figures(id, own, metrics.Version)
	if err != nil || known {
		return all, err
	}
	t, err := s.Load(id)
	if err != nil {
		return nil, err
	}
	if all = metrics.PitotDefinitions().Figures(t, ""); settled {
		all = metrics.SettledFigures(t)
	}
	return all, s.StoreFigures(t, own, metrics.Version, all)
}

type simulation struct {
	profile trace.Profile
	runs    []store.Listing
	sample
}

func byProfile(s *store.Store, list []store.Listing) (groups []*simulation, err error) {
	for _, r := range list {
		run, err := s.Run(r.ID)
		if err != nil {
			return nil, err
		}
		var p trace.Profile
		if run.Env.Profile != nil {
			p = *run.Env.Profile
		}
		i := slices.IndexFunc(groups, func(g *simulation) bool {
			return g.profile.Name == p.Name && g.profile.Text == p.Text && g.profile.Error.Key() == p.Error.Key()
		})
		if i < 0 {
			i, groups = len(groups), append(groups, &simulation{profile: p})
		}
		groups[i].runs = append(groups[i].runs, r)
	}
	for _, g := range groups {
		if g.sample, err = gather(s, g.runs); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// against holds simulated runs against measured ones.
func (g *simulation) against(truth sample, l *words.Language) Prediction {
	p := Prediction{Profile: g.profile.Name, Runs: g.sample.runs, Figures: []Deviation{}}
	if !g.profile.Error.IsZero() {
		p.Error = l.Say(g.profile.Error)
	}
	known := misfit(g.profile)
	for _, name := range truth.order {
		m, ok := truth.figures[name]
		predicted, also := g.figures[name]
		if !ok || !also || m.Value <= 0 || !predict.Predicts(name) {
			continue
		}
		q := figure.Lookup(name)
		d := Deviation{Name: name, Title: l.Say(q.Title()), Unit: string(q.Unit), Measured: m, Predicted: predicted, Share: predicted.Value/m.Value - 1}
		if off, ok := known[name]; ok {
			d.Known = &off
		}
		p.Figures = append(p.Figures, d)
	}
	return p
}

// misfit is what the calibration of a profile says that it is off, by figure, as shares.
func misfit(p trace.Profile) map[string]float64 {
	out := map[string]float64{}
	if p.Text == "" {
		return out
	}
	read, err := profile.Parse(fmt.Sprintf("%s.yaml", p.Name), []byte(p.Text))
	if err != nil || read.Calibration == nil {
		return out // a profile that another version wrote says none
	}
	for name, off := range read.Calibration.Misfit {
		out[name] = float64(off)
	}
	return out
}
