package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Known is what a Run is made of.
type Known struct {
	Listing store.Listing
	Run     trace.Run
	// Figures are by the rules of Tool in its Form, empty for Pitot's own.
	Figures    []trace.ReportedFigure
	Tool, Form string
	Rules      metrics.Rules
	// Summary and Service, its latencies with their bounds and doubts, are of all records; nil: these
	// were not read.
	Summary  *metrics.Summary
	Service  *metrics.Latencies
	Failures []metrics.Class
	Commands []Command
	// Doubt says why a statistic of a latency is less sure than it looks, zero if nothing does;
	// nil: of none.
	Doubt func(metric, statistic string) plan.Message
}

// requestsOf counts the records of a run, or takes the counts of a table that has none.
func requestsOf(k Known) Requests {
	l := k.Listing
	r := Requests{Planned: max(l.Requests, l.Records), Sent: l.Records, OK: l.Records - max(0, l.Failed), Failed: max(0, l.Failed)}
	if k.Run.Origin == nil || l.Records > 0 {
		return r
	}
	for _, f := range k.Figures {
		switch f.Name {
		case figure.RequestsOK:
			r.OK = int(f.Value)
		case figure.RequestsFailed:
			r.Failed = int(f.Value)
		}
	}
	r.Sent = r.OK + r.Failed
	return r
}

// NewRun makes the answer, without secrets that texts of others may have.
func NewRun(k Known, lang *words.Language) Run {
	w := writer{lang}
	r := Run{
		Row: NewRow(k.Listing, lang), Verdict: w.verdict(k), Brief: w.brief(k), Figures: w.figures(k),
		Requests: requestsOf(k),
		Failures: []Failure{}, Fleet: w.fleet(k.Run), Notes: []string{}, Plan: w.plan(k.Run), Environment: w.environment(k.Run),
		Commands: append([]Command{}, k.Commands...), Predicted: w.predicted(k.Run),
	}
	if e := k.Run.End; e.Happened() && k.Listing.Records > 0 {
		s := e.Seconds()
		r.Seconds = &s
	}
	for _, c := range k.Failures {
		r.Failures = append(r.Failures, Failure{Class: string(c.Class), Title: lang.Word(c.Class.Code()), Status: c.Status, Count: c.Count, Example: secret.Mask(c.Example)})
	}
	for _, n := range slices.Concat(k.Run.Notes, metrics.FleetNotes(k.Run)) {
		r.Notes = append(r.Notes, lang.Say(n))
	}
	if o := k.Run.Origin; o != nil {
		r.HasNote = o.Note != nil
	}
	if s := k.Run.Plan.Spec; s != nil {
		if d := s.Duration.Std().Seconds(); d > 0 {
			r.Lasts = &d
		}
		if yaml, err := s.YAML(); err == nil {
			r.Spec = string(yaml)
		}
	}
	return r
}

type writer struct{ *words.Language }

// verdict says in a sentence how far figures can be trusted.
func (w writer) verdict(k Known) Verdict {
	v := Verdict{Causes: []string{}}
	if j := k.Run.Verdict; j != nil {
		e := metrics.Explain(*j)
		v.Validity = string(j.Validity)
		for _, m := range e.Causes {
			v.Causes = append(v.Causes, w.Say(m))
		}
		v.Remedy = w.wordIf(len(e.Remedies) > 0, "report.remedy", "remedies", e.Remedies)
		v.Effects = w.wordIf(len(e.Effects) > 0, "report.effects", "effects", e.Effects)
	}
	switch o := k.Run.Origin; {
	case o != nil:
		v.Headline = w.Word("trust.imported", "tool", strings.TrimSpace(o.Tool+" "+o.Form))
	case k.Listing.Status == trace.Running:
		v.Headline = w.Word("trust.running")
	case v.Validity == "":
		v.Headline = w.Word("trust.unjudged")
	case k.Run.Kind == trace.Simulated && k.Run.Verdict.Validity == trace.Valid:
		v.Headline = w.Word("trust.simulated")
	default:
		v.Headline = w.Word(plan.Code("trust." + v.Validity))
	}
	return v
}

// figures are all that are known, in their order.
func (w writer) figures(k Known) []Figure {
	all := []Figure{}
	tool := cmp.Or(k.Tool, "pitot")
	for _, f := range k.Figures {
		q := figure.Lookup(f.Name)
		metric, statistic, latency := strings.Cut(f.Name, ".")
		if q.Unit != figure.Seconds || !latency {
			metric = ""
		}
		one := Figure{Name: f.Name, Group: metric, Title: w.Say(q.Title()), Unit: q.Show().Unit, Text: shown(f), Value: Number(f.Value)}
		if says := k.Rules.Definition(tool, f.Name).Description; says != "" {
			one.Definition = w.Word(says)
		}
		one.Definition = w.withClockOffset(one.Definition, f.Name, k.Run.Fleet)
		w.doubt(&one, k, metric, statistic)
		all = append(all, one)
	}
	return all
}

// shown is the value of a figure, a number of things without decimals.
func shown(f trace.ReportedFigure) string {
	unit := figure.Lookup(f.Name).Unit
	whole := f.Value == math.Trunc(f.Value) && math.Abs(f.Value) < 1e15
	switch {
	case math.IsNaN(f.Value):
		return "–"
	case whole && (unit == figure.Count || unit == figure.TokenCount):
		return strconv.FormatFloat(f.Value, 'f', -1, 64)
	}
	return report.Figure(f.Name, f.Value)
}

// doubt adds the reason for doubt in a figure, and its bounds.
func (w writer) doubt(f *Figure, k Known, metric, statistic string) {
	var p float64
	if n, _ := fmt.Sscanf(statistic, "p%g", &p); n == 1 && k.Tool == "" {
		if wants := stats.SampleFor(p); metric != "itl" && metric != "" && k.Listing.Records-max(0, k.Listing.Failed) < wants {
			f.Doubt = w.Word("view.doubt.few", "wanted", wants)
		}
	}
	if k.Doubt != nil && metric != "" {
		if m := k.Doubt(metric, statistic); !m.IsZero() {
			f.Doubt = w.Say(m)
		}
	}
	d, ok := distributionOf(k.Service, metric)
	switch {
	case !ok:
		return
	case d.Void:
		f.Doubt = w.Word("report.void")
	case d.Invalid && statistic != "mean":
		f.Doubt = w.Word("report.invalid")
	}
	if d.Bounds == nil {
		return
	}
	if low, high, ok := bounds(d, statistic, p); ok {
		f.Low, f.High = &low, &high
	}
}

// distributionOf is that of a latency, if it is known.
func distributionOf(all *metrics.Latencies, metric string) (d metrics.Distribution, ok bool) {
	if all == nil {
		return d, false
	}
	d, ok = map[string]metrics.Distribution{"ttft": all.TTFT, "tpot": all.TPOT, "itl": all.ITL, "e2el": all.E2EL}[metric]
	return d, ok
}

// bounds are what an order statistic lies within.
func bounds(d metrics.Distribution, statistic string, p float64) (low, high float64, ok bool) {
	switch statistic {
	case "median":
		return d.Bounds.Low.Median, d.Bounds.High.Median, true
	case "max":
		return d.Bounds.Low.Max, d.Bounds.High.Max, true
	}
	i := slices.IndexFunc(d.Percentiles, func(q metrics.Percentile) bool { return q.P == p })
	if i < 0 {
		return 0, 0, false
	}
	return d.Bounds.Low.Percentiles[i], d.Bounds.High.Percentiles[i], true
}

// fields collects those that are not empty.
type fields []Field

func (l *fields) add(name string, value ...string) {
	if v := doc.Join(" · ", value...); v != "" {
		*l = append(*l, Field{name, secret.Mask(v)})
	}
}

func (w writer) group(all *[]Group, code plan.Code, l fields) {
	if len(l) > 0 {
		*all = append(*all, Group{Title: w.Word(code), Fields: l})
	}
}

// plan is the load in words, then every setting by its path.
func (w writer) plan(run trace.Run) []Group {
	p, all := run.Plan, []Group{}
	var load, target, settings, origin fields
	load.add(w.Word("report.load"), w.Say(p.Workload), w.Say(p.Arrival), report.Limit(p, w.Language))
	load.add(w.Word("view.requests"), count(p.Requests))
	if run.Origin == nil || p.Seed != 0 {
		load.add(w.Word("view.seed"), fmt.Sprint(p.Seed))
	}
	for _, o := range p.Objectives {
		load.add(w.Word("view.objective"), report.Objective(o, w.Language))
	}
	target.add(w.Word("report.target"), p.URL)
	target.add(w.Word("view.model"), p.Model)
	if p.Protocol != "" {
		target.add(w.Word("view.protocol"), w.Word("report.protocol", "protocol", p.Protocol, "stream", p.Stream))
	}
	for _, s := range plan.Flat(p.Spec) {
		settings.add(s.Path, s.Value)
	}
	if o := run.Origin; o != nil {
		origin.add(w.Word("view.origin.tool"), strings.TrimSpace(o.Tool+" "+o.Form))
		origin.add(w.Word("view.origin.place"), report.Place(o.File, o.Line))
		origin.add(w.Word("view.origin.headings"), strings.Join(o.Path, " / "))
		for _, c := range o.Claims {
			origin.add(w.Word("view.origin.claim"), c.Text)
		}
		for _, line := range o.Around {
			origin.add(w.Word("view.origin.beside"), line)
		}
		for _, name := range slices.Sorted(maps.Keys(o.Setup)) {
			origin.add(name, secretSetting(name, o.Setup[name]))
		}
	}
	w.group(&all, "view.plan.load", load)
	w.group(&all, "view.plan.target", target)
	w.group(&all, "view.plan.origin", origin)
	w.group(&all, "view.plan.settings", settings)
	return all
}

// secretSetting hides the value of a setting with a name that suggests a secret.
func secretSetting(name, value string) string {
	if secret.Setting(name) {
		return secret.Mark
	}
	return value
}

// count is a number, empty for 0.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// environment is what served, then what measured.
func (w writer) environment(run trace.Run) []Group {
	e, all := run.Env, []Group{}
	var server, client, command fields
	server.add(w.Word("view.env.version"), e.Server, e.ServedBy)
	if p := e.Profile; p != nil {
		server.add(w.Word("view.env.profile"), p.Name)
	}
	server.add(w.Word("view.env.models"), strings.Join(e.Models, ", "))
	server.add(w.Word("report.tokens"), w.Say(e.Tokenizer), w.Say(e.TokenizerWhy))
	if run.Origin == nil {
		client.add("Pitot", e.Pitot, e.Go, e.OS)
		client.add(w.Word("view.env.host"), e.Host)
		client.add(w.Word("view.env.processors"), count(e.CPUs))
		client.add(w.Word("view.env.files"), count(int(e.FileLimit)))
		if len(e.Invocation) > 0 {
			command.add(w.Word("view.env.command"), "pitot "+strings.Join(e.Invocation, " "))
		}
	}
	w.group(&all, "view.env.server", append(server, factsOf(e.Serving, true)...))
	w.group(&all, "view.env.server-more", factsOf(e.Serving, false))
	for _, i := range e.Instances {
		if facts := append(factsOf(i, true), factsOf(i, false)...); len(facts) > 0 {
			all = append(all, Group{Title: w.Word("view.env.instance", "role", i.Role), Fields: facts})
		}
	}
	w.group(&all, "view.env.client", append(client, command...))
	w.group(&all, "view.env.client-machine", append(factsOf(e.Client, true), factsOf(e.Client, false)...))
	return all
}

// factsOf are the main facts of an environment, or the others.
func factsOf(e *environment.Environment, main bool) (l fields) {
	for _, f := range e.Facts() {
		if f.Main == main {
			l.add(f.Name, secretSetting(f.Name, f.Value))
		}
	}
	return l
}

// predicted says what a run was simulated with, and how far that is from measurements.
func (w writer) predicted(run trace.Run) string {
	p := run.Env.Profile
	switch {
	case run.Kind != trace.Simulated:
		return ""
	case p == nil:
		return w.Word("view.predicted.default")
	case p.Error.Code == trace.Illustrative:
		return w.Word("report.illustrative", "profile", p.Name)
	}
	return w.Word("report.profile-error", "profile", p.Name, "error", p.Error)
}
