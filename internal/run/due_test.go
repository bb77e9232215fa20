package run

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A run of more requests than are made at once sends those that it would send if they were, and reads no more of them
// than it has time for.
func TestARunOfRequestsMadeAsTheyAreDue(t *testing.T) {
	many := strings.NewReplacer("requests: 30", "requests: 9000", `input_len: "uniform(10,40)"`, "input_len: 40, prefix_len: 4").Replace(random)
	synctest.Test(t, func(t *testing.T) {
		p, err := Prepare(t.Context(), spec(t, many+"tokenizer: {where: none}\nduration: 2s\n"), newWorld().Deps)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		due := p.built.work.List != nil
		p.load.window = 0
		b, err := p.builder().build(t.Context())
		if err != nil || !due || b.work.List != nil {
			t.Fatalf("made as they are due: %v, %v", due, err)
		}
		all := p.Requests()
		if all.N != b.work.All().N || all.Starts() != b.work.All().Starts() || all.N >= 9000 {
			t.Fatalf("%d requests of %d", all.N, b.work.All().N)
		}
		for i, want := range b.work.All().All() {
			got, err := all.At(i).Unspooled()
			if err != nil || !cmp.Equal(want, got) {
				t.Fatalf("request %d: %v: %s", i, err, cmp.Diff(want, got))
			}
		}
		r, err := p.Execute(t.Context(), nil)
		if err != nil || len(r.Trace.Records) != all.N || r.Summary.Requests.Failed > 0 || r.Trace.Run.Client.Unmade > 0 {
			t.Fatalf("%v: %+v", err, r)
		}
		checkTokens(t, all, r)
	})
}

// checkTokens holds that records have the lengths of their prompts.
func checkTokens(t *testing.T, all workload.List, r *Result) {
	t.Helper()
	for _, rec := range r.Trace.Records {
		whole, err := all.At(rec.Index).Unspooled()
		if err != nil || whole.PromptTokens != rec.PromptTokens || whole.ID != rec.ID {
			t.Fatalf("request %d: %v: %d tokens, want %d", rec.Index, err, rec.PromptTokens, whole.PromptTokens)
		}
	}
}
