package view

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
	// Strips are what was sampled beside the run.
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

// A Strip is a quantity that was sampled beside a run, a line for each replica, device or host.
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
