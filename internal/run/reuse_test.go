package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The shares that earlier prompts can have left are never below the true ones, and above them
// by a block of 64 bytes at most.
func TestBeginningsBoundWhatPromptsShare(t *testing.T) {
	b := newBeginnings(10_000)
	long := strings.Repeat("0123456789abcdef", 64) // 1024 bytes
	for i, tt := range []struct {
		prompt string
		shared int // bytes
	}{
		{long, 0},
		{long, 1024},
		{long[:500] + "other" + long[:400], 500},
		{long[:500] + "other" + long[100:500], 505},
		{"x" + long, 0},
		{"short", 0},
		{"short", 5},
		{long[:64], 64},
	} {
		share, whole := b.add([]byte(tt.prompt))
		got := share * float64(len(tt.prompt))
		if got < float64(tt.shared)-.5 || got > float64(tt.shared+leastWidth)+.5 {
			t.Errorf("%d: %.1f bytes of %d", i, got, tt.shared)
		}
		if want := tt.shared >= len(tt.prompt)/leastWidth*leastWidth; whole != want {
			t.Errorf("%d: whole is %v", i, whole)
		}
	}
}

// A hundred thousand prompts do not take more memory than a million hashes.
func TestBeginningsAreBounded(t *testing.T) {
	b := newBeginnings(1 << 40)
	if blocks := (1 << 40) / b.width; blocks > mostBlocks {
		t.Errorf("%d blocks", blocks)
	}
}

func TestSharesOfTurns(t *testing.T) {
	requests := []workload.Request{
		{Text: strings.Repeat("a b ", 100)},
		{Text: "and", Turn: workload.Turn{After: 1, Remember: true}},
		{Text: strings.Repeat("a b ", 100)}, // the same conversation again
		{Text: "and", Turn: workload.Turn{After: 3, Remember: true}},
		{Media: []workload.Media{{MIME: "image/png"}}},
	}
	s := sharing{known: newBeginnings(1000), records: map[int]*trace.Record{}, requests: workload.Listed(requests), copies: map[int]bool{}}
	for i, prompt := range []int{200, 230, 200, 230, 50} {
		r := trace.NewRecord(i)
		r.PromptTokens, r.OutputTokens = prompt, 10
		s.records[i] = r
	}
	var got []string
	for i := range requests {
		n, ok := s.of(s.records[i])
		got = append(got, fmt.Sprint(n, ok))
	}
	// a block of 64 bytes is 32 of the 200 tokens; a turn has the prompt, the answer, and 16
	if want := "33 true, 226 true, 200 true, 230 true, 0 false"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}

// A prompt that begins like no other is not made again, and counts as it would.
func TestPromptsUnlikeOthers(t *testing.T) {
	texts := []string{strings.Repeat("a b ", 100), strings.Repeat("c d ", 100), strings.Repeat("a b ", 60), "short", "x" + strings.Repeat("e", 63)}
	var requests []workload.Request
	var records []*trace.Record
	var begun firstBlocks
	for i, text := range texts {
		requests = append(requests, workload.Request{Text: text})
		begun.add(i, &requests[i])
		r := trace.NewRecord(i)
		r.PromptTokens = len(text) / 2
		records = append(records, r)
	}
	count := func(unlike map[int]int) (got []string) {
		s := sharing{known: newBeginnings(1000), records: map[int]*trace.Record{}, requests: workload.Listed(requests), copies: map[int]bool{}, unlike: unlike}
		for _, r := range records {
			n, ok := s.of(r)
			got = append(got, fmt.Sprint(n, ok, s.copies[r.Index]))
		}
		return got
	}
	unlike := begun.sizes(records)
	if got, want := count(unlike), count(nil); len(unlike) != 3 || !slices.Equal(got, want) {
		t.Errorf("of %v: %v, want %v", unlike, got, want)
	}
	if begun.sizes(append(records, trace.NewRecord(9))) != nil {
		t.Error("a prompt that was not seen begins like none")
	}
}

// Hits that the requests of a run cannot have made for each other were in the cache before it.
func TestPromptsOfAnEarlierRun(t *testing.T) {
	prompt := func(n int) string { return fmt.Sprint(n) + strings.Repeat(" word", 400) } // 2 kB, of 400 tokens
	for _, tt := range []struct {
		name   string
		prompt func(int) string
		cached int
		spoil  func(*execution)
		own    bool
		want   string
	}{
		{"none", prompt, 0, nil, true, ""},
		{"of an earlier run", prompt, 380, nil, true, "run.prompts-cached run=earlier seeded=true cold=true"},
		{"of another tool's line", prompt, 380, func(x *execution) { x.spec.Dialect.Name = "vllm" }, true, "run.prompts-cached run=earlier seeded=true cold=false"},
		{"of nobody knows who", prompt, 380, func(x *execution) { x.Before = nil }, true, "run.prompts-cached run= seeded=true cold=true"},
		{"of a file", prompt, 380, func(x *execution) { x.spec.Load[0].Dataset.Kind = "custom" }, true, "run.prompts-cached run=earlier seeded=false cold=true"},
		{"too few", prompt, 19, nil, true, ""},
		{"of its own", func(int) string { return prompt(0) }, 380, func(x *execution) { // all but the first
			x.spec.Load[0].Dataset.Kind = "custom"
		}, true, ""},
		{"of its warm-up", prompt, 380, func(x *execution) {
			x.spec.Before.WarmUp.From, x.warmUp = plan.WarmMeasured, make([]workload.Request, 10)
		}, true, ""},
		{"of the template", prompt, 360, nil, true, ""},
		{"primed", prompt, 380, func(x *execution) { x.spec.Cache = plan.PrimedCache }, false, ""},
		{"declared", prompt, 380, func(x *execution) { x.run.Cache = &trace.Cache{Declared: plan.WarmCache} }, true, ""},
		{"of the engine in this process", prompt, 380, func(x *execution) { x.run.Env.Embedded = true }, false, ""},
	} {
		x := &execution{Prepared: &Prepared{Deps: &Deps{Before: func(*trace.Run, func(*plan.Spec) bool) string { return "earlier" }}}}
		x.spec = plan.Spec{Request: plan.Request{Protocol: "completions"}, Load: []plan.Stream{{Dataset: plan.Typed{Kind: "random"}}}}
		var records []*trace.Record
		for i := range 10 {
			x.built.work.Requests = append(x.built.work.Requests, workload.Request{Text: tt.prompt(i), PromptTokens: 400})
			r := trace.NewRecord(i)
			r.PromptTokens, r.Usage = 400, trace.Usage{Prompt: 400, Cached: tt.cached, CachedReported: true}
			if tt.name == "of the template" {
				r.PromptTokens, r.Usage.Prompt = 50, 450
			}
			if tt.name == "of its own" && i == 0 {
				r.Usage.Cached = 0
			}
			records = append(records, r)
		}
		if tt.spoil != nil {
			tt.spoil(x)
		}
		x.countReuse(records)
		got := ""
		for _, n := range x.run.Notes {
			got = fmt.Sprintf("%s run=%v seeded=%v cold=%v", n.Code, n.Args["run"], n.Args["seeded"], n.Args["cold"])
		}
		if _, known := x.run.Reuse.Earlier(); got != tt.want || known != tt.own {
			t.Errorf("%s: %q, known %v; want %q, %v", tt.name, got, known, tt.want, tt.own)
		}
	}
}

func TestSamePrompts(t *testing.T) {
	spec := func(change func(*plan.Spec)) *plan.Spec {
		s := &plan.Spec{Requests: 5, Request: plan.Request{Protocol: "chat"}, Load: []plan.Stream{{Arrival: plan.Typed{Kind: "poisson"}, Dataset: plan.Typed{Kind: "random"}}}}
		if change != nil {
			change(s)
		}
		return s
	}
	for name, tt := range map[string]struct {
		other        *plan.Spec
		seeded, want bool
	}{
		"the same":         {spec(nil), true, true},
		"at another time":  {spec(func(s *plan.Spec) { s.Load[0].Arrival.Kind = "at-once" }), true, true},
		"another seed":     {spec(func(s *plan.Spec) { s.Seed = 1 }), true, false},
		"of a file":        {spec(func(s *plan.Spec) { s.Seed = 1 }), false, true},
		"another dataset":  {spec(func(s *plan.Spec) { s.Load[0].Dataset.Kind = "chat" }), true, false},
		"more of them":     {spec(func(s *plan.Spec) { s.Requests = 6 }), true, false},
		"another protocol": {spec(func(s *plan.Spec) { s.Request.Protocol = "completions" }), true, false},
		"an old run":       {nil, true, false},
	} {
		if got := samePrompts(spec(nil), tt.other, tt.seeded); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
