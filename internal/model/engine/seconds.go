package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Seconds is a duration finer than a nanosecond: the attention of a prompt costs
// picoseconds per pair of tokens. Its text form is a number with a unit, such as
// 26ms or 17.5ns.
type Seconds float64

// timeUnits are the units of Seconds, largest first.
var timeUnits = []struct {
	name string
	size float64
}{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"fs", 1e-15}}

// ParseSeconds reads the text form.
func ParseSeconds(s string) (Seconds, error) {
	text := strings.ReplaceAll(strings.TrimSpace(s), "µ", "u")
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is not a time such as 26ms or 17.5ns", s)
	}
	if x == 0 && number == text {
		return 0, nil
	}
	for _, u := range timeUnits {
		if text[len(number):] == u.name {
			return Seconds(x * u.size), nil
		}
	}
	return 0, fmt.Errorf("%q has no unit of time: write s, ms, us, ns, ps or fs after the number", s)
}

// String is the text form with at most 6 digits.
func (s Seconds) String() string {
	if s == 0 {
		return "0s"
	}
	u := timeUnits[len(timeUnits)-1]
	for _, larger := range timeUnits {
		if math.Abs(float64(s)) >= larger.size {
			u = larger
			break
		}
	}
	return strconv.FormatFloat(float64(s)/u.size, 'g', 6, 64) + u.name
}

// MarshalText returns the text form.
func (s Seconds) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text form.
func (s *Seconds) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSeconds(string(text))
	return err
}

// times is n times s, rounded separately: a processor that fuses the product into a
// sum would otherwise get other nanoseconds than one that does not.
func (s Seconds) times(n float64) Seconds { return Seconds(float64(s) * n) }

// Duration rounds to nanoseconds, limited so that two can be added.
func (s Seconds) Duration() time.Duration {
	x := min(float64(s)*1e9, float64(forever))
	whole := time.Duration(x)
	switch rest := x - float64(whole); { // as math.Round, which is slower: there is one for every step
	case rest >= 0.5:
		return whole + 1
	case rest <= -0.5:
		return whole - 1
	}
	return whole
}
