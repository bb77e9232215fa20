package sglang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// An agentic is the dataset agentic-trace: conversations with turns that wait for each other.
// Without a number of requests all of them are sent.
type agentic struct {
	common
	data
	Output   *int `json:"output_len,omitempty" flag:"sharegpt-output-len"` // of each turn, unless it is 0
	Offset   int  `json:"offset,omitempty" flag:"dataset-offset"`          // the first conversation
	MaxTurns *int `json:"max_turns,omitempty" flag:"agentic-max-turns"`    // 0: all

	conversations [][]agenticTurn
}

func (d *agentic) Check(*workload.Source) plan.Problems {
	return slices.Concat(d.check(), atLeast("output_len", d.Output, 0), atLeast("max_turns", d.MaxTurns, 0))
}

func (d *agentic) Read(ctx context.Context, s *workload.Source) error {
	return d.read(ctx, s, datasetLocation{lack: `name one of a JSON object with "conversations"`}, func(f *file) (err error) {
		d.conversations, err = readAgentic(f)
		return err
	})
}

// agenticOutput is the output length of a turn where none is given.
const agenticOutput = 220

// An agenticTurn is the messages that come between two answers.
type agenticTurn struct {
	Messages []map[string]json.RawMessage `json:"messages"`
}

// Build takes the conversations from the offset on and around.
func (d *agentic) Build(_ context.Context, from *workload.Source) (w workload.Workload, err error) {
	all := d.conversations
	offset := ((d.Offset % len(all)) + len(all)) % len(all)
	output := agenticOutput
	if d.Output != nil && *d.Output != 0 {
		output = *d.Output
	}
	var talks [][]workload.Request
	for i := range all {
		at := (offset + i) % len(all)
		if from.Requests > 0 && len(talks) == from.Requests {
			break
		}
		turns, err := d.turns(all[at], output)
		if err != nil {
			return w, d.blame(fmt.Errorf("conversation %d: %w", at+1, err))
		}
		if len(turns) > 0 {
			talks = append(talks, turns)
		}
	}
	if len(talks) == 0 {
		return w, d.blame(errors.New("no conversation has messages"))
	}
	w.Turns, w.Lines, w.Notes = true, agenticLines(talks, offset, output), short(len(talks), from.Requests)
	w.Requests = chained(talks)
	return d.source(from).finished(w), nil
}

func readAgentic(f *file) ([][]agenticTurn, error) {
	var content struct {
		Conversations [][]agenticTurn `json:"conversations"`
	}
	dec := json.NewDecoder(f)
	if err := dec.Decode(&content); err != nil {
		return nil, fmt.Errorf("read conversations, at byte %d: %w", dec.InputOffset(), rows.WrongType(err))
	}
	if len(content.Conversations) == 0 {
		return nil, errors.New(`no "conversations" in it`)
	}
	return content.Conversations, nil
}

func (d *agentic) turns(turns []agenticTurn, output int) (requests []workload.Request, err error) {
	for i, turn := range turns {
		if d.MaxTurns != nil && *d.MaxTurns > 0 && len(requests) == *d.MaxTurns {
			break
		}
		if len(turn.Messages) == 0 {
			continue
		}
		r := workload.Request{OutputTokens: output}
		if r.Messages, err = roundMessages(turn.Messages); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

func roundMessages(messages []map[string]json.RawMessage) (json.RawMessage, error) {
	type plain struct {
		Role    json.RawMessage `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	out := make([]plain, len(messages))
	for i, m := range messages {
		out[i] = plain{m["role"], m["content"]}
		if out[i].Role == nil || out[i].Content == nil {
			return nil, fmt.Errorf("message %d needs role and content", i+1)
		}
	}
	return json.Marshal(out)
}

func agenticLines(talks [][]workload.Request, offset, output int) []string {
	fewest, most, total := len(talks[0]), 0, 0
	for _, turns := range talks {
		fewest, most = min(fewest, len(turns)), max(most, len(turns))
		total += len(turns)
	}
	return []string{
		fmt.Sprintf("#Conversations: %d (offset=%d, turns/conv min=%d max=%d avg=%.1f)", len(talks), offset, fewest, most, float64(total)/float64(len(talks))),
		fmt.Sprintf("#Output tokens per turn: %d", output),
	}
}
