package telemetry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(s int, v float64) Point { return Point{time.Duration(s) * time.Second, v} }

// Repeated samples are one point, and series stay in order whatever the order of arrival.
func TestASetGrowsBySeries(t *testing.T) {
	var s Set
	for _, v := range []Value{
		NewValue("gpu", DevicePower, Labels{"device": "1"}, at(-1, 90)),
		NewValue("gpu", DevicePower, Labels{"device": "0"}, at(0, 100)),
		NewValue("gpu", DevicePower, Labels{"device": "1"}, at(0, 110)),
		NewValue("gpu", DevicePower, Labels{"device": "1"}, at(0, 111)), // the same sample again
		NewValue("gpu", DevicePower, Labels{"device": "1"}, at(2, 120)),
	} {
		s.Add(v)
	}
	var names []string
	for _, one := range s.Series {
		names = append(names, one.String())
	}
	if d := cmp.Diff([]string{`gpu/device.power{device="0"}`, `gpu/device.power{device="1"}`}, names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Point{at(-1, 90), at(0, 110), at(2, 120)}, s.Series[1].Points); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Point{at(0, 110)}, s.Series[1].Between(0, time.Second)); d != "" {
		t.Error(d)
	}
	if got := s.Series[1].Between(3*time.Second, time.Second); len(got) != 0 {
		t.Errorf("between nothing: %v", got)
	}
}

// 5 to 9 is 4, a restart at 2 is 2 more, and 7 is another 5.
func TestGrowthOverARestart(t *testing.T) {
	grown, restarts := Growth([]Point{at(0, 5), at(1, 9), at(2, 2), at(3, 7)})
	if grown != 11 || restarts != 1 {
		t.Errorf("%v, %d restarts", grown, restarts)
	}
	if grown, restarts := Growth(nil); grown != 0 || restarts != 0 {
		t.Error("of nothing")
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range Names {
		if seen[n.Name] || n.Doc == "" || n.Kind != Gauge && n.Kind != Counter {
			t.Errorf("%+v", n)
		}
		seen[n.Name] = true
	}
}

// Points before an instant are dropped, except the last of each series, from which a counter continues.
func TestTrim(t *testing.T) {
	var s Set
	for i := range 5 {
		s.Add(NewValue("server", ServerRunning, nil, at(i, 7)))
	}
	s.Add(NewValue("server", ServerWaiting, nil, at(0, 3)))
	if n := s.Trim(3 * time.Second); n != 3 {
		t.Errorf("%d points dropped", n)
	}
	if d := cmp.Diff([]Point{at(3, 7), at(4, 7)}, s.Named(ServerRunning)[0].Points); d != "" {
		t.Error(d)
	}
	if n := s.Trim(time.Hour); n != 1 || s.Points() != 2 {
		t.Errorf("%d points dropped, %d are left", n, s.Points())
	}
	if new(Set).Trim(time.Hour) != 0 {
		t.Error("of nothing")
	}
}
