package sglang

import (
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// lines are what the tool prints of its pictures.
func (p *pictures) lines(requests []workload.Request, inputs []int) []string {
	lines := append(rowTotals(requests), fmt.Sprintf("#Total images: %d", sum(p.counts)))
	if p.RandomCount {
		lines = append(lines, fmt.Sprintf("#Images per request: min=%d, max=%d, mean=%.2f", slices.Min(p.counts), slices.Max(p.counts), mean(p.counts)))
	} else {
		lines = append(lines, fmt.Sprintf("#Images per request: %d (fixed)", p.Count))
	}
	if p.sizes.random {
		lines = append(lines, p.resolutionLine())
	}
	if !p.s.january {
		lines = append(lines, breakdown(requests, inputs)...)
	}
	return append(lines, "", fmt.Sprintf("Created %d %s %s images with average %d bytes per request", len(requests), p.Content, p.Format, sum(p.bytes)/len(requests)))
}

func (p *pictures) resolutionLine() string {
	widths, heights := make([]int, len(p.drawn)), make([]int, len(p.drawn))
	for i, at := range p.drawn {
		widths[i], heights[i] = at.width, at.height
	}
	return fmt.Sprintf("#Image resolution: min=%dx%d, max=%dx%d, mean=%.1fx%.1f",
		slices.Min(widths), slices.Min(heights), slices.Max(widths), slices.Max(heights), mean(widths), mean(heights))
}

// breakdown is how many tokens the parts of prompts have.
func breakdown(requests []workload.Request, inputs []int) []string {
	text, vision, over := make([]int, len(inputs)), make([]int, len(inputs)), make([]int, len(inputs))
	for i, r := range requests {
		text[i], vision[i] = r.PromptTokens-r.VisionTokens, r.VisionTokens
		over[i] = text[i] - inputs[i]
	}
	lines := []string{"", "=== Token Breakdown (per request avg / total) ==="}
	for _, row := range []struct {
		label  string
		values []int
	}{
		{"Raw text prompt tokens (without overhead)", inputs},
		{"Text prompt tokens (with chat template)", text},
		{"Text prompt overhead", over},
		{"Vision tokens", vision},
	} {
		lines = append(lines, fmt.Sprintf("  %s: avg=%.1f, total=%d", row.label, mean(row.values), sum(row.values)))
	}
	return lines
}

func mean(values []int) float64 { return float64(sum(values)) / float64(len(values)) }
