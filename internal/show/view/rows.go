package view

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/pitot-bench/pitot/internal/record/store"
)

// Rows are the requests of a run as columns of numbers, for a timeline with a bar for each and
// for plots of one latency against another, in the order in which they were stored. They are not
// JSON: Encode writes them as
//
//	"PTR1"            4 bytes
//	header length     uint32, little-endian like all that follows
//	header            JSON: RowsHeader, padded with blanks so that columns begin at a multiple of 4
//	columns           one after the other, each N × uint32, in the order of RowsHeader.Columns
//
// An instant is in units of RowsHeader.Unit since the start of the run; 0xffffffff is never.
type Rows struct {
	RowsHeader
	Values [][]uint32 // by column
}

// A RowsHeader says what the columns of Rows are.
type RowsHeader struct {
	N int `json:"n"`
	// Every says that only each so-manieth request is there: 1 for all. It grows with a run
	// that goes on; rows that were got before are then to be asked for again.
	Every int     `json:"every"`
	Unit  float64 `json:"unit"` // seconds; it may grow likewise
	// Next is the number to ask from next, of a run that goes on.
	Next int `json:"next"`
	// Columns are index, due, released, sent, first (output token), last (output token), done, prompt, output, class.
	Columns []string `json:"columns"`
	// Classes are the failure classes that numbers of the column class stand for; 0 is a success.
	Classes []string `json:"classes"`
}

// rowsMagic begins rows.
const rowsMagic = "PTR1"

// Encode writes rows.
func (r Rows) Encode(w io.Writer) error {
	header, err := json.Marshal(r.RowsHeader)
	if err != nil {
		return err
	}
	if pad := len(header) % 4; pad > 0 {
		header = append(header, bytes.Repeat([]byte{' '}, 4-pad)...)
	}
	b := binary.LittleEndian.AppendUint32([]byte(rowsMagic), uint32(len(header)))
	if _, err := w.Write(append(b, header...)); err != nil {
		return err
	}
	for i, values := range r.Values {
		if len(values) != r.N {
			return fmt.Errorf("column %d has %d values, and there are %d rows", i, len(values), r.N)
		}
		if err := writeColumn(w, values); err != nil {
			return err
		}
	}
	return nil
}

func writeColumn(w io.Writer, values []uint32) error {
	const piece = 4096
	var b [4 * piece]byte
	for len(values) > 0 {
		n := min(piece, len(values))
		for i, v := range values[:n] {
			binary.LittleEndian.PutUint32(b[4*i:], v)
		}
		if _, err := w.Write(b[:4*n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

// A Course is what a run's requests say together, as far as they have been read: over time, and
// as distributions. It is a few ten kilobytes whatever the number of requests.
type Course struct {
	Read    int  `json:"read"`    // requests that it is made of
	Records int  `json:"records"` // that are stored by now
	Running bool `json:"running"` // there may be more
	// Seconds is the end of the axis of time. Undated runs have no instants: only distributions.
	Seconds float64 `json:"seconds"`
	Undated bool    `json:"undated"`
	Step    float64 `json:"step"` // the width of a window of time in seconds, at most 600 of them
	// Series have a value for each window, null where there is none.
	Series []Series `json:"series"`
	// Strips are the telemetry of the run.
	Strips        []Strip        `json:"strips"`
	Stalls        [][2]float64   `json:"stalls"` // when all streams stood still: from, to
	Failed        []float64      `json:"failed"` // when requests failed, at most 2000 of them
	Distributions []Distribution `json:"distributions"`
	Heat          []Heat         `json:"heat"`
}

// A Series is a quantity over time.
type Series struct {
	// Name is output, requests, inflight, waiting (for the gate), ttft.p50, ttft.p99, itl.p50,
	// itl.p99 or failed.
	Name   string     `json:"name"`
	Title  string     `json:"title"`
	Unit   string     `json:"unit"`
	Values []*float64 `json:"values"`
}

// A Strip is a quantity that was sampled during a run, a line for each replica, device or host.
type Strip struct {
	Title string  `json:"title"`
	Unit  string  `json:"unit"`
	Steps bool    `json:"steps"` // a value holds until the next
	Top   float64 `json:"top"`   // of the axis; 0: the largest value
	Lines []Line  `json:"lines"`
}

// A Line is points of a strip, at most 600 of them; it is broken where Y is null.
type Line struct {
	Name string     `json:"name"`
	X    []float64  `json:"x"` // seconds since the start of the run
	Y    []*float64 `json:"y"`
}

// A Distribution is a sample of latencies.
type Distribution struct {
	Name  string `json:"name"` // ttft, tpot, itl, e2el
	Title string `json:"title"`
	N     int    `json:"n"`
	// Share and Value are points of its cumulative distribution: the share of the sample, from 0
	// to 1, that took at most so many seconds.
	Share []float64 `json:"share"`
	Value []float64 `json:"value"`
	// Approximate: the values are those of a histogram, to about one percent.
	Approximate bool `json:"approximate"`
}

// A Heat counts latencies by time and size.
type Heat struct {
	Name  string  `json:"name"` // ttft, itl, e2el
	Title string  `json:"title"`
	Step  float64 `json:"step"` // the width of a window in seconds
	// Edges are the bounds of the rows in seconds, one more than there are rows.
	Edges []float64 `json:"edges"`
	// Cells are triples of window, row and count, without those that are 0.
	Cells []int `json:"cells"`
}

// SparklineValues is how many values a sparkline has at most.
const SparklineValues = 40

// NewSparkline makes the throughput of a run of how many tokens it had received when. Between two
// milestones tokens are taken to have come evenly.
func NewSparkline(id string, all []store.Milestone) Sparkline {
	s := Sparkline{ID: id, Values: []float64{}}
	if len(all) < 2 {
		return s
	}
	first, last := all[0].At.Seconds(), all[len(all)-1].At.Seconds()
	n := min(SparklineValues, len(all)-1)
	step := (last - first) / float64(n)
	if step <= 0 {
		return s
	}
	at := func(when float64) float64 { // tokens by then
		i := 1
		for i < len(all)-1 && all[i].At.Seconds() < when {
			i++
		}
		a, b := all[i-1], all[i]
		share := (when - a.At.Seconds()) / (b.At.Seconds() - a.At.Seconds())
		return float64(a.Tokens) + share*float64(b.Tokens-a.Tokens)
	}
	for i := range n {
		s.Values = append(s.Values, math.Max(0, at(first+float64(i+1)*step)-at(first+float64(i)*step))/step)
	}
	return s
}

// SketchSparkline makes the throughput of a run of some of its requests: each is taken to have got
// its tokens evenly, from the first byte of its answer on. all is how many requests there are.
func SketchSparkline(id string, some []store.Outline, all int) Sparkline {
	s := Sparkline{ID: id, Values: []float64{}}
	end, n := 0.0, 0
	for _, o := range some {
		if o.First.Happened() && o.Done >= o.First {
			end, n = max(end, o.Done.Seconds()), n+1
		}
	}
	if end <= 0 || n == 0 {
		return s
	}
	values := make([]float64, min(SparklineValues, max(n, 1)))
	step := end / float64(len(values))
	for _, o := range some {
		if o.First.Happened() && o.Done >= o.First {
			spread(values, o.First.Seconds()/step, o.Done.Seconds()/step, float64(o.Tokens))
		}
	}
	for i := range values {
		values[i] *= float64(all) / float64(len(some)) / step
	}
	s.Values = values
	return s
}

// spread adds an amount to the windows between two places, evenly.
func spread(windows []float64, from, to, amount float64) {
	last := len(windows) - 1
	if to <= from { // all at once
		windows[min(int(from), last)] += amount
		return
	}
	for i := int(from); i <= min(int(to), last); i++ {
		part := math.Min(to, float64(i+1)) - math.Max(from, float64(i))
		windows[i] += amount * part / (to - from)
	}
}
