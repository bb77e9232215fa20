package workload

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Prompts that are made as they are due are those that are made at once, in whatever order they are asked for, and so
// are the notes on them.
func TestPromptsMadeAsTheyAreDue(t *testing.T) {
	for name, tok := range map[string]Tokenizer{"ids": nil, "text": &words{}, "merging": &words{merge: true}} {
		for _, exact := range []bool{false, true} {
			r := Random{
				Requests: 70, Input: 20, InputRange: 0.5, Output: 4, OutputRange: 0.5, Prefix: 3, Seed: 3, IDPrefix: "p-", Exact: exact,
			}
			whole, err := r.Build(t.Context(), Vocabulary{Size: 1000}, tok)
			if err != nil {
				t.Fatal(err)
			}
			r.Window = 10
			due, err := r.Build(t.Context(), Vocabulary{Size: 1000}, tok)
			if err != nil || due.Requests != nil || due.List.N != 70 {
				t.Fatalf("%s: %v: %+v", name, err, due)
			}
			order := append(rand.New(rand.NewPCG(1, 2)).Perm(40), rand.Perm(70)...)
			for _, i := range order {
				later := due.List.At(i)
				if b := due.List.Brief(i); b != whole.Requests[i].brief() || later.brief() != b {
					t.Errorf("%s: request %d: %+v", name, i, b)
				}
				if (later.Tokens == nil) != (tok != nil) || later.Text != "" {
					t.Errorf("%s: what kind of prompt it is got lost", name)
				}
				if made, err := later.Unspooled(); err != nil || !cmp.Equal(*made, whole.Requests[i]) {
					t.Fatalf("%s: request %d: %v: %s", name, i, err, cmp.Diff(whole.Requests[i], *made))
				}
			}
			if due.Late != nil {
				due.Notes = append(due.Notes, due.Late()...)
			}
			if diff := cmp.Diff(whole.Notes, due.Notes); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// What changes requests changes those that are made as they are due.
func TestListsAreAmended(t *testing.T) {
	w, err := Random{Requests: 9, Input: 5, Output: 4, Window: 1}.Build(t.Context(), Vocabulary{Size: 99}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := w.All()
	w.Amend(func(_ int, r *Request) { r.Model = "m" })
	w.Cut(7)
	silent := w.All().Silence().Pick([]int32{6, 2})
	got, err := silent.Make(t.Context(), NewSpool(new(memory), 0))
	if err != nil || len(got) != 2 || silent.Brief(1).Output != 0 || w.All().Starts() != 7 || w.All().Before(3) != 3 {
		t.Fatalf("%v: %+v", err, got)
	}
	for k, i := range []int{6, 2} {
		want, err := plain.At(i).Unspooled()
		if err != nil {
			t.Fatal(err)
		}
		want.Model, want.OutputTokens = "m", 0
		if whole, err := got[k].Unspooled(); err != nil || got[k].Later == nil || !cmp.Equal(want, whole) {
			t.Errorf("request %d: %v: %s", i, err, cmp.Diff(want, whole))
		}
	}
}
