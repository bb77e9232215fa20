package view

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/plot"
)

// A Digest is what has been read of a run. It is not safe for concurrent use.
type Digest struct {
	run      trace.Run
	complete bool // all records that there will be were added
	missing  int  // records of a complete run that cannot be read
	undated  bool // the instants of a record count from its own start

	unit             uint // instants in columns are in µs << unit
	columns          columns
	over             timeline
	ttft, tpot, e2el latency
	gaps             histogram // ITL
	gapSum           float64   // seconds
	failed           failures
	stalls           stalls
	snapshots        snapshots
	strips           []plot.Strip

	scheduled     bool // due times mean something
	input, output int  // tokens of the requests that succeeded
	end           trace.Instant
}

// NewDigest makes an empty digest of a run.
func NewDigest(run trace.Run) *Digest {
	o := run.Origin
	return &Digest{
		run: run, undated: o != nil && o.Detail != trace.Recorded, scheduled: run.Plan.Concurrency == 0,
		over: newTimeline(), stalls: stalls{finder: metrics.StallFinder{Most: mostGaps}},
	}
}

// Requests is how many were added.
func (d *Digest) Requests() int { return d.columns.index.n }

// Stream reports whether answers were streamed.
func (d *Digest) Stream() bool { return d.run.Plan.Stream }

// Update replaces the run, without its requests.
func (d *Digest) Update(run trace.Run) { d.run = run }

// SetMissing sets how many records of a complete run cannot be read.
func (d *Digest) SetMissing(n int) { d.missing = n }

// SetComplete sets whether all records of the run were added.
func (d *Digest) SetComplete(is bool) { d.complete = is }

// Snapshots adds the progress of a run that has no end: requests in flight have no records yet.
func (d *Digest) Snapshots(more []trace.Snapshot) {
	d.snapshots = append(d.snapshots, more...)
	if n := len(more); n > 0 {
		d.end = max(d.end, more[n-1].At)
	}
}

// LastSnapshot is when the last one was taken; Never: there is none.
func (d *Digest) LastSnapshot() trace.Instant {
	if n := len(d.snapshots); n > 0 {
		return d.snapshots[n-1].At
	}
	return trace.Never
}

// Sampled replaces the telemetry of the run.
func (d *Digest) Sampled(set *telemetry.Set) { d.strips = plot.Strips(set, math.Inf(1)) }

// Add takes a record and does not retain it.
func (d *Digest) Add(r *trace.Record) {
	d.reach(r)
	stream := d.run.Plan.Stream
	first, last, n := r.Output()
	if n == 0 || !stream {
		first, last = trace.Never, trace.Never
	}
	ttft, tpot, e2el := math.NaN(), math.NaN(), math.NaN()
	if r.OK() && r.Sent.Happened() {
		ttft, tpot, e2el = metrics.PitotLatencies(r, stream)
	}
	c := &d.columns
	c.index.add(count32(r.Index))
	c.due.add(d.instant(r.Due))
	c.released.add(d.instant(r.Released))
	c.sent.add(d.instant(r.Sent))
	c.first.add(d.instant(first))
	c.last.add(d.instant(last))
	c.done.add(d.instant(r.Done))
	c.prompt.add(count32(metrics.PromptTokens(r)))
	c.output.add(count32(r.OutputTokens))
	c.class.add(d.failed.add(r))
	d.ttft.add(ttft)
	d.tpot.add(tpot)
	d.e2el.add(e2el)
	d.sum(r, ttft, e2el)
}

func (d *Digest) sum(r *trace.Record, ttft, e2el float64) {
	if r.OK() {
		d.input += metrics.PromptTokens(r)
		d.output += r.OutputTokens
	}
	d.scheduled = d.scheduled || r.Due > 0 && r.Turn == 0
	if !d.undated {
		d.end = max(d.end, r.Done)
		d.over.add(r, ttft, e2el)
		if d.run.Plan.Stream {
			d.stalls.finder.Add(r)
		}
	}
	if !d.run.Plan.Stream || !r.OK() || !r.Sent.Happened() {
		return
	}
	for at, gap := range metrics.EachPitotGap(r) {
		d.gaps.add(float32(gap))
		d.gapSum += gap
		if !d.undated {
			d.over.gap(at, float32(gap))
		}
	}
}

// count32 is a number in a column.
func count32(n int) uint32 { return uint32(max(0, min(n, never-1))) }

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
