package experiment

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
)

// draw numbers, from 1, the requests that a leg sends among those of its block: legs with the same number send the
// same. It is the number of a finished leg of another variant with the same ordinal, so that the two can be paired,
// else the ordinal. Where the server has seen those requests since it was started, and no reset empties its cache
// before the run, it is a new number: a leg that is made again meets what a first try meets.
func (x *execution) draw(l *Leg, variant int) int {
	if x.Cache == plan.ColdCache {
		return l.Ordinal
	}
	want, last, seen := l.Ordinal, legsInBlock, map[int]bool{}
	for _, other := range x.j.Legs {
		silent := other.Status == Failed && len(other.Runs) == 0
		if other == l || other.Confirms != l.Confirms || other.Block != l.Block || silent {
			continue
		}
		n := cmp.Or(other.Draw, other.Ordinal)
		last = max(last, n)
		if other.Variant == l.Variant && other.ServerStart > 0 {
			clear(seen)
		}
		if other.Variant == l.Variant || x.shareServer(other.Variant, variant) {
			seen[n] = true
		}
		if other.Status == Done && other.Variant != l.Variant && other.Ordinal == l.Ordinal {
			want = n
		}
	}
	if l.ServerStart == 0 && seen[want] {
		return last + 1
	}
	return want
}

// legsInBlock is the most legs that a variant has in a block.
const legsInBlock = 2

// shareServer reports whether two variants send their requests to one server that Pitot has not started.
func (x *execution) shareServer(name string, variant int) bool {
	i := slices.IndexFunc(x.Variants, func(v design.Variant) bool { return v.Name == name })
	if i < 0 || x.Variants[i].Server.Starts() || x.Variants[variant].Server.Starts() {
		return false
	}
	for w := range x.Workloads {
		if x.Loads[i][w].Spec.Target.URL == x.Loads[variant][w].Spec.Target.URL {
			return true
		}
	}
	return false
}
