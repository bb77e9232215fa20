package compare

import (
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Figures of a run are those of the requests that were answered. If the slowest share f fails,
// the quantile q of the answered is the quantile (1-f)q of all; a server that refuses requests is
// quick with the others. So where more than a harmless share fails, a verdict has to hold with the failures
// counted as well, whichever variant they are of:
//
//	quantile q  that of the answered at q/(1-f): a failure is an answer that never came.
//	            Beyond 1 the quantile is never, too
//	mean        from (1-f) of it, as if failures had taken no time, to the mean with failures
//	            at the time limit; without a limit to anything
//	others      it may be as bad as anything, and no better than it is
//
// The mean's bounds are those of Horowitz and Manski (2000, Journal of the American Statistical
// Association 95).

// What can be open of a change for the failures of its runs.
const (
	// FailuresDiffer: the change holds for the answered requests alone. The note on it has the same
	// code.
	FailuresDiffer plan.Code = "failures.differ"
	// NeverAnswered: the quantile of one of the two falls on answers that never came.
	NeverAnswered plan.Code = "failures.never"
)

// A failureCount is how many requests a server failed, of those that it was sent.
type failureCount struct{ failed, sent float64 }

func (t failureCount) share() float64 {
	if t.sent == 0 {
		return 0
	}
	return t.failed / t.sent
}

// failuresIn returns the failures that the figures of a run report.
func failuresIn(figures []trace.ReportedFigure) (t failureCount) {
	for _, f := range figures {
		switch f.Name {
		case figure.RequestsFailed:
			t.failed += f.Value
			t.sent += f.Value
		case figure.RequestsOK:
			t.sent += f.Value
		}
	}
	return t
}

// failing is the failureCount of a variant over all of its runs.
func (v *variant) failing() (all failureCount) {
	for _, r := range v.runs {
		all.failed += r.toll.failed
		all.sent += r.toll.sent
	}
	return all
}

// requestsPerRun is how many requests a run of two variants sends, in the mean.
func requestsPerRun(a, b *variant) float64 {
	return (a.failing().sent + b.failing().sent) / float64(len(a.runs)+len(b.runs))
}

// harmless is the share of failures up to which a figure of the answered requests stands for
// all; judged is false for a figure that counts failures. A tenth of the requests beyond a
// percentile moves it by two or three percent.
func harmless(name string) (share float64, judged bool) {
	switch figure.MetricOf(name) {
	case figure.Requests, figure.Goodput, figure.SLO, figure.Probe:
		return 1, false
	}
	if q, ok := quantileOf(name); ok {
		return min(0.1*(1-q), 0.03), true
	}
	return metrics.HarmlessFailures, true
}

// quantileOf is the quantile that a figure of a latency is.
func quantileOf(name string) (q float64, ok bool) {
	metric, statistic := figure.Split(name)
	_, known := valuesOf[metric]
	switch {
	case !known && metric != figure.ICL:
		return 0, false
	case statistic == "min", statistic == "median", statistic == "max":
		return map[string]float64{"median": 0.5, "max": 1}[statistic], true
	}
	p, ok := figure.ParsePercentile(statistic)
	return p / 100, ok
}

// survives reports whether a figure is of answered requests of which too many others failed.
func survives(name string, of failureCount) bool {
	most, judged := harmless(name)
	return judged && of.share() > most
}

// ofClient are the classes of failures that no server has part in.
var ofClient = []trace.Class{trace.Files, trace.Ports, trace.Cancelled, trace.WorkerLost}

// countFailed counts the failures of a run without records: those that its tool counted, or
// that were asked for and are not among the completed.
func (r *ComparedRun) countFailed() {
	o := r.origin()
	ok, counted := o.Figure(figure.RequestsOK)
	failed, known := o.Figure(figure.RequestsFailed)
	if counted && !known && r.reportsRequested() {
		failed.Value = max(0, float64(r.run.Plan.Requests)-ok.Value)
	}
	if counted {
		r.toll = failureCount{failed.Value, ok.Value + failed.Value}
	}
}

// reportsRequested reports whether the tool of an imported run reported the requested number of
// requests.
func (r *ComparedRun) reportsRequested() bool {
	asked := r.origin().Setup["num_prompts"]
	return asked != "" && asked == strconv.Itoa(r.run.Plan.Requests)
}

// withFailed are figures of a run, with its failures where its tool reported the requested number
// of requests but not how many failed.
func (r *ComparedRun) withFailed(figures []trace.ReportedFigure) []trace.ReportedFigure {
	const name = figure.RequestsFailed
	at := func(name string) int {
		return slices.IndexFunc(figures, func(f trace.ReportedFigure) bool { return f.Name == name })
	}
	ok := at(figure.RequestsOK)
	if at(name) >= 0 || ok < 0 || !r.reportsRequested() {
		return figures
	}
	return slices.Insert(slices.Clone(figures), ok+1, trace.ReportedFigure{Name: name, Value: r.toll.failed})
}

// countFailures sets what figures of a run may be with its failures counted. values are those of its
// answered requests; nil of a run without records.
func (r *ComparedRun) countFailures(seen *census, figures []runFigure, values pools) error {
	if r.toll.failed == 0 {
		return nil
	}
	for i := range figures {
		f := &figures[i]
		metric, statistic := figure.Split(f.Name)
		f.low, f.high = f.Value, math.Inf(1)
		if figure.Lookup(f.Name).Better == figure.Higher {
			f.low, f.high = 0, f.Value
		}
		if q, ok := quantileOf(f.Name); ok {
			var err error
			if f.low, f.high, err = never(f, figures, metric, q/(1-r.toll.share()), values[metric]); err != nil {
				return err
			}
			continue
		}
		switch statistic {
		case "std":
			f.low = 0
		case "mean":
			f.low *= 1 - r.toll.share()
			if seen.limit > 0 && (metric == figure.TTFT || metric == figure.E2EL) {
				f.high = f.low + r.toll.share()*seen.lost/r.toll.failed
			}
		}
	}
	return nil
}

// never is a quantile of a metric with failures as answers that never came: by the values of
// the answered if they are there, else between the nearest quantiles that the run tells.
func never(f *runFigure, all []runFigure, metric figure.Metric, at float64, values *pool) (low, high float64, err error) {
	const dust = 1e-12
	if at > 1+dust {
		return math.Inf(1), math.Inf(1), nil
	}
	if values != nil && values.n > 0 {
		v, err := values.percentiles(100 * min(at, 1))
		if err != nil {
			return 0, 0, err
		}
		return v[0], v[0], nil
	}
	low, high = f.Value, math.Inf(1)
	for _, other := range all {
		q, ok := quantileOf(other.Name)
		if !ok || figure.MetricOf(other.Name) != metric {
			continue
		}
		if q <= at+dust {
			low = max(low, other.Value)
		}
		if q >= at-dust {
			high = min(high, other.Value)
		}
	}
	return low, high, nil
}

// limitOf is the longest that a request of a run could take, in seconds; 0: any time.
func limitOf(r trace.Run) float64 {
	if r.Plan.Spec == nil {
		return 0
	}
	return r.Plan.Spec.Client.Timeout.Std().Seconds()
}

// settled are what changes from variant a to variant b, by row; nil where one of them has no
// value.
func (t *table) settled(a, b *variant) []*Change {
	out := make([]*Change, len(t.lines))
	findings := t.contrast(a, b)
	for i, f := range findings {
		if f == nil {
			continue
		}
		if out[i] = t.o.settle(f); out[i].Verdict == CannotTell {
			out[i].More = t.o.more(f)
		}
	}
	t.withFailures(a, b, out)
	return out
}

// withFailures takes back what changes come to by the answered requests alone, where too many
// others failed.
func (t *table) withFailures(a, b *variant, changes []*Change) {
	var touched []int
	for i, c := range changes {
		name := t.lines[i].Quantity.Name
		if c != nil && c.Verdict != NotJudged && !t.lines[i].Constant && (survives(name, a.failing()) || survives(name, b.failing())) {
			touched = append(touched, i)
		}
	}
	if touched == nil {
		return
	}
	worst, best := t.counted(a, b, touched, true), t.counted(a, b, touched, false)
	more, differ := t.moreFailures(changes), plan.Msg(FailuresDiffer, t.failures(a, b)...)
	for _, i := range touched {
		c := changes[i]
		switch only := t.neverOnly(i, a, b); {
		case only != "" && only == more && c.Basis.Decides():
			c.never(only)
		case !agree(t.lines[i].Quantity.Better, c, worst[i], best[i]):
			*c = Change{Relative: c.Relative, Plain: c.Plain, Interval: c.Interval, Basis: c.Basis, Verdict: CannotTell, Noise: c.Noise, Open: differ}
		}
	}
}

// counted are the changes of some rows with failures counted: against b as far as may be, or for
// it. Where a value has no bound there is none.
func (t *table) counted(a, b *variant, rows []int, against bool) []*Change {
	u := *t
	u.lines = slices.Clone(t.lines)
	for _, i := range rows {
		l := *t.lines[i]
		l.samples, l.pool = slices.Clone(l.samples), nil
		high := against == (l.Quantity.Better == figure.Lower) // of b
		l.samples[a.column], l.samples[b.column] = l.samples[a.column].counted(!high, l.plain), l.samples[b.column].counted(high, l.plain)
		u.lines[i] = &l
	}
	out := make([]*Change, len(t.lines))
	for i, f := range u.contrast(a, b) {
		if f != nil && slices.Contains(rows, i) {
			out[i] = t.o.settle(f)
		}
	}
	return out
}

// counted is a sample with the failures of its runs counted: as high as may be, or as low. It
// is empty if a value has no bound there.
func (s sample) counted(high, plain bool) sample {
	values := make([]float64, len(s.values))
	for i := range values {
		low, top := s.bounds(i)
		if values[i] = low; high {
			values[i] = top
		}
		if math.IsInf(values[i], 1) || values[i] <= 0 {
			return sample{}
		}
	}
	s.values, s.scaled = values, scaled(values, plain)
	return s
}

// bounds are what the value of the i-th run may be with its failures counted.
func (s sample) bounds(i int) (low, high float64) {
	if s.runs[i].toll.failed == 0 {
		return s.values[i], s.values[i]
	}
	return s.figures[i].low, s.figures[i].high
}

// neverOnly says of a quantile what the change is where it is never in all runs of one variant,
// and in none of the other; empty elsewhere.
func (t *table) neverOnly(row int, a, b *variant) Verdict {
	never := func(v *variant) (n, of int) {
		s := t.lines[row].samples[v.column]
		for i := range s.values {
			if low, _ := s.bounds(i); math.IsInf(low, 1) {
				n++
			}
		}
		return n, len(s.values)
	}
	na, ofA := never(a)
	nb, ofB := never(b)
	switch {
	case nb == ofB && na == 0:
		return Worse
	case na == ofA && nb == 0:
		return Better
	}
	return ""
}

// moreFailures is the verdict on the number of failures.
func (t *table) moreFailures(changes []*Change) Verdict {
	for i, l := range t.lines {
		if l.Quantity.Name == figure.RequestsFailed && changes[i] != nil {
			return changes[i].Verdict
		}
	}
	return CannotTell
}

// OfFailures reports whether the failures of its runs decide the change or leave it open.
func (c *Change) OfFailures() bool {
	return c.Open.Code == FailuresDiffer || c.Open.Code == NeverAnswered
}

// never makes a change to or from what never comes.
func (c *Change) never(v Verdict) {
	*c = Change{Relative: math.MaxFloat64, Basis: c.Basis, Verdict: v, Noise: c.Noise, Open: plan.Msg(NeverAnswered)}
	if v == Better {
		c.Relative = -1
	}
}

// agree reports whether a change holds with failures counted: a change for the better also if they
// count against the variant, one for the worse also if they count for it.
func agree(better figure.Direction, c, worst, best *Change) bool {
	is := func(o *Change) bool { return o != nil && o.Verdict == c.Verdict }
	if c.Verdict == Same {
		return is(worst) && is(best)
	}
	other := best
	if direction(better, c.Relative) == Better {
		other = worst
	}
	return is(other) && other.Relative*c.Relative > 0
}

// noteFailures tells of the failures of variants of which something is not judged for them.
func (t *table) noteFailures() {
	for i, v := range t.variants[1:] {
		if slices.ContainsFunc(t.out.Rows, func(r Row) bool { c := r.Cells[i+1].Change; return c != nil && c.Open.Code == FailuresDiffer }) {
			t.note(FailuresDiffer, t.failures(t.variants[0], v)...)
		}
	}
}

// failures are the shares that failed of a variant and of another one, for a message.
func (t *table) failures(base, v *variant) []any {
	return []any{"variant", v.name, "share", v.failing().share(), "baseline", base.name, "base", base.failing().share()}
}

// openFailures leaves a gate open that answered requests pass, of which too many others failed,
// or that fails or not by which are counted.
func (t *table) openFailures(r *GateResult, row Row, column int) {
	v, c := t.variants[column], row.Cells[column].Change
	passes := r.Outcome == Pass && row.Quantity.Better != figure.Neither && survives(row.Quantity.Name, v.failing())
	if separate := r.Gate.Relative && c != nil && c.OfFailures(); separate || passes {
		r.Outcome, r.Why = Inconclusive, plan.Msg("gate.failures", t.failures(t.variants[0], v)...)
		if separate && c.Open.Code == NeverAnswered {
			r.Value = 0 // there is no number for it
		}
	}
}

// AskedUnknown is noted of runs that differ in nothing but how many requests succeeded, and do
// not tell how many were asked for.
const AskedUnknown plan.Code = "compare.asked-unknown"

// reportsFailures reports whether it is known how many requests of a run failed.
func (r *ComparedRun) reportsFailures() bool {
	return HasRecords(r.run) || r.reportsRequested() || slices.ContainsFunc(r.figures, func(f runFigure) bool { return f.Name == figure.RequestsFailed })
}

// noteRequested tells of two workloads that may be one, of which one had failures that nobody wrote
// down.
func (c *Comparison) noteRequested(tables []*table, ignore []string) {
	if slices.Contains(ignore, requestsSetting) {
		return
	}
	ignore = append(slices.Clone(ignore), requestsSetting)
	var silent []*table
	for _, t := range tables {
		b := t.runs[0]
		if b.reportsFailures() {
			continue
		}
		for _, u := range silent {
			a := u.runs[0]
			if a.load.differs(&b.load, requestsSetting) && a.load.fits(&b.load, ignore) {
				c.Notes = append(c.Notes, plan.Msg(AskedUnknown, "one", u.order[0].name, "ok", a.run.Plan.Requests, "other", t.order[0].name, "others", b.run.Plan.Requests))
				return
			}
		}
		silent = append(silent, t)
	}
}
