package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// A Tally is what the changes of a variant come to. Its lists are rows of the workload,
// those first that people look at first.
type Tally struct {
	// Basis is the best that a change in All rests on; empty where there is none.
	Basis Basis `json:"basis,omitempty"`
	// All are the figures that are judged.
	All     []int `json:"all,omitempty"`
	Better  []int `json:"better,omitempty"`
	Worse   []int `json:"worse,omitempty"`
	Same    []int `json:"same,omitempty"` // or with a difference that is smaller than the margin
	Unknown []int `json:"unknown,omitempty"`
	Apart   []int `json:"apart,omitempty"`   // of Unknown: beyond the chance within single runs
	Unusual []int `json:"unusual,omitempty"` // of Unknown: beyond noise of the usual size
	// Settling are those of Unknown that as many further runs would settle as somebody may
	// make.
	Settling []int `json:"settling,omitempty"`
	// Fresh are figures that were 0 and are not any more, such as failures, where no verdict
	// tells it.
	Fresh []int `json:"fresh,omitempty"`
	// Main are the changes to quote: of the figures that people look at first, or where
	// there are none of them, of all that should go one way.
	Main []int `json:"main,omitempty"`
}

// Conclude fills in what follows from the changes: which are small or beyond usual noise,
// and what they come to. Compare has done so.
func (c *Comparison) Conclude() {
	c.UsualNoise, c.Enough = usualNoise, enoughRuns
	for _, w := range c.Workloads {
		for i := range w.Rows {
			w.Rows[i].Rank = w.Rows[i].Quantity.Rank()
		}
		for r, change := range w.Changes() {
			change.conclude(r, c.Margin)
		}
		for i := range w.Variants {
			if i > 0 {
				w.Variants[i].Tally = w.tally(i)
				w.Variants[i].Together = w.together(i)
			}
		}
	}
}

func (c *Change) conclude(r Row, margin float64) {
	c.Unproven = !r.Constant && c.Basis == Nothing && c.Verdict == Same
	c.Small = (c.Verdict.Differs() || c.Verdict == Same) && hasMargin(r.Quantity.Name, c.Plain) && c.Bound > 0 && c.Bound <= margin
	c.Unusual = c.Basis == Nothing && c.Chance >= usualNoise
}

// tally sums up the changes of a variant.
func (w *Workload) tally(variant int) *Tally {
	t := new(Tally)
	var rest []int // as Main, of figures without a rank
	for _, i := range w.byRank() {
		r := w.Rows[i]
		if r.isFresh(variant) {
			t.Fresh = append(t.Fresh, i)
		}
		if variant >= len(r.Cells) || r.Cells[variant].Change == nil {
			continue
		}
		c := r.Cells[variant].Change
		if !r.Constant && !r.Input {
			t.add(i, r.Quantity.Name, c)
		}
		switch {
		case r.Input || c.Plain && c.Relative == 0: // none here and none there
		case r.Rank > 0:
			t.Main = append(t.Main, i)
		default:
			rest = append(rest, i)
		}
	}
	if t.Main == nil {
		t.Main = rest
	}
	return t
}

// byRank are the rows, those with a rank first.
func (w *Workload) byRank() []int {
	order := make([]int, len(w.Rows))
	for i := range order {
		order[i] = i
	}
	last := func(i int) int { return cmp.Or(w.Rows[i].Rank, math.MaxInt) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last(a), last(b)) })
	return order
}

// isFresh: what was 0 is not any more, and no verdict tells it.
func (r *Row) isFresh(variant int) bool {
	if variant >= len(r.Cells) || r.Input {
		return false
	}
	a, b := r.Cells[0], r.Cells[variant]
	if b.Change != nil && b.Change.Verdict != CannotTell {
		return false
	}
	return len(a.Values) > 0 && len(b.Values) > 0 && a.Center == 0 && b.Center != 0
}

// add counts the change of a row.
func (t *Tally) add(row int, name string, c *Change) {
	t.All = append(t.All, row)
	if t.Basis == "" || c.Basis.Better(t.Basis) {
		t.Basis = c.Basis
	}
	list := map[Verdict]*[]int{Better: &t.Better, Worse: &t.Worse, Same: &t.Same}[c.Verdict]
	switch {
	case list == nil:
		list = &t.Unknown
	case c.Small:
		list = &t.Same
	}
	*list = append(*list, row)
	if c.ExcludesZero {
		t.Apart = append(t.Apart, row)
	}
	if c.Unusual {
		t.Unusual = append(t.Unusual, row)
	}
	if c.Verdict == CannotTell && c.More > 0 && c.More <= mostRuns && !BelowP99(name) {
		t.Settling = append(t.Settling, row)
	}
}

// Better reports whether a basis is better than another one.
func (b Basis) Better(than Basis) bool { return slices.Index(bases, b) < slices.Index(bases, than) }

// bases, best first.
var bases = []Basis{Blocks, Replicates, Pairs, Borrowed, Within, Nothing}

// usualNoise is Comparison.UsualNoise; mostRuns is the maximum number of further runs.
const (
	usualNoise = 0.1
	mostRuns   = 50
)

// BelowP99 reports whether a figure is a percentile between the median and the P99.
func BelowP99(name string) bool {
	_, statistic := figure.Split(name)
	p, ok := figure.ParsePercentile(statistic)
	return ok && p > 50 && p < 99
}

const quoted = 8

// Decides reports whether a verdict may rest on a basis.
func (b Basis) Decides() bool { return b == Blocks || b == Replicates || b == Pairs || b == Borrowed }
