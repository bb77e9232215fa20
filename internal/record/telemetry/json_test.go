package telemetry

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/plan"
)

func TestASetInJSON(t *testing.T) {
	want := Set{Sources: []Source{
		{
			Name: "gpu", Via: "nvidia-smi", Every: time.Second, Clock: Clock{Bound: 5}, Reads: 3,
			Notes: []plan.Message{plan.Text("slow")},
		}, {Name: "none"},
	}}
	for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e300, 0.1} {
		want.Add(NewValue("gpu", DevicePower, Labels{"device": "0"}, Point{time.Duration(i - 2), v}))
	}
	want.Add(Value{Key{"gpu", "own", nil}, "", Gauge, at(0, 1)})
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"at_ns":[-2,-1,0,1,2,3],"values":["NaN","+Inf","-Inf",-0,1e+300,0.1]}`) {
		t.Error(string(b))
	}
	got := &Set{}
	if err := json.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Sources, got.Sources); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want.Series, got.Series, cmpopts.EquateNaNs()); d != "" || got.Points() != 7 ||
		!math.Signbit(got.Series[0].Points[3].Value) {
		t.Error(d)
	}
	for text, fault := range map[string]string{
		`{"series":[null]}`: "null",
		`{"series":[{"source":"a","name":"b","kind":"gauge","at_ns":[1],"values":[]}]}`:        "a/b has 1 instants and 0 values",
		`{"series":[{"source":"a","name":"b","kind":"gauge","at_ns":[2,2],"values":[1,1]}]}`:   "do not increase",
		`{"series":[{"source":"a","name":"b","kind":"gauge","at_ns":[2],"values":["Inf"]}]}`:   `"Inf" is no number`,
		`{"series":[{"source":"a","name":"b","kind":"gauge","at_ns":[2],"values":[{}]}]}`:      "invalid syntax",
		`{"series":[{"source":"a","name":"b","kind":"gauge","at_ns":[0.5],"values":["NaN"]}]}`: "0.5",
	} {
		if err := json.Unmarshal([]byte(text), new(Set)); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// Points that are already in a set are not added again.
func TestASetIsExtended(t *testing.T) {
	var s Set
	k := Key{"a", "b", Labels{"c": "d"}}
	for _, points := range [][]Point{
		{at(0, 1), at(2, 3)}, {at(0, 1), at(1, 9), at(2, 3), at(3, 4)}, nil, {at(3, 4), at(9, 5)},
	} {
		s.Extend(&Series{Key: k, Kind: Gauge, Points: points})
	}
	if d := cmp.Diff([]Point{at(0, 1), at(2, 3), at(3, 4), at(9, 5)}, s.Series[0].Points); d != "" || len(s.Series) != 1 {
		t.Error(d)
	}
	if (*Set)(nil).Points() != 0 {
		t.Error("points of nothing")
	}
}
