package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Remark is a note in parts, for who says it in another language. Its arguments are
// those of its kind: words as they are, and what each language puts in its own way,
// which is []string and []metrics.Quantity for lists, and the types below.
type Remark struct {
	Kind RemarkKind
	Args []any
}

// A Spread is by how much repeated runs differ in a figure.
type Spread struct {
	Share  float64
	Figure metrics.Quantity
}

// Reasons are those of a run's verdict.
type Reasons []string

// A Freedom is a number of degrees of freedom.
type Freedom float64

// A Gap is a setting of the load that keeps two variants apart, with its values.
type Gap struct{ Setting, One, Other string }

// A RemarkKind is the sentence of a remark, in English, as a format of its arguments.
type RemarkKind string

// The remarks of a workload.
const (
	// Variant.
	BaselineByName RemarkKind = "%s is the baseline, by its name; --baseline takes another"
	// Name that was asked for, baseline.
	BaselineMissing RemarkKind = "no variant here is called %s; %s is the baseline"
	// Variant.
	OneVariant RemarkKind = "%s is the only variant here, so there is nothing to compare it with"
	// Names of runs, variant.
	TakenAsRepeated RemarkKind = "%s are taken for repeated runs of %s"
	// []metrics.Quantity, definitions.
	DefinitionsApart RemarkKind = "%s are on rows of their own by the definitions of %s, which do not mean the same"
	// Variants without repeated runs.
	NothingKnown RemarkKind = "one run each and no requests (%s): nothing tells how much runs vary, so nothing can be said of any difference; repeat each run"
	// Variants.
	TooDependent RemarkKind = "one run each (%s), and their requests are too few or wait for each other too much to tell anything of chance, as where all are due at once; repeat each run"
	// Variants.
	WithinOnly RemarkKind = "one run each (%s): the intervals cover the chance within these runs, not the variation from run to run; repeat each run, or accept that with --single-runs"
	// Variants.
	WithinAccepted RemarkKind = "one run each (%s): verdicts rest on the chance within these runs, by --single-runs; the variation from run to run is not covered"
	// Variant, []Spread.
	RepeatedDiffer RemarkKind = "repeated runs of %s differ by %s"
	// Variants, Freedom.
	BorrowedNoise RemarkKind = "for variants with one run (%s), the noise is taken from the repeated runs, with %s"
	// Variants, baseline.
	PairsPossible RemarkKind = "the runs of %s sent the same requests as those of %s, one by one: with --paired what the requests themselves are falls out"
	// Number of variants, false alarms in percent.
	ManyVariants RemarkKind = "%s variants are each held against the baseline; that any of them is called different by chance happens in up to %s %% of such comparisons"
	// Run, Reasons.
	InvalidRun RemarkKind = "run %s is invalid by its own verdict: %s"
	// Run, trace.Status.
	BrokenRun RemarkKind = "run %s did not complete (%s)"
)

// The remarks of a comparison.
const (
	// Two variants, []Gap, settings.
	LoadsApart RemarkKind = "%s and %s share no load: they differ in %s; --ignore %s puts them together"
)

// The remarks of gates: why they ended so.
const (
	// Figure.
	GateNoFigure RemarkKind = "there is no %s here"
	GateAlone    RemarkKind = "there is no other variant to compare with"
	// Baseline, figure, definition.
	GateDefinitions RemarkKind = "%s has no %s by the same definition (%s)"
	// Baseline, figure.
	GateFromZero   RemarkKind = "%s has 0, of which there is no share; a gate on the value is written %s > 0"
	GateConstant   RemarkKind = "it is the same in every run"
	GateCounted    RemarkKind = "it is counted, not estimated"
	GateNoNoise    RemarkKind = "one run each and nothing that tells how much runs vary; repeat the runs"
	GateWithin     RemarkKind = "one run each: the interval does not cover how much runs vary; repeat the runs, or accept that with --single-runs"
	GateOneNoNoise RemarkKind = "a single run, and nothing that tells how much runs vary; repeat it"
	GateOneWithin  RemarkKind = "a single run: the interval does not cover how much runs vary; repeat it, or accept that with --single-runs"
	GateBeyond     RemarkKind = "the whole %s %% interval is beyond the limit" // level in percent
	GateInside     RemarkKind = "the whole %s %% interval is within the limit"
	GateAcross     RemarkKind = "the limit is within the %s %% interval; more runs would narrow it"
)

// String is the remark in English.
func (r Remark) String() string { return r.Say(string(r.Kind), inEnglish) }

// Say fills a sentence with the arguments, each as say puts it.
func (r Remark) Say(sentence string, say func(arg any) any) string {
	said := make([]any, len(r.Args))
	for i, arg := range r.Args {
		said[i] = say(arg)
	}
	return fmt.Sprintf(sentence, said...)
}

func inEnglish(arg any) any {
	switch arg := arg.(type) {
	case []string:
		return join(arg)
	case []metrics.Quantity:
		titles := make([]string, len(arg))
		for i, q := range arg {
			titles[i] = q.Title
		}
		return join(titles)
	case []Spread:
		parts := make([]string, len(arg))
		for i, s := range arg {
			parts[i] = percent(s.Share) + " in " + s.Figure.Title
		}
		return join(parts)
	case []Gap:
		parts := make([]string, len(arg))
		for i, g := range arg {
			parts[i] = fmt.Sprintf("%s (%s, %s)", g.Setting, g.One, g.Other)
		}
		return join(parts)
	case Reasons:
		return strings.Join(arg, "; ")
	case Freedom:
		return degrees(float64(arg))
	}
	return arg
}

func (w *Workload) remark(kind RemarkKind, args ...any) {
	r := Remark{kind, args}
	w.Remarks, w.Notes = append(w.Remarks, r), append(w.Notes, r.String())
}

// notes says what the data can carry.
func (t *table) notes() {
	t.noteBaseline()
	t.noteNames()
	t.noteDefinitions()
	t.noteBases()
	t.notePairs()
	for _, v := range t.variants {
		for _, r := range v.runs {
			t.noteRun(r)
		}
	}
}

func (t *table) noteBaseline() {
	baseline := t.variants[0].name
	switch {
	case len(t.variants) == 1:
		t.out.remark(OneVariant, baseline)
	case t.base.missing:
		t.out.remark(BaselineMissing, t.o.Baseline, baseline)
	case t.base.by == byName && t.base.index > 0:
		t.out.remark(BaselineByName, baseline)
	}
}

// noteNames tells where different names were taken for those of one variant.
func (t *table) noteNames() {
	for _, v := range t.variants {
		var names []string
		for _, r := range v.runs {
			if n := plainName(r); r.Variant == "" && !hasHeadings(r) && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		if len(names) > 1 {
			t.out.remark(TakenAsRepeated, names, v.name)
		}
	}
}

func (t *table) noteDefinitions() {
	byDefinitions := map[string][]metrics.Quantity{}
	var order [][]string // definitions
	for i := 0; i < len(t.keys); {
		j := i
		var ids []string
		for j < len(t.keys) && t.keys[j].name == t.keys[i].name {
			ids = append(ids, t.keys[j].definition)
			j++
		}
		if all := join(ids); len(ids) > 1 {
			if byDefinitions[all] == nil {
				order = append(order, ids)
			}
			byDefinitions[all] = append(byDefinitions[all], t.out.Rows[i].Quantity)
		}
		i = j
	}
	for _, ids := range order {
		t.out.remark(DefinitionsApart, byDefinitions[join(ids)], ids)
	}
}

// noteBases says on what the verdicts of the variants rest, where that is little.
func (t *table) noteBases() {
	by := map[Basis][]string{}
	for i, v := range t.variants[1:] {
		b := t.bestBasis(i + 1)
		by[b] = append(by[b], v.name)
	}
	baseline := []string{t.variants[0].name}
	if names := by[Nothing]; names != nil {
		kind := NothingKnown
		if !slices.ContainsFunc(t.group.runs, func(r *Run) bool { return !HasRecords(r.run) }) {
			kind = TooDependent
		}
		t.out.remark(kind, append(baseline, names...))
	}
	if names := by[Within]; names != nil {
		kind := WithinOnly
		if t.o.SingleRuns {
			kind = WithinAccepted
		}
		t.out.remark(kind, append(baseline, names...))
	}
	if by[Borrowed] != nil {
		t.noteBorrowed()
	}
	if n := len(t.variants) - 1; n > 1 && t.anySettled() {
		t.out.remark(ManyVariants, strconv.Itoa(n), strconv.FormatFloat(100*min(1, float64(n)*t.o.alpha()), 'g', 3, 64))
	}
}

// notePairs tells where runs could be compared in pairs.
func (t *table) notePairs() {
	var names []string
	for _, v := range t.variants[1:] {
		if !t.o.Paired && v.matches(t.variants[0]) {
			names = append(names, v.name)
		}
	}
	if names != nil {
		t.out.remark(PairsPossible, join(names), t.variants[0].name)
	}
}

// matches reports whether the i-th runs of both sent the same requests, and others than
// the runs before.
func (v *variant) matches(base *variant) bool {
	if len(v.runs) != len(base.runs) || len(v.runs) < 2 {
		return false
	}
	seen := map[string]bool{}
	for i, r := range v.runs {
		b := base.runs[i]
		if !HasRecords(r.run) || !HasRecords(b.run) || r.requests != b.requests || r.run.Plan.Seed != b.run.Plan.Seed {
			return false
		}
		seen[fmt.Sprint(r.requests, r.run.Plan.Seed)] = true
	}
	return len(seen) == len(v.runs)
}

func (t *table) anySettled() bool {
	return slices.ContainsFunc(t.out.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Change != nil && settled(c.Change.Verdict) })
	})
}

// bestBasis is the best basis of the changes of a variant; counts that are the same
// everywhere do not tell.
func (t *table) bestBasis(i int) Basis {
	best := Nothing
	order := []Basis{Replicates, Pairs, Borrowed, Within, Nothing}
	for _, row := range t.out.Rows {
		if c := row.Cells[i].Change; c != nil && !row.Constant && slices.Index(order, c.Basis) < slices.Index(order, best) {
			best = c.Basis
		}
	}
	return best
}

// noteBorrowed tells by how much repeated runs differ, in figures that people quote.
func (t *table) noteBorrowed() {
	var single []string
	df := 0.0
	for i, v := range t.variants {
		if len(v.runs) == 1 {
			single = append(single, v.name)
			continue
		}
		var spreads []Spread
		for row, name := range t.keys {
			if slices.Contains([]string{"ttft.mean", "tpot.mean", "itl.mean", "e2el.mean", "throughput.output"}, name.name) && !t.plain[row] {
				if values := t.out.Rows[row].Cells[i].Values; len(values) > 1 {
					by := slices.Max(values)/slices.Min(values) - 1
					spreads = append(spreads, Spread{by, t.out.Rows[row].Quantity})
					df = max(df, t.borrowed(row).df)
				}
			}
		}
		if spreads != nil {
			t.out.remark(RepeatedDiffer, v.name, spreads)
		}
	}
	if df > 0 && single != nil {
		t.out.remark(BorrowedNoise, single, Freedom(df))
	}
}

func (t *table) noteRun(r *Run) {
	name := runInWords(r)
	if v := r.run.Verdict; v != nil && v.Validity == trace.Invalid {
		t.out.remark(InvalidRun, name, Reasons(v.Reasons))
	}
	if s := r.run.Status; s != trace.Complete && s != "" {
		t.out.remark(BrokenRun, name, s)
	}
}

func runInWords(r *Run) string {
	if r.run.Name != "" && r.run.Name != r.run.ID {
		return fmt.Sprintf("%s (%s)", r.run.ID, r.run.Name)
	}
	return r.run.ID
}

// remark tells which variants that were asked for met no common load, and why.
func (c *Comparison) remark(tables []*table, o Options) {
	var labels []string
	beside := map[string]bool{} // labels that share a workload with another one
	for _, t := range tables {
		of := map[string]bool{}
		for _, r := range t.group.runs {
			of[r.Variant] = true
			if r.Variant != "" && !slices.Contains(labels, r.Variant) {
				labels = append(labels, r.Variant)
			}
		}
		for label := range of {
			beside[label] = beside[label] || len(of) > 1
		}
	}
	told := map[string]bool{}
	for _, label := range labels {
		if beside[label] {
			continue
		}
		other, gaps := nearest(tables, label, o.Ignore)
		if len(gaps) == 0 || told[other+"\x00"+label] {
			continue
		}
		told[label+"\x00"+other] = true
		names := make([]string, len(gaps))
		for i, g := range gaps {
			names[i] = g.Setting
		}
		r := Remark{LoadsApart, []any{label, other, gaps, strings.Join(names, ",")}}
		c.Remarks, c.Notes = append(c.Remarks, r), append(c.Notes, r.String())
	}
}

// nearest is the label whose runs differ from those of this one in the fewest
// settings of the load, with these.
func nearest(tables []*table, label string, ignore []string) (other string, gaps []Gap) {
	for _, t := range tables {
		for i, r := range t.group.runs {
			if r.Variant != label {
				continue
			}
			for _, u := range tables {
				for j, s := range u.group.runs {
					apart := t.group.loads[i].apart(u.group.loads[j], ignore)
					if s.Variant == label || other != "" && len(apart) >= len(gaps) {
						continue
					}
					other, gaps = s.Variant, nil
					for _, name := range apart {
						gaps = append(gaps, Gap{name, t.group.loads[i].values[name], u.group.loads[j].values[name]})
					}
				}
			}
		}
	}
	return other, gaps
}

// join lists in words: a, b and c.
func join(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// percent is a share with two digits.
func percent(share float64) string {
	v := 100 * share
	if v >= 10 || v <= -10 {
		return fmt.Sprintf("%.0f %%", v)
	}
	return strconv.FormatFloat(v, 'g', 2, 64) + " %"
}
