package view

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The types of the page have no null but where a pointer is nil.
func TestAnswersHaveNoNullForListsAndMaps(t *testing.T) {
	for _, a := range answers {
		b, err := JSON(a)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(b, &members); err != nil {
			t.Fatalf("%T: %v in %s", a, err, b)
		}
		for f := range reflect.TypeOf(a).Fields() {
			if value, ok := members[f.Tag.Get("json")]; !ok || (value == nil) != (f.Type.Kind() == reflect.Pointer) {
				t.Errorf("%T: %s is %v", a, f.Name, value)
			}
		}
	}
}

// What encoding/json can write is written in the same way.
func TestAnswersAreThoseOfEncodingJSON(t *testing.T) {
	two := 2.0
	for _, a := range []any{
		Runs{Total: 1, Rows: []Row{{ID: "<a&b>\u2028\xff", Tags: []string{"x"}, Figures: map[string]float64{"b": 1e-9, "a": 1e21}}}, Models: []string{}, Tags: []string{}, Experiments: []string{}, Loads: []string{}},
		Course{Series: []Series{{Values: []*float64{nil, &two}}}, Strips: []Strip{}, Stalls: [][2]float64{{1, 2}}, Failed: []float64{}, Distributions: []Distribution{}, Heat: []Heat{}},
		&Sparkline{ID: "x", Values: []float64{}},
		map[string]string{"k": "v"},
		json.RawMessage(`{"a":[1,2]}`),
		nil,
	} {
		want, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := JSON(a)
		if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

func TestNumbersThatJSONLacksAreNull(t *testing.T) {
	nan := math.NaN()
	b, err := JSON(Course{Seconds: math.Inf(1), Series: []Series{{Values: []*float64{&nan, nil}}}, Failed: []float64{math.Inf(-1)}})
	if err != nil || !json.Valid(b) {
		t.Fatalf("%v: %s", err, b)
	}
	for _, want := range []string{`"seconds":null`, `"values":[null,null]`, `"failed":[null]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
	if b, err := JSON(map[int]int{1: 2}); err == nil {
		t.Errorf("%s", b)
	}
}
