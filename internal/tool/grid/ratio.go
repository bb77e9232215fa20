package grid

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A ratio is which of two values a column divides by the other.
type ratio int

const (
	notRatio ratio = iota
	newByOld
	oldByNew
	eitherRatio // its head does not say
)

// Parts of these expressions.
const (
	newValue = `(?:the )?(?:new|after|this pr|pr|optimi[sz]ed|patched|current|ours?|优化后|修改后|后)`
	oldValue = `(?:the )?(?:old|before|base(?:line)?|main|master|orig(?:inal)?|previous|prev|ref(?:erence)?|优化前|修改前|基线|前)`
	divided  = `(?: \w+)?\s*(?:/|÷|over|divided by)\s*`
)

var (
	newOverOld = lexicon.Compile(`(?i)\b` + newValue + divided + oldValue + `|(?:优化|修改)后\s*/\s*(?:优化|修改)前`)
	oldOverNew = lexicon.Compile(`(?i)\b` + oldValue + divided + newValue + `|(?:优化|修改)前\s*/\s*(?:优化|修改)后`)
	// ratioHead is a head that names nothing but a ratio.
	ratioHead = lazy.Regexp(`(?i)^\W*(?:ratio|times|factor|multiple|倍数|倍率|比值|x)?\W*$`)
)

// ratioOf is the ratio that is left of a label without its metric; notRatio if it says more.
func ratioOf(rest string) ratio {
	rest = strings.ToLower(strings.TrimSpace(rest))
	of := definedRatio(rest)
	if of != notRatio {
		for _, e := range []lexicon.Expression{newOverOld, oldOverNew} {
			rest = e.ReplaceAllString(rest, "")
		}
	}
	switch {
	case !ratioHead.MatchString(rest), of == notRatio && !strings.ContainsAny(rest, "aeioux倍比"):
		return notRatio
	case of == notRatio:
		return eitherRatio
	}
	return of
}

func definedRatio(text string) ratio {
	switch {
	case newOverOld.Find(text) != nil:
		return newByOld
	case oldOverNew.Find(text) != nil:
		return oldByNew
	}
	return notRatio
}

// quotient is the relative change that a ratio states, of which the last digit may be cut off rather than rounded. One that no text defines is what it is nearest to of the two
// that the values give; without values it states nothing.
func (a amount) quotient(was, is *float64) (change, step float64, ok bool) {
	of := a.ratio
	if of == eitherRatio || of == notRatio {
		if was == nil || is == nil || *was <= 0 || *is <= 0 || a.value <= 0 {
			return 0, 0, false
		}
		shown, stated := math.Log(*is / *was), math.Log(a.value)
		of = newByOld
		if math.Abs(stated+shown) < math.Abs(stated-shown) {
			of = oldByNew
		}
	}
	switch {
	case a.value <= 0, a.value == 1 && is == nil: // the baseline's own row
		return 0, 0, false
	case of == oldByNew:
		return 1/a.value - 1, 2 * a.step / (a.value * a.value), true
	}
	return a.value - 1, 2 * a.step, true
}

// defineRatios gives columns of ratios that their heads do not define the definition in the lines above the table, and
// those whose heads name two other columns, as `PR/main`, the one that follows from the order of these.
func (r *reader) defineRatios(above []string) {
	for i, h := range r.heads {
		if over, under, ok := strings.Cut(h.text, "/"); ok && h.metric == "" && h.ratio == notRatio {
			is := func(name string) int {
				name = strings.TrimSpace(name)
				return slices.IndexFunc(r.heads[:i], func(o label) bool { return name != "" && strings.EqualFold(o.text, name) })
			}
			if a, b := is(over), is(under); a >= 0 && b >= 0 {
				r.heads[i].change, r.heads[i].rest, r.heads[i].ratio = true, "", newByOld
				if a < b {
					r.heads[i].ratio = oldByNew
				}
				r.labels[h.text] = r.heads[i]
			}
		}
	}
	of := definedRatio(strings.Join(above, "\n"))
	for i, h := range r.heads {
		if of != notRatio && (h.ratio == eitherRatio || h.ratio == notRatio && h.onlyChange() && factors.MatchString(h.text)) {
			r.heads[i].ratio = of
			r.labels[h.text] = r.heads[i]
		}
	}
}
