package compare

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// split returns the variants of a workload, in the order of their first runs, and
// the workload's name: the parts that the names of its runs share. elsewhere are the
// parts that distinguish variants in other workloads, for a workload with only one.
func (g group) split(elsewhere, common []string) (name string, out []*variant) {
	shared := g.shared()
	if g.alone() {
		rest := slices.DeleteFunc(slices.Clone(shared), func(p string) bool { return slices.Contains(elsewhere, p) })
		if len(rest) == len(shared) {
			rest = common // nothing says that the rest is a workload's name rather than a variant's
		}
		shared = rest
	}
	leftover := func(r *ComparedRun) string { return cmp.Or(without(r.parts, shared), strings.Join(r.parts, between)) }
	headings := map[string][]string{} // that are left over, by label
	for _, r := range g {
		if hasHeadings(r) && !slices.Contains(headings[r.Variant], leftover(r)) {
			headings[r.Variant] = append(headings[r.Variant], leftover(r))
		}
	}
	for _, r := range g {
		name := cmp.Or(r.Variant, leftover(r))
		if r.Variant != "" && len(headings[r.Variant]) > 1 {
			name += between + leftover(r)
		}
		i := slices.IndexFunc(out, func(v *variant) bool { return v.name == name })
		if i < 0 {
			i, out = len(out), append(out, &variant{name: name})
		}
		out[i].runs = append(out[i].runs, r)
	}
	for _, v := range out {
		v.sort()
	}
	if load := g[0].origin().Load; load != "" {
		return load, out
	}
	if !slices.ContainsFunc(g, func(r *ComparedRun) bool { return hasHeadings(r) || len(r.parts) > 1 }) {
		return "", out // a run's plain name is no workload's
	}
	return strings.Join(shared, between), out
}

func without(parts, shared []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return slices.Contains(shared, p) }), between)
}

// distinguishing are the parts of names that distinguish variants in some workload.
func distinguishing(all []group) []string {
	var out []string
	for _, g := range all {
		if g.alone() {
			continue
		}
		shared := g.shared()
		for _, r := range g {
			for _, p := range r.parts {
				if !slices.Contains(shared, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// sections splits groups of which one level of the names is a load and another the variant: models, or sections of a
// document of which each has its own before and after.
func sections(groups []group) (out []group) {
	for _, g := range groups {
		of := g.loadPart()
		if of == nil {
			out = append(out, g)
			continue
		}
		var names []string
		by := map[string]group{}
		for _, r := range g {
			name := of(r)
			if by[name] == nil {
				names = append(names, name)
			}
			by[name] = append(by[name], r)
		}
		for _, name := range names {
			out = append(out, by[name])
		}
	}
	return out
}

// loadPart is the part of the names that is a load, nil if none is: the first or the last of those that differ.
func (g group) loadPart() func(*ComparedRun) string {
	shared := g.shared()
	own := func(r *ComparedRun) []string {
		return slices.DeleteFunc(slices.Clone(r.parts), func(p string) bool { return slices.Contains(shared, p) })
	}
	with := map[string]map[string]bool{} // last parts, by the first parts that they stand with
	for _, r := range g {
		parts := own(r)
		if len(parts) < 2 || !hasHeadings(r) || r.Variant != "" {
			return nil
		}
		if a, b := parts[0], parts[len(parts)-1]; with[b] == nil {
			with[b] = map[string]bool{a: true}
		} else {
			with[b][a] = true
		}
	}
	first := func(r *ComparedRun) string { return own(r)[0] }
	last := func(r *ComparedRun) string { p := own(r); return p[len(p)-1] }
	crossed := func() bool { // each of the last parts stands with several first ones
		for _, firsts := range with {
			if len(firsts) < 2 {
				return false
			}
		}
		return true
	}
	switch {
	case g.every(first, isModel):
		return first
	case g.every(last, isModel), g.every(first, isSide) && !g.every(last, isSide) && crossed():
		return last
	case g.every(last, isSide) && !g.every(first, isSide):
		return first
	}
	return nil
}

func (g group) every(part func(*ComparedRun) string, is func(string) bool) bool {
	return !slices.ContainsFunc(g, func(r *ComparedRun) bool { return !is(part(r)) })
}

// isSide reports whether a name says on which side of a comparison it is.
func isSide(name string) bool {
	return baselineName(name) > 0 || changeStart.MatchString(strings.ToLower(name))
}

// model is the name of one, with its size.
var model = lazy.Regexp(`(?i)\b(?:qwen|qwq|llama|deepseek|glm|mi[sx]tral|gemma|phi|kimi|minimax|internlm|baichuan|yi|gpt-oss|opt)[\w.]*-?\S*\d`)

func isModel(name string) bool { return model.MatchString(name) }

// common are the parts that the names of all runs have, of two or more that differ in others.
func common(groups []group) []string {
	all := slices.Concat(groups...)
	if all.alone() {
		return nil
	}
	return all.shared()
}

// alone reports whether all runs are of one variant.
func (g group) alone() bool {
	return !slices.ContainsFunc(g, func(r *ComparedRun) bool { return r.Variant != g[0].Variant || !slices.Equal(r.parts, g[0].parts) })
}

// shared are the parts of the first run's name that all have.
func (g group) shared() []string {
	return slices.DeleteFunc(slices.Clone(g[0].parts), func(p string) bool {
		return slices.ContainsFunc(g, func(r *ComparedRun) bool { return !slices.Contains(r.parts, p) })
	})
}

// nameParts sets the parts of each run's name: its headings, or its name without what
// only counts it. Where runs with headings come from several files, the file is the first part, unless
// a label says what they are.
func nameParts(runs []*ComparedRun) {
	files := map[string]bool{}
	for _, r := range runs {
		if hasHeadings(r) && r.Variant == "" {
			files[r.run.Origin.File] = true
		}
	}
	stems := uncounted(runs)
	for _, r := range runs {
		switch {
		case !hasHeadings(r):
			r.parts = strings.Split(stems[r], between)
		case len(files) > 1 && r.Variant == "":
			r.parts = append([]string{stem(r.run.Origin.File)}, r.run.Origin.Path...)
		default:
			r.parts = r.run.Origin.Path
		}
	}
}

func hasHeadings(r *ComparedRun) bool { return len(r.origin().Path) > 0 }

// uncounted are the names of the runs without what only counts them.
func uncounted(runs []*ComparedRun) map[*ComparedRun]string {
	out := map[*ComparedRun]string{}
	counts := map[string][]int{} // by stem: the numbers behind it, 0 for none
	for _, r := range runs {
		name := dated.ReplaceAllString(plainName(r), "")
		name = cmp.Or(replicate.ReplaceAllString(name, ""), "runs")
		out[r] = name
		if m := numbered.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[2])
			counts[m[1]] = append(counts[m[1]], n)
		}
	}
	for _, name := range out {
		if of, ok := counts[name]; ok { // base next to base-2
			counts[name] = append(of, 1)
		}
	}
	for r, name := range out {
		if m := numbered.FindStringSubmatch(name); m != nil && countOn(counts[m[1]]) {
			out[r] = m[1]
		}
	}
	return out
}

var (
	// dated is the end of a name that only says when a run was.
	dated = lazy.Regexp(`[-_. ]?\d{8}[-_T]?\d{6}$`)
	// replicate is the end of a name that counts runs: `/ run=0`, `.run2`, `_rep3`.
	replicate = lazy.Regexp(`(?:^|[-_./ ]+)(?:run|rep|repeat|trial)[-_=. ]?\d+$|[-_./ ]*#\d+$`)
	// numbered is an end that counts runs if their names count on: base-1, base-2. Of
	// tp-2 and tp-4 it says what they are.
	numbered = lazy.Regexp(`^(.+)-(\d{1,3})$`)
)

func plainName(r *ComparedRun) string {
	if file := r.origin().File; r.run.Name == "" && file != "" {
		return stem(file)
	}
	return cmp.Or(r.run.Name, r.run.ID)
}

// stem is the name of a file without folders and ending.
func stem(file string) string {
	base := path.Base(file)
	return cmp.Or(strings.TrimSuffix(base, path.Ext(base)), base)
}

// countOn reports whether numbers go from 0 or 1 on without a gap.
func countOn(n []int) bool {
	n = slices.Compact(slices.Sorted(slices.Values(n)))
	return len(n) > 1 && n[0] <= 1 && n[len(n)-1]-n[0] == len(n)-1
}

// chooseBaseline is the one asked for, else the one with the surest name of a baseline, else the first.
func chooseBaseline(variants []*variant, wish string) choice {
	if i := findVariant(variants, wish); wish != "" && i >= 0 {
		return choice{index: i}
	}
	best, surest := 0, 0
	for i, v := range variants {
		if sure := baselineName(v.name); sure > surest {
			best, surest = i, sure
		}
	}
	return choice{index: best, byName: surest > 0, missing: wish != ""}
}

// A choice says which variant is the baseline.
type choice struct {
	index   int
	byName  bool
	missing bool // the one that was asked for is not among them
}

// baselineName is how surely a name is that of a baseline: 3 where a part of it begins with a word for one, 2 where
// it says that something is off, 1 where such a word stands in it, 0 where none does or it names the change.
func baselineName(name string) (sure int) {
	for part := range strings.SplitSeq(strings.ToLower(name), between) {
		part = strings.TrimSpace(part)
		switch {
		case baselineStart.MatchString(part):
			return 3
		case baselineOff.MatchString(part):
			sure = max(sure, 2)
		case baselineWord.MatchString(part) && !changeStart.MatchString(part):
			sure = max(sure, 1)
		}
	}
	return sure
}

var (
	// Words that name what others are compared with, at the beginning of a name.
	baselineStart = lazy.Regexp(`^(?:(?:baseline|base|before|main|master|reference|ref|original|origin|control|stock|vanilla|w/o|without|old|upstream|previous|prev|current|default|unpatched|unmodified|pre-\w+|prepr)(?:[^a-z0-9]|$)|no[ -]|优化前|基线|基准|原始|原版|改前|修改前|合入前|改动前|禁用|未(?:开启|启用|优化|修改)|不(?:开|带|使用|加)|关闭)`)
	// baselineOff is what a name ends with that says that something is not in use.
	baselineOff = lazy.Regexp(`(?:^|[^a-z])(?:off|disabled?|eager|unset)\)?$|[=:]\s*(?:0|off|false|none|no)$|(?:优化前|未开启|未启用|关闭|禁用|关|之前)$`)
	// baselineWord is a word for a baseline anywhere.
	baselineWord = lazy.Regexp(`(?:^|[^a-z])(?:baseline|before|main|master|original|upstream|without|w/o|previous|default|eager|disabled?|old|unpatched)(?:[^a-z]|$)|优化前|基线|未开启|关闭`)
	// changeStart begins the name of a change, whatever it is compared with in the same breath.
	changeStart = lazy.Regexp(`^(?:after|pr|this|new|with|w/|ours?|patched|optimi[sz]ed|post|enable|\+)(?:[^a-z0-9]|$)|^(?:优化后|修改后|开启|启用)`)
	// comparing are words right ahead of what a text compares something with, and versus those of them that do not say
	// which of two is compared with the other.
	comparing = lazy.Regexp("(?i)(?:\\b(?:than|vs\\.?|versus|over|against|compared (?:to|with)|relative to)|" +
		"比|相比于?|相较于?|相对于?|较|对比)\\s*(?:the |on |with )?[\\s`'\"*]*$")
	versus = lazy.Regexp(`^(?:vs\.?|versus|对比)`)
)

// checkBaseline refuses one that no workload has.
func checkBaseline(tables []*table, wish string) error {
	var names []string
	for _, t := range tables {
		if wish == "" || !t.base.missing {
			return nil
		}
		for _, v := range t.order {
			if q := strconv.Quote(v.name); !slices.Contains(names, q) {
				names = append(names, q)
			}
		}
	}
	var p plan.Problems
	p.If(true, "baseline", wish, "no variant is called so; there are %s", strings.Join(names, ", "))
	return p
}

// findVariant is the place of the variant with that name or part of a name, ignoring case.
func findVariant(variants []*variant, name string) int {
	exact := slices.IndexFunc(variants, func(v *variant) bool { return v.name == name })
	if exact >= 0 {
		return exact
	}
	return slices.IndexFunc(variants, func(v *variant) bool {
		parts := strings.Split(v.name, between)
		return strings.EqualFold(v.name, name) || slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, name) })
	})
}

// A variant is a column in the making.
type variant struct {
	name   string
	runs   []*ComparedRun
	again  int // simulations that were left out: each is one of runs again
	column int

	order    *Order   // among the runs of the baseline; nil where nothing is known of that
	sessions [][]Past // that tell how sessions differ, where it is of another one than the baseline
}

// once leaves out simulations that are one of the others again, figure by figure: they say
// nothing of the noise between runs.
func (v *variant) once() {
	all := v.runs
	v.runs = nil
	for _, r := range all {
		if r.run.Kind != trace.Simulated || !slices.ContainsFunc(v.runs, r.isAgain) {
			v.runs = append(v.runs, r)
		}
	}
	v.again = len(all) - len(v.runs)
}

// isAgain reports whether both had the same requests and came to the same figures.
func (r *ComparedRun) isAgain(other *ComparedRun) bool {
	return other.run.Kind == trace.Simulated && r.requests == other.requests &&
		slices.EqualFunc(r.figures, other.figures, func(a, b runFigure) bool { return a.ReportedFigure == b.ReportedFigure })
}

// between stands between the parts of a name.
const between = " / "

// sort puts the runs in the order of their start, if that is known of all.
func (v *variant) sort() {
	if slices.ContainsFunc(v.runs, func(r *ComparedRun) bool { return r.run.Started.IsZero() }) {
		return
	}
	slices.SortStableFunc(v.runs, func(a, b *ComparedRun) int { return a.run.Started.Compare(b.run.Started) })
}
