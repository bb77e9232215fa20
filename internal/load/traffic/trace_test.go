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

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

func sprint(a ...any) string { return fmt.Sprint(a...) }

func readFile(t *testing.T, name string, format string) *trace {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tr, err := readTrace(file, format, "")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestFormatsAreRecognized(t *testing.T) {
	sec := time.Second
	for name, want := range map[string]*trace{
		"azure2023.csv": {format: azure, rows: []traceRow{
			{line: 2, input: 480, output: 21},
			{line: 3, at: 52 * time.Millisecond, input: 1320, output: 14},
			{line: 4, at: 98140 * time.Microsecond, input: 77, output: 130},
			{line: 5, at: 30*sec + 520040*time.Microsecond, input: 505},
			{line: 6, at: 61 * sec, input: 2048, output: 9},
		}},
		"azure2024.csv": {format: azure, rows: []traceRow{
			{line: 2, input: 1800, output: 7},
			{line: 4, at: 7405 * time.Microsecond, input: 90, output: 15},
			{line: 3, at: 995800 * time.Microsecond, input: 2500, output: 6},
		}, notes: []plan.Message{plan.Msg(traceSorted)}},
		"burstgpt.csv": {format: burstGPT, rows: []traceRow{
			{line: 2, input: 300, output: 25, model: "ChatGPT", kind: "Conversation log"},
			{line: 3, at: 40 * sec, input: 900, output: 150, model: "ChatGPT", kind: "Conversation log"},
			{line: 4, at: 113 * sec, input: 400, output: 260, model: "GPT-4", kind: "Conversation log"},
			{line: 5, at: 115 * sec, input: 1200, model: "ChatGPT", kind: "API log"},
			{line: 6, at: 120*sec + sec/2, input: 80, output: 35, model: "ChatGPT", kind: "API log"},
		}},
		"burstgpt_sessions.csv": {format: burstGPT, rows: []traceRow{
			{line: 2, input: 20, output: 30, model: "GPT-4", kind: "Conversation log"},
			{line: 3, at: 2 * sec, input: 120, output: 40, model: "GPT-4", kind: "Conversation log"},
		}},
		"mooncake.jsonl": {format: mooncake, rows: []traceRow{
			{line: 1, input: 1200, output: 52, blocks: []int64{0, 1, 2}},
			{line: 2, input: 1300, output: 26, blocks: []int64{0, 1, 3}},
			{line: 3, at: 2500 * time.Millisecond, input: 1700, output: 3, blocks: []int64{0, 1, 2, 7}},
			{line: 5, at: 6 * sec, input: 40, output: 3, blocks: []int64{9}},
		}},
		"bailian.jsonl": {format: bailian, fractions: true, rows: []traceRow{
			{line: 1, input: 40, output: 12, blocks: []int64{7, 8, 9}, kind: "text"},
			{line: 2, at: 1250 * time.Millisecond, input: 20, output: 5, blocks: []int64{11, 12}, kind: "search"},
			{line: 3, at: 61114 * time.Millisecond, input: 52, output: 8, blocks: []int64{7, 8, 9, 13}, kind: "text"},
		}},
	} {
		for _, format := range []string{want.format, ""} {
			if want.unit = units[want.format]; format == "" && inLines(want.format) {
				want.notes = append(want.notes, plan.Msg(traceUnit, "unit", want.unit, "length", want.length()))
			}
			if diff := cmp.Diff(want, readFile(t, name, format), inside); diff != "" {
				t.Errorf("%s as %q: %s", name, format, diff)
			}
		}
	}
}

// The unit of the times of lines is not documented: the one taken is reported where it was a guess,
// and where it cannot be right.
func TestUnitsOfTraces(t *testing.T) {
	lines := func(times ...string) string {
		text := ""
		for _, at := range times {
			text += `{"timestamp": ` + at + `, "input_length": 10, "output_length": 5}` + "\n"
		}
		return text
	}
	for _, tt := range []struct {
		name, text, format, unit string
		length                   time.Duration
		note                     plan.Code
	}{
		{"guessed", lines("0", "3000"), "", "", 3 * time.Second, traceUnit},
		{"by its format", lines("0", "3000"), mooncake, "", 3 * time.Second, ""},
		{"as asked", lines("0", "3000"), "", "ms", 3 * time.Second, ""},
		{"fractions", lines("0.5", "9000.5"), mooncake, "", 9 * time.Second, traceUnitOdd},
		{"seconds", lines("0.5", "1.5"), "", "", time.Millisecond, traceUnitOdd},
		{"whole seconds", lines("0", "60", "900"), "", "", 900 * time.Millisecond, traceUnitOdd},
		{"seconds, as asked", lines("0.5", "1.5"), "", "s", time.Second, ""},
		{"microseconds", lines("0", "2500000"), "", "us", 2500 * time.Millisecond, ""},
		{"one line", lines("7"), mooncake, "", 0, ""},
		{
			"a table in milliseconds", "Timestamp,Request tokens,Response tokens\n0,1,1\n2500,1,1\n", "", "ms",
			2500 * time.Millisecond, "",
		},
		{
			"Bailian's form as Mooncake's",
			`{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0, "input_length": 1, "output_length": 1}` + "\n" +
				lines("2000"), mooncake, "", 2 * time.Second, "",
		},
	} {
		tr, err := readTrace(strings.NewReader(tt.text), tt.format, tt.unit)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var code plan.Code
		if len(tr.notes) > 0 {
			code = tr.notes[0].Code
		}
		if tr.length() != tt.length || code != tt.note || len(tr.notes) > 1 {
			t.Errorf("%s: %v, %v", tt.name, tr.length(), tr.notes)
		}
	}
	if _, err := readTrace(strings.NewReader("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-20 09:00:01,1,1\n"), "",
		"s"); err == nil || !strings.Contains(err.Error(), "are dates") {
		t.Errorf("%v", err)
	}
}

// A block of Bailian's has 16 tokens, unless another length is asked for.
func TestBlocksOfATrace(t *testing.T) {
	for _, tt := range []struct {
		d    traced
		want int
	}{{traced{format: bailian}, 16}, {traced{format: mooncake}, 512}, {traced{format: bailian, BlockLen: 64}, 64}} {
		if got := tt.d.block(); got != tt.want {
			t.Errorf("%+v: %d", tt.d, got)
		}
	}
}

// Tools that write tables may put everything in quotes.
func TestATraceInQuotes(t *testing.T) {
	tr, err := readTrace(strings.NewReader("\ufeff\"TIMESTAMP\",\"ContextTokens\",\"GeneratedTokens\"\r\n"+
		"\"2023-11-20 09:00:01\",\"480\",\"21\"\r\n"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]traceRow{{line: 2, input: 480, output: 21}}, tr.rows, inside); diff != "" || tr.format != azure {
		t.Errorf("%s: %s", tr.format, diff)
	}
}

// Faults are reported with line and field, several at once.
func TestMistakesInTraces(t *testing.T) {
	const header = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for _, tt := range []struct {
		name, text string
		format     string
		want       []string
	}{
		{"nothing", "", "", []string{"no requests: the file is empty"}},
		{
			"other columns", "a,b\n1,2\n", "",
			[]string{`line 1: "a,b" is the beginning of no trace known here: azure begins with the columns ` +
				`TIMESTAMP,ContextTokens,GeneratedTokens`},
		},
		{
			"another format", header, burstGPT,
			[]string{"no trace of the format burstgpt, which begins with the columns Timestamp,Request tokens,Response tokens"},
		},
		{"no rows", header, "", []string{"no requests in it"}},
		{"wrong fields", header + "yesterday,5,6\n2023-11-20 09:00:01,-5,x\n", "", []string{
			`line 2: column TIMESTAMP: "yesterday" is not a time such as 2023-11-20 09:00:01.25`,
			"line 3: column ContextTokens: \"-5\" is not a number of tokens\ncolumn GeneratedTokens: \"x\" is not a number",
		}},
		{"a short row", header + "2023-11-20 09:00:01,5\n", "", []string{"record on line 2: wrong number of fields"}},
		{"many", header + strings.Repeat("x,1,1\n", 9), "", []string{"line 6:", "the lines after that were not looked at"}},
		{
			"lines", `{"timestamp": 1, "input_length": 5, "output_length": 1.5}` + "\n" + `{"input_length": "5"}` + "\n{\n", "",
			[]string{
				`line 1: field "output_length" is 1.5: must be a number of tokens`,
				`line 2: not a JSON object of a request: field "input_length" is a JSON string`, "line 3: not a JSON object",
			},
		},
		{
			"times too far apart", "Timestamp,Request tokens,Response tokens\n9e9,1,1\n-9e9,1,1\n", "",
			[]string{`line 2: column Timestamp: "9e9" is not a number of seconds`, "line 3"},
		},
		{"an object of something else", `{"prompt": "a"}`, "", []string{"line 1: an object without input_length"}},
	} {
		_, err := readTrace(strings.NewReader(tt.text), tt.format, "")
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant %s", tt.name, err, want)
			}
		}
	}
}

func lines(rows []traceRow) (out []int) {
	for _, r := range rows {
		out = append(out, r.line)
	}
	return out
}

// choose takes rows of a trace by the settings of a dataset.
func (d traced) choose(t *testing.T, tr *trace, requests int) (*traced, error) {
	t.Helper()
	if d.Slice != "" {
		var err error
		if d.span, err = parseSpan(d.Slice); err != nil {
			t.Fatal(err)
		}
	}
	return &d, d.take(tr, &workload.Source{Requests: requests})
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		file     string
		d        traced
		requests int
		want     []int
		note     []plan.Message
	}{
		{"azure2023.csv", traced{}, 0, []int{2, 3, 4, 6}, []plan.Message{plan.Msg(traceEmptyRows, "rows", 1)}},
		{"azure2023.csv", traced{Slice: "50ms..61s"}, 0, []int{3, 4}, []plan.Message{plan.Msg(traceEmptyRows, "rows", 1)}},
		{"azure2023.csv", traced{Slice: "1s.."}, 0, []int{6}, []plan.Message{plan.Msg(traceEmptyRows, "rows", 1)}},
		{"azure2023.csv", traced{}, 2, []int{2, 3}, nil},
		{
			"azure2023.csv",
			traced{},
			9,
			[]int{2, 3, 4, 6},
			[]plan.Message{plan.Msg(traceShort, "have", 4, "asked", 9), plan.Msg(traceEmptyRows, "rows", 1)},
		},
		{"burstgpt.csv", traced{Model: "GPT-4"}, 0, []int{4}, nil},
		{"burstgpt.csv", traced{LogType: "api"}, 0, []int{6}, []plan.Message{plan.Msg(traceEmptyRows, "rows", 1)}},
	} {
		d, err := tt.d.choose(t, readFile(t, tt.file, ""), tt.requests)
		if err != nil || !slices.Equal(lines(d.rows), tt.want) || !cmp.Equal(d.notes, tt.note) {
			t.Errorf("%+v: %v, %v, %v", tt.d, lines(d.rows), d.notes, err)
		}
	}
	for want, d := range map[string]traced{
		`model "GPT-5": the trace has ChatGPT, GPT-4`:              {Model: "GPT-5"},
		`log type "chat": the trace has API log, Conversation log`: {LogType: "chat"},
		"the slice begins at 1h0m0s, and the trace ends at 2m0.5s": {Slice: "1h.."},
		"none of its 5 rows, over 2m0.5s, is among those":          {Slice: "1s..2s"},
	} {
		if _, err := d.choose(t, readFile(t, "burstgpt.csv", ""), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A share of a trace is near that share, and of a slice the same rows.
func TestAShareOfATrace(t *testing.T) {
	tr := &trace{format: azure}
	for i := range 10000 {
		tr.rows = append(tr.rows, traceRow{line: i + 2, at: time.Duration(i) * time.Second, input: 1, output: 1})
	}
	all, err := traced{Sample: 0.3}.choose(t, tr, 0)
	if n := len(all.rows); err != nil || n < 2817 || n > 3183 { // 4 standard deviations of a binomial
		t.Errorf("%d rows, %v", n, err)
	}
	late, err := traced{Sample: 0.3, Slice: "5000s.."}.choose(t, tr, 0)
	if err != nil || !slices.Equal(lines(late.rows), lines(all.rows[len(all.rows)-len(late.rows):])) {
		t.Errorf("a slice has other rows (%v)", err)
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]span{
		"10m..20m": {10 * time.Minute, 20 * time.Minute}, "1h..": {from: time.Hour},
		"..30s": {to: 30 * time.Second}, "..": {},
	} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"10m": "must be FROM..TO", "a..b": `"a" is not a time`, "-1s..": "is not a time", "2m..1m": "ends before it begins",
	} {
		if _, err := parseSpan(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Equal hash ids give equal blocks, and nothing else is equal.
func TestReplaySharesWhatTheTraceShares(t *testing.T) {
	for _, name := range []string{"", "gpt2", "llama3"} {
		p := newWords(t, name)
		d, err := traced{}.choose(t, readFile(t, "mooncake.jsonl", mooncake), 0)
		if err != nil {
			t.Fatal(err)
		}
		rows := d.rows
		w, err := build(t, d, name, workload.Source{IDPrefix: "x-"})
		if err != nil || len(w.Requests) != 4 || w.Notes != nil {
			t.Fatal(err, w.Notes)
		}
		var ids [][]int32
		for i, r := range w.Requests {
			prompt := r.Tokens
			if p.Tokens != nil {
				prompt, _ = p.Tokens.Encode(t.Context(), r.Text, true)
			}
			if len(prompt) != rows[i].input || r.OutputTokens != rows[i].output || r.At != rows[i].at || r.ID != "x-"+sprint(i) {
				t.Errorf("%q, request %d: %d tokens, %+v", name, i, len(prompt), rows[i])
			}
			ids = append(ids, prompt)
		}
		around := p.Vocab.Around
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
	tr := readFile(t, "azure2023.csv", "")
	whole, _ := traced{}.choose(t, tr, 0)
	part, _ := traced{Slice: "60ms.."}.choose(t, tr, 0)
	a, err1 := build(t, whole, "gpt2", workload.Source{})
	b, err2 := build(t, part, "gpt2", workload.Source{})
	if err1 != nil || err2 != nil || a.Requests[2].Text != b.Requests[0].Text || a.Requests[3].Text != b.Requests[1].Text {
		t.Errorf("other prompts (%v, %v)", err1, err2)
	}
	if a.Requests[0].Text[:40] == a.Requests[1].Text[:40] {
		t.Error("two prompts begin alike")
	}
}

func TestReplayFitsAndSaysSo(t *testing.T) {
	rows := []traceRow{
		{line: 1, input: 100, output: 10},
		{line: 2, input: 5, output: 90},
		{line: 3, input: 700, output: 3, blocks: []int64{1}},
		{line: 4, input: 10, output: 10},
	}
	w, err := build(t, &traced{rows: rows, Fit: 50}, "", workload.Source{})
	var got []pair
	for _, r := range w.Requests {
		got = append(got, pair{len(r.Tokens), r.OutputTokens})
	}
	want := []pair{{40, 10}, {1, 49}, {47, 3}, {10, 10}}
	notes := []plan.Message{
		plan.Msg(promptsCut, "cut", 3, "of", 4, "limit", 50), plan.Msg(answersCut, "cut", 1, "of", 4, "limit", 49),
		plan.Msg(promptsUncovered, "prompts", 1, "block", 512),
	}
	if diff := cmp.Diff(want, got, inside) + cmp.Diff(notes, w.Notes); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzReadTrace(f *testing.F) {
	for _, name := range []string{"azure2023.csv", "burstgpt.csv", "mooncake.jsonl", "bailian.jsonl"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("Timestamp,Request tokens,Response tokens \n00,,")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := readTrace(strings.NewReader(text), "", "")
		if err != nil {
			return
		}
		if len(tr.rows) == 0 || tr.rows[0].at != 0 {
			t.Errorf("%d rows", len(tr.rows))
		}
		for i, r := range tr.rows {
			if r.input < 0 || r.output < 0 || i > 0 && r.at < tr.rows[i-1].at {
				t.Errorf("row %+v", r)
			}
		}
	})
}
