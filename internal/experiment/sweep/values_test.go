package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/curve"
)

func TestValues(t *testing.T) {
	for list, want := range map[string]string{
		"1,2,5":         "1 2 5",
		"1..64x2":       "1 2 4 8 16 32 64",
		"1..50x2":       "1 2 4 8 16 32",
		"1..10+3":       "1 4 7 10",
		"1..4":          "1 2 3 4",
		"0..0.3+0.1":    "0 0.1 0.2 0.3",
		"0.5,1..3":      "0.5 1 2 3",
		"1..2x1.1":      "1 1.1 1.21 1.331 1.4641 1.61051 1.771561 1.9487171",
		"-1..1":         "-1 0 1",
		"uniform(1,2)":  "uniform(1,2)",
		" 128, 1024 ":   "128 1024",
		`{"a":"x,y"},1`: `{"a":"x,y"} 1`,
		"10m..20m":      "10m..20m",
		"normal(1,2),5": "normal(1,2) 5",
	} {
		got, err := Values(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v; want %s", list, got, err, want)
		}
	}
	for list, why := range map[string]string{
		"":          "empty value",
		"1,,2":      "empty value",
		"5..1":      "ends below",
		"1..5x1":    "factor above 1",
		"0..5x2":    "begin above 0",
		"1..5+0":    "more than 0",
		"1..99999":  "more than 10000 values",
		"1,2,1":     "has 1 twice",
		"1..4x2, 2": "has 2 twice",
	} {
		if got, err := Values(list); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, %v; want %s", list, got, err, why)
		}
	}
}

func names(points []curve.Point) (all []string) {
	for _, p := range points {
		all = append(all, p.String())
	}
	return all
}

func TestCombine(t *testing.T) {
	axes := []Axis{{"a", []string{"1", "2"}}, {"b", []string{"x", "y"}}, {"c", []string{"8", "9"}}}
	points, err := Combine(axes, [][]string{{"c", "a"}})
	if want := []string{"a=1 b=x c=8", "a=1 b=y c=8", "a=2 b=x c=9", "a=2 b=y c=9"}; err != nil || !slices.Equal(names(points), want) {
		t.Errorf("%v, %v; want %v", names(points), err, want)
	}
	if points, err = Combine(axes, nil); err != nil || len(points) != 8 || points[1].String() != "a=1 b=x c=9" {
		t.Errorf("%v, %v", names(points), err)
	}
	for why, links := range map[string][][]string{"d has no list": {{"a", "d"}}, "a is linked twice": {{"a", "b"}, {"c", "a"}}} {
		if _, err := Combine(axes, links); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v: %v", links, err)
		}
	}
	axes[1].Values = []string{"x"}
	if _, err := Combine(axes, [][]string{{"a", "b"}}); err == nil || !strings.Contains(err.Error(), "a has 2 values and b has 1") {
		t.Error(err)
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = strings.Repeat("v", i+1)
	}
	if _, err := Combine([]Axis{{"a", many}, {"b", many}}, nil); err == nil || !strings.Contains(err.Error(), "more than 10000 points") {
		t.Error(err)
	}
}
