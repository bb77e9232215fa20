package answers

import (
	"cmp"
	"slices"
)

// A Place is where the answers of two runs to a request differ.
type Place struct {
	Index   int
	At      float64    // tokens before it
	Tokens  [2]float64 // of the answers; bytes where a server did not count
	Visible bool       // the visible text is the same
}

// Places are the requests of two runs that both answered, and those of them with answers that differ, earliest first.
func Places(a, b *Leg) (all []Place, compared int) {
	bytes := !counted([]*Leg{a, b})
	at := [4]int{}
	sides := [4][]answer{a.sorted(), a.all, b.sorted(), b.all}
	for {
		four, ok := next(&at, &sides)
		if !ok {
			break
		}
		x, y := four[0], four[2]
		dx, marked := a.digest(x)
		dy, too := b.digest(y)
		if !x.ok || !y.ok || !marked || !too {
			continue
		}
		compared++
		m, n := float64(x.tokens), float64(y.tokens)
		if bytes {
			m, n = float64(dx.Bytes), float64(dy.Bytes)
		}
		if c := commonOf(dx, dy, m, n); c.differ {
			all = append(all, Place{int(x.index), c.place, [2]float64{m, n}, c.visible})
		}
	}
	slices.SortStableFunc(all, func(p, q Place) int { return cmp.Or(cmp.Compare(p.At, q.At), cmp.Compare(p.Index, q.Index)) })
	return all, compared
}
