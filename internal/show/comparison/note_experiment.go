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
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// An Experiment is how the runs of a note were made, where one experiment made them all.
type Experiment struct {
	Name string
	Date string // of its beginning
	File string // as YAML, without secrets
	// Variants are called by letters in orders: the first is A.
	Variants []NoteVariant
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
	Lost               []LostLeg
	Cost               plan.Message
	Advice             []string // what comparison is worth making, after an A/A experiment
}

// A NoteVariant has what was measured of it: a command, an address, a profile.
type NoteVariant struct{ Name, What string }

// A LostLeg failed, and is not judged.
type LostLeg struct {
	Leg     plan.Message // its number, and which try it was
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

// measured is how the runs of an experiment were made, and its file.
func (w *noteWriter) measured() {
	e := w.note.Experiment
	if e == nil {
		return
	}
	w.section(1, w.Word("note.measured"))
	w.letters(*e)
	var lines doc.Lines
	add := func(title plan.Code, said ...string) {
		said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
		if len(said) > 0 {
			lines = append(lines, doc.Line{Label: w.Word(title), Text: w.Join("sentence", said...)})
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
	w.add(lines, doc.Prose(w.Word("note.again", "name", e.Name)), doc.Pre{Language: "sh", Text: strings.Join([]string{
		"pitot experiment run experiment.yaml --name " + shell.Quote(e.Name+"-2"),
		"pitot compare " + shell.Quote(e.Name),
	}, "\n")})
	file := doc.Pre{Language: "yaml", Text: secret.Mask(e.File)}
	w.add(doc.Folded{Title: w.Word("note.file"), Items: []doc.Item{file}})
}

func (w *noteWriter) saySentence(m plan.Message) string {
	if m.IsZero() {
		return ""
	}
	return capital(w.sentence(w.Say(m)))
}

// capital begins a sentence with one.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// letters says which variant each letter is, and what was measured of it.
func (w *noteWriter) letters(e Experiment) {
	table := doc.Grid{Rows: [][]string{{"", w.Word("experiments.variant"), w.Word("note.what")}}}
	for i, v := range e.Variants {
		what := "-"
		if v.What != "" {
			what = doc.Code(doc.Cut(secret.Mask(v.What), whatColumns))
		}
		table.Rows = append(table.Rows, []string{Letter(i), v.Name, what})
	}
	w.add(table)
}

// order is that of the legs.
func (w *noteWriter) order(e Experiment) []string {
	kind := plan.Code("note.order-abba")
	if e.Squares {
		kind = "note.order-squares"
	}
	said := []string{w.Word(kind, "blocks", len(e.Orders), "orders", doc.Code(strings.Join(e.Orders, " ")), "seed",
		fmt.Sprint(e.Seed))}
	if len(e.Confirming) > 0 {
		said = append(said, w.Word("note.order-confirming", "variant", e.Winner, "blocks", len(e.Confirming), "orders",
			doc.Code(strings.Join(e.Confirming, " "))))
	}
	return said
}

// whatColumns are those of what was measured of a variant.
const whatColumns = 100

// warmUp is how many waves it took until the server was steady.
func (w *noteWriter) warmUp(e Experiment) string {
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
	return w.Word("note.warm-steady", "least", waves[0], "most", waves[len(waves)-1], "median", waves[len(waves)/2],
		"same", waves[0] == waves[len(waves)-1], "runs", len(waves), "restless", restless)
}

// cache is the declared state of the server's cache, and in how many runs it was proved.
func (w *noteWriter) cache() (said []string) {
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
	said = append(said, w.Word("note.cache-declared", "state", plan.Msg(plan.Code("cachestate."+declared)), "runs", n,
		"proved", proofs[metrics.Proved], "open", proofs[metrics.Unproved]))
	if counted > 0 {
		said = append(said, w.Word("note.cache-share", "low", low, "high", high, "same", high-low < 0.0005))
	}
	return said
}

// stalls are the times in which the streams of a run stood still.
func (w *noteWriter) stalls() string {
	n, longest, leg, variant, runs := 0, 0.0, 0, "", w.runs()
	for _, r := range runs {
		if len(r.Digest.Timeline.Stalls) > 0 {
			n++
		}
		for _, s := range r.Digest.Timeline.Stalls {
			if took := s[1] - s[0]; took > longest {
				longest, variant = took, r.variant
				if r.Leg != nil {
					leg = r.Leg.Called()
				}
			}
		}
	}
	if n == 0 {
		return w.Word("note.stalls-none")
	}
	return w.Word("note.stalls-some", "n", n, "of", len(runs), "longest", longest, "leg", leg, "variant", variant)
}

// looks are how often it was judged, and why it ended.
func (w *noteWriter) looks(e Experiment) []string {
	if e.Looks.Most > 1 {
		return []string{w.Word("note.looks-some", "done", e.Looks.Done, "most", e.Looks.Most), w.saySentence(e.Ended)}
	}
	return []string{w.Word("note.looks-one")}
}

// lost are the legs that failed.
func (w *noteWriter) lost(e Experiment) (said []string) {
	for _, l := range e.Lost {
		said = append(said, capital(w.sentence(w.Word("note.lost-leg", "leg", l.Leg, "variant", l.Variant, "why",
			doc.Cut(w.Say(l.Why), whyColumns)))))
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
func (w *noteWriter) underLoad() string {
	var all time.Duration
	virtual := false
	for _, r := range w.runs() {
		all += max(0, time.Duration(r.End))
		virtual = virtual || r.Kind == "simulated"
	}
	return w.Word("note.under-load", "time", all.Round(time.Second), "virtual", virtual)
}
