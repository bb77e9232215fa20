package sglangdata

import (
	"context"
	"fmt"

	"github.com/pitot-bench/pitot/internal/workload"
)

// What the tool prints of shared prefixes. It keeps what it made in a file, for the
// next run of the same settings; Pitot draws anew, which gives the same.

// opening is printed before anything is drawn.
func (p *prefixes) opening() []string {
	var lines []string
	ratio := pythonFloat(p.Ratio)
	if p.s.Form == Main && (p.Ratio != 1 || p.RoutingKey || p.Turns > 1) {
		lines = append(lines, "", fmt.Sprintf("Cache bypassed (range_ratio=%s, send_routing_key=%s, num_turns=%d)", ratio, pythonBool(p.RoutingKey), p.Turns))
	}
	settings := fmt.Sprintf("num_groups=%d, %d, system_prompt_len=%d, question_len=%d, output_len=%d, range_ratio=%s", p.Groups, p.PerGroup, p.System, p.Question, p.Output, ratio)
	if p.s.Form == Main {
		settings += fmt.Sprintf(", num_turns=%d, group_distribution='%s', zipf_alpha=%s", p.Turns, p.distribution(), p.alpha())
	}
	return append(lines, "", "Generating new input data... ("+settings+")")
}

func (p *prefixes) distribution() string {
	if p.Zipf != nil {
		return "zipf"
	}
	return "uniform"
}

func (p *prefixes) alpha() string {
	if p.Zipf == nil {
		return "None"
	}
	return pythonFloat(*p.Zipf)
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// statistics is printed of what was drawn.
func (p *prefixes) statistics(ctx context.Context, talks [][]workload.Request) ([]string, error) {
	lines := []string{
		"", "Generated shared prefix dataset statistics:",
		fmt.Sprintf("Number of groups: %d", p.Groups),
		fmt.Sprintf("Prompts per group: %d", p.PerGroup),
	}
	if p.s.Form == Main {
		lines = append(lines, fmt.Sprintf("Number of turns: %d", p.Turns), "Group distribution: "+p.distribution())
		if p.Zipf != nil {
			lines = append(lines, "Zipf alpha: "+p.alpha())
		}
	}
	lines = append(lines, fmt.Sprintf("Total prompts: %d", len(talks)))
	if p.Fast && !p.asIDs {
		return lines, nil
	}
	systems, err := p.mean(ctx, p.systems)
	if err != nil {
		return nil, err
	}
	questions, err := p.mean(ctx, p.questions)
	if err != nil {
		return nil, err
	}
	var input, output int
	for _, turns := range talks {
		input += turns[0].PromptTokens
		output += turns[0].OutputTokens
	}
	return append(lines,
		fmt.Sprintf("Total input tokens: %d", input),
		fmt.Sprintf("Total output tokens: %d", output),
		fmt.Sprintf("Average system prompt length: %.1f tokens", systems),
		fmt.Sprintf("Average question length: %.1f tokens", questions),
		"",
	), nil
}

// mean is how many tokens parts have on average, as the tokenizer counts their texts.
func (p *prefixes) mean(ctx context.Context, parts []part) (float64, error) {
	counts := make([]int, len(parts))
	err := workload.Each(ctx, len(parts), func(ctx context.Context, i int) error {
		if p.asIDs {
			counts[i] = len(parts[i].ids)
			return nil
		}
		ids, err := p.s.Tokenizer.Encode(ctx, parts[i].text, true)
		counts[i] = len(ids)
		return err
	})
	return float64(sum(counts)) / float64(len(counts)), err
}
