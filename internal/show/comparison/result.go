package comparison

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// results are the bottom lines of a workload, one for variants of which the same can
// be said.
func (w Phrases) results(load compare.Workload) (lines doc.Lines) {
	if len(load.Variants) < 2 {
		return doc.Lines{w.line("label.result", w.Word("result.alone"))}
	}
	groups, tones := doc.Groups{}, map[string]doc.Tone{}
	for i, v := range load.Variants[1:] {
		said, t := w.bottomLine(load, i+1)
		tones[said] = t
		groups.Add(said, doc.Clean(v.Name))
	}
	for _, g := range groups {
		said := g.Text
		if len(groups) > 1 {
			said = w.Of(w.Join("comma", g.Names...), said)
		}
		l := w.line("label.result", said)
		l.Tone = tones[g.Text]
		lines = append(lines, l)
	}
	return append(lines, w.answers(load)...)
}

// bottomLine is what can be said of a variant in a line.
func (w Phrases) bottomLine(load compare.Workload, variant int) (string, doc.Tone) {
	b := bottomLine{Phrases: w, load: load, variant: variant}
	if t := load.Variants[variant].Tally; t != nil {
		b.Tally = *t
	}
	said, t := b.sumUp()
	var fresh []string
	if failed := w.Failures(load, variant); failed != "" {
		fresh = append(fresh, failed)
	}
	for _, i := range b.Fresh {
		r := load.Rows[i]
		if fresh != nil && r.Quantity.Name == figure.RequestsFailed {
			continue
		}
		if r.Quantity.Better == figure.Lower {
			t = doc.Bad
		}
		fresh = append(fresh, w.against(r, variant))
	}
	return w.Join("stop", append(fresh, said)...), t
}

// Failures are the shares that failed, with what was answered all the same, where too many did
// to judge by the rest; "" elsewhere.
func (w Phrases) Failures(load compare.Workload, variant int) string {
	base, own := load.Variants[0], load.Variants[variant]
	left := func(r compare.Row) bool {
		return variant < len(r.Cells) && r.Cells[variant].Change != nil && r.Cells[variant].Change.OfFailures()
	}
	if !slices.ContainsFunc(load.Rows, left) {
		return ""
	}
	said := []string{w.Word("result.failed", "share", own.Failed, "variant", doc.Clean(own.Name), "base", base.Failed, "baseline", doc.Clean(base.Name))}
	for _, name := range []string{"goodput", "throughput.requests"} {
		i := slices.IndexFunc(load.Rows, func(r compare.Row) bool { return r.Quantity.Name == name })
		if i >= 0 && variant < len(load.Rows[i].Cells) && load.Rows[i].Cells[variant].Change != nil {
			return w.Join("comma", append(said, w.against(load.Rows[i], variant))...)
		}
	}
	return said[0]
}

// against is a figure of a variant beside that of the baseline.
func (w Phrases) against(r compare.Row, variant int) string {
	s := scaleOf(r)
	return w.Word("result.fresh", "figure", w.Title(r.Quantity), "value", s.value(r.Cells[variant]), "baseline", s.value(r.Cells[0]))
}

// A bottomLine is the bottom line of a variant in the making.
type bottomLine struct {
	Phrases
	compare.Tally
	load    compare.Workload
	variant int
}

func (b bottomLine) sumUp() (string, doc.Tone) {
	evidence := b.evidence()
	switch {
	case len(b.All) == 0:
		return b.Word("result.incomparable"), doc.Unclear
	case b.cached() && len(b.Better)+len(b.Worse) == 0:
		return b.Word("result.caches-differ"), doc.Unclear
	case b.Basis.Decides():
		return b.decided(), b.tone()
	case b.Basis == compare.Within && len(b.Apart) == 0:
		return b.Word("result.within-none", "evidence", evidence), doc.Unclear
	case b.Basis == compare.Within:
		return b.Word("result.within-some", "evidence", evidence, "n", len(b.Apart), "of", len(b.All), "figures", b.list(b.Apart)), doc.Unclear
	}
	said := b.Word("result.nothing", "evidence", evidence)
	if unusual := b.Phrases.Unusual(b.Tally); unusual != "" {
		said = b.Join("stop", said, b.InBrackets(unusual, b.list(b.Tally.Unusual)))
	}
	return said, doc.Unclear
}

// cached reports whether the caches of the server left figures open.
func (b bottomLine) cached() bool {
	return slices.ContainsFunc(b.All, func(row int) bool {
		cells := b.load.Rows[row].Cells
		return b.variant < len(cells) && cells[b.variant].Change != nil && cells[b.variant].Change.Open.Code == compare.CachesDiffer
	})
}

// evidence is what a variant and the baseline have: one table each.
func (b bottomLine) evidence() string {
	variant := b.load.Variants[b.variant]
	base, own := b.Runs(b.load.Variants[0]), b.Runs(variant)
	if base == own {
		return b.judged(b.Word("comparison.each", "runs", b.counted(variant)), variant)
	}
	return b.Join("comma", base, own)
}

// decided is the bottom line where runs were repeated.
func (b bottomLine) decided() string {
	if len(b.Unknown) == len(b.All) {
		return b.settling(b.Word("result.unknown-all", "n", len(b.All)))
	}
	var parts []string
	add := func(when bool, code plan.Code, rows []int) {
		if when {
			parts = append(parts, b.Word(code, "n", len(rows), "of", len(b.All), "figures", b.list(rows), "margin", b.margin(), "tentative", b.tentative(rows)))
		}
	}
	better, worse := len(b.Better) > 0, len(b.Worse) > 0
	add(!better && !worse, "result.neither", nil)
	add(better, "result.better-of", b.Better)
	add(better && !worse, "result.worse-none", nil)
	add(better && worse, "result.worse-in", b.Worse)
	add(worse && !better, "result.worse-of", b.Worse)
	add(worse && !better, "result.better-none", nil)
	add(len(b.Same) > 0, "result.same-in", b.Same)
	add(len(b.Unknown) > 0, "result.unknown-in", b.Unknown)
	said := b.Join("clause", parts...)
	if order := b.order(); order != "" {
		said = b.Join("stop", said, order)
	}
	return b.settling(said)
}

// settling adds how many runs would settle what cannot be told.
func (b bottomLine) settling(said string) string {
	var parts []string
	code := plan.Code("result.settle")
	for _, i := range b.Settling[:min(settled, len(b.Settling))] {
		r := b.load.Rows[i]
		change := r.Cells[b.variant].Change
		if code == "result.settle" && change.Basis == compare.Blocks {
			code = "result.settle-legs"
		}
		parts = append(parts, b.Word(code, "runs", change.More, "figure", b.Title(r.Quantity)))
		code = "result.settle-also"
	}
	if parts == nil {
		return said
	}
	return b.Join("stop", said, b.Join("clause", parts...))
}

// list names figures with their changes.
func (b bottomLine) list(rows []int) string {
	names := make([]string, len(rows))
	for n, i := range rows {
		r := b.load.Rows[i]
		names[n] = b.Title(r.Quantity) + " " + b.Change(r, *r.Cells[b.variant].Change)
	}
	return b.Few(names, listed)
}

// Few lists the first names, and how many more there are.
func (w Phrases) Few(names []string, most int) string {
	if rest := len(names) - most; rest > 0 {
		names = append(names[:most:most], w.Word("list.more", "n", rest))
	}
	return w.Join("comma", names...)
}

// listed is how many figures a bottom line names, settled of how many it says what would
// settle them.
const (
	listed  = 4
	settled = 2
)

func (b bottomLine) tone() doc.Tone {
	switch {
	case len(b.Worse) > 0 && len(b.Better) > 0:
		return doc.Neutral // the table shows which
	case len(b.Worse) > 0:
		return doc.Bad
	case len(b.Better) > 0:
		return doc.Good
	case len(b.Unknown) > 0:
		return doc.Unclear
	}
	return doc.Neutral
}

// Unusual is of how many differences noise of the usual size would not be the reason,
// where nothing tells how large it is; "" if of none.
func (w Phrases) Unusual(t compare.Tally) string {
	if len(t.Unusual) == 0 {
		return ""
	}
	return w.Word("result.unusual", "noise", w.Share(w.c.UsualNoise), "n", len(t.Unusual), "of", len(t.All))
}

// order is what a drift would do to the changes of a variant, for the bottom line; "" where none
// would, and where intervals have it in them.
func (b bottomLine) order() string {
	v := b.load.Variants[b.variant]
	if v.Order == nil || len(b.Better)+len(b.Worse) == 0 {
		return ""
	}
	code := plan.Code("result.order")
	switch v.Order.Code {
	case compare.OrderConfounded, compare.OrderSessions:
	case compare.OrderLopsided:
		code = "result.order-most"
	default:
		return ""
	}
	first := b.load.Variants[0]
	if v.Order.Share < 0 {
		first = v
	}
	return b.Word(code, "first", doc.Clean(first.Name), "share", math.Abs(v.Order.Share))
}

// tentative reports whether verdicts on some rows of a variant are.
func (b bottomLine) tentative(rows []int) bool {
	for _, i := range rows {
		if b.load.Rows[i].Cells[b.variant].Change.Tentative {
			return true
		}
	}
	return false
}

// codeOf is the code of an order, for a table.
func codeOf(o *compare.Order) plan.Code {
	if o == nil {
		return ""
	}
	return o.Code
}
