package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/optimize"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// A FitPlan selects the numbers of a profile to adjust.
type FitPlan struct {
	Fields []string // such as cost.step, cost.mixed_table[1].time; evidence.* of all evidence
	Draws  int      // of each piece of evidence that is marked as fitted
	Steps  int      // maximum number of evaluations
	Rules  metrics.Rules
	// Progress, if not nil, is called with every better point.
	Progress func(step int, loss float64)
}

// A Fitted is the result of a fit. Before and After are mean errors: of the
// figures' geometric means over the draws, with equal weights; infinite if the fit
// ended before they were known.
type Fitted struct {
	Before, After float64
	Fields        []FittedField // as planned
}

// A FittedField is a number before and after, in the profile's notation.
type FittedField struct {
	Path          string
	Before, After string
	Idle          bool // the evidence does not depend on it
	Interval      Interval
}

// Fit changes the fields of p to minimize the error of the evidence marked as
// fitted, by the simplex method of Nelder and Mead on logarithms. The end of ctx
// ends it with the best point so far.
func Fit(ctx context.Context, p *profile.Profile, f FitPlan) (Fitted, error) {
	fields, err := f.fields(p)
	if err != nil {
		return Fitted{}, err
	}
	if _, err := f.meanError(ctx, p); err != nil && ctx.Err() == nil {
		return Fitted{}, err
	}
	start := make([]float64, len(fields))
	for i, field := range fields {
		start[i] = math.Log(field.value())
	}
	out := f.begin(ctx, p, fields)
	best, at, steps := math.Inf(1), start, 0
	problem := optimize.Problem{Func: func(x []float64) float64 {
		set(fields, x)
		steps++
		l := f.loss(ctx, p)
		total := l + hold*distance(x, start)
		if total < best {
			best, at, out.After = total, slices.Clone(x), l
			if f.Progress != nil {
				f.Progress(steps, l)
			}
		}
		return total
	}, Status: func() (optimize.Status, error) { return status(ctx), nil }}
	settings := &optimize.Settings{FuncEvaluations: f.Steps, Converger: &optimize.FunctionConverge{Absolute: 1e-5, Iterations: 100}}
	if _, err := optimize.Minimize(problem, start, settings, &optimize.NelderMead{SimplexSize: 0.2}); err != nil {
		return Fitted{}, fmt.Errorf("fit: %w", err)
	}
	set(fields, at)
	for i, field := range fields {
		out.Fields[i].After = field.String()
	}
	f.determine(ctx, p, fields, &out)
	return out, nil
}

func set(fields []field, x []float64) {
	for i, field := range fields {
		field.set(math.Exp(x[i]))
	}
}

// begin returns the starting point of a fit, and the fields without influence.
func (f FitPlan) begin(ctx context.Context, p *profile.Profile, fields []field) Fitted {
	out := Fitted{Before: f.loss(ctx, p)}
	out.After = out.Before
	for i, field := range fields {
		was := field.value()
		fitted := FittedField{Path: f.Fields[i], Before: field.String(), Idle: !math.IsInf(out.Before, 1)}
		for _, factor := range []float64{0.5, 2} { // far enough to change an integer
			field.set(was * factor)
			if l := f.loss(ctx, p); l != out.Before && !math.IsInf(l, 1) {
				fitted.Idle = false
			}
		}
		field.set(was)
		out.Fields = append(out.Fields, fitted)
	}
	return out
}

func status(ctx context.Context) optimize.Status {
	if ctx.Err() != nil {
		return optimize.RuntimeLimit
	}
	return optimize.NotTerminated
}

// hold keeps fields without influence on the evidence near their start: it is the
// cost of being off by a factor of e, spread over the fields.
const hold = 0.002

func distance(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return sum / float64(len(x))
}

// loss is the mean error; infinite for an invalid profile, and once ctx has ended.
func (f FitPlan) loss(ctx context.Context, p *profile.Profile) float64 {
	l, err := f.meanError(ctx, p)
	if err != nil || math.IsNaN(l) {
		return math.Inf(1)
	}
	return l
}

// meanError is over all figures of the evidence marked as fitted.
func (f FitPlan) meanError(ctx context.Context, p *profile.Profile) (float64, error) {
	if err := p.Validate(); err != nil {
		return 0, err
	}
	sum, n := 0.0, 0
	for i := range p.Evidence {
		e := &p.Evidence[i]
		if !e.Fitted {
			continue
		}
		runs, err := simulate(ctx, p, e, FitDraws, f.Draws, f.Rules)
		if err != nil {
			return 0, fmt.Errorf("%s, %s: %w", p.Name, e.Name, err)
		}
		for _, m := range e.Measured.Figures() {
			ratio := 0.0
			for _, run := range runs {
				ratio += math.Log(run[m.Name]/m.Value) / float64(len(runs))
			}
			sum += math.Abs(math.Exp(ratio) - 1)
			n++
		}
	}
	return sum / float64(n), nil
}

// Validate reports fields that the profile does not have, or that cannot be fitted.
func (f FitPlan) Validate(p *profile.Profile) error {
	_, err := f.fields(p)
	return err
}

// A field is one number of a profile, in several places if it belongs to the
// evidence.
type field []reflect.Value

func (f field) value() float64 {
	if f[0].Kind() == reflect.Int {
		return float64(f[0].Int())
	}
	return f[0].Float()
}

// String is the number in the profile's notation.
func (f field) String() string {
	if s, ok := f[0].Interface().(fmt.Stringer); ok {
		return s.String()
	}
	if f[0].Kind() == reflect.Int {
		return strconv.FormatInt(f[0].Int(), 10)
	}
	return strconv.FormatFloat(f[0].Float(), 'g', 6, 64)
}

func (f field) set(x float64) {
	for _, v := range f {
		if v.Kind() == reflect.Int {
			v.SetInt(int64(math.Round(x)))
		} else {
			v.SetFloat(x)
		}
	}
}

func (f FitPlan) fields(p *profile.Profile) ([]field, error) {
	var out []field
	var errs []error
	for _, path := range f.Fields {
		names := strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
		found := find(reflect.ValueOf(p).Elem(), names)
		switch {
		case len(names) > 1 && names[0] == "evidence" && names[1] == "measured":
			errs = append(errs, fmt.Errorf("field %q: measured figures cannot be fitted", path))
		case len(found) == 0:
			errs = append(errs, fmt.Errorf("field %q: the profile has no such number", path))
		case found.value() <= 0:
			errs = append(errs, fmt.Errorf("field %q: must begin above 0 to be fitted", path))
		}
		out = append(out, found)
	}
	return out, errors.Join(errs...)
}

// find follows field names, as in YAML, and the numbers of items of lists. A path in evidence is
// found in every piece of it.
func find(v reflect.Value, path []string) field {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return find(v.Elem(), path)
	case reflect.Slice:
		return findItem(v, path)
	case reflect.Struct:
		return findField(v, path)
	case reflect.Int, reflect.Float64:
		if len(path) == 0 {
			return field{v}
		}
	}
	return nil
}

func findItem(v reflect.Value, path []string) (out field) {
	if v.Type().Elem() == reflect.TypeFor[profile.Evidence]() {
		for i := range v.Len() {
			out = append(out, find(v.Index(i), path)...)
		}
		return out
	}
	if len(path) == 0 {
		return nil
	}
	if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < v.Len() {
		return find(v.Index(i), path[1:])
	}
	return nil
}

func findField(v reflect.Value, path []string) field {
	for i := range v.NumField() {
		switch tag := v.Type().Field(i).Tag.Get("yaml"); {
		case tag == ",inline":
			if f := findField(v.Field(i), path); f != nil {
				return f
			}
		case len(path) > 0 && tag == path[0]:
			return find(v.Field(i), path[1:])
		}
	}
	return nil
}
