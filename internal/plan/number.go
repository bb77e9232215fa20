package plan

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Flags, plans and settings files read numbers alike:
//
//	10 +10 1_000 1e3 10.0 0x10 0b11 0o17     a whole number
//	2.5 .5 5e-3 inf .inf                     a number, as are all of the above
//	010 00.5                                 neither: to some they are octal

// errZero is the error for such a number.
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
		err = errors.New("must be a whole number")
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
		return 0, errors.New("must be a number")
	}
	return x, nil
}

// finite reads a number that is not infinite.
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
