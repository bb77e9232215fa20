// Package verify measures clients: it compares the report of any load generator with the log of the
// server of package truth.
//
//	conform.Cell ──> Server ──> truth.Log ──> the measured requests ──> true figures ─┐
//	     └─────> client command ──> its report ──> Read ──────────> Compare <─────────┘
//
// The truth is computed by the definitions of the client that made the report, and with
// its rule for percentiles, so that each tool is judged by its own meaning of a word.
//
// Package cli starts the server and the client; nothing here reads a clock or a process.
package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Read reads a client's report. A format of "" is found by its members.
func Read(format string, data []byte) (conform.Claim, error) {
	if format == "" || format == metrics.Pitot {
		c, is, err := readPitot(data)
		switch {
		case is:
			return c, err
		case format != "":
			return c, errors.New("it is no report of pitot")
		}
	}
	var formats []result.Format
	for _, t := range known.Tools() {
		if format == "" || format == t.Name {
			formats = append(formats, t.Result)
		}
	}
	from := result.Source{Name: "report", Data: bytes.NewReader(data), Size: int64(len(data))}
	found, problems := result.Read(from, formats...)
	switch {
	case len(problems) > 0 && len(found) == 0 && format != "":
		return conform.Claim{}, fmt.Errorf("it is no report of %s: %s", format, problems[0].Reason)
	case len(problems) > 0:
		return conform.Claim{}, errors.New(problems[0].Reason)
	}
	last := found[len(found)-1] // some tools append to their files
	if n := parts(found, last); n > 1 {
		return conform.Claim{}, fmt.Errorf("it holds %d results: a cell is one load, so the client must run one", n)
	}
	return claimOf(last)
}

// parts counts the results that one report holds.
func parts(found []result.Found, last result.Found) (n int) {
	for _, f := range found {
		if f.Run.Origin.Line == last.Run.Origin.Line {
			n++
		}
	}
	return n
}

// claimOf takes the figures of a result, and from its requests the statistics that it does not sum up.
func claimOf(f result.Found) (conform.Claim, error) {
	o := f.Run.Origin
	rules, _ := known.Rules().Lookup(o.Tool)
	c := newClaim(rules.Tool)
	c.Notes = f.Run.Notes
	value := func(name string) (float64, bool) { f, ok := o.Figure(name); return f.Value, ok }
	count := func(name string) int {
		if v, ok := value(name); ok {
			return int(v)
		}
		return -1
	}
	c.OK, c.Failed, c.Output = count(figure.RequestsOK), count(figure.RequestsFailed), count(figure.OutputTokens)
	if n := count("requests.incomplete"); n > 0 && c.Failed >= 0 {
		c.Failed += n
	}
	rate, rated := value(figure.OutputThroughput)
	if seconds, timed := value(figure.Duration); c.Output < 0 && rated && timed {
		c.Output = int(math.Round(rate * seconds))
	}
	for _, m := range conform.Metrics() {
		for _, s := range conform.Statistics() {
			if v, ok := value(m.Of(string(s))); ok {
				put(&c, m, s, v)
			}
		}
	}
	return c, fill(&c, f, rules)
}

// fill adds the statistics of the requests that the result has in full.
func fill(c *conform.Claim, f result.Found, rules metrics.Definitions) error {
	if f.Records == nil || rules.Samples == nil {
		return nil
	}
	t := &trace.Trace{Run: f.Run}
	for r, err := range f.Records {
		if err != nil {
			return err
		}
		t.Records = append(t.Records, r)
	}
	if c.Failed < 0 {
		c.Failed = len(t.Records) - c.OK
	}
	values := map[conform.Metric][]float64{}
	for _, s := range rules.Samples(t, f.Run.Origin.Form) {
		of := map[conform.Metric][]float64{
			figure.TTFT: {s.TTFT}, figure.TPOT: {s.TPOT}, figure.ITL: s.ITL, figure.E2EL: {s.E2EL},
		}
		for m, v := range of {
			values[m] = append(values[m], slices.DeleteFunc(v, math.IsNaN)...)
		}
	}
	for m, all := range values {
		for s, v := range linear(sample{values: all}) {
			if _, ok := c.Latencies[m][s]; !ok && len(all) > 0 {
				put(c, m, s, v)
			}
		}
	}
	return nil
}

// newClaim is one that tells nothing yet.
func newClaim(format string) conform.Claim {
	return conform.Claim{Format: format, OK: -1, Failed: -1, Output: -1, Latencies: map[conform.Metric]conform.Latency{}}
}

// put adds a statistic, in seconds.
func put(c *conform.Claim, m conform.Metric, s conform.Statistic, v float64) {
	if c.Latencies[m] == nil {
		c.Latencies[m] = conform.Latency{}
	}
	c.Latencies[m][s] = v
}

// readPitot reads Pitot's figures, or sums up an exported run; is reports whether the data is one of them.
func readPitot(data []byte) (c conform.Claim, is bool, err error) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(data, &members) // anything but one object is not Pitot's
	var s metrics.Summary
	switch {
	case members["run"] == nil:
		return c, false, nil
	case members["records"] != nil:
		var t trace.Trace
		if err := json.Unmarshal(data, &t); err != nil {
			return c, true, err
		}
		s = metrics.Summarize(&t, metrics.Options{Percentiles: []float64{90, 99}})
	case members["service"] == nil || members["health"] == nil:
		return c, false, nil
	default:
		if err := json.Unmarshal(data, &s); err != nil {
			return c, true, err
		}
	}
	c = newClaim(metrics.Pitot)
	c.OK, c.Failed, c.Output = s.Requests.OK, s.Requests.Failed, s.Tokens.Output
	for m, d := range map[conform.Metric]metrics.Distribution{conform.TTFT: s.Service.TTFT, conform.ITL: s.Service.ITL, conform.TPOT: s.Service.TPOT, conform.E2EL: s.Service.E2EL} {
		if d.N > 0 {
			distribution(&c, m, d)
		}
	}
	if s.Chunks.Output > 0 {
		c.Merged = &s.Chunks.MergedShare
	}
	c.Verdict, c.Reasons = string(s.Health.Verdict.Validity), s.Health.Verdict.Reasons
	return c, true, nil
}

// distribution takes Pitot's figures of a metric, with bounds for those that it does not know
// exactly.
func distribution(c *conform.Claim, m conform.Metric, d metrics.Distribution) {
	put(c, m, conform.Mean, d.Mean)
	put(c, m, conform.Median, d.Median)
	bounds := map[conform.Statistic]conform.Bound{}
	if b := d.Bounds; b != nil {
		bounds[conform.Median] = conform.Bound{Low: b.Low.Median, High: b.High.Median}
	}
	for i, p := range d.Percentiles {
		s, ok := map[float64]conform.Statistic{90: conform.P90, 99: conform.P99}[p.P]
		if !ok {
			continue
		}
		put(c, m, s, p.Value)
		if b := d.Bounds; b != nil && i < min(len(b.Low.Percentiles), len(b.High.Percentiles)) {
			bounds[s] = conform.Bound{Low: b.Low.Percentiles[i], High: b.High.Percentiles[i]}
		}
	}
	if len(bounds) > 0 {
		if c.Bounds == nil {
			c.Bounds = map[conform.Metric]map[conform.Statistic]conform.Bound{}
		}
		c.Bounds[m] = bounds
	}
	if d.Invalid || d.Void {
		c.Void = append(c.Void, m)
	}
}
