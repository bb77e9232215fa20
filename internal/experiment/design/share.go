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

// String is its text, in percent. The decimal point moves digit for digit: 0.073 * 100 in binary is not 7.3.
func (s Share) String() string {
	x, err := strconv.ParseFloat(strconv.FormatFloat(float64(s), 'f', -1, 64)+"e2", 64)
	if err != nil {
		return fmt.Sprint(float64(s)) // not a number, or none that is finite
	}
	return strconv.FormatFloat(x, 'f', -1, 64) + "%"
}

// UnmarshalText reads 2% or 0.02.
func (s *Share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	if percent {
		number = strings.TrimSpace(number) + "e-2"
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Contains(number, "_") {
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

// Points are a share that files and flags write as 1pt, a percentage point.
type Points float64

// MarshalText is String.
func (p Points) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String is its text, as 1pt.
func (p Points) String() string { return strings.TrimSuffix(Share(p).String(), "%") + "pt" }

// UnmarshalText reads 1pt.
func (p *Points) UnmarshalText(text []byte) error {
	var s Share
	number, ok := strings.CutSuffix(string(text), "pt")
	if err := s.UnmarshalText([]byte(strings.TrimSpace(number) + "%")); err != nil || !ok || !(s > 0 && s < 1) {
		return fmt.Errorf("%.20q: must be a number of points between 0 and 100, such as 1pt", text)
	}
	*p = Points(s)
	return nil
}
