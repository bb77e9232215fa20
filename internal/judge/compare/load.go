package compare

import (
	"cmp"
	"fmt"
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
	keys   []string // of values, to compare by, in the order of loadSettings; "" where one is not known
	rate   float64  // requests per second; 0 for none
	input  float64  // prompt tokens of a request; 0 if not known
	output float64  // tokens of an answer; 0 if not known
	// scope is who says arrival and workload: other tools say the same thing in another
	// way.
	scope string
}

func loadOf(r *ComparedRun) load {
	p := r.run.Plan
	l := load{
		values: map[string]plan.Message{}, keys: make([]string, len(loadSettings)), scope: scope(r.run), rate: p.Rate,
		input: r.perRequest(figure.InputTokens), output: r.perRequest(figure.OutputTokens),
	}
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
		l.values[name], l.keys[slices.Index(loadSettings, name)] = value, value.Key()
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
func (l *load) diff(m *load, ignore []string) []string {
	var out []string
	for i, name := range loadSettings {
		if l.differsIn(m, i) && !slices.Contains(ignore, name) {
			out = append(out, name)
		}
	}
	return out
}

func (l *load) differs(m *load, name string) bool {
	return l.differsIn(m, slices.Index(loadSettings, name))
}

// differsIn compares the i-th of loadSettings.
func (l *load) differsIn(m *load, i int) bool {
	a, b := l.keys[i], m.keys[i]
	if a == "" || b == "" {
		return false
	}
	switch loadSettings[i] {
	case inputSetting:
		// Where the workload is known, lengths that are drawn again may differ.
		return !l.sameWorkload(m) && math.Abs(l.input-m.input) > inputTolerance*max(l.input, m.input)
	case outputSetting:
		return !l.sameWorkload(m) && max(l.output, m.output) >= outputRatio*min(l.output, m.output)
	case rateSetting:
		if l.rate > 0 && m.rate > 0 {
			return math.Abs(l.rate-m.rate) > rateTolerance
		}
	case arrivalSetting, workloadSetting:
		return l.scope == m.scope && a != b
	}
	return a != b
}

// sameWorkload reports whether both say a workload in the words of one tool.
func (l *load) sameWorkload(m *load) bool {
	return l.scope == m.scope && !l.values[workloadSetting].IsZero() && !m.values[workloadSetting].IsZero()
}

// fits reports whether l and m can be one load.
func (l *load) fits(m *load, ignore []string) bool {
	for i, name := range loadSettings {
		if l.differsIn(m, i) && !slices.Contains(ignore, name) {
			return false
		}
	}
	return true
}

// A group is a workload in the making: the runs that met one load.
type group []*ComparedRun

// groups puts runs together by load. Those of which most is known come first, so
// that one of which little is known does not bring together what differs. Groups only grow, and so the first one that
// can take a load is never ahead of the one that took its like.
func groups(runs []*ComparedRun, ignore []string) (out []group) {
	for i, r := range runs {
		r.place, r.load = i, loadOf(r)
	}
	byKnowledge := func(a, b *ComparedRun) int { return cmp.Compare(len(b.load.values), len(a.load.values)) }
	var loads [][]*load        // of each group, those that differ in anything
	latest := map[string]int{} // group of a load
	for _, r := range slices.SortedStableFunc(slices.Values(runs), byKnowledge) {
		id := fmt.Sprint(r.load.keys, r.load.rate, r.load.input, r.load.output, r.load.scope)
		last, known := latest[id]
		i := last
		for ; i < len(out); i++ {
			unfit := func(l *load) bool { return !l.fits(&r.load, ignore) }
			if !slices.ContainsFunc(loads[i], unfit) {
				break
			}
		}
		if i == len(out) {
			out, loads = append(out, nil), append(loads, nil)
		}
		if out[i] = append(out[i], r); !known || i != last {
			loads[i] = append(loads[i], &r.load)
		}
		latest[id] = i
	}
	byPlace := func(a, b *ComparedRun) int { return cmp.Compare(a.place, b.place) }
	for _, g := range out {
		slices.SortFunc(g, byPlace)
	}
	slices.SortFunc(out, func(a, b group) int { return byPlace(a[0], b[0]) })
	return out
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
