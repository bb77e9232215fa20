package sglang

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// What the tool prints of shared prefixes. It keeps what it made in a file, for the
// next run of the same settings; Pitot draws anew, which gives the same.

// opening is printed before anything is drawn.
func (p *prefixes) opening() []string {
	var lines []string
	ratio := python.Float(p.Ratio)
	if !p.s.january && (p.Ratio != 1 || p.RoutingKey != "" || p.Turns > 1) {
		lines = append(lines, "", fmt.Sprintf("Cache bypassed (range_ratio=%s, send_routing_key=%s, num_turns=%d)", ratio, python.Bool(p.RoutingKey != ""), p.Turns))
	}
	settings := fmt.Sprintf("num_groups=%d, %d, system_prompt_len=%d, question_len=%d, output_len=%d, range_ratio=%s", p.Groups, p.PerGroup, p.System, p.Question, p.Output, ratio)
	if !p.s.january {
		settings += fmt.Sprintf(", num_turns=%d, group_distribution='%s', zipf_alpha=%s", p.Turns, p.distribution(), python.Repr(p.Zipf))
	}
	return append(lines, "", "Generating new input data... ("+settings+")")
}

func (p *prefixes) distribution() string {
	if p.Zipf != nil {
		return "zipf"
	}
	return "uniform"
}

// statistics is printed of what was drawn.
func (p *prefixes) statistics(talks [][]workload.Request) []string {
	lines := []string{
		"", "Generated shared prefix dataset statistics:",
		fmt.Sprintf("Number of groups: %d", p.Groups),
		fmt.Sprintf("Prompts per group: %d", p.PerGroup),
	}
	if !p.s.january {
		lines = append(lines, fmt.Sprintf("Number of turns: %d", p.Turns), "Group distribution: "+p.distribution())
		if p.Zipf != nil {
			lines = append(lines, "Zipf alpha: "+python.Repr(p.Zipf))
		}
	}
	lines = append(lines, fmt.Sprintf("Total prompts: %d", len(talks)))
	if p.Fast && !p.asIDs {
		return lines
	}
	systems := make([]int, p.Groups)
	for i, system := range p.systems {
		systems[i] = system.count
	}
	var input, output int
	for _, turns := range talks {
		input += turns[0].PromptTokens
		output += turns[0].OutputTokens
	}
	return append(lines,
		fmt.Sprintf("Total input tokens: %d", input),
		fmt.Sprintf("Total output tokens: %d", output),
		fmt.Sprintf("Average system prompt length: %.1f tokens", mean(systems)),
		fmt.Sprintf("Average question length: %.1f tokens", mean(p.counts)),
		"",
	)
}
