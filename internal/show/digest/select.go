package digest

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Choice selects requests for a table.
type Choice struct {
	Class string // ok, failed, or a failure class; empty: all
	// Sort is index, sent, done, ttft, tpot, e2el, prompt or output, with - in front the largest
	// first; empty: index. Requests without a value are last.
	Sort          string
	Offset, Limit int
}

// Sorts are what requests can be sorted by.
func Sorts() []string {
	return []string{"index", "sent", "done", "ttft", "tpot", "e2el", "prompt", "output"}
}

// Select returns the indices of requests in the workload, and how many the class has.
func (d *Digest) Select(q Choice) (indices []int, total int) {
	key := d.key(strings.TrimPrefix(q.Sort, "-"))
	down := strings.HasPrefix(q.Sort, "-")
	var all []uint64 // key and place
	for i := range d.columns.index.n {
		if !d.is(i, q.Class) {
			continue
		}
		k, known := key(i)
		switch {
		case !known:
			k = math.MaxUint32
		case down:
			k = math.MaxUint32 - 1 - k
		}
		all = append(all, uint64(k)<<32|uint64(d.columns.index.at(i)))
	}
	slices.Sort(all)
	from := min(max(0, q.Offset), len(all))
	for _, k := range all[from:min(from+max(0, q.Limit), len(all))] {
		indices = append(indices, int(uint32(k)))
	}
	return indices, len(all)
}

// is reports whether a request is of a class.
func (d *Digest) is(i int, class string) bool {
	way := d.columns.class.at(i)
	switch class {
	case "":
		return true
	case "ok":
		return way == 0
	case "failed":
		return way > 0
	}
	return way > 0 && d.failed.known[way-1].Class == trace.Class(class)
}

// key is what to sort by, as numbers of which a larger one is a larger value; known is false for
// a request without it.
func (d *Digest) key(name string) func(i int) (k uint32, known bool) {
	c := &d.columns
	numbers := map[string]*column[uint32]{"": &c.index, "index": &c.index, "sent": &c.sent, "done": &c.done, "prompt": &c.prompt, "output": &c.output}
	if column := numbers[name]; column != nil {
		return func(i int) (uint32, bool) { v := column.at(i); return min(v, never-1), v != never }
	}
	latency := &cmp.Or(map[string]*latency{"ttft": &d.ttft, "tpot": &d.tpot}[name], &d.e2el).column
	return func(i int) (uint32, bool) {
		v := latency.at(i)
		return math.Float32bits(max(0, v)), v == v
	}
}
