package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// OpenAI is the dataset openai: chat requests as JSON Lines, in order, with the body
// fields of each.
type OpenAI struct {
	File     *File // --dataset-path
	Requests int   // --num-prompts, 0 or less = all
	Output   *int  // --sharegpt-output-len
}

// Validate reports everything wrong with d at once.
func (d OpenAI) Validate() error {
	if d.Output != nil {
		return atLeast("--sharegpt-output-len", *d.Output, 0)
	}
	return nil
}

// openAIOutput is the output length of a line that asks for none.
const openAIOutput = 256

// unsent are fields of a line that its request does not get as they are.
var unsent = []string{"messages", "max_tokens", "max_completion_tokens", "model"}

// Build reads the lines and counts their prompts.
func (d OpenAI) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if d.File == nil {
		return Built{}, errNoFile("openai", `of JSON Lines with "messages"`)
	}
	requests, bad, err := d.read()
	if err != nil {
		return Built{}, err
	}
	b := Built{Workload: workload.Workload{Requests: requests, Notes: bad.note(d.File)}}
	if s.Tokenizer == nil || s.Vocabulary.Template == nil {
		b.Notes = append(b.Notes, "prompt lengths are not known before the server tells them: they take a tokenizer with a chat template")
	} else if err := s.countChats(ctx, requests); err != nil {
		return Built{}, d.File.in(err)
	}
	b.Lines = append([]string{fmt.Sprintf("Loaded %d OpenAI-format requests", len(requests))}, rowTotals(requests)...)
	return b, nil
}

func (d OpenAI) read() (requests []workload.Request, bad badLines, err error) {
	taken := 0
	err = d.File.lines(func(line []byte) (bool, error) {
		if d.Requests > 0 && taken == d.Requests {
			return false, nil
		}
		if bad.skip(line) {
			return true, nil
		}
		taken++
		r, err := d.request(line)
		if r != nil {
			requests = append(requests, *r)
		}
		return true, err
	})
	if err == nil && len(requests) == 0 {
		err = d.File.in(errors.New(`no line has "messages"`))
	}
	return requests, bad, err
}

// request is nil for a line without messages.
func (d OpenAI) request(line []byte) (*workload.Request, error) {
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

func (d OpenAI) fixed() bool { return d.Output != nil && *d.Output != 0 }

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

// countChats counts each chat in its template, and its tools beside that.
func (s *Source) countChats(ctx context.Context, requests []workload.Request) error {
	return workload.Each(ctx, len(requests), func(ctx context.Context, i int) error {
		r := &requests[i]
		text, err := s.render(r.Messages)
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		ids, err := s.Tokenizer.Encode(ctx, text, false)
		if err != nil {
			return err
		}
		r.PromptTokens = len(ids)
		if r.Extra["tools"] == nil {
			return nil
		}
		tools, err := dumps(r.Extra["tools"])
		if err != nil {
			return err
		}
		ids, err = s.Tokenizer.Encode(ctx, tools, true)
		r.PromptTokens += len(ids)
		return err
	})
}
