package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A count that cannot be is kept as the server gave it, and chunks are counted. One that is
// larger than asked for can be, as long as the text can hold it.
func TestCountsThatCannotBe(t *testing.T) {
	own := func(body string) (o Options) {
		if err := json.Unmarshal([]byte(body), &o.Extra); err != nil {
			t.Fatal(err)
		}
		return o
	}
	for _, tt := range []struct {
		count      string
		opts       Options
		kept, want int
	}{
		{"2", Options{}, 2, 2},
		{"3", Options{}, 3, 3},
		{"60", Options{}, 60, 60},
		{"600", Options{}, 600, 2},
		{"600", own(`{"max_tokens":5}`), 600, 2},
		{"3", own(`{"max_tokens":5}`), 3, 3},
		{"6", own(`{"n":3}`), 6, 6},
		{"11000000", own(`{"max_tokens":5}`), 11_000_000, 2},
		{"0", Options{}, 0, 2},
		{"-1", Options{}, -1, 2},
		{"1e999", Options{}, trace.MaxCount, 2},
		{"-1e999", Options{}, -trace.MaxCount, 2},
		{"4611686018427387904", Options{}, trace.MaxCount, 2},
		{"1e12", Options{}, 1_000_000_000_000, 2},
		{"2.5", Options{}, 2, 2},
		{"[]", Options{}, 0, 2},
	} {
		tt.opts.Protocol, tt.opts.Stream = Completions, true
		usage := fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":%s}}\n\n", tt.count)
		rec := ask(t, client(t, server{http.StatusOK, text("a") + text("b") + usage + end, 1, new(int)}, tt.opts))
		if rec.Usage.Completion != tt.kept || rec.OutputTokens != tt.want ||
			rec.Refused() != (tt.kept != 0 && tt.kept != tt.want) {
			t.Errorf("%s: kept %d, %d tokens from %s, refused %v", tt.count, rec.Usage.Completion, rec.OutputTokens,
				rec.CountedFrom, rec.Refused())
		}
		stored, err := json.Marshal(rec)
		if err != nil || strings.Contains(string(stored), `"usage_refused":true`) != rec.Refused() {
			t.Errorf("%s: %v, %s", tt.count, err, stored)
		}
	}
}

// Nor can a number from SGLang make a record that has no JSON form.
func TestNumbersOfSGLangThatCannotBe(t *testing.T) {
	for _, number := range []string{"1e999", "-1e999", "-1", "9999999999999999999"} {
		body := strings.ReplaceAll(`{"text":"a b","meta_info":{"finish_reason":{"type":"length"},"completion_tokens":N,`+
			`"prompt_tokens":N,"cached_tokens":N,"spec_accept_length":N,"cached_tokens_details":{"device":N,"host":N,`+
			`"storage":N}}}`, "N", number)
		for _, stream := range []bool{false, true} {
			answer := body
			if stream {
				answer = "data: " + body + "\n\n" + end
			}
			c := client(t, server{http.StatusOK, answer, 1, new(int)}, Options{Protocol: Generate, Stream: stream})
			rec := trace.NewRecord(0)
			c.Send(t.Context(), &workload.Request{OutputTokens: 2}, nil, rec)
			if _, err := json.Marshal(rec); err != nil || !rec.OK() || !rec.Refused() || rec.Credible().Prompt != 0 ||
				rec.Credible().Cached != 0 {
				t.Errorf("%s, stream %v: %s %s %v, %+v", number, stream, rec.Class, rec.Error, err, rec.Usage)
			}
		}
	}
}
