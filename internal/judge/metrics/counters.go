package metrics

import (
	"math"
	"strconv"
	"strings"
)

// SpecDecode is what a server's counters say of speculative decoding during a
// run.
type SpecDecode struct {
	Drafts, DraftTokens, AcceptedTokens int
	AcceptanceRate                      float64   // share of the draft tokens
	AcceptanceLength                    float64   // tokens gained a draft, the sure one included
	PerPosition                         []float64 // share of the drafts accepted up to each position
}

// Diffusion is what a server's counters say of diffusion decoding during a run.
type Diffusion struct {
	CommittedTokens, CanvasPositions int
	DenoisingSteps                   float64
	CommittedThroughput              float64 // tokens/s
	StepsPerCanvas, CommittedPerStep float64
}

// sums add up counter differences, which are keyed by name{labels}, over the engines: by
// the name that vLLM gave them, and behind a blank the position in a draft, if they are of
// one.
func sums(counters map[string]float64) map[string]float64 {
	sum := map[string]float64{}
	for series, v := range counters {
		name, labels, _ := strings.Cut(series, "{")
		name = strings.TrimSuffix(strings.TrimPrefix(name, "vllm:"), "_total")
		if _, rest, ok := strings.Cut(labels, `position="`); ok {
			position, _, _ := strings.Cut(rest, `"`)
			name += " " + position
		}
		sum[name] += v
	}
	return sum
}

// NewSpecDecode reads counter differences; nil if no token was drafted.
func NewSpecDecode(counters map[string]float64) *SpecDecode {
	sum := sums(counters)
	drafts, drafted, accepted := sum["spec_decode_num_drafts"], sum["spec_decode_num_draft_tokens"], sum["spec_decode_num_accepted_tokens"]
	if drafted <= 0 {
		return nil
	}
	s := &SpecDecode{Drafts: int(drafts), DraftTokens: int(drafted), AcceptedTokens: int(accepted), AcceptanceRate: accepted / drafted}
	if drafts > 0 {
		s.AcceptanceLength = 1 + accepted/drafts
	}
	for p := 0; drafts > 0; p++ {
		n, ok := sum["spec_decode_num_accepted_tokens_per_pos "+strconv.Itoa(p)]
		if !ok {
			break
		}
		s.PerPosition = append(s.PerPosition, n/drafts)
	}
	return s
}

// NewDiffusion reads counter differences of a run that took the given seconds;
// nil if nothing was committed.
func NewDiffusion(counters map[string]float64, seconds float64) *Diffusion {
	sum := sums(counters)
	steps, positions, committed := sum["diffusion_num_denoising_steps"], sum["diffusion_num_canvas_positions"], sum["diffusion_num_committed_tokens"]
	if steps <= 0 || committed <= 0 || positions <= 0 || seconds <= 0 {
		return nil
	}
	block := positions / steps
	canvases := committed / block
	denoising := steps - canvases
	return &Diffusion{
		CommittedTokens: int(committed), CanvasPositions: int(positions), DenoisingSteps: denoising,
		CommittedThroughput: committed / seconds,
		StepsPerCanvas:      denoising / canvases,
		CommittedPerStep:    committed / denoising,
	}
}

// Server is what the server itself counted during a run, where it shows
// counters under the names of vLLM or of llama.cpp: all that they say of the requests, warm-up left
// out, whoever sent them.
type Server struct {
	Queued        float64 `json:"queued"`         // mean wait of a request for its first step, in seconds
	Preemptions   int     `json:"preemptions"`    // requests that lost their memory and began anew
	PrefixQueried int     `json:"prefix_queried"` // prompt tokens looked up in the prefix cache
	PrefixHit     int     `json:"prefix_hit"`     // of them, found
	Drafted       int     `json:"drafted"`        // tokens that speculative decoding drafted
	Accepted      int     `json:"accepted"`       // of them, accepted
	// Of llama.cpp: prompt tokens that it computed, and output tokens per call of the model.
	Computed  int     `json:"computed,omitempty"`
	PerDecode float64 `json:"per_decode,omitempty"`
}

// server reads counter differences; nil without any of those it knows.
func server(counters map[string]float64) *Server {
	sum := sums(counters)
	if _, ok := sum["num_preemptions"]; !ok {
		return llamaCpp(counters)
	}
	// A server adds up in binary fractions: beyond nanoseconds is noise.
	queued := over(sum["request_queue_time_seconds_sum"], sum["request_queue_time_seconds_count"])
	return &Server{
		Queued:        math.Round(queued*1e9) / 1e9,
		Preemptions:   int(sum["num_preemptions"]),
		PrefixQueried: int(sum["prefix_cache_queries"]),
		PrefixHit:     int(sum["prefix_cache_hits"]),
		Drafted:       int(sum["spec_decode_num_draft_tokens"]),
		Accepted:      int(sum["spec_decode_num_accepted_tokens"]),
	}
}
