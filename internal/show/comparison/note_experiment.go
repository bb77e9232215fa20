package comparison

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// An Experiment is how the runs of a note were made, where one experiment made them all.
type Experiment struct {
	Name string
	File string // as YAML, without secrets
	// Variants are called by letters in orders: the first is A.
	Variants []Described
	// Orders are the legs that are evidence, a row of letters for each block: ABBA. A leg that
	// was lost is a dot. Confirming are those of the confirmation of Winner.
	Orders, Confirming []string
	Winner             string
	Squares            bool      // rows of a Williams square, else ABBA or BAAB
	Servers            plan.Code // how servers came and went: ServersPerLeg ...
	Starts             plan.Message
	Seed               uint64
	Runs               int  // of each workload in a leg
	Steady             bool // warmed up until steady, else as the workload says
	Looks              compare.Looks
	Ended              plan.Message // why it ended
	Lost               []Lost
	Cost               plan.Message
	Advice             []string // what comparison is worth making, after an A/A experiment
}

// A Described variant has what was measured of it: a command, an address, a profile.
type Described struct{ Name, What string }

// A Lost leg failed, and is not judged.
type Lost struct {
	Leg     int
	Variant string
	Why     plan.Message
}

// How servers came and went.
const (
	ServersPerLeg   plan.Code = "note.servers-leg"
	ServersPerBlock plan.Code = "note.servers-block"
	ServersOnce     plan.Code = "note.servers-once"
	ServersUp       plan.Code = "note.servers-up"     // none was started
	ServersEngine   plan.Code = "note.servers-engine" // the embedded engine, anew for each run
	ServersVirtual  plan.Code = "note.servers-virtual"
)

// Letter is what the i-th variant is called in orders.
func Letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("(%d)", i+1)
}

// experimentVerdict is the first screen of the note of an experiment: what is known of each
// variant under each load, what was confirmed, and what is not known.
func (w *writer) experimentVerdict() {
	w.bullets(w.caveats()...)
	var main, confirming, several []int
	for i, load := range w.note.Comparison.Workloads {
		switch {
		case load.Layout != nil && load.Layout.Confirms:
			confirming = append(confirming, i)
		case len(load.Variants) > 2:
			several = append(several, i)
			fallthrough
		default:
			main = append(main, i)
		}
	}
	if several != nil {
		w.headlines(several)
		w.verdictTable(main)
	} else {
		w.verdictLines(main, len(main) > 1)
	}
	if len(confirming) > 0 {
		winner := ""
		if vs := w.note.Comparison.Workloads[confirming[0]].Variants; len(vs) > 1 {
			winner = vs[1].Name
		}
		w.paragraph(w.Word("note.confirmed", "variant", escape(winner)))
		w.verdictLines(confirming, true)
	}
	if w.note.Experiment != nil {
		var advice []string
		for _, said := range w.note.Experiment.Advice {
			advice = append(advice, capital(w.sentence(escape(said))))
		}
		w.bullets(advice...)
	}
	w.terms(main)
}

// headlines say for each load which variants are better, and which worse.
func (w *writer) headlines(loads []int) {
	var lines []string
	for _, i := range loads {
		said := w.sentence(w.Join("stop", w.parts(w.Headline(w.note.Comparison.Workloads[i]))...))
		lines = append(lines, w.Of("**"+escape(w.name(i))+"**", said))
	}
	w.bullets(lines...)
}

// terms are what the verdicts suppose, and the noise that they are held against.
func (w *writer) terms(loads []int) {
	var noise []string
	restarted := false
	for _, i := range loads {
		load := w.note.Comparison.Workloads[i]
		restarted = restarted || load.Layout != nil && load.Layout.Restarted
		said := w.noiseOf(load)
		if said != "" && len(loads) > 1 {
			said = w.Of(escape(w.name(i)), said)
		}
		if said != "" {
			noise = append(noise, said)
		}
	}
	said := []string{capital(w.sentence(w.Terms()))}
	if noise != nil {
		said = append(said, w.sentence(w.Word("note.starts-noise", "figures", noise, "starts", restarted)))
	}
	w.paragraph(w.Join("sentence", said...))
}

// verdictTable has a row for each variant and a column for each load.
func (w *writer) verdictTable(loads []int) {
	head := "|"
	for _, i := range loads {
		head += " | " + escape(w.name(i))
	}
	w.linef("%s |\n|---%s|", head, strings.Repeat("|---", len(loads)))
	var names []string
	for _, i := range loads {
		for _, v := range w.note.Comparison.Workloads[i].Variants[1:] {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	for _, name := range names {
		row := "| **" + escape(name) + "**"
		for _, i := range loads {
			row += " | " + strings.Join(w.verdictOf(i, name, false), "<br>")
		}
		w.linef("%s |", row)
	}
	baselines := w.note.Comparison.Workloads[loads[0]]
	w.linef("")
	w.paragraph(w.Word("note.table-against", "baseline", escape(baselines.Variants[0].Name), "legs", w.evidenceOf(baselines)))
}

// evidenceOf is how many legs each variant has.
func (w *writer) evidenceOf(load compare.Workload) string {
	said, _ := w.evidence(load)
	return said
}

// verdictLines have a line for each load and variant, after the name of the load.
func (w *writer) verdictLines(loads []int, named bool) {
	var lines []string
	for _, i := range loads {
		load := w.note.Comparison.Workloads[i]
		for _, v := range load.Variants[1:] {
			said := w.sentence(w.Join("stop", w.verdictOf(i, v.Name, true)...))
			if named {
				said = w.Of("**"+escape(w.name(i))+"**", said)
			}
			lines = append(lines, said)
		}
	}
	w.bullets(lines...)
}

// verdictOf are the parts of the verdict on a variant under a load.
func (w *writer) verdictOf(load int, variant string, named bool) (parts []string) {
	l := w.note.Comparison.Workloads[load]
	v := slices.IndexFunc(l.Variants, func(v compare.Variant) bool { return v.Name == variant })
	if v < 1 {
		return []string{"-"}
	}
	return w.parts(w.Verdict(l, v, named))
}

// parts are those of a verdict as Markdown.
func (w *writer) parts(all []Part) (said []string) {
	for _, p := range all {
		one := "**" + escape(p.Lead) + "**"
		if p.Text != "" {
			one = w.Of(one, escape(p.Text))
		}
		said = append(said, one)
	}
	return said
}

// caveats are what a reader has to know before the figures, each once.
func (w *writer) caveats() (lines []string) {
	add := func(said string) {
		if said != "" && !slices.Contains(lines, said) {
			lines = append(lines, said)
		}
	}
	for i, load := range w.note.Comparison.Workloads {
		for _, n := range load.Notes {
			if n.Code == "compare.confirms" { // a heading says so
				continue
			}
			said := capital(w.sentence(escape(w.Say(n))))
			if n.Code == "compare.doubtful-runs" && len(w.note.Comparison.Workloads) > 1 {
				said = w.Of(escape(w.name(i)), said)
			}
			add(said)
		}
	}
	if e := w.note.Experiment; e != nil && len(e.Lost) > 0 {
		add(capital(w.sentence(w.Word("experiment.lost-legs", "legs", len(e.Lost)))))
	}
	return lines
}

// noiseOf is by how much figures vary from one server start, or leg, to the next.
func (w *writer) noiseOf(load compare.Workload) string {
	var parts []string
	for _, f := range findings(load, len(load.Variants)-1) {
		if s := f.row.Spread; s != nil && s.Start > 0 && len(parts) < briefly {
			parts = append(parts, w.title(f.row)+" "+w.Share(rounded(s.Start)))
		}
	}
	return w.Join("comma", parts...)
}

// measured is how the runs of an experiment were made, and its file.
func (w *writer) measured() {
	e := w.note.Experiment
	if e == nil {
		return
	}
	w.heading(2, w.Word("note.measured"))
	w.letters(*e)
	var lines []string
	add := func(title plan.Code, said ...string) {
		said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
		if len(said) > 0 {
			lines = append(lines, w.Of("**"+w.Word(title)+"**", w.Join("sentence", said...)))
		}
	}
	add("note.order", w.order(*e)...)
	add("note.servers", w.Word(e.Servers), w.saySentence(e.Starts))
	add("note.load", w.Word("note.seeds", "seed", fmt.Sprint(e.Seed), "runs", e.Runs, "several", e.Runs > 1))
	add("note.warm-up", w.warmUp(*e))
	add("note.cache", w.cache()...)
	add("note.stalls", w.stalls())
	add("note.looks", w.looks(*e)...)
	add("note.lost", w.lost(*e)...)
	add("note.cost", w.saySentence(e.Cost), w.underLoad())
	w.bullets(lines...)
	w.paragraph(w.Word("note.again", "name", escape(e.Name)))
	w.paragraph(fence("sh", strings.Join([]string{
		"pitot experiment run experiment.yaml --name " + quote(e.Name+"-2"),
		"pitot compare " + quote(e.Name),
	}, "\n")))
	w.folded(w.Word("note.file"), func() { w.paragraph(fence("yaml", secret.Mask(e.File))) })
}

func (w *writer) saySentence(m plan.Message) string {
	if m.IsZero() {
		return ""
	}
	return capital(w.sentence(escape(w.Say(m))))
}

// capital begins a sentence with one.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// letters says which variant each letter is, and what was measured of it.
func (w *writer) letters(e Experiment) {
	w.row("", w.Word("experiments.variant"), w.Word("note.what"))
	w.row("---", "---", "---")
	for i, v := range e.Variants {
		what := "-"
		if v.What != "" {
			what = strings.ReplaceAll(code(doc.Cut(secret.Mask(v.What), whatColumns)), "|", "\\|")
		}
		w.row(Letter(i), escape(v.Name), what)
	}
	w.linef("")
}

// order is that of the legs.
func (w *writer) order(e Experiment) []string {
	kind := plan.Code("note.order-abba")
	if e.Squares {
		kind = "note.order-squares"
	}
	said := []string{w.Word(kind, "blocks", len(e.Orders), "orders", code(strings.Join(e.Orders, " ")), "seed", fmt.Sprint(e.Seed))}
	if len(e.Confirming) > 0 {
		said = append(said, w.Word("note.order-confirming", "variant", escape(e.Winner), "blocks", len(e.Confirming), "orders", code(strings.Join(e.Confirming, " "))))
	}
	return said
}

// whatColumns are those of what was measured of a variant.
const whatColumns = 100

// warmUp is how many waves it took until the server was steady.
func (w *writer) warmUp(e Experiment) string {
	var waves []int
	restless := 0
	for _, r := range w.runs() {
		if u := r.WarmUp; u != nil {
			waves = append(waves, len(u.Waves))
			if !u.Steady {
				restless++
			}
		}
	}
	switch {
	case len(waves) == 0 && !e.Steady:
		return w.Word("note.warm-own")
	case len(waves) == 0:
		return w.Word("note.warm-none")
	}
	slices.Sort(waves)
	return w.Word("note.warm-steady", "least", waves[0], "most", waves[len(waves)-1], "median", waves[len(waves)/2], "same", waves[0] == waves[len(waves)-1], "runs", len(waves), "restless", restless)
}

// cache is the declared state of the server's cache, and in how many runs it was proved.
func (w *writer) cache() (said []string) {
	declared, proofs := "", map[metrics.Proof]int{}
	low, high, counted, n := 1.0, 0.0, 0, 0
	for _, r := range w.runs() {
		c := r.Cached
		if c == nil {
			continue
		}
		n++
		declared = string(c.Declared)
		proofs[c.Proof]++
		if c.Source != "" {
			counted++
			low, high = min(low, c.Share), max(high, c.Share)
		}
	}
	if n == 0 {
		return []string{w.Word("note.cache-undeclared")}
	}
	said = append(said, w.Word("note.cache-declared", "state", plan.Say(plan.Code("cachestate."+declared)), "runs", n, "proved", proofs[metrics.Proved], "open", proofs[metrics.Unproved]))
	if counted > 0 {
		said = append(said, w.Word("note.cache-share", "low", low, "high", high, "same", high-low < 0.0005))
	}
	return said
}

// stalls are the times in which the streams of a run stood still.
func (w *writer) stalls() string {
	n, longest, leg, variant, runs := 0, 0.0, 0, "", w.runs()
	for _, r := range runs {
		if len(r.Digest.Timeline.Stalls) > 0 {
			n++
		}
		for _, s := range r.Digest.Timeline.Stalls {
			if took := s[1] - s[0]; took > longest {
				longest, variant = took, r.variant
				if r.Leg != nil {
					leg = r.Leg.Position
				}
			}
		}
	}
	if n == 0 {
		return w.Word("note.stalls-none")
	}
	return w.Word("note.stalls-some", "n", n, "of", len(runs), "longest", longest, "leg", leg, "variant", escape(variant))
}

// looks are how often it was judged, and why it ended.
func (w *writer) looks(e Experiment) []string {
	if e.Looks.Most > 1 {
		return []string{w.Word("note.looks-some", "done", e.Looks.Done, "most", e.Looks.Most), w.saySentence(e.Ended)}
	}
	return []string{w.Word("note.looks-one")}
}

// lost are the legs that failed.
func (w *writer) lost(e Experiment) (said []string) {
	for _, l := range e.Lost {
		said = append(said, w.sentence(w.Word("note.lost-leg", "leg", l.Leg, "variant", escape(l.Variant), "why", escape(doc.Cut(w.Say(l.Why), whyColumns)))))
	}
	if said == nil {
		return []string{w.Word("note.lost-none")}
	}
	return said
}

// whyColumns are those of why a leg failed: the end of a server's log may be in it.
const whyColumns = 400

// underLoad is the time of all runs, which is not that of the experiment where they were
// simulated.
func (w *writer) underLoad() string {
	var all time.Duration
	virtual := false
	for _, r := range w.runs() {
		all += max(0, time.Duration(r.End))
		virtual = virtual || r.Kind == "simulated"
	}
	return w.Word("note.under-load", "time", all.Round(time.Second), "virtual", virtual)
}
