package plan

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Flags, plans and settings files read numbers alike:
//
//	10 +10 1_000 1e3 10.0 0x10 0b11 0o17     a whole number
//	2.5 .5 5e-3 inf .inf                     a number, as are all of the above
//	010 00.5                                 neither: to some they are octal

var errZero = errors.New("must be a number that does not begin with 0")

// ParseInteger reads a whole number.
func ParseInteger(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 0, 64)
	if err == nil && !octal(text) {
		return v, nil
	}
	x, err := exact(text)
	return int64(x), err
}

// ParseUnsigned reads a whole number that is not negative.
func ParseUnsigned(text string) (uint64, error) {
	v, err := strconv.ParseUint(text, 0, 64)
	if err == nil && !octal(text) {
		return v, nil
	}
	x, err := exact(text)
	if err == nil && x < 0 {
		return 0, errors.New("must be a whole number from 0")
	}
	return uint64(x), err
}

// exact reads an integer of at most 2^53: up to there a float64 has all of them.
func exact(text string) (float64, error) {
	x, err := ParseNumber(text)
	if !errors.Is(err, errZero) && (err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53) {
		err = errors.New("must be a whole number" + Spelling(text))
	}
	if err != nil {
		x = 0
	}
	return x, err
}

// ParseNumber reads a number, which may be infinite.
func ParseNumber(text string) (float64, error) {
	if octal(text) {
		return 0, errZero
	}
	if v, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(v), nil
	}
	if sign, yaml := strings.CutSuffix(strings.ToLower(text), ".inf"); yaml && len(sign) <= 1 {
		text = sign + "inf"
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) {
		return 0, errors.New("must be a number" + Spelling(text))
	}
	return x, nil
}

// thousands is a number with a factor behind it, or with commas in it.
var thousands = lazy.Regexp(`^([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:\.[0-9]+)?)([kKmM]?)$`)

// Spelling is a hint for a number written as 10k or 10,000, such as "; write 10000"; empty for other texts.
func Spelling(text string) string {
	m := thousands.FindStringSubmatch(text)
	if m == nil || len(text) > 20 {
		return ""
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	x *= map[string]float64{"": 1, "k": 1e3, "m": 1e6}[strings.ToLower(m[2])]
	if written := strconv.FormatFloat(x, 'f', -1, 64); err == nil && written != text {
		return "; write " + written
	}
	return ""
}

// Units is a hint for a time without a unit, such as 10: the units that it may be meant in, s and m, are each
// written behind it. It is empty for other texts.
func Units(text string, units ...string) string {
	if _, err := finite(text); err != nil {
		return ""
	}
	out := make([]string, len(units))
	for i, u := range units {
		out[i] = text + u
	}
	return "needs a unit: " + strings.Join(out, ", ")
}

// ParseTime reads a time.
func ParseTime(text string) (time.Duration, error) {
	v, err := time.ParseDuration(text)
	if err == nil {
		return v, nil
	}
	if hint := Units(text, "s", "m"); hint != "" {
		return 0, errors.New(hint)
	}
	return 0, errors.New("must be a time such as 30s, 10m or 1h30m")
}

func finite(text string) (float64, error) {
	x, err := ParseNumber(text)
	if math.IsInf(x, 0) {
		err = errors.New("must be a finite number")
	}
	return x, err
}

// octal reports whether another digit follows a zero at the beginning.
func octal(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return len(digits) > 1 && digits[0] == '0' && strings.IndexByte("0123456789_", digits[1]) >= 0
}

// numberJSON writes a number in the form that JSON has for it, nothing if there is none.
func numberJSON(text string) []byte {
	if v, err := ParseInteger(text); err == nil {
		return strconv.AppendInt(nil, v, 10)
	}
	x, err := finite(text)
	if err != nil {
		return nil
	}
	return strconv.AppendFloat(nil, x, 'g', -1, 64)
}
