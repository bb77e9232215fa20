package run

import (
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/traffic"
)

// A load for a time asks its arrivals how many requests are due; those with a rate know.
func TestArrivalsWithARateKnowHowManyAreDue(t *testing.T) {
	for name, create := range traffic.Arrivals() {
		_, knows := create().(interface {
			DueBefore(d time.Duration, seed uint64) int
		})
		if without := slices.Contains([]string{"at-once", "replay"}, name); knows == without {
			t.Errorf("%s: %v", name, knows)
		}
	}
}
