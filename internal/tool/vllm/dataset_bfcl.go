package vllm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// The Berkeley function calling leaderboard has a file of JSON Lines for each of its
// categories. Requests are the first turn of a question with the tools it is about.

// usualCategories are those that are taken when none are named.
var usualCategories = []string{"simple", "live_simple", "multiple"}

// toolQuestion is a row of a category.
type toolQuestion struct {
	messages, tools json.RawMessage
}

func (h *HF) readTools() error {
	h.questions = nil
	for _, category := range h.categories() {
		list, err := h.category(category)
		if err != nil {
			return err
		}
		h.questions = append(h.questions, list)
	}
	return nil
}

func (h *HF) categories() []string {
	var out []string
	for _, c := range h.Categories {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return usualCategories
	}
	return out
}

// buildTools takes rows of the categories in turn, shuffles them and keeps the first.
func (h *HF) buildTools(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	all := interleaved(h.questions)
	if !h.NoShuffle {
		pyrand.NewRandom(int64(s.Seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	var chosen []toolQuestion
	for _, q := range all {
		if q.messages != nil && len(chosen) < wanted(s) {
			chosen = append(chosen, q)
		}
	}
	requests := make([]workload.Request, len(chosen))
	err := workload.Each(ctx, len(chosen), func(ctx context.Context, i int) (err error) {
		requests[i], err = h.toolRequest(ctx, s, chosen[i])
		return err
	})
	if err != nil {
		return workload.Workload{}, err
	}
	w, err := h.complete(s, requests, nil)
	if s.Vocab.Template == nil && s.Tokens != nil {
		w.Notes = append(w.Notes, plan.Msg(toolsLeftOut))
	}
	return w, err
}

// interleaved takes one of each list, round and round.
func interleaved(lists [][]toolQuestion) []toolQuestion {
	var out []toolQuestion
	for i, more := 0, true; more; i++ {
		more = false
		for _, list := range lists {
			if i < len(list) {
				out, more = append(out, list[i]), true
			}
		}
	}
	return out
}

// category reads the file of a category. A row without a first turn or tools has no
// messages: it takes part in the shuffling.
func (h *HF) category(name string) ([]toolQuestion, error) {
	file := "BFCL_v3_" + name + ".json"
	f, err := h.fs.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, plan.Problems{{Path: "categories", Value: name, Why: "the copy has no file " + file}}
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []toolQuestion
	err = eachLine(f, func(row rows.Row) error {
		q, err := readToolQuestion(row)
		out = append(out, q)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

func readToolQuestion(row rows.Row) (q toolQuestion, err error) {
	question, err := row.JSON("question")
	if err != nil {
		return q, err
	}
	functions, err := row.JSON("function")
	if err != nil {
		return q, err
	}
	var turns, messages, list []json.RawMessage
	if json.Unmarshal(question, &turns) != nil || len(turns) == 0 || json.Unmarshal(turns[0], &messages) != nil || len(messages) == 0 {
		return q, nil
	}
	if json.Unmarshal(functions, &list) != nil {
		list = []json.RawMessage{functions}
	}
	if len(functions) == 0 || bytes.Equal(functions, []byte("null")) || len(list) == 0 {
		return q, nil
	}
	return toolQuestion{turns[0], tools(list)}, nil
}

// tools are functions in the form of the OpenAI API.
func tools(functions []json.RawMessage) json.RawMessage {
	list := make([]string, len(functions))
	for i, f := range functions {
		list[i] = `{"type":"function","function":` + schema(gjson.ParseBytes(f)) + "}"
	}
	return json.RawMessage("[" + strings.Join(list, ",") + "]")
}

// schemaTypes are names of types in that dataset that JSON Schema has not.
var schemaTypes = map[string]string{"dict": "object", "float": "number", "tuple": "array", "any": "string"}

// schema is a value with the types of JSON Schema, keys in their order.
func schema(value gjson.Result) string {
	if !value.IsObject() && !value.IsArray() {
		return value.Raw
	}
	var parts []string
	value.ForEach(func(key, v gjson.Result) bool {
		part := schema(v)
		if name := schemaTypes[v.String()]; name != "" && key.String() == "type" && v.Type == gjson.String {
			part = strconv.Quote(name)
		}
		if value.IsObject() {
			part = key.Raw + ":" + part
		}
		parts = append(parts, part)
		return true
	})
	opening, closing := value.Raw[:1], value.Raw[len(value.Raw)-1:]
	return opening + strings.Join(parts, ",") + closing
}

func (h *HF) toolRequest(ctx context.Context, s *workload.Source, q toolQuestion) (r workload.Request, err error) {
	r = workload.Request{
		Messages: q.messages, OutputTokens: cmp.Or(h.Output, h.family().output),
		Extra: map[string]json.RawMessage{"tools": q.tools, "tool_choice": json.RawMessage(`"auto"`)},
	}
	text, err := toolText(s.Vocab.Template, q)
	if err == nil {
		r.PromptTokens, err = s.Count(ctx, text)
	}
	return r, err
}

// toolText is the counted text: the rendered prompt, or the texts of the messages.
func toolText(t workload.Template, q toolQuestion) (string, error) {
	if t != nil {
		text, err := t.Render(q.messages, workload.TemplateOptions{GenerationPrompt: true, Tools: q.tools})
		if err == nil {
			return text, nil
		}
	}
	var messages []struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(q.messages, &messages); err != nil {
		return "", fmt.Errorf("read the messages of a question: %w", err)
	}
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.Content
	}
	return strings.Join(texts, "\n"), nil
}
