package comparing

import (
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
)

// A journal is told as it is now, not as it was stored.
func TestAt(t *testing.T) {
	stored := time.Unix(1_800_000_000, 0)
	now := stored.Add(time.Minute)
	at := func(s experiment.Status) *experiment.Journal {
		return At(now, stored, &experiment.Journal{Status: s, Spent: time.Hour, Legs: []*experiment.Leg{{Status: experiment.Running, Began: stored.Add(-time.Minute)}}})
	}
	if j := at(experiment.Running); j.Spent != time.Hour+time.Minute || j.Legs[0].Took != 2*time.Minute || j.Legs[0].Status != experiment.Running {
		t.Errorf("%+v, %+v", j, j.Legs[0])
	}
	if j := at(experiment.Interrupted); j.Spent != time.Hour || j.Legs[0].Status != experiment.Interrupted {
		t.Errorf("%+v, %+v", j, j.Legs[0])
	}
}
