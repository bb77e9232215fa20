package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// missing stands where there is no value.
const missing = "-"

// A tone is how a reader should take a phrase.
type tone string

// The tones.
const (
	plain   tone = ""
	good    tone = "better"
	bad     tone = "worse"
	unclear tone = "unclear"
)

// A scale is how values of a quantity are shown.
type scale struct {
	factor float64
	unit   string
	whole  bool // they are counts
}

// scaleOf suits a row: one unit for all of its cells. Latencies are in milliseconds
// as in the reports of other tools, as long as anybody would read them so.
func scaleOf(r compare.Row) scale {
	low, high, whole := math.Inf(1), 0.0, true
	for _, c := range r.Cells {
		for _, v := range c.Values {
			low, high = min(low, math.Abs(v)), max(high, math.Abs(v))
			whole = whole && v == math.Trunc(v)
		}
	}
	switch r.Quantity.Unit {
	case metrics.PerSecond:
		return scale{1, "req/s", false}
	case metrics.TokensPerSecond:
		return scale{1, "tok/s", false}
	case metrics.Seconds:
		return scaleOfTimes(r.Quantity.Name, low, high)
	}
	return scale{1, "", whole} // the title says of what
}

func scaleOfTimes(name string, low, high float64) scale {
	switch {
	case name == "duration" || low >= 100 && low <= high:
		return scale{1, "s", false}
	case high > 0 && high < 1e-4:
		return scale{1e6, "µs", false}
	}
	return scale{1e3, "ms", false}
}

// value is a cell in the unit of its row, in no more digits than are there: those
// that were printed, those that the interval leaves, or else four.
func (s scale) value(c compare.Cell) string {
	if len(c.Values) == 0 || !finite(c.Center) {
		return missing
	}
	return s.digits(c.Center, s.decimals(c))
}

func (s scale) digits(v float64, decimals int) string {
	return strconv.FormatFloat(v*s.factor, 'f', decimals, 64)
}

func (s scale) decimals(c compare.Cell) int {
	if s.whole && c.Center == math.Trunc(c.Center) {
		return 0
	}
	decimals := decimalsOf(c.Center*s.factor, 4, 3)
	if c.Step > 0 {
		decimals = between(0, int(math.Round(-math.Log10(c.Step*s.factor))), 6)
	}
	if i := c.Interval; i != nil && finite(i.Low, i.High) && i.High > i.Low {
		decimals = min(uncertain((i.High-i.Low)/2*s.factor), max(decimals, 3))
	}
	return decimals
}

// uncertain is how many decimals a value deserves that can be off by half: those of
// its first digit, and of the second where the first is small.
func uncertain(half float64) int {
	decimals := decimalsOf(half, 1, 6)
	if half*math.Pow10(decimals) < 3 {
		return decimalsOf(half, 2, 6)
	}
	return decimals
}

// decimalsOf show v to so many significant digits, at most so many of them.
func decimalsOf(v float64, significant, most int) int {
	if v == 0 || !finite(v) {
		return 0
	}
	return between(0, significant-1-int(math.Floor(math.Log10(math.Abs(v)))), most)
}

func between(low, v, high int) int { return min(max(low, v), high) }

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// valueRange is an interval in the unit of a row, "" if there is none.
func (w words) valueRange(s scale, c compare.Cell) string {
	if c.Interval == nil || !finite(c.Interval.Low, c.Interval.High) {
		return ""
	}
	decimals := s.decimals(c)
	return fmt.Sprintf(w.span, s.digits(c.Interval.Low, decimals), s.digits(c.Interval.High, decimals))
}

// words are the phrases of a comparison in a language.
type words struct {
	vocabulary
	lang   Lang
	margin string
	limit  float64 // the margin
	level  string
}

func newWords(c compare.Comparison, l Lang) words {
	w := words{vocabulary: wordsOf(l), lang: l, limit: c.Margin}
	w.margin = w.share(c.Margin)
	w.level = w.share(c.Level)
	return w
}

// share is a part of a whole in percent, in as many digits as it has.
func (w words) share(v float64) string {
	return fmt.Sprintf(w.percent, strconv.FormatFloat(v*100, 'g', 4, 64))
}

// title is what a quantity is called.
func (w words) title(q metrics.Quantity) string {
	if w.lang != Zh {
		return Clean(q.Title)
	}
	if t := chineseTitles[q.Name]; t != "" {
		return t
	}
	_, statistic, _ := strings.Cut(q.Name, ".")
	metric := q.Title
	if _, rest, ok := strings.Cut(q.Title, " "); ok && statistic != "" {
		metric = rest
	}
	if zh := chineseMetrics[metric]; zh != "" {
		metric = zh
	}
	if form := chineseStatistics[statistic]; form != "" {
		return hanSpace.ReplaceAllString(fmt.Sprintf(form, metric), "$1$2")
	}
	if strings.HasPrefix(statistic, "p") {
		return "P" + statistic[1:] + " " + metric
	}
	return Clean(q.Title)
}

// hanSpace is a blank between Chinese characters, where there is none.
var hanSpace = regexp.MustCompile(`(\p{Han}) (\p{Han})`)

// change is by how much, in percent or in the unit of the row, "-" if nobody knows.
func (w words) change(c compare.Change, s scale) string {
	switch {
	case !finite(c.Relative):
		return missing
	case c.Plain:
		return signedDigits(c.Relative*s.factor, plainDecimals(c, s))
	}
	return fmt.Sprintf(w.percent, percentage(c.Relative, changeDecimals(c)))
}

// changeDecimals: two digits of the half width, where there is one; else as many as
// single runs deserve.
func changeDecimals(c compare.Change) int {
	if i := c.Interval; i != nil && finite(i.Low, i.High) && i.High > i.Low {
		return decimalsOf((i.High-i.Low)/2*100, 2, 2)
	}
	if math.Abs(c.Relative) >= 0.9995 {
		return 0
	}
	return 1
}

func plainDecimals(c compare.Change, s scale) int {
	if i := c.Interval; i != nil && finite(i.Low, i.High) && i.High > i.Low {
		return decimalsOf((i.High-i.Low)/2*s.factor, 2, 3)
	}
	if s.whole {
		return 0
	}
	return decimalsOf(c.Relative*s.factor, 2, 3)
}

// boundless is where nobody reads digits any more, in percent.
const boundless = 1e5

// percentage is a share with its sign.
func percentage(v float64, decimals int) string {
	switch v *= 100; {
	case math.Abs(v) > 1e300:
		return map[bool]string{true: "+inf", false: "-inf"}[v > 0]
	case math.Abs(v) >= boundless:
		return fmt.Sprintf("%+.1g", v)
	}
	return signedDigits(v, decimals)
}

// signedDigits is a number with its sign; what rounds to nothing has none.
func signedDigits(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	if v > 0 {
		return "+" + s
	}
	return s
}

// interval is where a change lies, without the unit, "" if nobody knows.
func (w words) interval(c compare.Change, s scale) string {
	if c.Interval == nil || !finite(c.Interval.Low, c.Interval.High) {
		return ""
	}
	if c.Plain {
		decimals := plainDecimals(c, s)
		return "[" + signedDigits(c.Interval.Low*s.factor, decimals) + ", " + signedDigits(c.Interval.High*s.factor, decimals) + "]"
	}
	decimals := changeDecimals(c)
	return "[" + percentage(c.Interval.Low, decimals) + ", " + percentage(c.Interval.High, decimals) + "]"
}

// verdict is the word on a change, and how to take it; whose noise it rests on is
// marked where that differs within a workload.
func (w words) verdict(c compare.Change, mixed bool) (string, tone) {
	word, t := w.bareVerdict(c)
	if mixed && c.Basis == compare.Borrowed {
		word += " " + w.borrowed
	}
	return word, t
}

func (w words) bareVerdict(c compare.Change) (string, tone) {
	word, t := map[compare.Verdict]string{compare.Better: w.better, compare.Worse: w.worse, compare.Changed: w.changed, compare.Same: w.same}[c.Verdict], plain
	switch {
	case c.Verdict == compare.Same:
		return word, plain
	case word != "" && isSmall(c, w.limit):
		return fmt.Sprintf(w.lessThan, word, w.margin), plain
	case c.Verdict == compare.Better:
		return word, good
	case c.Verdict == compare.Worse:
		return word, bad
	case word != "":
		return word, t
	}
	switch {
	case c.Apart:
		return w.apart, unclear
	case c.More == 1:
		return fmt.Sprintf(w.moreOne, c.More), unclear
	case c.More > many:
		return fmt.Sprintf(w.moreThan, many), unclear
	case c.More > 1:
		return fmt.Sprintf(w.moreMany, c.More), unclear
	case isConditional(c):
		return fmt.Sprintf(w.ifNoise, w.rough(c.Chance)), unclear
	}
	return w.cannotTell, unclear
}

// isConditional: two numbers differ, and whether that means anything depends on a
// noise that is not known.
func isConditional(c compare.Change) bool {
	return c.Basis == compare.Nothing && c.Verdict == compare.CannotTell && c.Chance >= 0.0005
}

// many is from how many runs on the number says no more than that it is large.
const many = 100

// rough is a share in tenths of a percent, of ten percent and more in whole ones.
func (w words) rough(v float64) string {
	decimals := 1
	if v >= 0.0995 {
		decimals = 0
	}
	return fmt.Sprintf(w.percent, strconv.FormatFloat(100*v, 'f', decimals, 64))
}

// onMixedBases reports whether the changes of a workload rest on borrowed noise and
// on other things too.
func onMixedBases(load compare.Workload) bool {
	borrowed, other := false, false
	for _, r := range load.Rows {
		for _, c := range r.Cells {
			if c.Change != nil && !r.Constant {
				borrowed = borrowed || c.Change.Basis == compare.Borrowed
				other = other || c.Change.Basis != compare.Borrowed
			}
		}
	}
	return borrowed && other
}

// outcome is the word on a gate.
func (w words) outcome(o compare.Outcome) (string, tone) {
	switch o {
	case compare.Pass:
		return w.pass, good
	case compare.Fail:
		return w.fail, bad
	}
	return w.inconclusive, unclear
}

// some counts in words: one table, 5 runs.
func some(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// Clean is text of others in a single line: without control characters, which could
// move a cursor, and without those that turn the direction of what follows.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}
