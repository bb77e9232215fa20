package note

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"

	"github.com/pitot-bench/pitot/internal/show/report"
)

// A fact is something known of where and how a run was made.
type fact struct{ name, value string }

// facts are those of a run.
func (w *writer) facts(r Run) (facts []fact) {
	p := w.words
	add := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) > 0 {
			facts = append(facts, fact{name, hideIn(strings.Join(parts, " · "))})
		}
	}
	if o := r.Origin; o != nil {
		add(p.source, o.File, strings.TrimSpace(o.Tool+" "+o.Form), w.detail(o.Detail))
	}
	add(p.server, w.server(r)...)
	add(p.model, r.Plan.Model)
	add(p.tokenizer, w.said.Foreign(r.Env.Tokenizer))
	if r.Env.Pitot != "" {
		cpus := ""
		if r.Env.CPUs > 0 {
			cpus = fmt.Sprintf(p.cpus, r.Env.CPUs)
		}
		add(p.client, r.Env.Host, "pitot "+r.Env.Pitot, r.Env.OS, cpus)
	}
	return facts
}

// server is what answered.
func (w *writer) server(r Run) (parts []string) {
	switch {
	case r.Kind == trace.Simulated:
		parts = []string{w.words.virtual}
	case r.Env.Embedded:
		parts = []string{w.words.embedded}
	case r.Plan.URL != "":
		parts = []string{r.Plan.URL}
	}
	if p := r.Env.Profile; p != nil {
		parts = append(parts, p.Name+w.words.open+w.said.Foreign(p.Error)+w.words.shut)
	}
	return append(parts, r.Env.Server)
}

func (w *writer) detail(d trace.Detail) string {
	return map[trace.Detail]string{
		trace.Table: w.words.table, trace.Summed: w.words.summary, trace.Undated: w.words.undated, trace.Recorded: w.words.recorded,
	}[d]
}

// A labelled run has the name of its variant.
type labelled struct {
	Run
	variant string
}

// runs are those of the comparison, each once, in its order.
func (w *writer) runs() (runs []labelled) {
	for _, load := range w.Comparison.Workloads {
		for _, v := range load.Variants {
			for _, r := range w.runsOf(v) {
				if !slices.ContainsFunc(runs, func(l labelled) bool { return l.ID == r.ID }) {
					runs = append(runs, labelled{r, v.Name})
				}
			}
		}
	}
	return runs
}

// A group is the variants of which the same is known.
type group struct {
	text     string
	variants []string
}

// grouped collects what say says of runs. What it says nothing of is left out.
func grouped(runs []labelled, say func(Run) string) (groups []group) {
	for _, r := range runs {
		text := say(r.Run)
		if text == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.text == text })
		if i < 0 {
			i, groups = len(groups), append(groups, group{text: text})
		}
		if !slices.Contains(groups[i].variants, r.variant) {
			groups[i].variants = append(groups[i].variants, r.variant)
		}
	}
	return groups
}

// of names the variants of a group, escaped; "" if it is the only one.
func (w *writer) of(g group, all []group, escape func(string) string) string {
	if len(all) < 2 {
		return ""
	}
	names := make([]string, len(g.variants))
	for i, v := range g.variants {
		names[i] = escape(v)
	}
	return strings.Join(names, w.words.comma)
}

func (w *writer) environment() error {
	runs := w.runs()
	if len(runs) == 0 {
		return nil
	}
	w.heading(2, w.words.environment)
	w.linef("| | |\n|---|---|")
	for _, name := range w.factNames(runs) {
		groups := grouped(runs, func(r Run) string { return w.factOf(r, name) })
		parts := make([]string, len(groups))
		for i, g := range groups {
			parts[i] = escape(g.text)
			if of := w.of(g, groups, escape); of != "" {
				parts[i] = of + w.words.colon + parts[i]
			}
		}
		w.linef("| %s | %s |", name, strings.Join(parts, "<br>"))
	}
	if when := w.period(runs); when != "" {
		w.linef("| %s | %s |", w.words.period, when)
	}
	w.linef("")
	w.around(runs)
	w.sharedSettings(runs)
	return nil
}

// factNames are those of the facts of any run, in order.
func (w *writer) factNames(runs []labelled) (names []string) {
	p := w.words
	for _, name := range []string{p.source, p.server, p.model, p.tokenizer, p.client} {
		if slices.ContainsFunc(runs, func(r labelled) bool { return w.factOf(r.Run, name) != "" }) {
			names = append(names, name)
		}
	}
	return names
}

func (w *writer) factOf(r Run, name string) string {
	for _, f := range w.facts(r) {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// period is from the first start to the last, as far as starts are known.
func (w *writer) period(runs []labelled) string {
	var first, last time.Time
	for _, r := range runs {
		if s := r.Started; !s.IsZero() {
			if first.IsZero() || s.Before(first) {
				first = s
			}
			if s.After(last) {
				last = s
			}
		}
	}
	if first.IsZero() || first.Equal(last) {
		return stamp(first)
	}
	return stamp(first) + " – " + stamp(last)
}

// stamp is an instant of the wall clock, "" if nobody knows it.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// around is what stood beside imported tables.
func (w *writer) around(runs []labelled) {
	groups := grouped(runs, func(r Run) string {
		if r.Origin == nil {
			return ""
		}
		return hideIn(strings.Join(r.Origin.Around, "\n"))
	})
	for _, g := range groups {
		title := w.words.around
		if of := w.of(g, groups, report.Clean); of != "" {
			title = of + w.words.colon + title
		}
		w.folded(title, func() { w.paragraph(fence("text", g.text)) })
	}
}

// settingName is what a setting is called on a command line; other members of a
// setup are rows of a table.
var settingName = regexp.MustCompile(`^[a-z][a-z0-9_.-]*$`)

// settingsOf are what a run was told, without secrets.
func settingsOf(r Run) map[string]string {
	from := r.Plan.Settings
	if r.Origin != nil && len(r.Origin.Setup) > 0 {
		from = r.Origin.Setup
	}
	settings := map[string]string{}
	for name, value := range from {
		if settingName.MatchString(name) && !slices.Contains([]string{"", "[]", "None"}, value) {
			settings[name] = hide(name, value)
		}
	}
	return settings
}

// sharedSettings lists those that are the same in all runs. Those that are not stand
// with the comparison.
func (w *writer) sharedSettings(runs []labelled) {
	shared := settingsOf(runs[0].Run)
	for _, r := range runs[1:] {
		other := settingsOf(r.Run)
		maps.DeleteFunc(shared, func(name, value string) bool { v, ok := other[name]; return !ok || v != value })
	}
	if len(shared) == 0 {
		return
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		lines = append(lines, name+" = "+report.Clean(shared[name]))
	}
	w.folded(fmt.Sprintf(w.words.sharedSettings, len(shared)), func() { w.paragraph(fence("text", strings.Join(lines, "\n"))) })
}

// commands are the command lines of Pitot's own runs, each once, those of a variant
// after its name.
func (w *writer) commands() error {
	var lines []string
	variant := ""
	for _, r := range w.runs() {
		line := command(r.Run)
		if line == "" || slices.Contains(lines, line) {
			continue
		}
		if r.variant != variant {
			variant = r.variant
			lines = append(lines, "# "+report.Clean(variant))
		}
		lines = append(lines, line)
	}
	if lines != nil {
		w.heading(2, w.words.commands)
		w.paragraph(fence("sh", strings.Join(lines, "\n")))
	}
	return nil
}

// command is how a run was asked for, "" if nobody knows.
func command(r Run) string {
	if len(r.Env.Invocation) == 0 {
		return ""
	}
	words := []string{"pitot"}
	for _, arg := range r.Env.Invocation {
		words = append(words, quote(arg))
	}
	return hideIn(strings.Join(words, " "))
}
