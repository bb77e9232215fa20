package traffic

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

func sprint(a ...any) string { return fmt.Sprint(a...) }

func readFile(t *testing.T, name string, format Format) *Trace {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tr, err := ReadTrace(file, format)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestFormatsAreRecognized(t *testing.T) {
	sec := time.Second
	for name, want := range map[string]*Trace{
		"azure2023.csv": {Format: Azure, Rows: []Row{
			{Line: 2, Input: 480, Output: 21},
			{Line: 3, At: 52 * time.Millisecond, Input: 1320, Output: 14},
			{Line: 4, At: 98140 * time.Microsecond, Input: 77, Output: 130},
			{Line: 5, At: 30*sec + 520040*time.Microsecond, Input: 505},
			{Line: 6, At: 61 * sec, Input: 2048, Output: 9},
		}},
		"azure2024.csv": {Format: Azure, Rows: []Row{
			{Line: 2, Input: 1800, Output: 7},
			{Line: 4, At: 7405 * time.Microsecond, Input: 90, Output: 15},
			{Line: 3, At: 995800 * time.Microsecond, Input: 2500, Output: 6},
		}, Notes: []plan.Message{plan.Say(traceSorted)}},
		"burstgpt.csv": {Format: BurstGPT, Rows: []Row{
			{Line: 2, Input: 300, Output: 25, Model: "ChatGPT", Kind: "Conversation log"},
			{Line: 3, At: 40 * sec, Input: 900, Output: 150, Model: "ChatGPT", Kind: "Conversation log"},
			{Line: 4, At: 113 * sec, Input: 400, Output: 260, Model: "GPT-4", Kind: "Conversation log"},
			{Line: 5, At: 115 * sec, Input: 1200, Model: "ChatGPT", Kind: "API log"},
			{Line: 6, At: 120*sec + sec/2, Input: 80, Output: 35, Model: "ChatGPT", Kind: "API log"},
		}},
		"burstgpt_sessions.csv": {Format: BurstGPT, Rows: []Row{
			{Line: 2, Input: 20, Output: 30, Model: "GPT-4", Kind: "Conversation log"},
			{Line: 3, At: 2 * sec, Input: 120, Output: 40, Model: "GPT-4", Kind: "Conversation log"},
		}},
		"mooncake.jsonl": {Format: Mooncake, Rows: []Row{
			{Line: 1, Input: 1200, Output: 52, Blocks: []int64{0, 1, 2}},
			{Line: 2, Input: 1300, Output: 26, Blocks: []int64{0, 1, 3}},
			{Line: 3, At: 2500 * time.Millisecond, Input: 1700, Output: 3, Blocks: []int64{0, 1, 2, 7}},
			{Line: 5, At: 6 * sec, Input: 40, Output: 3, Blocks: []int64{9}},
		}},
	} {
		for _, format := range []Format{"", want.Format} {
			if diff := cmp.Diff(want, readFile(t, name, format)); diff != "" {
				t.Errorf("%s as %q: %s", name, format, diff)
			}
		}
	}
}

// Tools that write tables may put everything in quotes.
func TestATraceInQuotes(t *testing.T) {
	tr, err := ReadTrace(strings.NewReader("\ufeff\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\r\n\"2023-11-20 09:00:01\",\"480\",\"21\"\r\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Row{{Line: 2, Input: 480, Output: 21}}, tr.Rows); diff != "" || tr.Format != Azure {
		t.Errorf("%s: %s", tr.Format, diff)
	}
}

// What is wrong is told with its line and its field, several at once.
func TestMistakesInTraces(t *testing.T) {
	const azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for _, tt := range []struct {
		name, text string
		format     Format
		want       []string
	}{
		{"nothing", "", "", []string{"no requests: the file is empty"}},
		{"other columns", "a,b\n1,2\n", "", []string{`line 1: "a,b" is the beginning of no trace known here: azure begins with the columns TIMESTAMP,ContextTokens,GeneratedTokens`}},
		{"another format", azure, BurstGPT, []string{"no trace of the format burstgpt, which begins with the columns Timestamp,Request tokens,Response tokens"}},
		{"no rows", azure, "", []string{"no requests in it"}},
		{"wrong fields", azure + "yesterday,5,6\n2023-11-20 09:00:01,-5,x\n", "", []string{
			`line 2: column TIMESTAMP: "yesterday" is not a time such as 2023-11-20 09:00:01.25`,
			"line 3: column ContextTokens: \"-5\" is not a number of tokens\ncolumn GeneratedTokens: \"x\" is not a number",
		}},
		{"a short row", azure + "2023-11-20 09:00:01,5\n", "", []string{"record on line 2: wrong number of fields"}},
		{"many", azure + strings.Repeat("x,1,1\n", 9), "", []string{"line 6:", "the lines after that were not looked at"}},
		{"lines", `{"timestamp": 1, "input_length": 5, "output_length": 1.5}` + "\n" + `{"input_length": "5"}` + "\n{\n", "", []string{
			`line 1: field "output_length" is 1.5: must be a number of tokens`, `line 2: not a JSON object of a request: field "input_length" is a JSON string`, "line 3: not a JSON object",
		}},
		{"times too far apart", "Timestamp,Request tokens,Response tokens\n9e9,1,1\n-9e9,1,1\n", "", []string{`line 2: column Timestamp: "9e9" is not a number of seconds`, "line 3"}},
		{"an object of something else", `{"prompt": "a"}`, "", []string{"line 1: an object without input_length"}},
	} {
		_, err := ReadTrace(strings.NewReader(tt.text), tt.format)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %s", tt.name, err, want)
			}
		}
	}
}

func lines(rows []Row) (out []int) {
	for _, r := range rows {
		out = append(out, r.Line)
	}
	return out
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		file string
		s    Selection
		want []int
		note []plan.Message
	}{
		{"azure2023.csv", Selection{}, []int{2, 3, 4, 6}, []plan.Message{plan.Say(traceEmptyRows, "rows", 1)}},
		{"azure2023.csv", Selection{Span: Span{From: 50 * time.Millisecond, To: 61 * time.Second}}, []int{3, 4}, []plan.Message{plan.Say(traceEmptyRows, "rows", 1)}},
		{"azure2023.csv", Selection{Span: Span{From: time.Second}}, []int{6}, []plan.Message{plan.Say(traceEmptyRows, "rows", 1)}},
		{"azure2023.csv", Selection{Rows: 2}, []int{2, 3}, nil},
		{"azure2023.csv", Selection{Rows: 9}, []int{2, 3, 4, 6}, []plan.Message{plan.Say(traceShort, "have", 4, "asked", 9), plan.Say(traceEmptyRows, "rows", 1)}},
		{"burstgpt.csv", Selection{Model: "GPT-4"}, []int{4}, nil},
		{"burstgpt.csv", Selection{Kind: "api"}, []int{6}, []plan.Message{plan.Say(traceEmptyRows, "rows", 1)}},
	} {
		rows, notes, err := readFile(t, tt.file, "").Select(tt.s)
		if err != nil || !slices.Equal(lines(rows), tt.want) || !cmp.Equal(notes, tt.note) {
			t.Errorf("%+v: %v, %v, %v", tt.s, lines(rows), notes, err)
		}
	}
	for want, s := range map[string]Selection{
		`model "GPT-5": the trace has ChatGPT, GPT-4`:              {Model: "GPT-5"},
		`log type "chat": the trace has API log, Conversation log`: {Kind: "chat"},
		"the slice begins at 1h0m0s, and the trace ends at 2m0.5s": {Span: Span{From: time.Hour}},
		"none of its 5 rows, over 2m0.5s, is among those":          {Span: Span{From: time.Second, To: 2 * time.Second}},
	} {
		if _, _, err := readFile(t, "burstgpt.csv", "").Select(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A share of a trace is near that share, and of a slice the same rows.
func TestAShareOfATrace(t *testing.T) {
	tr := &Trace{Format: Azure}
	for i := range 10000 {
		tr.Rows = append(tr.Rows, Row{Line: i + 2, At: time.Duration(i) * time.Second, Input: 1, Output: 1})
	}
	s := Selection{Share: 0.3}
	all, _, err := tr.Select(s)
	if n := len(all); err != nil || n < 2817 || n > 3183 { // 4 standard deviations of a binomial
		t.Errorf("%d rows, %v", n, err)
	}
	s.Span = Span{From: 5000 * time.Second}
	late, _, err := tr.Select(s)
	if err != nil || !slices.Equal(lines(late), lines(all[len(all)-len(late):])) {
		t.Errorf("a slice has other rows (%v)", err)
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]Span{
		"10m..20m": {10 * time.Minute, 20 * time.Minute}, "1h..": {From: time.Hour}, "..30s": {To: 30 * time.Second}, "..": {},
	} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"10m": "must be FROM..TO", "a..b": `"a" is not a time`, "-1s..": "is not a time", "2m..1m": "ends before it begins"} {
		if _, err := ParseSpan(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Equal hash ids give equal blocks, and nothing else is equal.
func TestReplaySharesWhatTheTraceShares(t *testing.T) {
	for _, name := range []string{"", "gpt2", "llama3"} {
		p := prompter(t, name)
		rows, _, err := readFile(t, "mooncake.jsonl", "").Select(Selection{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := Replay{Rows: rows, IDPrefix: "x-"}.Build(t.Context(), p)
		if err != nil || len(w.Requests) != 4 || w.Notes != nil {
			t.Fatal(err, w.Notes)
		}
		var ids [][]int32
		for i, r := range w.Requests {
			prompt := r.Tokens
			if p.tok != nil {
				prompt, _ = p.tok.Encode(t.Context(), r.Text, true)
			}
			if len(prompt) != rows[i].Input || r.OutputTokens != rows[i].Output || r.At != rows[i].At || r.ID != "x-"+sprint(i) {
				t.Errorf("%q, request %d: %d tokens, %+v", name, i, len(prompt), rows[i])
			}
			ids = append(ids, prompt)
		}
		around := p.vocab.Around
		for _, c := range []struct{ a, b, same int }{{0, 1, 1024}, {0, 2, 1200 - around}, {0, 3, 0}} {
			n := around
			for n < len(ids[c.a]) && n < len(ids[c.b]) && ids[c.a][n] == ids[c.b][n] {
				n++
			}
			if n -= around; n < c.same || n > c.same+2 { // one id more may be equal by chance
				t.Errorf("%q: prompts %d and %d share %d tokens, want %d", name, c.a, c.b, n, c.same)
			}
		}
	}
}

func TestASliceSendsWhatTheWholeSendsThere(t *testing.T) {
	p := prompter(t, "gpt2")
	tr := readFile(t, "azure2023.csv", "")
	whole, _, _ := tr.Select(Selection{})
	part, _, _ := tr.Select(Selection{Span: Span{From: 60 * time.Millisecond}})
	a, err1 := Replay{Rows: whole}.Build(t.Context(), p)
	b, err2 := Replay{Rows: part}.Build(t.Context(), p)
	if err1 != nil || err2 != nil || a.Requests[2].Text != b.Requests[0].Text || a.Requests[3].Text != b.Requests[1].Text {
		t.Errorf("other prompts (%v, %v)", err1, err2)
	}
	if a.Requests[0].Text[:40] == a.Requests[1].Text[:40] {
		t.Error("two prompts begin alike")
	}
}

func TestReplayFitsAndSaysSo(t *testing.T) {
	rows := []Row{{Line: 1, Input: 100, Output: 10}, {Line: 2, Input: 5, Output: 90}, {Line: 3, Input: 700, Output: 3, Blocks: []int64{1}}, {Line: 4, Input: 10, Output: 10}}
	w, err := Replay{Rows: rows, Fit: 50}.Build(t.Context(), prompter(t, ""))
	var got []Pair
	for _, r := range w.Requests {
		got = append(got, Pair{len(r.Tokens), r.OutputTokens})
	}
	want := []Pair{{40, 10}, {1, 49}, {47, 3}, {10, 10}}
	notes := []plan.Message{
		plan.Say(promptsCut, "cut", 3, "of", 4, "limit", 50), plan.Say(answersCut, "cut", 1, "of", 4, "limit", 49),
		plan.Say(promptsUncovered, "prompts", 1, "block", 512),
	}
	if diff := cmp.Diff(want, got) + cmp.Diff(notes, w.Notes); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzReadTrace(f *testing.F) {
	for _, name := range []string{"azure2023.csv", "burstgpt.csv", "mooncake.jsonl"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("Timestamp,Request tokens,Response tokens \n00,,")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := ReadTrace(strings.NewReader(text), "")
		if err != nil {
			return
		}
		if len(tr.Rows) == 0 || tr.Rows[0].At != 0 {
			t.Errorf("%d rows", len(tr.Rows))
		}
		for i, r := range tr.Rows {
			if r.Input < 0 || r.Output < 0 || i > 0 && r.At < tr.Rows[i-1].At {
				t.Errorf("row %+v", r)
			}
		}
	})
}
