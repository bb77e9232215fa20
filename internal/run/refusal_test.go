package run

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

func failed(class trace.Class, status int, text string) *trace.Record {
	return &trace.Record{Class: class, Status: status, Error: text}
}

func TestAColdStart(t *testing.T) {
	refused, other := failed(trace.HTTP, 422, "no"), failed(trace.HTTP, 500, "oops")
	cut := &trace.Record{Class: trace.Truncated, Chunks: make([]trace.Chunk, 1)}
	for _, c := range []struct {
		name        string
		records     []*trace.Record
		failed      int
		none, alike bool
	}{
		{"all alike", []*trace.Record{refused, refused}, 2, true, true},
		{"each its own way", []*trace.Record{refused, other}, 2, true, false},
		{"one answered", []*trace.Record{refused, {}}, 1, false, true},
		{"one cut off", []*trace.Record{cut, refused}, 1, false, true},
		{"empty answers", []*trace.Record{failed(trace.Empty, 200, ""), failed(trace.Empty, 200, "")}, 0, false, true},
	} {
		if got := judgeWarmUp(c.records); got.failed != c.failed || got.none != c.none || got.alike != c.alike {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// refusing is a run of a protocol, of answers of some lengths.
func refusing(t *testing.T, protocol, dialect, body string, first workload.Request, lengths ...int) *execution {
	x := &execution{Prepared: &Prepared{}}
	x.spec.Request.Protocol, x.spec.Dialect.Name = protocol, dialect
	x.built.work.Requests = []workload.Request{first}
	for _, n := range lengths {
		x.built.work.Requests = append(x.built.work.Requests, workload.Request{Text: "a", OutputTokens: n})
	}
	options := endpoint.Options{Protocol: endpoint.Protocol(protocol), Stream: true, IncludeUsage: true, IgnoreEOS: true}
	if body != "" {
		x.spec.Request.Body = json.RawMessage(body)
		if err := json.Unmarshal(x.spec.Request.Body, &options.Extra); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if x.client, err = endpoint.New(nil, options); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestWaysOut(t *testing.T) {
	ids, words := workload.Request{Tokens: []int32{1}, OutputTokens: 5}, workload.Request{Text: "a", OutputTokens: 5}
	for _, c := range []struct {
		r     *trace.Record
		first workload.Request
		want  []Way
	}{
		{failed(trace.HTTP, 422, "did not match any variant of untagged enum StringOrArray"), ids, []Way{
			{"tokenizer.vocab", "keeps token ids below the size of the server's vocabulary"},
			{"tokenizer.where", "names a tokenizer, and prompts are text then: some servers take no lists of token ids"},
		}},
		{failed(trace.HTTP, 422, "did not match"), words, nil},
		{failed(trace.HTTP, 422, "Unexpected fields in the request: {'ignore_eos'}"), ids, []Way{{"request.ignore_eos", "is why ignore_eos is asked for; --no-ignore-eos leaves it out"}}},
		{failed(trace.HTTP, 401, "no key"), ids, nil},
		{failed(trace.HTTP, 404, "no model"), ids, nil},
		{failed(trace.HTTP, 302, "redirected to http://a"), ids, nil},
		{failed(trace.Reset, 0, "ignore_eos"), ids, nil},
		{failed(trace.HTTP, 400, "unknown field `stream_options`, expected one of `model`, `max_tokens`"), words, []Way{{"request.body", `'{"stream_options": null}' leaves out what was refused`}}},
		{failed(trace.Malformed, 200, `asked for an event stream, got application/json: "{\"choices\""`), words, []Way{{"request.stream", "asks for whole answers"}}},
		{failed(trace.Malformed, 200, `asked for an event stream, got "{}"`), words, []Way{{"request.stream", "asks for whole answers"}}},
		{failed(trace.Malformed, 200, `asked for an event stream, got text/html: "<html>{\"a\"`), words, []Way{{"target.url", "must name the API itself: this is a page, such as that of a login"}}},
		{failed(trace.Malformed, 200, `asked for an event stream, got text/plain: "ok"`), words, nil},
		{failed(trace.Malformed, 200, "the answer is compressed (Content-Encoding: gzip)"), words, []Way{{"target.headers", "Accept-Encoding=identity asks for answers that are not compressed"}}},
		{failed(trace.Malformed, 200, "event too large: the limit is 8 MiB"), words, []Way{{"client.max_event", "takes larger events, in MiB"}}},
		{failed(trace.Malformed, 200, "larger than the client accepts: the limit is 64 MiB"), words, []Way{{"client.max_body", "takes larger answers, in MiB"}}},
		{failed(trace.Malformed, 200, "event 3: not a JSON object"), words, nil},
	} {
		if diff := cmp.Diff(c.want, refusing(t, "completions", "", "", c.first).waysOut(c.r)); diff != "" {
			t.Errorf("%d %s: %s", c.r.Status, c.r.Error, diff)
		}
	}
}

// What a server refuses is left out by a null, and only where it is refused for being there.
func TestMembersThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		protocol, dialect, body string
		lengths                 []int
		words                   string
		want                    string
	}{
		{"chat", "", "", nil, "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]", `{"max_completion_tokens": null, "max_tokens": 5}`},
		{"chat", "", "", []int{7}, "max_completion_tokens: Extra inputs are not permitted", `{"max_completion_tokens": null, "max_tokens": N}`},
		{"chat", "", "", nil, "json: unknown field \"stream_options\"", `{"stream_options": null}`},
		{"chat", "", "", nil, "property 'ignore_eos' is unsupported; property 'stream_options' is unsupported", `{"ignore_eos": null, "stream_options": null}`},
		{"completions", "", "", nil, "Unrecognized request argument supplied: max_tokens", `{"max_tokens": null}`},
		{"chat", "", "", nil, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", ""},
		{"chat", "", "", nil, "max_completion_tokens must be at most 4", ""},
		{"chat", "", "", nil, "model m is not supported", ""},
		{"chat", "", "", nil, "messages: extra fields not permitted", ""},
		{"chat", "", `{"top_k": 1}`, nil, "top_k: extra fields not permitted", ""},
		{"chat", "vllm", "", nil, "stream_options: extra fields not permitted", ""},
	} {
		x := refusing(t, c.protocol, c.dialect, c.body, workload.Request{Text: "a", OutputTokens: 5}, c.lengths...)
		if body, _ := x.without(failed(trace.HTTP, 400, c.words)); body != c.want {
			t.Errorf("%s: %s, want %s", c.words, body, c.want)
		}
	}
}

func TestASmallRequestHasTheFormOfTheRun(t *testing.T) {
	for _, c := range []struct {
		name     string
		protocol string
		first    workload.Request
		want     workload.Request
	}{
		{"ids", "completions", workload.Request{Tokens: []int32{9, 8, 7, 6, 5}}, workload.Request{Tokens: []int32{9, 8, 7, 6}, PromptTokens: 4, OutputTokens: 1}},
		{"ids in a file", "completions", workload.Request{Tokens: []int32{}, Later: func(r *workload.Request) error { r.Tokens = []int32{3}; return nil }}, workload.Request{Tokens: []int32{3}, PromptTokens: 1, OutputTokens: 1}},
		{"text", "completions", workload.Request{Text: "long"}, workload.Request{Text: "Hello", OutputTokens: 1}},
		{"ids to embed", "embeddings", workload.Request{Tokens: []int32{3}}, workload.Request{Tokens: []int32{3}, PromptTokens: 1}},
		{"batches", "embeddings", workload.Request{Batch: []string{"a", "b"}}, workload.Request{Batch: []string{"Hello"}}},
		{"rankings", "rerank", workload.Request{Batch: []string{"a", "b"}}, workload.Request{Batch: []string{"Hello", "Hello"}}},
	} {
		p := &Prepared{}
		p.spec.Request.Protocol = c.protocol
		p.built.work.Requests = []workload.Request{c.first}
		got := p.small("Hello", 1)
		if !slices.Equal(got.Tokens, c.want.Tokens) || !slices.Equal(got.Batch, c.want.Batch) || got.Text != c.want.Text || got.OutputTokens != c.want.OutputTokens || got.PromptTokens != c.want.PromptTokens {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestARunWithoutAnAnswerIsAnError(t *testing.T) {
	for _, c := range []struct {
		records []*trace.Record
		want    string
	}{
		{[]*trace.Record{failed(trace.Reset, 0, ""), failed(trace.HTTP, 422, "no"), failed(trace.HTTP, 422, "no")}, "none of 3 requests was answered: HTTP status 422: no"},
		{[]*trace.Record{failed(trace.Reset, 0, ""), {}}, ""},
		{[]*trace.Record{failed(trace.Cancelled, 0, "")}, ""},
		{nil, ""},
	} {
		tr := &trace.Trace{Records: c.records}
		err := (&Result{Trace: tr, Summary: metrics.Summarize(tr, metrics.Options{})}).Unanswered()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A refusal of a model that the server does not list names those that it does, a few of them.
func TestAModelThatIsNotListed(t *testing.T) {
	many := []string{strings.Repeat("m", 100), "b", "c", "d", "e", "f", "g"}
	for _, c := range []struct {
		what   string
		models []string
		r      *trace.Record
		want   string
	}{
		{"unknown", []string{"A"}, failed(trace.HTTP, 404, "no"), "must name a model of the server: it lists A"},
		{"by its words", []string{"A"}, failed(trace.HTTP, 400, "Model x?"), "must name a model of the server: it lists A"},
		{"many", many, failed(trace.HTTP, 404, ""), "must name a model of the server: it lists " + strings.Repeat("m", 80) + "…, b, c, d, e, 2 more"},
		{"listed", []string{"x"}, failed(trace.HTTP, 404, "no"), ""},
		{"no list", nil, failed(trace.HTTP, 404, "no"), ""},
		{"another reason", []string{"A"}, failed(trace.HTTP, 400, "too long"), ""},
	} {
		got := ""
		if ways := namedModels(c.models, "x", c.r); ways != nil {
			got = ways[0].Does
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
