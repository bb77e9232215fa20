package sglang

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// An openAI is the dataset openai: chat requests as JSON Lines, in order, with the body
// fields of each. All of them are sent where nothing says how many.
type datasetOpenAI struct {
	common
	data
	Output *int `json:"output_len,omitempty" flag:"sharegpt-output-len"` // in place of the line's, unless it is 0

	requests []workload.Request
	bad      badLines
}

func (d *datasetOpenAI) Check(*workload.Source) plan.Problems {
	return append(d.check(), atLeast("output_len", d.Output, 0)...)
}

// Read reads as many lines as are wanted.
func (d *datasetOpenAI) Read(ctx context.Context, s *workload.Source) error {
	return d.read(ctx, s, datasetLocation{lack: `name one of JSON Lines with "messages"`}, func(f *file) (err error) {
		d.requests, d.bad, err = d.lines(f, s.Requests)
		return err
	})
}

// openAIOutput is the output length of a line that asks for none.
const openAIOutput = 256

// unsent are fields of a line that its request does not get as they are.
var unsent = []string{"messages", "max_tokens", "max_completion_tokens", "model"}

func (d *datasetOpenAI) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s := d.source(from)
	w.Requests, w.Notes = slices.Clone(d.requests), d.bad.note()
	if s.Tokens == nil || s.Vocab.Template == nil {
		w.Notes = append(w.Notes, plan.Msg(uncountedChats))
	} else if err := s.countChats(ctx, w.Requests); err != nil {
		return w, d.blame(err)
	}
	w.Lines = append([]string{fmt.Sprintf("Loaded %d OpenAI-format requests", len(w.Requests))}, rowTotals(w.Requests)...)
	return s.finished(w), nil
}

func (d *datasetOpenAI) lines(f *file, most int) (requests []workload.Request, bad badLines, err error) {
	taken := 0
	err = rows.Lines(f, func(_ int, line []byte) error {
		if most > 0 && taken == most {
			return fs.SkipAll
		}
		if bad.skip(line) {
			return nil
		}
		taken++
		r, err := d.request(line)
		if r != nil {
			requests = append(requests, *r)
		}
		return err
	})
	if err == nil && len(requests) == 0 {
		err = errors.New(`no line has "messages"`)
	}
	return requests, bad, err
}

// request is nil for a line without messages.
func (d *datasetOpenAI) request(line []byte) (*workload.Request, error) {
	var fields map[string]json.RawMessage
	if err := decode(line, &fields); err != nil {
		return nil, fmt.Errorf("not a JSON object of a request: %w", err)
	}
	messages := fields["messages"]
	if len(messages) == 0 || slices.Contains([]string{"null", "[]"}, string(messages)) {
		return nil, nil
	}
	if err := checkMessages(messages); err != nil {
		return nil, fmt.Errorf(`field "messages": %w`, err)
	}
	r := &workload.Request{Messages: messages, OutputTokens: openAIOutput}
	if given, ok := fields["max_tokens"]; ok && !d.fixed() {
		n, err := wholeNumber(given)
		if err != nil {
			return nil, fmt.Errorf(`field "max_tokens": %w`, err)
		}
		r.OutputTokens = n
	}
	if d.fixed() {
		r.OutputTokens = *d.Output
	}
	for _, field := range unsent {
		delete(fields, field)
	}
	if len(fields) > 0 {
		r.Extra = fields
	}
	return r, nil
}

func (d *datasetOpenAI) fixed() bool { return d.Output != nil && *d.Output != 0 }

func checkMessages(raw json.RawMessage) error {
	var list []map[string]json.RawMessage
	if err := decode(raw, &list); err != nil {
		return fmt.Errorf("not a list of messages: %w", err)
	}
	for i, m := range list {
		if m["role"] == nil {
			return fmt.Errorf("message %d has no role", i+1)
		}
	}
	return nil
}

func wholeNumber(raw json.RawMessage) (int, error) {
	var n float64
	if err := json.Unmarshal(raw, &n); err != nil || n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%s is not a whole number of tokens", raw)
	}
	return int(n), nil
}

// countChats counts each chat in its template, and its tools separately.
func (s *source) countChats(ctx context.Context, requests []workload.Request) error {
	return workload.Each(ctx, len(requests), func(ctx context.Context, i int) error {
		r := &requests[i]
		text, err := s.render(r.Messages)
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		ids, err := s.Tokens.Encode(ctx, text, false)
		if err != nil {
			return err
		}
		r.PromptTokens = len(ids)
		if r.Extra["tools"] == nil {
			return nil
		}
		tools, err := s.Count(ctx, string(python.Dumped(r.Extra["tools"])))
		r.PromptTokens += tools
		return err
	})
}

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

// The tool's output on shared prefixes. It stores the prompts in a file, for the next run with the
// same settings; Pitot draws them again, with the same result.

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

// NewUUID is a random UUID, version 4.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
