package curve

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A design that was kept makes the same sweep of the same observations.
func TestAKeptDesignMakesTheSameSweep(t *testing.T) {
	points, seen := mm1(10, 1, 3, 5, 7)
	d := Design{
		Points: points, Repeats: 2, Devices: 4, Simulated: true, Load: "rate", Moves: []string{"rate", "requests"}, Level: 0.9, WhatIf: []string{"kv.tokens"},
		Predicted: []Prediction{{}, {Predicted: map[string]Reach{"tpot.mean": {Value: 0.02, Low: 0.01, High: 0.03}}}, {}, {Refused: "too far"}},
		Lasting:   []time.Duration{0, time.Minute}, Unsettled: []plan.Message{{}, {}, plan.Msg("steady.growing", "before", 1, "after", 9)},
	}
	if d.Runs() != 6 {
		t.Errorf("%d runs, and one of four points has none", d.Runs())
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var kept Design
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	want := d.Sweep("q", seen)
	if diff := cmp.Diff(want, kept.Sweep("q", seen)); diff != "" {
		t.Error(diff)
	}
	if want.Level != 0.9 || want.Rows[3].Refused == "" || want.Devices != 4 || !want.Simulated {
		t.Errorf("%+v", want)
	}
	if d := kept; d.Settled(0) || !d.Settled(1) || d.Settled(3) || len(d.Unsettled) != 3 {
		t.Errorf("%+v", d)
	}
	d.Predicted = nil
	if rows := d.Sweep("q", seen).Rows; !rows[2].QueueGrows() || rows[1].QueueGrows() {
		t.Errorf("%+v", rows)
	}
	if name := RunName("q", points[0], 2); name != "q / rate=1 / 2" {
		t.Errorf("%q", name)
	}
}
