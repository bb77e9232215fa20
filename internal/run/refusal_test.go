package run

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
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
		{"empty answers", []*trace.Record{failed(trace.Empty, 200, ""), failed(trace.Empty, 200, "")}, 2, false, true},
	} {
		if got := judgeWarmUp(c.records); got.failed != c.failed || got.none != c.none || got.alike != c.alike {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestWaysOut(t *testing.T) {
	for _, c := range []struct {
		r    *trace.Record
		ids  bool
		want []string
	}{
		{failed(trace.HTTP, 422, "did not match any variant of untagged enum StringOrArray"), true, []string{"tokenizer.vocab", "tokenizer.where"}},
		{failed(trace.HTTP, 422, "did not match"), false, nil},
		{failed(trace.HTTP, 422, "Unexpected fields in the request: {'ignore_eos'}"), true, []string{"request.ignore_eos"}},
		{failed(trace.HTTP, 401, "no key"), true, nil},
		{failed(trace.HTTP, 404, "no model"), true, nil},
		{failed(trace.Reset, 0, "ignore_eos"), true, nil},
	} {
		var got []string
		for _, w := range waysOut(c.r, c.ids) {
			got = append(got, w.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d %s: %v, want %v", c.r.Status, c.r.Error, got, c.want)
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
