package compare

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The settings that make a load, by the names that Options.Ignore knows.
const (
	requestsSetting    = "requests"
	rateSetting        = "rate"
	rampSetting        = "ramp"
	arrivalSetting     = "arrival"
	concurrencySetting = "concurrency"
	workloadSetting    = "workload"
	inputSetting       = "input-length"
	outputSetting      = "output-length"
	taskSetting        = "task"
	namedSetting       = "load"
	protocolSetting    = "protocol"
	streamSetting      = "stream"
)

// loadSettings are they, in the order in which they are listed.
var loadSettings = []string{
	requestsSetting, rateSetting, rampSetting, arrivalSetting, concurrencySetting, workloadSetting, inputSetting, outputSetting, taskSetting, namedSetting, protocolSetting, streamSetting,
}

// inputTolerance is by how much servers differ in counting the same prompts.
const inputTolerance = 0.01

// outputRatio is how many times as long answers may be as those of another run of one load: a server that ends them
// itself, or a change that makes them a little longer, is no other load.
const outputRatio = 1.5

// rateTolerance is by how much a printed rate, in requests a second, may be off.
const rateTolerance = 0.0051

// A load is what a run's plan says of the load, as far as it is known.
type load struct {
	values map[string]plan.Message
	keys   map[string]string // of values, to compare by
	rate   float64           // requests per second; 0 for none
	input  float64           // prompt tokens of a request; 0 if not known
	output float64           // tokens of an answer; 0 if not known
	// scope is who says arrival and workload: other tools say the same thing in another
	// way.
	scope string
}

func loadOf(r *ComparedRun) load {
	p := r.run.Plan
	l := load{values: map[string]plan.Message{}, keys: map[string]string{}, scope: scope(r.run), rate: p.Rate, input: r.perRequest(figure.InputTokens), output: r.perRequest(figure.OutputTokens)}
	l.set(requestsSetting, p.Requests > 0, number(float64(p.Requests)))
	l.set(rateSetting, p.Rate > 0, number(p.Rate))
	l.set(concurrencySetting, p.Concurrency > 0, number(float64(p.Concurrency)))
	l.set(arrivalSetting, !p.Arrival.IsZero(), p.Arrival)
	l.set(workloadSetting, !p.Workload.IsZero(), p.Workload)
	l.set(protocolSetting, p.Protocol != "", plan.Text(p.Protocol))
	l.set(streamSetting, r.run.Origin == nil, plan.Msg("value.bool", "is", p.Stream))
	l.set(inputSetting, l.input > 0, number(l.input))
	if r.toll.share() > survivors {
		l.output = 0 // of those that lived, which may be the short ones
	}
	l.set(outputSetting, l.output > 0, number(math.Round(l.output)))
	l.set(namedSetting, r.origin().Load != "", plan.Text(r.origin().Load))
	if task := r.task(); task != "" {
		l.set(taskSetting, true, plan.Msg(task))
	}
	l.set(rateSetting, p.Rate == 0 && r.origin().Setup["rate"] != "", plan.Msg(NoRate)) // inf, in a table of its own
	if !r.silent {
		l.set(rateSetting, p.Rate == 0, plan.Msg(NoRate))
		l.set(concurrencySetting, p.Concurrency == 0, plan.Msg(NoLimit))
	}
	l.set(rampSetting, p.Ramp || !r.silent, plan.Msg("value.bool", "is", p.Ramp))
	return l
}

// What stands for a rate and for a limit where there is none.
const (
	NoRate  plan.Code = "value.no-rate"
	NoLimit plan.Code = "value.no-limit"
)

// survivors is the share of failed requests from which on answers tell nothing of what was asked for.
const survivors = 0.01

// What models are asked for.
const (
	Generation plan.Code = "value.generation"
	Pooling    plan.Code = "value.pooling" // embeddings, scores, classes
)

// task is what the requests of a run asked for; "" if its figures do not tell.
func (r *ComparedRun) task() plan.Code {
	has := func(names ...string) bool {
		return slices.ContainsFunc(r.figures, func(f runFigure) bool {
			return f.Value > 0 && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(f.Name, n) })
		})
	}
	switch {
	case has(figure.OutputTokens, figure.OutputThroughput, string(figure.TTFT)+".", string(figure.TPOT)+"."):
		return Generation
	case has(figure.TextThroughput), has(figure.RequestsOK) && has(string(figure.E2EL)+".") && has(figure.InputTokens):
		return Pooling
	}
	return ""
}

func (l load) set(name string, known bool, value plan.Message) {
	if known {
		l.values[name], l.keys[name] = value, value.Key()
	}
}

// number is v as text.
func number(v float64) plan.Message { return plan.Text(strconv.FormatFloat(v, 'g', 6, 64)) }

func scope(r trace.Run) string {
	if o := r.Origin; o != nil {
		return o.Tool + " " + string(o.Detail)
	}
	return r.Plan.Dialect
}

// reportsLimits reports whether a rate and a limit that are not there mean that there
// was none.
func reportsLimits(r trace.Run, rules metrics.Rules) bool {
	if r.Origin == nil {
		return true
	}
	d, ok := rules.Lookup(r.Origin.Tool)
	_, whole := r.Origin.Figure(figure.RequestsOK)
	if !whole && r.Origin.Detail == trace.Table {
		return false // the table has lost its first rows
	}
	return ok && d.ReportsLimits(r.Origin)
}

// perRequest is how many tokens of a total the requests that succeeded had in the mean, 0
// if unknown.
func (r *ComparedRun) perRequest(total string) float64 {
	var tokens, requests float64
	for _, f := range r.figures {
		switch f.Name {
		case total:
			tokens = cmp.Or(tokens, f.Value)
		case figure.RequestsOK:
			requests = cmp.Or(requests, f.Value)
		}
	}
	if tokens == 0 || requests == 0 {
		return 0
	}
	return tokens / requests
}

// diff lists the settings that keep l and m from being one load. A setting unknown in one of them
// does not.
func (l load) diff(m load, ignore []string) []string {
	var out []string
	for _, name := range loadSettings {
		if !slices.Contains(ignore, name) && l.differs(m, name) {
			out = append(out, name)
		}
	}
	return out
}

func (l load) differs(m load, name string) bool {
	a, okA := l.keys[name]
	b, okB := m.keys[name]
	same := a == b
	known := l.scope == m.scope && !l.values[workloadSetting].IsZero() && !m.values[workloadSetting].IsZero()
	switch {
	case !okA || !okB:
		return false
	case name == inputSetting:
		// Where the workload is known, lengths that are drawn again may differ.
		return !known && math.Abs(l.input-m.input) > inputTolerance*max(l.input, m.input)
	case name == outputSetting:
		return !known && max(l.output, m.output) >= outputRatio*min(l.output, m.output)
	case name == rateSetting && l.rate > 0 && m.rate > 0:
		return math.Abs(l.rate-m.rate) > rateTolerance
	case name == arrivalSetting || name == workloadSetting:
		return l.scope == m.scope && !same
	}
	return !same
}

// A group is a workload in the making: the runs that met one load.
type group []*ComparedRun

// groups puts runs together by load. Those of which most is known come first, so
// that one of which little is known does not bring together what differs.
func groups(runs []*ComparedRun, ignore []string) (out []group) {
	for i, r := range runs {
		r.place, r.load = i, loadOf(r)
	}
	byKnowledge := func(a, b *ComparedRun) int { return cmp.Compare(len(b.load.values), len(a.load.values)) }
	for _, r := range slices.SortedStableFunc(slices.Values(runs), byKnowledge) {
		i := slices.IndexFunc(out, func(g group) bool { return g.fits(r.load, ignore) })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	byPlace := func(a, b *ComparedRun) int { return cmp.Compare(a.place, b.place) }
	for _, g := range out {
		slices.SortFunc(g, byPlace)
	}
	slices.SortFunc(out, func(a, b group) int { return byPlace(a[0], b[0]) })
	return out
}

func (g group) fits(l load, ignore []string) bool {
	return !slices.ContainsFunc(g, func(r *ComparedRun) bool { return len(l.diff(r.load, ignore)) > 0 })
}

// settings are those of the load, as far as all of its runs that tell agree.
func (g group) settings() (out []Setting) {
	for _, name := range loadSettings {
		var values []plan.Message
		for _, r := range g {
			if v, ok := r.load.values[name]; ok && (name != rampSetting || v.Args["is"] == true) {
				values = append(values, v)
			}
		}
		if values = unique(values); name == outputSetting && len(values) > 1 {
			values = []plan.Message{g.output()}
		}
		if len(values) == 1 {
			out = append(out, Setting{name, values[0]})
		}
	}
	return out
}

// output is the mean length of an answer, in two digits: runs that end answers themselves differ a little.
func (g group) output() plan.Message {
	sum, n := 0.0, 0.0
	for _, r := range g {
		if r.load.output > 0 {
			sum, n = sum+r.load.output, n+1
		}
	}
	unit := math.Pow10(max(0, int(math.Log10(sum/n))-1))
	return number(math.Round(sum/n/unit) * unit)
}

// canonical is a setting's name as Options.Ignore and residue have it.
func canonical(name string) string {
	name = strings.ToLower(strings.TrimLeft(strings.TrimSpace(name), "-"))
	return strings.NewReplacer("_", "-", " ", "-").Replace(name)
}
