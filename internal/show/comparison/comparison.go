// Package comparison shows what package compare found out: for a terminal, as Markdown,
// as a page, as a table for programs, and for continuous integration. It decides nothing.
//
//	compare.Comparison ──> sections of labelled lines and rows ──> Text, Markdown, HTML
//	                  ├──> a line for each workload, metric and variant ──> CSV
//	                  └──> gates, bottom lines and main figures ──> Summary, JUnit
//
// A section is a workload: what was compared, the bottom line, the table, and what a
// reader of the table has to know. All words come from a catalogue.
//
// A Note is the lab note of a comparison: the verdict first, then what was run and where, the
// comparison, plots, and the result tables in the dialect that their readers know. It says no
// more than the comparison does. The same runs give the same bytes.
package comparison

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Options are how a comparison is shown.
type Options struct {
	Width   int             // columns of a terminal, 0 for no limit
	Color   bool            // for a terminal
	All     bool            // also what describes the load and is alike, and further percentiles
	Lang    *words.Language // nil for the default
	Short   bool            // a Summary of about 20 lines
	Heading int             // level of Markdown's headings for workloads, 0 for 2
	Bare    bool            // without the bottom lines, where they stand elsewhere
	Advice  []string        // what to do next, after the verdict of an experiment
	Made    *Experiment     // that made all runs, for a Summary; nil: none did
	// Note returns a text that runs stand in by its ID, nil if there is none, to be shown with its tables marked; nil: no
	// text is.
	Note func(id string) *trace.Note
}

// Text writes a comparison for a terminal: metrics as rows, variants as columns.
func Text(w io.Writer, c compare.Comparison, o Options) error {
	return doc.Text(w, document(c, o), o.Width, o.Color)
}

// Markdown writes a comparison with a heading for each workload, and a table in which every variant
// but the baseline has a column for its values and one for its changes.
func Markdown(w io.Writer, c compare.Comparison, o Options) error {
	return doc.Markdown(w, document(c, o), cmp.Or(o.Heading, 2))
}

// HTML writes a comparison as a page that needs nothing beside it.
func HTML(w io.Writer, c compare.Comparison, o Options) error { return doc.HTML(w, document(c, o)) }

// document is a comparison: what of it was never measured, the verdict of an experiment, and notes;
// its workloads; gates and marks.
func document(c compare.Comparison, o Options) doc.Document {
	w := NewPhrases(c, cmp.Or(o.Lang, words.In(words.Default)))
	d := doc.Document{Lang: w.Language, Title: w.Word("comparison.title")}
	add := func(s doc.Section) { d.Sections = append(d.Sections, s) }
	simulated, measured := c.Kinds()
	if simulated != nil && measured && !o.Bare { // else there is nothing to mistake it for
		add(doc.Section{Items: []doc.Item{doc.Lines{w.line("label.simulated", w.Kinds())}}})
	}
	if verdict := w.verdictLines(o.Advice); verdict != nil && !o.Bare {
		add(doc.Section{Title: w.Word("summary.verdict"), Items: []doc.Item{verdict}})
	}
	notes := w.notes()
	if o.Bare && simulated != nil && !measured {
		notes = notes[1:]
	}
	add(doc.Section{Group: 1, Items: []doc.Item{notes}})
	for i, load := range c.Workloads {
		add(w.section(load, i, o, requestedFigures(c, load)))
	}
	for _, n := range w.markedNotes(o.Note) {
		add(n.section(w))
	}
	var gates doc.Lines
	for _, g := range c.Gates {
		gates = append(gates, w.gate(g))
	}
	if gates != nil {
		add(doc.Section{Title: w.Word("label.gates"), Items: []doc.Item{gates}})
	}
	if marks := w.legend(c, o.All); marks != nil {
		add(doc.Section{Title: w.Word("label.marks"), Items: []doc.Item{marks}})
	}
	return d
}

// notes are those on the whole comparison.
func (w Phrases) notes() (notes doc.Lines) {
	if simulated, measured := w.c.Kinds(); simulated != nil && !measured {
		notes = doc.Lines{w.line("label.simulated", w.Kinds())}
	}
	if len(w.c.Workloads) == 0 {
		notes = append(notes, w.line("label.result", w.Word("result.empty")))
	}
	for _, n := range w.c.Notes {
		notes = append(notes, w.line("label.note", w.Say(n)))
	}
	return notes
}

// requestedFigures are the figures that somebody asks for: in gates and claims.
func requestedFigures(c compare.Comparison, load compare.Workload) (names []string) {
	for _, g := range c.Gates {
		names = append(names, g.Gate.Name)
	}
	for _, claim := range load.Claims {
		for _, m := range claim.Matches {
			names = append(names, m.Name)
		}
	}
	return names
}

// Phrases are what is said of a comparison in a language.
type Phrases struct {
	*words.Language
	c    compare.Comparison  // its level and margin
	lead func(string) string // how the lead of a verdict looks, nil for as it is
}

// NewPhrases are those of a comparison.
func NewPhrases(c compare.Comparison, l *words.Language) Phrases { return Phrases{Language: l, c: c} }

func (w Phrases) line(label plan.Code, said string) doc.Line {
	return doc.Line{Label: w.Word(label), Text: doc.Clean(said)}
}

// Kinds says that runs are simulated, and which; "" of measured ones.
func (w Phrases) Kinds() string {
	simulated, measured := w.c.Kinds()
	switch {
	case simulated == nil:
		return ""
	case !measured:
		return w.Word("kinds.simulated")
	}
	return w.Word("kinds.mixed", "variants", simulated)
}

// Called is the name of a variant for a heading, where one that is simulated says so.
func (w Phrases) Called(v compare.Variant) string {
	if !v.Simulated {
		return v.Name
	}
	return w.InBrackets(v.Name, w.Word("kind.simulated"))
}

func (w Phrases) margin() string { return w.Share(w.c.Margin) }
func (w Phrases) level() string  { return w.Share(w.c.Level) }

// InBrackets is a phrase with another one in brackets.
func (w Phrases) InBrackets(said, aside string) string {
	return w.Word("comparison.beside", "said", said, "aside", aside)
}

// Of is a phrase after what it is about.
func (w Phrases) Of(what, said string) string {
	return w.Word("comparison.of", "what", what, "said", said)
}

// Residue is a setting with its values in the variants.
func (w Phrases) Residue(r compare.SettingDiff) string {
	return w.Of(w.setting(r.Setting), w.Join("bar", w.values(r)...))
}

// values are those of a setting in each variant.
func (w Phrases) values(r compare.SettingDiff) []string {
	values := make([]string, len(r.Values))
	for i, of := range r.Values {
		if of == nil {
			of = []plan.Message{plan.Msg("value.unknown")}
		}
		said := make([]string, len(of))
		for k, v := range of {
			said[k] = w.Say(masked(r.Setting, v))
		}
		values[i] = doc.Cut(w.Join("comma", said...), longest)
	}
	return values
}

// masked is a value of a setting without secrets.
func masked(setting string, value plan.Message) plan.Message {
	return value.Map(func(s string) string { return hide(setting, s) })
}

// longest is how many columns the values of a setting take in a variant.
const longest = 80

// setting is what a setting is called, with the name that --ignore knows.
func (w Phrases) setting(name string) string {
	if code := plan.Code("setting." + name); w.Knows(code) {
		return w.Word(code)
	}
	return name
}

// load says what load a workload is, by the settings that make it: what says nothing
// is left out, and what others tell already.
func (w Phrases) load(settings []compare.Setting) string {
	settings = slices.Clone(settings)
	value := map[string]plan.Message{}
	for i, s := range settings {
		settings[i].Value = masked(s.Name, s.Value)
		value[s.Name] = settings[i].Value
	}
	var parts []string
	add := func(when bool, code plan.Code, name string) {
		if v := value[name]; when && !v.IsZero() {
			parts = append(parts, w.Word(code, "value", v))
		}
	}
	workload, arrival := value["workload"], value["arrival"]
	value["input-length"] = short(value["input-length"])
	add(true, "load.itself", "workload")
	add(!w.tells(workload, value["requests"]), "load.requests", "requests")
	add(workload.IsZero(), "load.input-each", "input-length")
	add(workload.IsZero(), "load.output-each", "output-length")
	add(value["task"].Code == compare.Pooling, "load.itself", "task")
	add(true, "load.itself", "load")
	add(true, "load.itself", "arrival")
	add(arrival.IsZero() && value["rate"].Code != compare.NoRate, "load.at-rate", "rate")
	add(true, "load.ramped", "ramp")
	add(value["concurrency"].Code != compare.NoLimit, "load.at-most", "concurrency")
	add(true, "load.through", "protocol")
	add(value["stream"].Args["is"] == false, "load.not-streamed", "stream")
	for _, s := range settings {
		if !slices.Contains(loadNames, s.Name) {
			parts = append(parts, w.setting(s.Name)+" "+w.Say(s.Value))
		}
	}
	return w.Join("comma", parts...)
}

// loadNames are the settings that load has words for.
var loadNames = []string{
	"workload", "requests", "input-length", "output-length", "task", "load", "arrival", "rate", "ramp", "concurrency",
	"protocol", "stream",
}

// tells reports whether what is said of a workload has its number of requests.
func (w Phrases) tells(workload, requests plan.Message) bool {
	n, _ := requests.Words()
	return n != "" && slices.Contains(strings.FieldsFunc(w.Say(workload),
		func(r rune) bool { return !unicode.IsDigit(r) }), n)
}

// short is a number in the digits that tell a load.
func short(number plan.Message) plan.Message {
	digits, _ := number.Words()
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return number
	}
	return plan.Text(strconv.FormatFloat(v, 'f', decimalsOf(v, 4, 1), 64))
}
