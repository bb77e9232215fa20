// Package verify measures clients: it holds what any load generator reports of a run
// against what the server of package truth knows to have happened.
//
//	conform.Cell ──> Server ──> truth.Log ──> the measured requests ──> true figures ─┐
//	     └─────> client command ──> its report ──> Read ──────────> Compare <─────────┘
//
// The truth is computed by the definitions of the client whose report it is, and with
// its rule for percentiles, so that tools that mean different things by one word are each
// held against what they mean.
//
// What starts the server and the client lies in package cli; nothing here looks at a
// clock or a process.
package verify

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/proof/conform"
)

// Read reads a client's report. A format of "" is found by the keys.
func Read(format string, data []byte) (conform.Claim, error) {
	o, err := newObject(data)
	if err != nil {
		return conform.Claim{}, err
	}
	for _, f := range conform.Formats() {
		is := readers[f.Name].is(o)
		if f.Name != format && (format != "" || !is) {
			continue
		}
		if !is {
			return conform.Claim{}, fmt.Errorf("it is no report of %s: its keys are %s", f.Tool, o.list())
		}
		c, err := readers[f.Name].read(o)
		c.Format = f.Name
		return c.Claim, err
	}
	return conform.Claim{}, fmt.Errorf("no tool known writes such a report: its keys are %s", o.list())
}

// readers are those of each format.
var readers = map[string]reader{
	"pitot":          {isPitot, readPitot, linear},
	"sglang":         {isSGLang, readSGLang, linear},
	"vllm":           {isVLLM, readVLLM, linear},
	"guidellm":       {isGuideLLM, readGuideLLM, stepped},
	"aiperf":         {isAIPerf, readFigures, linear},
	"inference-perf": {isInferencePerf, readFigures, linear},
}

// A reader reads the reports of a format.
type reader struct {
	is   func(object) bool // by the keys of the report
	read func(object) (claim, error)
	rule rule // for its percentiles
}

// newClaim is one that tells nothing yet.
func newClaim() claim {
	return claim{conform.Claim{OK: -1, Failed: -1, Output: -1, Latencies: map[conform.Metric]conform.Latency{}}}
}

// A claim is one in the making.
type claim struct{ conform.Claim }

// fill adds the statistics of a sample that the report has in full, where it
// does not sum them up itself.
func (c *claim) fill(m conform.Metric, values []float64) {
	if len(values) == 0 {
		return
	}
	for s, v := range linear(sample{values: values}) {
		if _, ok := c.Latencies[m][s]; !ok {
			c.put(m, s, &v, 1)
		}
	}
}

// put adds a statistic, if there is one, in units of so many seconds.
func (c *claim) put(m conform.Metric, s conform.Statistic, v *float64, unit float64) {
	if v == nil {
		return
	}
	if c.Latencies[m] == nil {
		c.Latencies[m] = conform.Latency{}
	}
	c.Latencies[m][s] = *v * unit
}

// count takes a number of things that a report has.
func count(n *float64) int {
	if n == nil {
		return -1
	}
	return int(*n)
}

// Units of reports.
const milliseconds = 1e-3
