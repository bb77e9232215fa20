package grid

import (
	"cmp"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A cell is what the text of a cell says.
type cell struct {
	values []number
	after  *number // of `312.4 -> 250.1`
	amount *amount // of `250.1 (-20%)`, or alone
}

// A number as printed, in units of the last column.
type number struct {
	value, step float64
	unit        unit
	factor      float64 // of its suffix, k or M
}

// An amount is how much something changed, as a share or a factor.
type amount struct {
	value, step float64
	share       bool
	sign        byte   // + or -; 0 if none stands there
	way         string // by a word or an arrow beside it
	ratio       ratio  // of a factor
}

var (
	numeral = lazy.Regexp(`^([-+−]?)\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d{1,2})?`)
	suffix  = lazy.Regexp(`^\s?([kKM万])(?:$|[^a-zA-Z]|tok|\s?tok|\s?token)`)
	inCell  = lazy.Regexp(`^\s*(` + unitText + `)`)
	spread  = lazy.Regexp(`^\s*[(（]?\s*(?:±|\+/-)\s*\d[\d.,]*\s*%?\s*[a-z]{0,2}\s*[)）]?`)
	arrow   = lazy.Regexp(`^\s*` + arrowText + `\s*`)
	percent = lazy.Regexp(`([-+−–]?)\s*[~≈约]?\s*(\d+(?:\.\d+)?)\s*(%|％|[x×](?:[^\w]|$)|倍)`)
	marks   = lazy.Regexp(`^[\s*†‡⬇↓⬆↑▼▲🔻🔺✅❌⚠🚀🏆✓✔★⭐🟢🔴\x{FE0F}!]*$`)
)

// Parts of these expressions.
const (
	unitText  = `[a-zA-Zµμ]+(?:\s?/\s?(?:s|sec|second)|[ -]per[ -]sec(?:ond)?)?|毫秒|秒|微秒`
	arrowText = `(?:->|→|=>|⇒|➜|-->|➡)\x{FE0F}?`
)

// blankCell reports whether a cell says that it has no value.
func blankCell(text string) bool {
	return strings.Trim(text, " -–—~.?/\\*") == "" || isNone[strings.ToLower(text)]
}

var isNone = map[string]bool{
	"n/a": true, "na": true, "nan": true, "none": true, "null": true, "tbd": true, "oom": true, "无": true,
}

// readCell reads the numbers of a cell. It is false for a bound, a range and a text that only begins with a number.
func readCell(text string) (c cell, ok bool) {
	text = clean(text)
	if text == "" || len(text) > longestCell || blankCell(text) {
		return c, false
	}
	if a, ok := readAmount(text); ok && a.alone {
		return cell{amount: &a.amount}, true
	}
	text = strings.TrimLeft(text, "~≈约 ✅🏆🟢🔴⬇↓⬆↑")
	n, rest, ok := readNumber(text)
	if !ok {
		return c, false
	}
	c.values = []number{n}
	for {
		next, isNext := strings.CutPrefix(strings.TrimLeft(rest, " "), "/")
		if !isNext {
			break
		}
		if n, rest, ok = readNumber(strings.TrimLeft(next, " ")); !ok {
			return c, false
		}
		c.values = append(c.values, n)
	}
	if last := c.values[len(c.values)-1]; last.unit.told() { // `196 / 2507 ms`
		for i := range c.values {
			if !c.values[i].unit.told() {
				c.values[i].unit = last.unit
			}
		}
	}
	if m := arrow.FindString(rest); m != "" && len(c.values) == 1 {
		if n, rest, ok = readNumber(strings.TrimLeft(rest[len(m):], "~≈ ")); !ok {
			return c, false
		}
		c.after = &n
	}
	return c, c.remainder(rest)
}

// remainder reads what stands behind the numbers: a spread, an amount or a remark in brackets, marks.
func (c *cell) remainder(rest string) bool {
	rest = rest[len(spread.FindString(rest)):]
	if marks.MatchString(rest) {
		return true
	}
	if a, ok := readAmount(rest); ok {
		c.amount = &a.amount
		return true
	}
	rest = strings.TrimSpace(rest)
	remark := strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "（")
	return remark && len(metricWords.Find(rest)) == 0 // else it may be of that metric
}

// readNumber reads the number that a text begins with, and its unit.
func readNumber(text string) (n number, rest string, ok bool) {
	m := numeral.FindStringSubmatch(text)
	if m == nil || len(m[0]) > 30 {
		return n, text, false
	}
	v, step, ok := lexicon.Number(m[2] + m[3])
	if !ok {
		return n, text, false
	}
	if m[1] == "-" || m[1] == "−" {
		v = -v
	}
	n = number{value: v, step: step, factor: 1}
	rest = text[len(m[0]):]
	if s := suffix.FindStringSubmatch(rest); s != nil {
		n.factor = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "万": 1e4}[s[1]]
		rest = rest[strings.Index(rest, s[1])+len(s[1]):]
	}
	n.value, n.step = n.value*n.factor, n.step*n.factor
	if w := inCell.FindStringSubmatch(rest); w != nil {
		if u, known := unitOf(w[1]); known {
			n.unit = u
			rest = rest[len(w[0]):]
		}
	}
	return n, rest, !goesOn.MatchString(rest) || arrow.MatchString(rest)
}

// goesOn matches what follows a number that is a part of something else: of a version, a date, a name.
var goesOn = lazy.Regexp(`^[-.,:_…a-zA-Z]`)

// A found amount, and whether the cell has nothing else.
type foundAmount struct {
	amount
	alone bool
}

func readAmount(text string) (a foundAmount, ok bool) {
	if !strings.ContainsAny(text, "%％xX×倍") {
		return a, false
	}
	all := percent.FindAllStringSubmatchIndex(text, 2)
	if len(all) != 1 {
		return a, false
	}
	m := all[0]
	if a.value, a.step, ok = lexicon.Number(text[m[4]:m[5]]); !ok || m[5]-m[4] > 12 {
		return a, false
	}
	a.share = strings.ContainsAny(text[m[6]:m[7]], "%％")
	switch text[m[2]:m[3]] {
	case "+":
		a.sign = '+'
	case "-", "−", "–":
		a.sign = '-'
	}
	before := text[:m[0]]
	if words := directionWords.Find(text); len(words) > 0 {
		a.way = words[0].Means
	}
	a.alone = !strings.ContainsAny(before, "0123456789")
	return a, !strings.ContainsAny(before, "<>≤≥±") && onlyAmount(before+text[m[1]:])
}

// besideAmount is what may stand with an amount, beside a word for its direction.
var besideAmount = lazy.Regexp(`(?i)\b(?:vs\.?|than|of|the|by|about|main|base(?:line)?|before)\b|[约了的]`)

// onlyAmount reports whether the words around an amount are no sentence about something else.
func onlyAmount(around string) bool {
	return !letters.MatchString(besideAmount.ReplaceAllString(directionless(around), ""))
}

var letters = lazy.Regexp(`[\pL\pN]`)

// change is the relative change that an amount states, with a head that may say its direction. Where neither does,
// what the values show decides its sign; was is nil if they are not known.
func (a amount) change(head string, latency bool, was, is *float64) (change, step float64, ok bool) {
	way := cmp.Or(a.way, head)
	shown := 0.0
	if was != nil && is != nil {
		shown = *is - *was
	}
	if !a.share && a.way == "" && (a.ratio != notRatio || way == "" && shown != 0) {
		return a.quotient(was, is)
	}
	if !a.share {
		return a.factor(way, latency, shown)
	}
	if way == "better" && latency && a.sign != '-' && (a.value >= 100 || shown < 0 && isClose(*was / *is - 1, a.value/100) && !isClose(-shown / *was, a.value/100)) {
		a.value, a.step = 1+a.value/100, a.step/100 // a gain of speed
		return a.factor(way, latency, shown)
	}
	v, step := a.value/100, a.step/100
	shares := way == "better" || way == "worse"
	switch {
	case shares && latency && shown != 0 &&
		(a.sign == '-' || a.sign == '+' && isClose(math.Abs(shown / *was), v)):
		return math.Copysign(v, shown), step, true // the sign may be of the value or of its worth
	case shares && a.sign == '-' && latency:
		return 0, 0, false
	case a.sign == '-', way == "down", way == "better" && latency, way == "worse" && !latency:
		return -v, step, true
	case a.sign == 0 && way == "":
		return math.Copysign(v, shown), step, shown != 0
	}
	return v, step, true
}

// isClose reports whether shares are the same to a percent.
func isClose(a, b float64) bool { return math.Abs(a-b) < 0.01 }

func (a amount) factor(way string, latency bool, shown float64) (change, step float64, ok bool) {
	switch {
	case a.value <= 0 || way == "worse", a.value == 1 && shown == 0: // the baseline's own row
		return 0, 0, false
	case latency && way == "better", way == "down":
		return 1/a.value - 1, a.step / (a.value * a.value), true
	case latency && way == "":
		return 0, 0, false
	}
	return a.value - 1, a.step, true
}
