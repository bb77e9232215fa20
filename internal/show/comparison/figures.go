package comparison

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// Title is what a quantity is called.
func (w Phrases) Title(q figure.Figure) string { return w.Say(q.Title()) }

// Share is a part of a whole in percent, in as many digits as it has: 2 %.
func (w Phrases) Share(v float64) string { return w.percent(strconv.FormatFloat(v*100, 'g', 4, 64)) }

func (w Phrases) percent(number string) string { return w.Word("percent", "number", number) }

// Change is by how much the figure of a row differs: +3.4 %.
func (w Phrases) Change(r compare.Row, c compare.Change) string {
	return w.change(c, scaleOf(r), changePlaces(c))
}

// Interval is where a change lies: [+1.2, +5.6]; "" if nobody knows.
func (w Phrases) Interval(r compare.Row, c compare.Change) string {
	return w.interval(c, scaleOf(r), changePlaces(c))
}

// ColumnTitle is what the figure of a row is called, with its unit.
func (w Phrases) ColumnTitle(r compare.Row) string {
	if s := scaleOf(r); s.unit != "" {
		return w.Title(r.Quantity) + " (" + s.unit + ")"
	}
	return w.Title(r.Quantity)
}

// Value is one of the values of a row in its unit, with the digits that the row has.
func (w Phrases) Value(r compare.Row, v float64) string { return scaleOf(r).digits(v) }

// A scale is how values of a quantity are shown.
type scale struct {
	factor float64
	unit   string
	whole  bool // they are counts
	places int  // decimals of values
}

// scaleOf suits a row: one unit and one number of decimals for all of its cells.
func scaleOf(r compare.Row) scale {
	s := unitOf(r)
	s.places = s.placesOf(r.Cells)
	return s
}

// unitOf suits a row. Latencies are in milliseconds as in the reports of other tools, as long
// as anybody would read them so.
func unitOf(r compare.Row) scale {
	low, high, whole := math.Inf(1), 0.0, true
	for _, c := range r.Cells {
		for _, v := range c.Values {
			low, high = min(low, math.Abs(v)), max(high, math.Abs(v))
			whole = whole && v == math.Trunc(v)
		}
	}
	switch r.Quantity.Unit {
	case figure.PerSecond:
		return scale{factor: 1, unit: "req/s"}
	case figure.TokensPerSecond:
		return scale{factor: 1, unit: "tok/s"}
	case figure.Joules:
		if high < 1 && high > 0 {
			return scale{factor: 1e3, unit: "mJ"}
		}
		return scale{factor: 1, unit: "J"}
	case figure.Watts, figure.Celsius, figure.Share:
		show := r.Quantity.Show()
		return scale{factor: show.Factor, unit: show.Unit}
	case figure.Seconds:
		return scaleOfTimes(r.Quantity.Name, low, high)
	}
	return scale{factor: 1, whole: whole} // the title says of what
}

func scaleOfTimes(name string, low, high float64) scale {
	switch {
	case name == figure.Duration || low >= 100 && low <= high:
		return scale{factor: 1, unit: "s"}
	case high > 0 && high < 1e-4:
		return scale{factor: 1e6, unit: "µs"}
	}
	return scale{factor: 1e3, unit: "ms"}
}

// missing stands where there is no value.
const missing = "-"

// value is a cell in the unit of its row.
func (s scale) value(c compare.Cell) string {
	if len(c.Values) == 0 || !finite(c.Center) {
		return missing
	}
	return s.digits(c.Center)
}

// valueRange is the interval of a cell in the unit of its row, "" if there is none.
func (w Phrases) valueRange(s scale, c compare.Cell) string {
	if c.Interval == nil || !finite(c.Interval.Low, c.Interval.High) {
		return ""
	}
	return w.Word("comparison.span", "low", s.digits(c.Interval.Low), "high", s.digits(c.Interval.High))
}

func (s scale) digits(v float64) string { return strconv.FormatFloat(v*s.factor, 'f', s.places, 64) }

// placesOf are the decimals of the cells of a row: those that were printed of the coarsest,
// or else four digits of the largest value, and three of the smallest.
func (s scale) placesOf(cells []compare.Cell) int {
	low, high, step, whole := math.Inf(1), 0.0, 0.0, s.whole
	for _, c := range cells {
		if v := math.Abs(c.Center); len(c.Values) > 0 && v > 0 && finite(v) {
			low, high = min(low, v), max(high, v)
			whole = whole && v == math.Trunc(v)
		}
		step = max(step, c.Step)
	}
	switch {
	case whole || high == 0:
		return 0
	case step > 0:
		return between(0, int(math.Round(-math.Log10(step*s.factor))), 6)
	}
	return max(decimalsOf(high*s.factor, 4, 3), decimalsOf(low*s.factor, 3, 3))
}

// change is by how much, in percent or in the unit of the row, "-" if nobody knows.
func (w Phrases) change(c compare.Change, s scale, places int) string {
	switch {
	case !finite(c.Relative):
		return missing
	case c.Open.Code == compare.NeverAnswered:
		return w.Word("change.never", "before", c.Verdict == compare.Better)
	case c.Plain && s.unit == "%":
		return w.Word("comparison.points", "number", s.size(c, c.Relative, places))
	case c.Plain:
		return s.size(c, c.Relative, places)
	}
	return w.percent(s.size(c, c.Relative, places))
}

// interval is where a change lies, without the unit, "" if nobody knows.
func (w Phrases) interval(c compare.Change, s scale, places int) string {
	if c.Interval == nil || !finite(c.Interval.Low, c.Interval.High) {
		return ""
	}
	return "[" + s.size(c, c.Interval.Low, places) + ", " + s.size(c, c.Interval.High, places) + "]"
}

// size is v, which a change may be.
func (s scale) size(c compare.Change, v float64, places int) string {
	if c.Plain {
		return signedDigits(v*s.factor, plainDecimals(c, s))
	}
	return percentage(v, places)
}

// changePlaces are the decimals of a change in percent: one, or two where one would make
// nothing of a change whose interval leaves out 0.
func changePlaces(c compare.Change) int {
	if i := c.Interval; wide(i) && i.Low*i.High > 0 && min(math.Abs(i.Low), math.Abs(i.High)) < 0.0005 {
		return 2
	}
	return 1
}

func plainDecimals(c compare.Change, s scale) int {
	if i := c.Interval; wide(i) {
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

// rough is a share in tenths of a percent, of ten percent and more in whole ones.
func (w Phrases) rough(v float64) string {
	decimals := 1
	if v >= 0.0995 {
		decimals = 0
	}
	return w.percent(strconv.FormatFloat(100*v, 'f', decimals, 64))
}

// decimalsOf show v to so many significant digits, at most so many of them.
func decimalsOf(v float64, significant, most int) int {
	if v == 0 || !finite(v) {
		return 0
	}
	return between(0, significant-1-int(math.Floor(math.Log10(math.Abs(v)))), most)
}

func between(low, v, high int) int { return min(max(low, v), high) }

// wide reports whether there is an interval, and it has a width.
func wide(i *compare.Interval) bool {
	return i != nil && finite(i.Low, i.High) && i.High > i.Low
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
