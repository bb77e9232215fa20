package ingest

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

func FromText(name, text string) result.Source {
	return result.Source{Name: name, Data: strings.NewReader(text), Size: int64(len(text))}
}

func fromFile(t testing.TB, file string) result.Source {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return result.Source{Name: file, Data: bytes.NewReader(b), Size: int64(len(b))}
}

// one reads a source that has one result and nothing wrong.
func one(t testing.TB, s result.Source) result.Found {
	t.Helper()
	found, problems := result.Read(s, known.formats...)
	if len(found) != 1 || len(problems) > 0 {
		t.Fatalf("%s: %d results, problems %v", s.Name, len(found), problems)
	}
	return found[0]
}

func wholeTrace(t testing.TB, f result.Found) *trace.Trace {
	t.Helper()
	tr, err := f.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// reportOf is the report in the dialect of the result.
func reportOf(t testing.TB, tr *trace.Trace) *vllm.Report {
	t.Helper()
	r, err := vllm.NewReport(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// numbersOf are the members of a result that are numbers.
func numbersOf(t testing.TB, result []byte) map[string]float64 {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(result, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, v := range all {
		if f, ok := v.(float64); ok {
			out[name] = f
		}
	}
	return out
}

// What was computed by the tool from what it saw is computed here from what it
// wrote: failures, chat and vllm-rust are by the client of vLLM 0.33, the others
// by Pitot in its place.
func TestDetailedResultsGiveTheFiguresOfTheirTool(t *testing.T) {
	for _, name := range []string{"failures", "chat", "rust", "pitot"} {
		t.Run(name, func(t *testing.T) {
			f := one(t, fromFile(t, "vllm/"+name+".json"))
			if f.Run.Origin.Detail != trace.Recorded {
				t.Fatalf("it is %s", f.Run.Origin.Detail)
			}
			file, err := os.ReadFile("testdata/vllm/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			again := numbersOf(t, reportOf(t, wholeTrace(t, f)).Result())
			for member, want := range numbersOf(t, file) {
				if member == "input_throughput" { // vllm-rust's own
					continue
				}
				if got, ok := again[member]; !ok || math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s = %v, the file has %v", member, got, want)
				}
			}
		})
	}
}

// The tables are what the tools printed when they wrote the results.
func TestDetailedResultsPrintTheTableOfTheirTool(t *testing.T) {
	for _, name := range []string{"failures", "chat", "pitot"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/vllm/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := reportOf(t, wholeTrace(t, one(t, fromFile(t, "vllm/"+name+".json")))).WriteTable(&got); err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
}

// Earlier forms kept no start of a request, so what needs a common clock cannot
// be computed again.
func TestUndatedResultsGiveWhatNeedsNoCommonClock(t *testing.T) {
	for name, form := range map[string]string{"pitot-2025-12": "2025-12", "pitot-2025-07": "2025-07"} {
		t.Run(name, func(t *testing.T) {
			s := fromFile(t, "vllm/"+name+".json")
			f := one(t, s)
			if o := f.Run.Origin; o.Detail != trace.Undated || o.Form != form {
				t.Fatalf("it is %s, of form %s", o.Detail, o.Form)
			}
			tr := wholeTrace(t, f)
			file, err := os.ReadFile("testdata/vllm/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			again := numbersOf(t, reportOf(t, tr).Result())
			for member, want := range numbersOf(t, file) {
				if strings.HasPrefix(member, "max_") {
					continue
				}
				if got, ok := again[member]; !ok || math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s = %v, the file has %v", member, got, want)
				}
			}
			for _, r := range tr.Records {
				if r.Released != 0 || r.Due != 0 || r.Sent != 0 || len(r.Chunks) > 0 && r.Done != r.Chunks[len(r.Chunks)-1].At {
					t.Fatalf("request %d does not count from its own start: %+v", r.Index, r)
				}
			}
		})
	}
}

func TestRecordsOfADetailedResult(t *testing.T) {
	f := one(t, FromText("a.json", `{"completed": 2, "failed": 2, "duration": 3, "total_input_tokens": 10, "total_output_tokens": 4,
		"input_lens": [5, 6, 7, 5], "output_lens": [3, 0, 0, 1], "ttfts": [0.5, 0.0, 0.25, 0.125], "itls": [[0.1, 0.2], [], [0.5], []],
		"latencies": [0.8, 0.0, 0.0, 0.125], "start_times": [100.5, 100.0, 101.0, 102], "queue_times": [0.25, 0.0, 0.0, 1.5],
		"generated_texts": ["\u4e09 d", "", "x", ""], "errors": ["", "Bad Gateway", "Traceback (most recent call last):\n  File\nTimeoutError: it took long", ""]}`))
	tr := wholeTrace(t, f)
	want := []struct {
		released, due, done trace.Instant
		chunks              []trace.Instant
		class               trace.Class
		text, failure       string
	}{
		{5e8, 25e7, 13e8, []trace.Instant{10e8, 11e8, 13e8}, "", "三 d", ""},
		{0, 0, 0, nil, trace.Other, "", "Bad Gateway"},
		{10e8, 10e8, 175e7, []trace.Instant{125e7, 175e7}, trace.Other, "x", "TimeoutError: it took long"},
		{20e8, 5e8, 2125e6, []trace.Instant{2125e6}, "", "", ""},
	}
	for i, w := range want {
		r := tr.Records[i]
		if r.Index != i || r.Released != w.released || r.Sent != w.released || r.Due != w.due || r.Done != w.done || r.Class != w.class || r.Text != w.text || r.Error != w.failure {
			t.Errorf("record %d: %+v", i, r)
		}
		if len(r.Chunks) != len(w.chunks) {
			t.Errorf("record %d: chunks %v", i, r.Chunks)
			continue
		}
		for k, c := range r.Chunks {
			if c.At != w.chunks[k] || c.Kind != trace.Text {
				t.Errorf("record %d: chunks %v, want %v", i, r.Chunks, w.chunks)
			}
		}
	}
	if r := tr.Records[0]; r.PromptTokens != 5 || r.Usage.Prompt != 5 || r.OutputTokens != 3 || r.CountedFrom != trace.FromUsage {
		t.Errorf("tokens of %+v", r)
	}
	if len(f.Run.Notes) != 0 {
		t.Errorf("notes %q", f.Run.Notes)
	}
}

// What a request waited for a place in flight is not the client's lateness.
// A time to the first token of 0 is that of an answer of which the tool saw no text.
func TestAnAnswerWithoutTextHasNoFirstToken(t *testing.T) {
	tr := wholeTrace(t, one(t, FromText("a.json", `{"completed": 2, "duration": 3, "total_input_tokens": 10, "total_output_tokens": 40,
		"input_lens": [5, 5], "output_lens": [20, 20], "ttfts": [0.0, 0.1], "itls": [[], [0.1]], "latencies": [2.5, 2.4], "start_times": [1, 1]}`)))
	if r := tr.Records[0]; !r.OK() || len(r.Chunks) != 0 || r.Done != 25e8 {
		t.Errorf("%+v", r)
	}
	if s := metrics.Summarize(tr, metrics.Options{}).Service; s.TTFT.N != 1 || s.TTFT.Mean != 0.1 || s.E2EL.N != 2 {
		t.Errorf("%+v", s)
	}
}

func TestQueuesOfALimitedRunAreTheGates(t *testing.T) {
	for file, gated := range map[string]bool{"failures": true, "chat": false} {
		for _, r := range wholeTrace(t, one(t, fromFile(t, "vllm/"+file+".json"))).Records {
			if want := map[bool]trace.Instant{true: r.Released, false: trace.Never}[gated]; r.Free != want {
				t.Fatalf("%s: request %d had a place at %d, want %d", file, r.Index, r.Free, want)
			}
		}
	}
}

// Sums of many gaps are rounded once.
func TestGapsDoNotDrift(t *testing.T) {
	gaps := strings.TrimSuffix(strings.Repeat("0.0000000014, ", 1000), ", ")
	f := one(t, FromText("a.json", `{"completed": 1, "duration": 3, "total_input_tokens": 10, "ttfts": [0], "output_lens": [9], "itls": [[`+gaps+`]]}`))
	r := wholeTrace(t, f).Records[0]
	if last := r.Chunks[1000].At; last != 1400 {
		t.Errorf("the last chunk is at %d ns", last)
	}
}

func TestFormOfAResult(t *testing.T) {
	for text, want := range map[string]string{
		`{"completed": 1, "duration": 1, "total_input_tokens": 1, "rtfx": 0.0}`:                  "2026-08",
		`{"completed": 1, "duration": 1, "total_input_tokens": 1, "queue_times": []}`:            "2026-08",
		`{"completed": 1, "duration": 1, "total_input_tokens": 1, "max_concurrent_requests": 1}`: "2025-12",
		`{"completed": 1, "duration": 1, "total_input_tokens": 1, "request_goodput:": null}`:     "2025-07",
		`{"completed": 1, "duration": 1, "mean_e2e_latency_ms": 1}`:                              "2026-01",
		`{"completed": 1, "duration": 1, "mean_e2e_latency_ms": 1, "p90_e2e_latency_ms": 1}`:     "main",
	} {
		if got := one(t, FromText("a.json", text)).Run.Origin.Form; got != want {
			t.Errorf("%s is of form %q, want %q", text, got, want)
		}
	}
}

const small = `{"completed": 1, "duration": 1.5, "total_input_tokens": 1, "mean_ttft_ms": 2}`

// What was appended to a file is a result each, the same one twice is two, and
// reading it again gives the same ids.
func TestAppendedResults(t *testing.T) {
	s := FromText("runs/a.jsonl", small+"\n"+small+"\n\n"+strings.Replace(small, "1.5", "1.25", 1)+"\n")
	found, problems := result.Read(s, known.formats...)
	if len(found) != 3 || len(problems) > 0 {
		t.Fatalf("%d results, %v", len(found), problems)
	}
	again, _ := result.Read(s, known.formats...)
	ids, lines := map[string]bool{}, []int{1, 2, 4}
	for i, f := range found {
		ids[f.Run.ID] = true
		if again[i].Run.ID != f.Run.ID {
			t.Errorf("result %d is %s, and %s when it is read again", i, f.Run.ID, again[i].Run.ID)
		}
		if f.Run.Origin.Line != lines[i] || f.Run.Name != "runs / a" {
			t.Errorf("result %d is %q at line %d", i, f.Run.Name, f.Run.Origin.Line)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
	if alone := one(t, FromText("runs/a.jsonl", small)); alone.Run.ID != found[0].Run.ID || alone.Run.Origin.Line != 0 {
		t.Errorf("alone it is %s at line %d, with others behind it %s", alone.Run.ID, alone.Run.Origin.Line, found[0].Run.ID)
	}
}

func TestNamesOfRuns(t *testing.T) {
	for name, want := range map[string]string{
		"a.json": "a", "sweep/c1/run=0.json": "sweep / c1", "run=0.json": "run=0", "./x/a.b.json": "x / a.b",
		"/data/x/a.json": "a", "../x/a.json": "a", `x\a.json`: "x / a",
	} {
		if got := one(t, FromText(name, small)).Run.Name; got != want {
			t.Errorf("%s is named %q, want %q", name, got, want)
		}
	}
}

// What was cut short is told with its place, and the rest is read.
func TestUnreadableParts(t *testing.T) {
	cut := small[:50]
	for _, tt := range []struct {
		name, text string
		found      int
		line       int
		says       []string
	}{
		{"nothing", " \n", 0, 0, []string{"no result"}},
		{"cut at its end", small + "\n" + cut, 1, 2, []string{"byte 128", "cut short"}},
		{"cut within a string", small + "\n" + `{"completed": 1, "date": "2026`, 1, 2, []string{`ends within "date"`}},
		{"cut within a word", `{"completed": tr`, 0, 1, []string{`ends within "completed"`}},
		{"cut, and then another", cut + "\n" + small, 1, 1, []string{"another begins", "cut short"}},
		{"cut in an array, and then another", `{"completed": 1, "ttfts": [1, 2` + "\n" + small, 1, 1, []string{"another begins in line 2"}},
		{"no comma", `{"completed": 1 "duration": 2}`, 0, 1, []string{"column 17", `',' or '}'`}},
		{"a comma too many", "[" + small + ",]", 1, 1, []string{"follows a comma"}},
		{"no number", `{"completed": 1.}`, 0, 1, []string{`"1." is no value`}},
		{"a byte of no text", small + "\n{\x00}\n" + small, 2, 2, []string{`'\x00' stands where`}},
		{"too deep", strings.Repeat(`{"a":`, 200), 0, 1, []string{"more than 100 deep"}},
		{"something else", `{"a": 1}` + "\n" + `{"b": 1}`, 0, 0, []string{"members are a", "1 more"}},
		{"Pitot's own", `{"run": {}, "records": []}`, 0, 0, []string{"an export of Pitot's: its run has no id"}},
		{"no object", `[1, 2]`, 0, 1, []string{"'1' stands where '{' should"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, problems := result.Read(FromText("a.json", tt.text), known.formats...)
			if len(found) != tt.found || len(problems) != 1 {
				t.Fatalf("%d results, problems %v", len(found), problems)
			}
			if p := problems[0]; p.Line != tt.line || p.File != "a.json" {
				t.Errorf("at %s:%d, want line %d", p.File, p.Line, tt.line)
			}
			for _, says := range tt.says {
				if !strings.Contains(problems[0].Reason, says) {
					t.Errorf("%q does not say %q", problems[0].Reason, says)
				}
			}
		})
	}
}

func TestColumnsThatCannotBeUsed(t *testing.T) {
	const head = `{"completed": 2, "duration": 1, "total_input_tokens": 1, "errors": ["", ""],` + "\n"
	for _, tt := range []struct {
		name, columns string
		detail        trace.Detail
		records       int
		says          string
	}{
		{"one is shorter", `"output_lens": [1, 1], "ttfts": [1, 1], "itls": [[1]]}`, trace.Undated, 1, `"itls" has 1 requests and "output_lens" 2: the first 1 are read`},
		{"text among numbers", `"ttfts": [1, "x"], "itls": [[], []]}`, trace.Summed, 0, `column 14, byte 90: "ttfts" are not all finite numbers`},
		{"a number among lists", `"ttfts": [1, 1], "itls": [[1], 1]}`, trace.Summed, 0, `"itls" are not all finite arrays of numbers`},
		{"text within lists", `"ttfts": [1, 1], "itls": [["a"], ["b"]]}`, trace.Summed, 0, `values of other kinds and not arrays of numbers`},
		{"no number", `"ttfts": [1, NaN], "itls": [[], []]}`, trace.Summed, 0, `column 14`},
		{"no number within a list", `"ttfts": [1, 1], "itls": [[], [2, Infinity]]}`, trace.Summed, 0, `column 35`},
		{"before the request", `"ttfts": [1, -1], "itls": [[], []]}`, trace.Summed, 0, `from -1 to 1`},
		{"years apart", `"start_times": [0, 1e9], "ttfts": [1, 1], "itls": [[], []]}`, trace.Undated, 2, `from 0 to 1e+09`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, problems := result.Read(FromText("a.json", head+tt.columns), known.formats...)
			if len(found) != 1 || len(problems) != 1 || problems[0].Line != 2 || !strings.Contains(problems[0].Reason, tt.says) {
				t.Fatalf("%d results, problems %v, want %q", len(found), problems, tt.says)
			}
			if n := len(wholeTrace(t, found[0]).Records); n != tt.records || found[0].Run.Origin.Detail != tt.detail {
				t.Errorf("%s, with %d records", found[0].Run.Origin.Detail, n)
			}
		})
	}
}

// A figure that cannot be read is left out, and the others are there.
func TestFiguresThatCannotBeRead(t *testing.T) {
	for text, says := range map[string]string{
		`{"completed": "many", "duration": 2, "total_input_tokens": 3}`:                                  `"completed" is no number`,
		`{"request_latency": {"unit": "fortnights", "avg": 1}, "request_count": {"unit": "", "avg": 1}}`: `its unit "fortnights" is not known`,
	} {
		found, problems := result.Read(FromText("a.json", text), known.formats...)
		if len(found) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Reason, says) || len(found[0].Run.Origin.Figures) != 2 {
			t.Errorf("%d results, problems %v, want %q", len(found), problems, says)
		}
	}
}

// A plain result has the times of its requests, but nothing else of them.
func TestAPlainResultHasNoRecords(t *testing.T) {
	f := one(t, FromText("a.json", `{"completed": 1, "duration": 1, "total_input_tokens": 1, "latencies": [1], "queue_times": [0]}`))
	if f.Records != nil || f.Run.Origin.Detail != trace.Summed || f.Run.Origin.Setup["latencies"] != "" {
		t.Errorf("%+v", f.Run.Origin)
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	f := one(t, FromText("a.json", `{"completed": 1, "duration": 1, "mean_e2e_latency_ms": 1, "api_key": "hush", "server_info":
		{"admin-api-key": "hush", "hf_token": "hush", "headers": {"x": "hush"}, "max_tokens": 7, "tokenizer_path": "t", "url": "http://me:hush@host/",
		"command": "serve --api-key hush --port 1 -H 'Authorization: hush'", "env": ["A=1", "sk-hushhushhush"]}}`))
	b, err := json.Marshal(f.Run)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hush") {
		t.Errorf("kept: %s", b)
	}
	for name, want := range map[string]string{
		"server_info.max_tokens": "7", "server_info.tokenizer_path": "t", "server_info.url": "http://host/", "server_info.command": "serve --api-key *** --port 1 -H 'Authorization: ***'",
	} {
		if got := f.Run.Origin.Setup[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// The server's own times come back as they were, null where it did not know.
func TestServerTimesOfADetailedResult(t *testing.T) {
	const columns = `"server_queue_times": [null, 0.0123, null], "server_ttfts": [0.0852, null, null]`
	f := one(t, FromText("a.json", `{"completed": 3, "duration": 3, "total_input_tokens": 3, "input_lens": [1, 1, 1], "output_lens": [1, 1, 1], "ttfts": [0.1, 0.1, 0.1],`+
		` "itls": [[], [], []], "latencies": [0.1, 0.1, 0.1], "start_times": [0.0, 1.0, 2.0], "queue_times": [0.0, 0.0, 0.0], "generated_texts": ["a", "b", "c"], "errors": ["", "", ""], `+columns+`}`))
	r := reportOf(t, wholeTrace(t, f))
	r.SaveDetailed = true
	if got := string(r.Result()); f.Run.Origin.Form != "2026-11" || !strings.Contains(got, `"rtfx": 0.0, `+columns+`, "mean_ttft_ms"`) {
		t.Errorf("form %s: %s", f.Run.Origin.Form, got)
	}
	r.SaveDetailed = false
	if got := string(r.Result()); strings.Contains(got, "server_") {
		t.Errorf("without details: %s", got)
	}
	odd, problems := result.Read(FromText("b.json", `{"completed": 1, "duration": 1, "total_input_tokens": 1, "ttfts": [null], "itls": [[0.1]], "output_lens": [2]}`), known.formats...)
	if len(odd) != 1 || len(problems) != 1 || odd[0].Run.Origin.Detail == trace.Recorded {
		t.Errorf("a null among the others: %d results, %v", len(odd), problems)
	}
}
