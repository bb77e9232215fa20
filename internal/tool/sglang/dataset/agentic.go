package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Agentic is the dataset agentic-trace: conversations whose turns wait for each other.
type Agentic struct {
	File     *File // --dataset-path
	Requests int   // --num-prompts: conversations, 0 or less = all
	Output   *int  // --sharegpt-output-len, of each turn
	Offset   int   // --dataset-offset
	MaxTurns *int  // --agentic-max-turns
}

// agenticOutput is the output length of a turn where none is given.
const agenticOutput = 220

// Validate reports everything wrong with d at once.
func (d Agentic) Validate() error {
	var errs []error
	if d.Output != nil {
		errs = append(errs, atLeast("--sharegpt-output-len", *d.Output, 0))
	}
	if d.MaxTurns != nil {
		errs = append(errs, atLeast("--agentic-max-turns", *d.MaxTurns, 0))
	}
	return errors.Join(errs...)
}

// An agenticTurn is the messages that come between two answers.
type agenticTurn struct {
	Messages []map[string]json.RawMessage `json:"messages"`
}

// Build reads the conversations, from the offset on and around.
func (d Agentic) Build(_ context.Context, _ *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if d.File == nil {
		return Built{}, errNoFile("agentic-trace", `a JSON object with "conversations"`)
	}
	all, err := d.read()
	if err != nil {
		return Built{}, d.File.in(err)
	}
	offset := ((d.Offset % len(all)) + len(all)) % len(all)
	output := agenticOutput
	if d.Output != nil && *d.Output != 0 {
		output = *d.Output
	}
	var talks [][]workload.Request
	for i := range all {
		at := (offset + i) % len(all)
		if d.Requests > 0 && len(talks) == d.Requests {
			break
		}
		turns, err := d.turns(all[at], output)
		if err != nil {
			return Built{}, d.File.in(fmt.Errorf("conversation %d: %w", at+1, err))
		}
		if len(turns) > 0 {
			talks = append(talks, turns)
		}
	}
	if len(talks) == 0 {
		return Built{}, d.File.in(errors.New("no conversation has messages"))
	}
	b := Built{Turns: true, Lines: agenticLines(talks, offset, output)}
	b.Requests = chained(talks)
	if d.Requests > len(talks) {
		b.Notes = []string{fmt.Sprintf("%s gives %d conversations of the %d asked for", d.File.Name, len(talks), d.Requests)}
	}
	return b, nil
}

func (d Agentic) read() ([][]agenticTurn, error) {
	var file struct {
		Conversations [][]agenticTurn `json:"conversations"`
	}
	dec := json.NewDecoder(d.File.Content)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read conversations, at byte %d: %w", dec.InputOffset(), workload.WrongType(err))
	}
	if len(file.Conversations) == 0 {
		return nil, errors.New(`no "conversations" in it`)
	}
	return file.Conversations, nil
}

// turns are the requests of a conversation.
func (d Agentic) turns(turns []agenticTurn, output int) (requests []workload.Request, err error) {
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

// roundMessages are messages by their role and content alone.
func roundMessages(messages []map[string]json.RawMessage) (json.RawMessage, error) {
	type plain struct {
		Role    json.RawMessage `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	kept := make([]plain, len(messages))
	for i, m := range messages {
		kept[i] = plain{m["role"], m["content"]}
		if kept[i].Role == nil || kept[i].Content == nil {
			return nil, fmt.Errorf("message %d needs role and content", i+1)
		}
	}
	return json.Marshal(kept)
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
