package metrics

import (
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
		name := base(series)
		_, labels, _ := strings.Cut(series, "{")
		if _, rest, ok := strings.Cut(labels, `position="`); ok {
			position, _, _ := strings.Cut(rest, `"`)
			name += " " + position
		}
		sum[name] += v
	}
	return sum
}

// base is the name of a series that vLLM gave it.
func base(series string) string {
	name, _, _ := strings.Cut(series, "{")
	return strings.TrimSuffix(strings.TrimPrefix(name, "vllm:"), "_total")
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
