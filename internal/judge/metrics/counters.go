package metrics

import (
	"maps"
	"slices"
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

// series splits name{labels} and finds one label.
func series(s, label string) (name, value string) {
	name, labels, _ := strings.Cut(s, "{")
	_, rest, found := strings.Cut(labels, label+`="`)
	if found {
		value, _, _ = strings.Cut(rest, `"`)
	}
	return name, value
}

// NewSpecDecode reads counter differences, keyed by name{labels} with sums over
// the engines; nil if no token was drafted.
func NewSpecDecode(counters map[string]float64) *SpecDecode {
	var s SpecDecode
	accepted := map[int]int{}
	for key, v := range counters {
		switch name, position := series(key, "position"); {
		case !strings.HasPrefix(name, "vllm:spec_decode") || !strings.HasSuffix(name, "_total"):
		case strings.Contains(name, "num_drafts"):
			s.Drafts += int(v)
		case strings.Contains(name, "num_draft_tokens"):
			s.DraftTokens += int(v)
		case strings.Contains(name, "num_accepted_tokens_per_pos"):
			if p, err := strconv.Atoi(position); err == nil {
				accepted[p] += int(v)
			}
		case strings.Contains(name, "num_accepted_tokens"):
			s.AcceptedTokens += int(v)
		}
	}
	if s.DraftTokens <= 0 {
		return nil
	}
	s.AcceptanceRate = float64(s.AcceptedTokens) / float64(s.DraftTokens)
	if s.Drafts > 0 {
		s.AcceptanceLength = 1 + float64(s.AcceptedTokens)/float64(s.Drafts)
		for _, p := range slices.Sorted(maps.Keys(accepted)) {
			s.PerPosition = append(s.PerPosition, float64(accepted[p])/float64(s.Drafts))
		}
	}
	return &s
}

// NewDiffusion reads counter differences of a run that took the given seconds;
// nil if nothing was committed.
func NewDiffusion(counters map[string]float64, seconds float64) *Diffusion {
	sum := map[string]float64{}
	for key, v := range counters {
		name, _ := series(key, "")
		if short, ok := strings.CutPrefix(name, "vllm:diffusion"); ok && strings.HasSuffix(name, "_total") {
			for _, what := range []string{"num_denoising_steps", "num_canvas_positions", "num_committed_tokens"} {
				if strings.Contains(short, what) {
					sum[what] += float64(int(v))
				}
			}
		}
	}
	steps, positions, committed := sum["num_denoising_steps"], sum["num_canvas_positions"], sum["num_committed_tokens"]
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
