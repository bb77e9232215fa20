package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// checkClaims holds the authors' claims against the tables: each against those of its section, or where that has
// nothing to compare, or the claim stands in no section of a table, against all of the document.
func checkClaims(tables []*table) {
	for _, t := range tables {
		for _, v := range t.order {
			for _, r := range v.runs {
				for _, claim := range r.origin().Claims {
					in, check := t, t.check(claim, v, r)
					if loose := claim.Loose || len(t.variants) == 1; loose && !check.Agrees || !t.meets(claim.Load) {
						in, check = elsewhere(tables, t, check, claim, r)
					}
					if claim.Metric != trace.AnySpeed || len(check.Matches) > 0 {
						in.out.Claims = append(in.out.Claims, check)
					}
				}
			}
		}
	}
	for _, t := range tables {
		slices.SortStableFunc(t.out.Claims, func(a, b ClaimCheck) int { return cmp.Compare(a.Claim.Line, b.Claim.Line) })
	}
}

// elsewhere finds the comparison that a claim means among those of its document: of those whose load its sentence
// names, if there are any, the one that it agrees with, else the first that has such a figure.
func elsewhere(tables []*table, own *table, check ClaimCheck, claim trace.Claim, r *ComparedRun) (*table, ClaimCheck) {
	all := slices.DeleteFunc(slices.Clone(tables), func(t *table) bool {
		ofFile := slices.ContainsFunc(t.runs, func(o *ComparedRun) bool { return o.origin().File == r.origin().File })
		return !ofFile || len(t.variants) == 1
	})
	named := slices.DeleteFunc(slices.Clone(all), func(t *table) bool {
		return len(claim.Load) > 0 && !t.meets(claim.Load) ||
			len(claim.Load) == 0 && mention(cmp.Or(claim.Sentence, claim.Text), t.out.Name) == nil
	})
	if len(named) > 0 {
		all = named
	}
	all = all[:min(len(all), mostMeanings)]
	in, meanings := own, 0
	best := ClaimCheck{Claim: claim, File: check.File, Variant: check.Variant}
	for _, t := range all {
		found := t.check(claim, t.variants[0], r)
		if t == own {
			found = check
		}
		if len(found.Matches) == 0 {
			continue
		}
		meanings += found.Meanings
		if len(best.Matches) == 0 || found.Agrees && !best.Agrees {
			in, best = t, found
		}
	}
	best.Meanings = meanings
	return in, best
}

// mostMeanings is among how many comparisons a claim's is looked for.
const mostMeanings = 50

// meets reports whether the load of the table has the settings.
func (t *table) meets(settings map[string]string) bool {
	for name, value := range settings {
		met := slices.ContainsFunc(t.runs, func(r *ComparedRun) bool {
			own, ok := r.load.values[name]
			return ok && own.Key() == plan.Text(value).Key() || r.origin().Setup[name] == value
		})
		if !met {
			return false
		}
	}
	return true
}

func (t *table) check(claim trace.Claim, v *variant, r *ComparedRun) ClaimCheck {
	out := ClaimCheck{Claim: claim, File: r.run.Origin.File, Variant: v.name}
	var all []candidate
	meant, against := t.meant(claim, v)
	for _, m := range meant {
		for preference, base := range t.basesFor(m, against) {
			all = append(all, t.candidates(claim, base, m, r, preference)...)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		if by := cmp.Compare(a.rank(), b.rank()); by != 0 || a.agrees {
			return cmp.Or(by, cmp.Compare(a.base, b.base), cmp.Compare(a.measure, b.measure))
		}
		return cmp.Compare(a.off, b.off)
	})
	if len(all) == 0 || all[0].rank() == 3 {
		return out
	}
	first := all[0]
	out.Variant, out.Agrees, out.Meanings = first.of.name, first.agrees, len(meant)
	out.Stands = first.rank() < 2 && first.match.Verdict.Differs() && first.match.Relative*first.change > 0
	for i, c := range all {
		again := i > 0 && c.match.Against == first.match.Against && c.match.Name == first.match.Name
		if i == 0 || !again && c.of == first.of && (c.agrees || c.base == 0 && c.match.Name == first.match.Name) {
			out.Matches = append(out.Matches, c.match)
		}
	}
	return out
}

// meant are the variants whose change a claim may state: those that its words name, else the one of the table that it
// stands beside, else all but the baseline; and the one that its words compare it with, nil if they name none.
func (t *table) meant(claim trace.Claim, v *variant) (all []*variant, against *variant) {
	base := t.variants[0]
	named, against := t.named(claim.Text)
	if len(named) == 0 && claim.Metric != trace.AnySpeed {
		var other *variant
		named, other = t.named(claim.Sentence)
		against = cmp.Or(against, other)
	}
	if claim.Metric == trace.AnySpeed && (len(named) == 0 || against == nil) {
		return nil, nil
	}
	named = slices.DeleteFunc(named, func(o *variant) bool { return o == against || against == nil && o == base })
	switch {
	case len(named) > 0 && (len(t.order) > 2 || against != nil):
		return named, against
	case !claim.Loose && v != base && v != against:
		return []*variant{v}, against
	}
	return slices.DeleteFunc(slices.Clone(t.order), func(o *variant) bool { return o == cmp.Or(against, base) }), against
}

// named are the variants that a text names, without the one that it compares them with. Of `main vs PR` that is the
// baseline, wherever it stands.
func (t *table) named(text string) (all []*variant, against *variant) {
	var ahead string
	for _, v := range t.order {
		place := mention(text, v.name)
		if place == nil {
			continue
		}
		if m := comparing.FindString(strings.ToLower(text)[:place[0]]); m != "" && against == nil {
			against, ahead = v, m
		} else {
			all = append(all, v)
		}
	}
	if base := t.variants[0]; against != nil && versus.MatchString(ahead) && slices.Equal(all, []*variant{base}) {
		all, against = []*variant{against}, base
	}
	return all, against
}

// mention is where a text has the name of a variant, or the last part of it, which may do without its remark in brackets
// and without the word that it is before or after the change; nil if nowhere.
func mention(text, name string) []int {
	parts := strings.Split(strings.ToLower(name), between)
	last := parts[len(parts)-1]
	short := strings.TrimSpace(remark.ReplaceAllString(last, ""))
	for _, name := range []string{last, short} {
		if place := wordPlace(strings.ToLower(text), name); place != nil {
			return place
		}
	}
	if core := side.ReplaceAllString(short, ""); core != short {
		place := wordPlace(strings.ToLower(text), core)
		if place != nil && !otherSide.MatchString(strings.ToLower(text)[place[1]:]) {
			return place
		}
	}
	return nil
}

var (
	remark = lazy.Regexp(`[(（][^()（）]*[)）]\s*$`)
	side   = lazy.Regexp(`\s+(?:before|after)$`)
	// otherSide follows the name of what is before or after the change.
	otherSide = lazy.Regexp(`^\s+(?:before|after)\b`)
)

// wordPlace is where a text has a name with no letter before it or behind it.
func wordPlace(text, name string) []int {
	letter := func(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	first, _ := utf8.DecodeRuneInString(name)
	end, _ := utf8.DecodeLastRuneInString(name)
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			break
		}
		start, stop := from+i, from+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[stop:])
		if goesOn := letter(before) && letter(first) || letter(after) && letter(end); !goesOn {
			return []int{start, stop}
		}
		from = stop
	}
	return nil
}

// basesFor are the variants that a note's author may have compared v with: the
// baseline, the one before it, those before that; or the one that the words name.
func (t *table) basesFor(v, named *variant) (out []*variant) {
	if named != nil {
		return []*variant{named}
	}
	if v != t.variants[0] {
		out = append(out, t.variants[0])
	}
	for i := slices.Index(t.order, v) - 1; i >= 0; i-- {
		if t.order[i] != t.variants[0] {
			out = append(out, t.order[i])
		}
	}
	return out
}

// values are those that a claim may mean: of its own run, where that is of the variant, and of the variant.
func (l *entry) values(v *variant, r *ComparedRun) (all []trace.ReportedFigure) {
	cell := l.Cells[v.column]
	if slices.Contains(v.runs, r) {
		own := r.figure(l.Quantity.Name, l.Definition.ID)
		if own == nil {
			return nil
		}
		all = append(all, own.ReportedFigure)
	}
	if len(all) == 0 || len(v.runs) > 1 {
		all = append(all, trace.ReportedFigure{Name: l.Quantity.Name, Value: cell.Center, Step: cell.Step})
	}
	return all
}

func (t *table) candidates(claim trace.Claim, base, v *variant, r *ComparedRun, preference int) []candidate {
	var out []candidate
	var changes []*Change
	for i, l := range t.lines {
		name := l.Quantity.Name
		measure, ok := meansOf(claim, name)
		center := l.Cells[base.column].Center
		if !ok || center <= 0 {
			continue
		}
		if changes == nil {
			changes = t.settled(base, v)
		}
		for _, f := range l.values(v, r) {
			if f.Value > 0 && means(claim, center, f.Value) {
				out = append(out, l.candidate(claim, base, f, *changes[i]))
				last := &out[len(out)-1]
				last.of, last.base, last.measure = v, preference, measure
			}
		}
	}
	return out
}

// means reports whether a claim may mean a change between two values: one that gives its own means no others.
func means(claim trace.Claim, before, after float64) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= ownValues*b }
	return claim.Before <= 0 || near(claim.Before, before) && near(claim.After, after)
}

// ownValues is how far, relative to it, a value in a text may be from that of the table that it repeats, rounded.
const ownValues = 0.02

// candidate is the change from the baseline to a figure, held against a claim.
func (l *entry) candidate(claim trace.Claim, base *variant, f trace.ReportedFigure, change Change) candidate {
	center := l.Cells[base.column].Center
	relative, interval := f.Value/center-1, change.Interval
	if change.Plain { // it is in the unit of the row
		interval = nil
	}
	stated, step := claim.Change, claim.Step
	rounding := l.samples[base.column].reach(false) + f.Step/2/f.Value
	switch {
	case claim.Delta != 0:
		stated, step = claim.Delta/center, claim.Step/center
	case claim.Unsigned:
		stated = math.Copysign(stated, relative)
	}
	off := math.Abs(relative - stated)
	return candidate{
		match:  ClaimMatch{base.name, l.Quantity.Name, relative, f.Value - center, change.Verdict, change.Basis, interval},
		change: stated, off: off, agrees: off <= step/2+rounding+1e-9, close: off <= nearby*math.Abs(stated),
	}
}

// A candidate is a change in the tables that a claim may mean.
type candidate struct {
	match   ClaimMatch
	change  float64 // that was stated, relative
	of      *variant
	off     float64 // from what was stated
	agrees  bool
	close   bool
	base    int // preference: the baseline, the variant before, any earlier one
	measure int // preference: mean, median, p99
}

// meansOf reports whether a claim may mean a figure, and how likely: one that names no
// statistic means the mean, else the median, else the p99. A figure without one may be a mean.
func meansOf(claim trace.Claim, name string) (preference int, ok bool) {
	if claim.Metric == trace.AnySpeed {
		preference = slices.Index([]string{"throughput.output", "throughput", "throughput.total", "throughput.requests"}, name)
		return preference, preference >= 0
	}
	if claim.Stat != "" && (claim.Stat != "mean" || name != claim.Metric) {
		return 0, name == claim.Metric+"."+claim.Stat
	}
	if name == claim.Metric {
		return 0, true
	}
	statistic, ok := strings.CutPrefix(name, claim.Metric+".")
	if !ok {
		return 0, false
	}
	if claim.Metric == "throughput" {
		return slices.Index([]string{"output", "total", "requests", "input"}, statistic), true
	}
	preference = slices.Index([]string{"mean", "median", "p99"}, statistic)
	return preference, preference >= 0
}

// nearby is how far from a stated change, relative to it, one in the tables may be to
// be what its author most likely meant: a slip of the pen, or a rounding in between.
const nearby = 0.05

// rank puts candidates that agree first, then close ones; the others count only against the
// baseline.
func (c candidate) rank() int {
	switch {
	case c.agrees:
		return 0
	case c.close:
		return 1
	case c.base == 0:
		return 2
	}
	return 3
}

// Differs reports whether a verdict is that there is a difference.
func (v Verdict) Differs() bool { return v == Better || v == Worse }
