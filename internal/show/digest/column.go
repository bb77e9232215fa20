package digest

import (
	"math"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A column has a value for each request. It grows by blocks, so that no growth copies it.
type column[T any] struct {
	blocks [][]T
	n      int
}

// block is how many values a block has; the first one grows to it, since most runs are small.
const block = 1 << 13

func (c *column[T]) add(v T) {
	if c.n%block == 0 {
		size := block
		if c.n == 0 {
			size = 64
		}
		c.blocks = append(c.blocks, make([]T, 0, size))
	}
	last := &c.blocks[len(c.blocks)-1]
	*last = append(*last, v)
	c.n++
}

func (c *column[T]) at(i int) T { return c.blocks[i/block][i%block] }

// each changes every value.
func (c *column[T]) each(change func(T) T) {
	for _, b := range c.blocks {
		for i := range b {
			b[i] = change(b[i])
		}
	}
}

// columns are those of a digest. With its latencies it takes 49 bytes for each request.
type columns struct {
	index, due, released, sent, first, last, done, prompt, output column[uint32]
	class                                                         column[uint8]
}

// never is trace.Never in a column.
const never = math.MaxUint32

// instant is t in a column. Instants before the start of the run are at it.
func (d *Digest) instant(t trace.Instant) uint32 {
	if !t.Happened() {
		return never
	}
	return uint32(min(int64(t)/1000>>d.unit, never-1))
}

// second is the unit of instants in columns, in seconds.
func (d *Digest) second() float64 { return float64(int64(1)<<d.unit) / 1e6 }

// longest is the largest unit: 2^20 µs, in which columns hold 142 years.
const longest = 20

// reach makes the unit of instants so large that those of r fit.
func (d *Digest) reach(r *trace.Record) {
	last := max(r.Due, r.Released, r.Sent, r.Done)
	for int64(last)/1000>>d.unit >= never-1 && d.unit < longest {
		d.unit++
		half := func(v uint32) uint32 {
			if v == never {
				return v
			}
			return v / 2
		}
		for _, c := range []*column[uint32]{&d.columns.due, &d.columns.released, &d.columns.sent, &d.columns.first, &d.columns.last, &d.columns.done} {
			c.each(half)
		}
	}
}
