package endpoint

import (
	"encoding/json"
	"math"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// integerOf is a server's count, which may be any number: one beyond trace.MaxCount, or that is
// none, becomes that.
func integerOf(n gjson.Result) int {
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

// spareTokens are those without text that an answer may have: the marks of its parts and of
// its end.
const spareTokens = 16

// credible reports whether the server's count of an answer can be: not more than its request
// asked for or its chunks show, or no more than its text can hold, if all of it was read.
// The limit of a request proves nothing: there are servers that do not read it.
func (r *reader) credible(explained int) bool {
	n := r.rec.Usage.Completion
	switch {
	case n <= 0 || n > trace.MostTokens*max(1, r.rec.Quirks.Choices):
		return false
	case n <= explained || !r.allRead():
		return true
	}
	return n-clamp(r.rec.Usage.Reasoning, n) <= r.bytes+4*spareTokens
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

// several are fields by which a request gets several answers, of which some may not be shown.
var several = []string{"n", "best_of", "num_return_sequences", "use_beam_search"}

// requestedTokens is how many output tokens an answer to req is known to have at most; as many as there
// can be, where that is not known.
func (c *Client) requestedTokens(req *workload.Request) int {
	for _, fields := range []map[string]json.RawMessage{c.opts.Extra, c.opts.Sampling, req.Extra} {
		for _, name := range several {
			if fields[name] != nil {
				return trace.MostTokens
			}
		}
	}
	return req.OutputTokens
}
