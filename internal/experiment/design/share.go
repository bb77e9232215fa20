package design

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Share is a number that files write as 2% or 0.02.
type Share float64

// MarshalText writes it in percent.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is its text, in percent.
func (s Share) String() string {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(float64(s), 'e', -1, 64), "e")
	text, err := shifted(digits, exponent, 2)
	if err != nil {
		return fmt.Sprint(float64(s)) // not a number, or none that is finite
	}
	x, _ := strconv.ParseFloat(text, 64) // was formatted
	return strconv.FormatFloat(x, 'f', -1, 64) + "%"
}

// UnmarshalText reads 2% or 0.02.
func (s *Share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	if percent {
		digits, exponent, _ := strings.Cut(strings.ToLower(strings.TrimSpace(number)), "e")
		var err error
		if number, err = shifted(digits, exponent, -2); err != nil {
			return fmt.Errorf("%q: must be a share such as 2%% or 0.02", text)
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q: must be a share such as 2%% or 0.02", text)
	}
	*s = Share(x)
	return nil
}

// UnmarshalJSON reads a text or a number.
func (s *Share) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	return s.UnmarshalText([]byte(text))
}

// shifted is a number with its decimal point moved, digit for digit: 7.3 / 100 as a division
// of binary numbers is not 0.073.
func shifted(digits, exponent string, by int) (string, error) {
	e := 0
	if exponent != "" {
		var err error
		if e, err = strconv.Atoi(exponent); err != nil {
			return "", err
		}
	}
	if strings.ContainsAny(digits, "xXpP_nNiI") {
		return "", strconv.ErrSyntax
	}
	return digits + "e" + strconv.Itoa(e+by), nil
}
