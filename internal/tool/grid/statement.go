package grid

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// Statements are lines of text that state values and nothing else:
//
//	main: TTFT 312 ms, TPOT 20.5 ms
//	TPOT 20.5 ms -> 18.5 ms
//
// Two of the first kind in a row with a metric in common are a table of variants. Lines of the second kind are one of
// two variants, at the load that a label right above names.

var (
	bullet = lazy.Regexp(`^(?:[-*•+]|\d{1,2}[.)])\s+`)
	// stating matches a metric, its value and the value after an arrow.
	stating = lazy.Regexp(`^((?:[\pL_][\pL\d_/-]*\s*)*)[=:：]?\s*` +
		`((?:\d[\d,.]*\s*(?:` + unitText + `)?\s*` + arrowText + `\s*)?` +
		`\d[\d,.]*\s*(?:` + unitText + `))(?:[\s,;，；、(（]|\.?$)`)
	// compared is what makes a remark one of a change or a bound.
	compared = lazy.Regexp(`[%％<>≤≥±→×倍]|\d\s?x\b|\bvs\b`)
	// unfitting are words of text whose values are no results: aims and logs.
	unfitting = lazy.Regexp(`(?i)\bSL[OA]s?\b|\btargets?\b|objective|threshold|requirement|\bgoals?\b|budget|` +
		`service level|\bavg (?:prompt|generation) throughput|目标|阈值|要求`)
	// partial are labels of what is no variant: a part of a run or of a log, a phase, a difference.
	partial = lazy.Regexp(`(?i)^[^\pL]*$|^\W?(?:req(?:uest)?|prompt|query|user|client|session|step|turn|rank|` +
		`worker|replica|[gn]pu|engine|layer|instance|stage|node|device|wave|phase|interval|window|part|minute)s?` +
		`\s*[#_-]?\s*\d+(?:\W?$|\s*(?:of|/)\s*)|` +
		`^(?:prefill|decode|input|output|prompt|generation|total|overall|sum|note|example)\b|` +
		`\b(?:overhead|saved|savings?|tolerance)\b|(?-i:\b(?:INFO|DEBUG|WARN(?:ING)?|ERROR)\b)`)
)

// unfit reports whether the lines above, or this one, say that the values are no results.
func (d *draft) unfit(text string) bool {
	return unfitting.MatchString(strings.Join(d.above, "\n") + "\n" + text)
}

// beforeAfter is the title of a draft of statements with arrows; that of others is their first label.
const beforeAfter = "->"

func (d *draft) addStatement(n int, text string) bool {
	first := len(d.results) == 0
	_, _, labeled := cutLabel(text)
	begins := labeled || strings.ContainsAny(text, ">→⇒➜➡")
	if len(text) > longestCell || len(d.results) >= mostRows || first && !begins || !hasTrigger(text) {
		return false
	}
	text = emphasis.Replace(bullet.ReplaceAllString(text, ""))
	before, after, ok := statedValues(text)
	switch {
	case ok && len(after) == len(before) && (first && !d.unfit(text) || d.title == beforeAfter):
		return d.addChange(n, before, after)
	case d.title == beforeAfter, ok && (first || len(after) > 0):
		return false
	case ok: // a line break has cut the statement
		last := &d.results[len(d.results)-1]
		again := last.repeats(Result{Figures: before})
		if again || d.last != last.Line || n != d.last+1 {
			return false
		}
		last.Figures = append(last.Figures, before...)
		return true
	}
	return d.addVariant(n, text)
}

// addVariant reads a statement behind the label of a variant. Lines that all have the same label are a log.
func (d *draft) addVariant(n int, text string) bool {
	name, values, labeled := cutLabel(text)
	figures, after, ok := statedValues(values)
	if !ok || !labeled || len(after) > 0 {
		return false
	}
	l := parse(name)
	measured := l.metric != "" || l.foreign || l.change || len(l.stats) > 0 || !l.canTell() && len(l.settings) == 0
	if measured || partial.MatchString(l.text) || d.unfit(text) {
		return false
	}
	r := Result{Line: n, Variant: (&reader{}).named(label{}, l), Load: l.settings, Figures: figures}
	if len(d.results) == 0 {
		d.title = l.text
	} else if !r.repeats(d.results[len(d.results)-1]) {
		return false
	}
	d.results = append(d.results, r)
	d.sure = d.sure || l.text != d.title
	return true
}

// cutLabel cuts a label off at the first colon, if a blank follows: none does in a time.
func cutLabel(text string) (label, rest string, ok bool) {
	if label, rest, ok = strings.Cut(text, "："); !ok {
		label, rest, ok = strings.Cut(text, ":")
		ok = ok && strings.HasPrefix(strings.TrimLeft(rest, "*"), " ")
	}
	return label, strings.TrimSpace(rest), ok && utf8.RuneCountInString(label) <= longestHead
}

// addChange reads a statement with arrows. Where a second is of the same metric, what tells both apart is not known.
func (d *draft) addChange(n int, before, after []trace.ReportedFigure) bool {
	if len(d.results) == 0 {
		l := groupLabel(d.above)
		d.title, d.sure = beforeAfter, true
		d.results = []Result{
			{Line: n, Variant: join(l.rest, "before"), Load: l.settings},
			{Line: n, Variant: join(l.rest, "after"), Load: slices.Clone(l.settings)},
		}
	}
	was, is := &d.results[0], &d.results[1]
	d.sure = d.sure && !was.repeats(Result{Figures: before})
	was.Figures, is.Figures = append(was.Figures, before...), append(is.Figures, after...)
	return true
}

// groupLabel is what a label of the load says, in the line right above; nothing if that is none.
func groupLabel(above []string) label {
	if len(above) == 0 {
		return label{}
	}
	text := clean(bullet.ReplaceAllString(above[len(above)-1], ""))
	head := strings.TrimRight(strings.TrimLeft(text, "# "), ":： ")
	l := parse(head)
	if head == text || utf8.RuneCountInString(head) > longestHead || len(l.settings) == 0 {
		return label{}
	}
	return l
}

// otherValue leaves out the value of something that is no metric here, as `acceptance rate 0.61`.
func otherValue(text string) (rest string, ok bool) {
	part, rest := text, ""
	if i := strings.IndexAny(text, ",;，；、"); i >= 0 {
		part, rest = text[:i], strings.TrimLeft(text[i:], " ,;，；、")
	}
	return rest, other.MatchString(part) && !compared.MatchString(strings.TrimRight(part, "%％ ")) && len(metricWords.Find(part)) == 0
}

// other is a name and a number.
var other = lazy.Regexp(`^\pL[\pL _-]{1,40}[=:： ]\s*\d+(?:\.\d+)?\s*[%％]?\s*$`)

// statedValues reads a text of metrics and their values; after has the second of two with an arrow between.
func statedValues(text string) (before, after []trace.ReportedFigure, ok bool) {
	var r reader
	named := false
	for strings.Trim(text, ".") != "" {
		m := stating.FindStringSubmatchIndex(text)
		if rest, ok := otherValue(text); m == nil && named && ok {
			text = rest
			continue
		}
		if m == nil {
			remark := strings.HasPrefix(text, "(") || strings.HasPrefix(text, "（")
			return before, after, named && remark && !compared.MatchString(text)
		}
		l := parse(text[m[2]:m[3]])
		c, isValue := readCell(text[m[4]:m[5]])
		if l.text == "" {
			l.metric = lexicon.Throughput // as its unit, or the number is none
		}
		if !isValue || l.foreign || l.change || l.rest != "" || l.metric == "" || len(l.stats) > 1 {
			return nil, nil, false
		}
		named = named || l.text != ""
		if c.after != nil {
			c.values = append(c.values, *c.after)
		}
		for i, n := range c.values {
			p := place{metric: l.metric, unit: c.values[len(c.values)-1].unit}
			name, v, step, ok := r.base(p, strings.Join(l.stats, ""), n)
			into := []*[]trace.ReportedFigure{&before, &after}[i]
			if !ok || (Result{Figures: *into}).Has(name) {
				return nil, nil, false
			}
			*into = append(*into, trace.ReportedFigure{Name: name, Value: v, Step: step})
		}
		text = strings.TrimLeft(text[m[5]:], " \t,;，；、")
	}
	return before, after, named
}
