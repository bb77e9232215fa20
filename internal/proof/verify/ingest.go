package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/tool/others"

	"github.com/pitot-bench/pitot/internal/tool/result"
)

func isInferencePerf(o object) bool { return o.has("load_summary", "successes", "failures") }

// isAIPerf knows a profile by the shape of its latencies: statistics with a
// unit.
func isAIPerf(o object) bool {
	var d struct{ Unit string }
	return json.Unmarshal(o.members["request_latency"], &d) == nil && d.Unit != "" && !isGuideLLM(o)
}

func isGuideLLM(o object) bool { return o.has("benchmarks") }

// readGuideLLM reads benchmarks.json, which must hold one benchmark: a sweep has
// many loads, and a cell has one.
func readGuideLLM(o object) (claim, error) {
	var benchmarks []json.RawMessage
	if err := json.Unmarshal(o.members["benchmarks"], &benchmarks); err != nil {
		return claim{}, fmt.Errorf("benchmarks: %w", err)
	}
	if n := len(benchmarks); n > 1 {
		return claim{}, fmt.Errorf("it holds %d benchmarks: a cell is one load, so the client must run one", n)
	}
	return readFigures(o)
}

// readFigures takes the figures of a result as package result reads them, with
// nothing left out.
func readFigures(o object) (claim, error) {
	found, problems := result.Read(result.Source{Name: "report", Data: bytes.NewReader(o.data), Size: int64(len(o.data))},
		others.GuideLLMFormat(), others.AIPerfFormat(), others.InferencePerfFormat())
	switch {
	case len(problems) > 0:
		return claim{}, errors.New(problems[0].Reason)
	case len(found) != 1:
		return claim{}, fmt.Errorf("it holds %d results", len(found))
	}
	run := found[0].Run
	c := newClaim()
	c.Notes = run.Notes
	get := func(name string) *float64 {
		if f, ok := run.Origin.Figure(name); ok {
			return &f.Value
		}
		return nil
	}
	c.OK, c.Failed, c.Output = count(get(figure.RequestsOK)), count(get(figure.RequestsFailed)), count(get(figure.OutputTokens))
	if n := get("requests.incomplete"); n != nil && c.Failed >= 0 {
		c.Failed += count(n)
	}
	if rate, seconds := get(figure.OutputThroughput), get("duration"); c.Output < 0 && rate != nil && seconds != nil {
		c.Output = int(math.Round(*rate * *seconds))
	}
	for _, m := range conform.Metrics() {
		for _, s := range conform.Statistics() {
			c.put(m, s, get(string(m)+"."+string(s)), 1)
		}
	}
	return c, nil
}
