package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/curve"
)

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
