package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// MostPoints is how many points a set that is stored or read may have.
const MostPoints = 1 << 24

// ErrTooMany is the error for a set of more than MostPoints points.
var ErrTooMany = fmt.Errorf("more than %d samples", MostPoints)

// A seriesJSON is a series in JSON: two lists of equal length.
type seriesJSON struct {
	Key
	Unit   string          `json:"unit,omitempty"`
	Kind   Kind            `json:"kind"`
	At     []time.Duration `json:"at_ns"`
	Values []number        `json:"values"`
}

// A number is a float64 in JSON: what JSON has no number for is a string, NaN, +Inf or -Inf.
type number float64

// MarshalJSON writes the shortest number that reads back to the bit.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(nil, strconv.FormatFloat(v, 'g', -1, 64)), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if quoted, err := strconv.Unquote(text); err == nil {
		switch text = quoted; text {
		case "NaN", "+Inf", "-Inf":
		default:
			return fmt.Errorf("%q is no number", text)
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	*n = number(v)
	return err
}

// MarshalJSON writes the series with its points.
func (s Series) MarshalJSON() ([]byte, error) {
	out := seriesJSON{
		Key: s.Key, Unit: s.Unit, Kind: s.Kind, At: make([]time.Duration, len(s.Points)),
		Values: make([]number, len(s.Points)),
	}
	for i, p := range s.Points {
		out.At[i], out.Values[i] = p.At, number(p.Value)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Series) UnmarshalJSON(b []byte) error {
	var in seriesJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if len(in.At) != len(in.Values) {
		return fmt.Errorf("series %s has %d instants and %d values", in.Key, len(in.At), len(in.Values))
	}
	*s = Series{Key: in.Key, Unit: in.Unit, Kind: in.Kind, Points: make([]Point, len(in.At))}
	for i, at := range in.At {
		if i > 0 && at <= in.At[i-1] {
			return fmt.Errorf("series %s: its instants do not increase", in.Key)
		}
		s.Points[i] = Point{at, float64(in.Values[i])}
	}
	return nil
}

// UnmarshalJSON reads a set as it is written, with its series in any order.
func (s *Set) UnmarshalJSON(b []byte) error {
	var in struct {
		Sources []Source  `json:"sources"`
		Series  []*Series `json:"series"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Set{Sources: in.Sources}
	for _, one := range in.Series {
		if one == nil {
			return errors.New("a series is null")
		}
		s.Extend(one)
	}
	return nil
}
