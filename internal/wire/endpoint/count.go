package endpoint

import (
	"encoding/json"
	"math"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// whole is a server's count, which may be any number: one beyond trace.MaxCount, or that is
// none, becomes that.
func whole(n gjson.Result) int {
	switch f := n.Float(); {
	case math.IsNaN(f):
		return 0
	case f > trace.MaxCount:
		return trace.MaxCount
	case f < -trace.MaxCount:
		return -trace.MaxCount
	default:
		return int(f)
	}
}

// mean is a server's mean number, 0 if it is none.
func mean(n gjson.Result) float64 {
	if f := n.Float(); f > 0 && f <= trace.MaxCount {
		return f
	}
	return 0
}

// limits are fields by which a request decides how many tokens an answer has, beside the
// one of its protocol.
var limits = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "n", "best_of"}

// most is how many output tokens an answer to req can have.
func (c *Client) most(req *workload.Request) int {
	if req.OutputTokens <= 0 || c.grammar.limit == "" {
		return trace.MostTokens
	}
	for _, fields := range []map[string]json.RawMessage{c.opts.Extra, c.opts.Sampling, req.Extra} {
		for _, name := range limits {
			if fields[name] != nil { // the user has decided
				return trace.MostTokens
			}
		}
	}
	return req.OutputTokens
}
