package comparison

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

func (w *noteWriter) environment() {
	runs := w.runs()
	if len(runs) == 0 {
		return
	}
	w.section(1, w.Word("note.environment"))
	table := doc.Grid{Rows: [][]string{{"", ""}}}
	for _, f := range []struct {
		name plan.Code
		of   func(NoteRun) []string
	}{
		{"note.source", w.source},
		{"note.server", w.server},
		{"note.image", serving(func(e *environment.Environment) []string {
			return []string{e.Image.Name, e.Image.Digest}
		})},
		{"note.commit", serving(commitsOf)},
		{"note.packages", serving(packagesOf)},
		{"note.devices", serving(devicesOf)},
		{"note.weights", serving(weightsOf)},
		{"note.model", func(r NoteRun) []string { return []string{r.Plan.Model} }},
		{"note.tokenizer", func(r NoteRun) []string { return []string{w.Say(r.Env.Tokenizer)} }},
		{"note.client", w.client},
	} {
		groups := grouped(runs, func(r NoteRun) string { return secret.Mask(doc.Join(" · ", f.of(r)...)) })
		parts := make([]string, len(groups))
		for i, g := range groups {
			parts[i] = w.ofGroup(g, groups, g.Text)
		}
		if len(parts) > 0 {
			table.Rows = append(table.Rows, []string{w.Word(f.name), strings.Join(parts, doc.Break)})
		}
	}
	if when := w.period(runs); when != "" {
		table.Rows = append(table.Rows, []string{w.Word("note.time"), when})
	}
	w.add(table)
	w.arguments(runs)
	w.around(runs)
	w.sharedSettings(runs)
}

// source is what an imported run was read from.
func (w *noteWriter) source(r NoteRun) []string {
	o := r.Origin
	if o == nil {
		return nil
	}
	return []string{o.File, strings.TrimSpace(o.Tool + " " + o.Form), w.Word(plan.Code("detail." + string(o.Detail)))}
}

// client is what sent the requests.
func (w *noteWriter) client(r NoteRun) []string {
	if r.Env.Pitot == "" {
		return nil
	}
	cpus := ""
	if r.Env.CPUs > 0 {
		cpus = w.Word("note.cpus", "cpus", r.Env.CPUs)
	}
	parts := []string{r.Env.Host, "pitot " + r.Env.Pitot, r.Env.OS, cpus}
	if r.Fleet != nil {
		parts = append(parts, w.Word("note.fleet", "workers", len(r.Fleet.Workers)))
	}
	return parts
}

// server is what answered.
func (w *noteWriter) server(r NoteRun) (parts []string) {
	switch {
	case r.Kind == trace.Simulated:
		parts = []string{w.Word("note.virtual")}
	case r.Env.Embedded:
		parts = []string{w.Word("note.embedded")}
	case r.Plan.URL != "":
		parts = []string{r.Plan.URL}
	}
	if p := r.Env.Profile; p != nil {
		parts = append(parts, w.InBrackets(p.Name, w.Say(p.Error)))
	}
	return append(parts, r.Env.Server)
}

// period is from the first start to the last, as far as starts are known.
func (w *noteWriter) period(runs []variantRun) string {
	var starts []time.Time
	for _, r := range runs {
		if !r.Started.IsZero() {
			starts = append(starts, r.Started)
		}
	}
	if len(starts) == 0 {
		return ""
	}
	first, last := slices.MinFunc(starts, time.Time.Compare), slices.MaxFunc(starts, time.Time.Compare)
	if first.Equal(last) {
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
func (w *noteWriter) around(runs []variantRun) {
	groups := grouped(runs, func(r NoteRun) string {
		if r.Origin == nil {
			return ""
		}
		return secret.Mask(strings.Join(r.Origin.Around, "\n"))
	})
	w.foldGroups("note.around", "text", groups)
}

// foldGroups shows what is said of each group.
func (w *noteWriter) foldGroups(title plan.Code, language string, groups doc.Groups) {
	for _, g := range groups {
		w.add(doc.Folded{
			Title: w.ofGroup(g, groups, w.Word(title)),
			Items: []doc.Item{doc.Pre{Language: language, Text: g.Text}},
		})
	}
}

// grouped collects the variants by what say says of their runs. What it says nothing of
// is left out.
func grouped(runs []variantRun, say func(NoteRun) string) (groups doc.Groups) {
	for _, r := range runs {
		if said := say(r.NoteRun); said != "" {
			groups.Add(said, r.variant)
		}
	}
	return groups
}

// ofGroup is a phrase after the variants that it is about, where there are other groups.
func (w *noteWriter) ofGroup(g doc.Group, all doc.Groups, said string) string {
	if len(all) < 2 {
		return said
	}
	return w.Of(w.Join("comma", g.Names...), said)
}

// sharedSettings lists those that are the same in all runs. Those that are not stand
// with the comparison.
func (w *noteWriter) sharedSettings(runs []variantRun) {
	shared := settingsOf(runs[0].NoteRun)
	for _, r := range runs[1:] {
		other := settingsOf(r.NoteRun)
		maps.DeleteFunc(shared, func(name, value string) bool { v, ok := other[name]; return !ok || v != value })
	}
	if len(shared) == 0 {
		return
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		lines = append(lines, name+" = "+doc.Clean(shared[name]))
	}
	text := doc.Pre{Language: "text", Text: strings.Join(lines, "\n")}
	w.add(doc.Folded{Title: w.Word("note.shared-settings", "n", len(shared)), Items: []doc.Item{text}})
}

// settingsOf are the settings of a run by name, without secrets: those of its Spec, or those that
// another tool wrote.
func settingsOf(r NoteRun) map[string]string {
	settings := map[string]string{}
	add := func(name, value string) {
		if !slices.Contains([]string{"", "[]", "None"}, value) {
			settings[name] = hide(name, value)
		}
	}
	for _, s := range plan.Flat(r.Plan.Spec) {
		add(s.Name(), s.Value)
	}
	if r.Origin == nil {
		return settings
	}
	for name, value := range r.Origin.Setup {
		if settingName.MatchString(name) {
			add(name, value)
		}
	}
	return settings
}

// settingName is what a setting is called on a command line; other members of a
// setup are rows of a table.
var settingName = lazy.Regexp(`^[a-z][][a-z0-9_.-]*$`)

// commands are the command lines of Pitot's own runs, each once, those of a variant
// after its name.
func (w *noteWriter) commands() {
	if w.note.Experiment != nil { // its file has them
		return
	}
	var lines []string
	variant := ""
	for _, r := range w.runs() {
		line := command(r.NoteRun)
		if line == "" || slices.Contains(lines, line) {
			continue
		}
		if r.variant != variant {
			variant = r.variant
			lines = append(lines, "# "+doc.Clean(variant))
		}
		lines = append(lines, line)
	}
	if lines != nil {
		w.section(1, w.Word("note.commands"))
		w.add(doc.Pre{Language: "sh", Text: strings.Join(lines, "\n")})
	}
}

// runs are those of the comparison, each once, in its order.
func (w *noteWriter) runs() (runs []variantRun) {
	for _, load := range w.note.Comparison.Workloads {
		for _, v := range load.Variants {
			for _, r := range w.runsOf(v) {
				if !slices.ContainsFunc(runs, func(l variantRun) bool { return l.ID == r.ID }) {
					runs = append(runs, variantRun{r, w.Called(v)})
				}
			}
		}
	}
	return runs
}

// A variantRun has the name of its variant.
type variantRun struct {
	NoteRun
	variant string
}

// command is how a run was asked for, "" if nobody knows.
func command(r NoteRun) string {
	if len(r.Env.Invocation) == 0 {
		return ""
	}
	return secret.Mask("pitot " + shell.Join(r.Env.Invocation))
}

// hide masks the value of a setting, all of it if its name asks for it.
func hide(name, value string) string {
	plain := []string{"", "None", "False", "True", "0"}
	if secret.Setting(name) && name != "token-usage" && !slices.Contains(plain, value) {
		return secret.Mark
	}
	return secret.Mask(value)
}

// serving is what is known of the environments of the processes that served, each after its role where there are
// several.
func serving(of func(*environment.Environment) []string) func(NoteRun) []string {
	return func(r NoteRun) []string {
		var all []string
		for side, e := range r.Env.Sides {
			facts := doc.Join(" · ", of(e)...)
			switch {
			case side == "client" || facts == "":
			case len(r.Env.Instances) > 0:
				all = append(all, side+": "+facts)
			default:
				all = append(all, facts)
			}
		}
		return []string{strings.Join(all, "; ")}
	}
}

func commitsOf(e *environment.Environment) (parts []string) {
	for _, t := range e.Trees {
		parts = append(parts, doc.Join(" ", t.Package, t.String()))
	}
	return parts
}

// mostPackages is how many are named.
const mostPackages = 12

func packagesOf(e *environment.Environment) (parts []string) {
	for _, p := range e.Main()[:min(len(e.Main()), mostPackages)] {
		parts = append(parts, p.Name+" "+p.Version)
	}
	return parts
}

func devicesOf(e *environment.Environment) (parts []string) {
	parts = append(parts, e.Machine.Product, e.Products(), e.Chip)
	if e.Driver != "" {
		parts = append(parts, "driver "+e.Driver)
	}
	for _, t := range e.Toolkits {
		parts = append(parts, t.Name+" "+t.Version)
	}
	return append(parts, e.Machine.CPU, e.Machine.Kernel)
}

func weightsOf(e *environment.Environment) []string {
	if e.Model == nil {
		return nil
	}
	m := e.Model
	size := ""
	if m.Bytes > 0 {
		size = fmt.Sprintf("%.1f GiB", float64(m.Bytes)/(1<<30))
	}
	return []string{m.Architecture, m.DType, m.Quantization, size}
}

// arguments are the command lines of servers, each with the variables that may matter, behind its role where there
// are several.
func (w *noteWriter) arguments(runs []variantRun) {
	groups := grouped(runs, func(r NoteRun) string {
		var lines []string
		for side, e := range r.Env.Sides {
			if side == "client" || e.Process == nil {
				continue
			}
			if len(r.Env.Instances) > 0 {
				lines = append(lines, "# "+side)
			}
			lines = append(lines, secret.Mask(r.AnyPort(startOf(e.Process))))
		}
		return strings.Join(lines, "\n")
	})
	w.foldGroups("note.arguments", "sh", groups)
}

// startOf is how a server was started: VARIABLE=value program flags.
func startOf(p *environment.Process) string {
	var words []string
	names, _ := p.Variables()
	for _, name := range names {
		words = append(words, name+"="+shell.Quote(p.Env[name]))
	}
	return doc.Clean(strings.Join(append(words, shell.Join(p.Args)), " "))
}
