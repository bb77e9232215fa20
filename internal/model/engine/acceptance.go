package engine

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
)

// An Acceptance is the probability that a draft token is accepted, given those before it, by its
// position in the draft. Positions beyond the last have the last one's; those beyond the draft do
// not matter. With a(i) at position i, a step emits more than j tokens with probability
// a(1)·a(2)···a(j). A file has a list, or one number for all positions.
type Acceptance []float64

// at is the probability at position i from 0.
func (a Acceptance) at(i int) float64 {
	if len(a) == 0 {
		return 0
	}
	return a[min(i, len(a)-1)]
}

// DecodeNode reads a number or a list.
func (a *Acceptance) DecodeNode(n *plan.Node) plan.Problems {
	if n.Kind == plan.List {
		return plan.Decode(n, (*[]float64)(a))
	}
	*a = make(Acceptance, 1)
	return plan.Decode(n, &(*a)[0])
}

func (v *checker) speculative(s *Speculative) {
	if s == nil {
		return
	}
	const path = "speculative.acceptance"
	v.IntegerIn("speculative.drafts", s.Drafts, 1, MaxDrafts)
	v.If(len(s.Acceptance) > MaxDrafts, path, len(s.Acceptance), "must be for at most %d positions", MaxDrafts)
	for i, p := range s.Acceptance {
		at := path
		if len(s.Acceptance) > 1 {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		v.Share(at, p)
	}
}
