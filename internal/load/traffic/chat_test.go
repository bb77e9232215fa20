package traffic

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

func someTalks() *chat {
	return &chat{
		drawn: drawn{Input: upTo(50), Output: upTo(20), Prefix: 40}, Conversations: 20, Turns: upTo(5).count(),
		TurnLen: upTo(30).count(), Think: arrival.FixedDuration(time.Second),
	}
}

// build builds a dataset with a tokenizer of the tests of package tokenizer, or without.
func build(t *testing.T, d workload.Dataset, tokenizer string, s workload.Source) (workload.Workload, error) {
	t.Helper()
	p := newWords(t, tokenizer)
	s.Tokens, s.Vocab = p.Tokens, p.Vocab
	w, err := d.Build(t.Context(), &s)
	if err == nil {
		checkDue(t, d, s, w)
	}
	return w, err
}

// checkDue holds that requests that are made as they are due are those of w, and the notes on them.
func checkDue(t *testing.T, d workload.Dataset, s workload.Source, w workload.Workload) {
	t.Helper()
	s.Window, s.Local = 1, true
	due, err := d.Build(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	if due.List == nil {
		return
	}
	later := due.All()
	for i, want := range w.All().All() {
		bare := later.At(i)
		got, err := bare.Unspooled()
		if err != nil || !cmp.Equal(want, got) || bare.Messages == nil != (want.Messages == nil) || bare.Text != "" {
			t.Fatalf("request %d: %v: %s", i, err, cmp.Diff(want, got))
		}
		if diff := cmp.Diff(w.All().Brief(i), later.Brief(i)) + cmp.Diff(want.Turn, bare.Turn) + cmp.Diff(want.ID, bare.ID); diff != "" {
			t.Errorf("request %d: %s", i, diff)
		}
	}
	if later.N != len(w.Requests) || later.Chained != w.All().Chained {
		t.Errorf("%d requests of %d", later.N, len(w.Requests))
	}
	if diff := cmp.Diff(w.Notes, append(due.Notes, due.Late()...)); diff != "" {
		t.Error(diff)
	}
}

func chatSource() workload.Source {
	return workload.Source{Seed: 3, IDPrefix: "x-", Ask: workload.Ask{Messages: true}}
}

// Every later turn waits for the one before it, which it remembers, and only the first
// has the system prompt.
func TestAChatIsTurnsThatWait(t *testing.T) {
	w, err := build(t, someTalks(), "gpt2", chatSource())
	if err != nil || w.Notes != nil {
		t.Fatal(err, w.Notes)
	}
	system, talks := "", 0
	for i, r := range w.Requests {
		var m []message
		if err := json.Unmarshal(r.Messages, &m); err != nil {
			t.Fatal(err)
		}
		last := i+1 == len(w.Requests) || w.Requests[i+1].Number == 0
		switch {
		case r.Number == 0:
			talks++
			if len(m) != 2 || m[0].Role != "system" || system != "" && m[0].Content != system || r.After != 0 || r.Remember ||
				r.Think != 0 || r.PromptTokens < 41 {
				t.Errorf("first turn %+v", r)
			}
			system = m[0].Content
		case len(m) != 1 || r.After != i || !r.Remember || r.Think != time.Second || r.Session != w.Requests[i-1].Session ||
			r.Number != w.Requests[i-1].Number+1 || r.PromptTokens > 30:
			t.Errorf("later turn %+v", r)
		}
		if m[len(m)-1].Role != "user" || r.Followed == last || r.ID != "x-"+sprint(i) || r.OutputTokens < 1 ||
			r.OutputTokens > 20 {
			t.Errorf("turn %+v", r)
		}
	}
	if talks != 20 || len(w.Requests) < 30 {
		t.Errorf("%d conversations, %d requests", talks, len(w.Requests))
	}
}

// The text of a chat has as many tokens as were asked for, put together as a server
// gets it.
func TestAChatAsText(t *testing.T) {
	p := newWords(t, "llama3")
	w, err := build(t, someTalks(), "llama3", workload.Source{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	history, want := "", 0
	for _, r := range w.Requests {
		if r.Number == 0 {
			history, want = "", 0
		}
		history += r.Text
		want += r.PromptTokens
		ids, _ := p.Tokens.Encode(t.Context(), history, false)
		if len(ids) != want {
			t.Fatalf("turn %d of %s: %d tokens, want %d", r.Number, r.Session, len(ids), want)
		}
		history += " Yes."
		ids, _ = p.Tokens.Encode(t.Context(), history, false)
		want = len(ids)
	}
}

func TestAChatOfSoManyRequests(t *testing.T) {
	c, source := someTalks(), chatSource()
	c.Conversations, source.Requests = 0, 17
	w, err := build(t, c, "gpt2", source)
	if err != nil || len(w.Requests) != 17 || w.Requests[16].Followed {
		t.Errorf("%d requests, %v", len(w.Requests), err)
	}
	c.Conversations = 2
	if few, err := build(t, c, "gpt2", source); err != nil || len(few.Requests) >= 17 ||
		few.Requests[len(few.Requests)-1].Session != "c1" {
		t.Errorf("of two conversations: %d requests, %v", len(few.Requests), err)
	}
	c.Conversations, source.Requests = 0, 30
	more, _ := build(t, c, "gpt2", source)
	for i := range 15 { // the last conversation may have been cut
		if string(w.Requests[i].Messages) != string(more.Requests[i].Messages) {
			t.Errorf("request %d is another when there are more", i)
		}
	}
}

func TestAChatEndsWhereItDoesNotFit(t *testing.T) {
	c := someTalks()
	c.Input, c.Turns, c.Prefix, c.Fit = upTo(80), arrival.ConstantCount(9), 60, 120
	w, err := build(t, c, "gpt2", chatSource())
	if err != nil || len(w.Notes) != 2 || w.Notes[0].Code != turnsCut || w.Notes[0].Args["of"] != 20.0 ||
		w.Notes[0].Args["limit"] != 120.0 ||
		w.Notes[1].Code != talksCut || w.Notes[1].Args["limit"] != 120.0 {
		t.Fatal(err, w.Notes)
	}
	sum := 0
	for _, r := range w.Requests {
		if r.Number == 0 {
			sum = 0
		}
		if sum += r.PromptTokens + r.OutputTokens; sum > 120 {
			t.Errorf("%s turn %d: %d tokens", r.Session, r.Number, sum)
		}
	}
}

func TestAChatNeedsText(t *testing.T) {
	if _, err := build(t, someTalks(), "", chatSource()); err == nil ||
		!strings.Contains(err.Error(), "name a tokenizer") {
		t.Error(err)
	}
}

const recordings = `{"id": "a", "timestamp": 2.5, "system": "Be brief.", "turns": [{"text": "One", "output_tokens": 5}, {"text": "Two", "think_ms": 1500, "output_length": 6}]}

{"messages": [{"role": "system", "content": "Tools."}, {"role": "user", "content": "How warm?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "x"}]}, {"role": "tool", "tool_call_id": "x", "content": "21"}, {"role": "assistant", "content": "It is 21 degrees."}, {"role": "user", "content": "Thanks"}]}
{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Good day to you"}, {"from": "human", "value": "Bye"}, {"from": "gpt", "value": "Bye"}]}
`

func mustRead(t *testing.T, text string) []talk {
	t.Helper()
	talks, err := readTalks(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return talks
}

func buildTalks(t *testing.T, how replayedTalks, text, tokenizer string, s workload.Source) workload.Workload {
	t.Helper()
	how.talks = mustRead(t, text)
	w, err := build(t, &how, tokenizer, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRecordedConversations(t *testing.T) {
	w := buildTalks(t, replayedTalks{Think: new(arrival.FixedDuration(time.Minute))}, recordings, "gpt2", chatSource())
	want := []struct {
		messages string
		after    int
		think    time.Duration
		output   int // 0: as the tokenizer counts
	}{
		{`[{"role":"system","content":"Be brief."},{"role":"user","content":"One"}]`, 0, 0, 5},
		{`[{"role":"user","content":"Two"}]`, 1, 1500 * time.Millisecond, 6},
		{`[{"role":"system","content":"Tools."},{"role":"user","content":"How warm?"}]`, 0, 0, 0},
		{`[{"role":"user","content":"21"}]`, 3, time.Minute, 0},
		{`[{"role":"user","content":"Hello"}]`, 0, 0, 0},
		{`[{"role":"user","content":"Bye"}]`, 5, time.Minute, 0},
	}
	if len(w.Requests) != len(want) {
		t.Fatalf("%d requests", len(w.Requests))
	}
	for i, r := range w.Requests {
		x := want[i]
		if got := compact(r.Messages); got != x.messages || r.After != x.after || r.Think != x.think ||
			r.Remember != (x.after > 0) || r.OutputTokens == 0 || x.output > 0 && r.OutputTokens != x.output {
			t.Errorf("request %d: %s %+v", i, got, r)
		}
	}
	if w.Requests[0].At != 2500*time.Millisecond {
		t.Errorf("at %v", w.Requests[0].At)
	}
	if diff := cmp.Diff([]plan.Message{plan.Msg(toolResults, "results", 1), plan.Msg(talksOpen, "conversations", 1)},
		w.Notes); diff != "" {
		t.Error(diff)
	}
}

func compact(raw json.RawMessage) string {
	var m []map[string]any
	_ = json.Unmarshal(raw, &m)
	out := "["
	for i, x := range m {
		if i > 0 {
			out += ","
		}
		out += `{"role":"` + x["role"].(string) + `","content":"` + x["content"].(string) + `"}`
	}
	return out + "]"
}

// With the recorded history, a request is the whole conversation until then, calls of tools
// included, and still waits for its turn.
func TestTheRecordedHistory(t *testing.T) {
	w := buildTalks(t, replayedTalks{History: "recorded", Output: Size{Fixed: 4}}, recordings, "", chatSource())
	r := w.Requests[3]
	for _, part := range []string{`"How warm?"`, `"tool_calls"`, `"tool_call_id"`} {
		if !strings.Contains(string(r.Messages), part) {
			t.Errorf("no %s in %s", part, r.Messages)
		}
	}
	if r.Remember || r.After != 3 || w.Requests[2].Followed || len(w.Requests) != 7 {
		t.Errorf("%d requests, %+v", len(w.Requests), r)
	}
}

func TestRecordedConversationsAsText(t *testing.T) {
	list := `[{"conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"},
		{"from": "human", "value": "Bye"},
		{"from": "gpt", "value": "Bye"}]},
		{"conversations": []}]`
	w := buildTalks(t, replayedTalks{Output: Size{Fixed: 3}}, list, "", workload.Source{Requests: 9})
	if len(w.Requests) != 2 || w.Requests[0].Text != "Hello" || w.Requests[1].Text != "\nBye" {
		t.Errorf("%+v", w.Requests)
	}
	if w := buildTalks(t, replayedTalks{Output: Size{Fixed: 3}}, list, "",
		workload.Source{Requests: 1}); len(w.Requests) != 1 || w.Requests[0].Followed {
		t.Errorf("%+v", w.Requests)
	}
}

// An answer may be several messages: the history has them all.
func TestARecordedAnswerThatWentOn(t *testing.T) {
	const one = `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", ` +
		`"content": "b"}, {"role": "assistant", "content": "c"}, {"role": "user", ` +
		`"content": "d"}, {"role": "assistant", "content": "e"}]}`
	w := buildTalks(t, replayedTalks{Output: Size{Fixed: 3}, History: "recorded"}, one, "", chatSource())
	want := `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"},` +
		`{"role":"user","content":"d"}]`
	if got := string(w.Requests[1].Messages); got != want {
		t.Errorf("got %s", got)
	}
}

func TestMistakesInConversations(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no conversations in it",
		`{"turns": []}`:             "no conversations in it",
		`{"prompt": "x"}`:           `line 1: none of the fields "turns", "messages" and "conversations" is there`,
		`{"turns": [{"txt": "x"}]}`: `line 1: turn 1: field "text" is missing`,
		`{"turns": "x"}`:            `line 1: not a JSON object of a conversation: field "turns" is a JSON string`,
		`{"messages": ["x"]}`:       "line 1: message 1: must be an object with a role and a content",
		`{`:                         "line 1: not a JSON object of a conversation",
		`[{"messages": ["x"]}]`:     "conversation 1: message 1: must be",
		`[{"turns": [{"text":"a"}]`: "conversation 1, at byte",
		`{"turns": [{"text": "x", "think_ms": -1}]}`:      `line 1: turn 1: field "think_ms" is negative`,
		`{"turns": [{"text": "x", "output_tokens": .5}]}`: "line 1: not a JSON object",
		`{"turns": [{"text": "x", "output_tokens": 0.5}]}`: `line 1: turn 1: field "output_tokens" is 0.5: must be a ` +
			`number of tokens`,
	} {
		talks, err := readTalks(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v\nwant %s", text, talks, err, want)
		}
	}
	unsaid := mustRead(t, `{"turns": [{"text": "x"}]}`)
	if _, err := build(t, &replayedTalks{talks: unsaid}, "", workload.Source{}); err == nil ||
		!strings.Contains(err.Error(), "output_len: is needed: conversation 1, turn 1 of ") {
		t.Error(err)
	}
	if _, err := build(t, &replayedTalks{talks: unsaid, Output: Size{Fixed: 1}}, "",
		workload.Source{NeedTime: true}); err == nil ||
		!strings.Contains(err.Error(), `conversation 1: field "timestamp" is missing`) {
		t.Error(err)
	}
}

func FuzzReadTalks(f *testing.F) {
	for line := range strings.Lines(recordings) {
		f.Add(line)
	}
	f.Add("[" + strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(recordings, "\n\n", "\n")), "\n", ",") + "]")
	f.Fuzz(func(t *testing.T, text string) {
		talks, err := readTalks(strings.NewReader(text))
		if err != nil {
			return
		}
		w, err := build(t, &replayedTalks{talks: talks, Output: Size{Fixed: 2}}, "", chatSource())
		if err != nil {
			return
		}
		for i, r := range w.Requests {
			if r.After != 0 && r.After != i || !json.Valid(r.Messages) {
				t.Errorf("request %d: %+v", i, r)
			}
		}
	})
}
