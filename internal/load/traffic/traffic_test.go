package traffic

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A local tokenizer is one from a file.
type local struct{ *tokenizer.Tokenizer }

func (l local) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	return l.Tokenizer.Encode(text, special), nil
}

func (l local) Decode(_ context.Context, ids []int32) (string, error) {
	return l.Tokenizer.Decode(ids, false), nil
}

// newWords is a prompter with a tokenizer of the tests of package tokenizer, or without.
func newWords(t *testing.T, name string) *prompter {
	t.Helper()
	v, tok := workload.Vocabulary{Size: 1000}, workload.Tokenizer(nil)
	if name != "" {
		l, err := tokenizer.Load(os.DirFS("../tokenizer/testdata"), name)
		if err != nil {
			t.Fatal(err)
		}
		v, tok = workload.Vocabulary{Size: l.VocabSize(), Special: l.SpecialIDs(), Around: l.NumSpecial()}, local{l}
	}
	p, err := newPrompter(t.Context(), &workload.Source{Vocab: v, Tokens: tok, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Words have as many tokens as they are, behind each other and behind any text.
func TestWordsAreOneTokenEachWhereverTheyStand(t *testing.T) {
	for _, name := range []string{"gpt2", "llama3", "qwen", "deepseek3", "roberta"} {
		p := newWords(t, name)
		if !p.stable {
			t.Errorf("%s: only %d ids", name, len(p.ids))
			continue
		}
		for key := range uint64(50) {
			n := 1 + int(key)*3
			text, got, err := p.text(t.Context(), 0, "test", key, n, true)
			if err != nil || got != n {
				t.Errorf("%s: %d tokens, want %d (%v)", name, got, n, err)
			}
			for _, before := range []string{"", "So", "1 + 1 = 2.", "…\n", "词"} {
				alone, _ := p.Tokens.Encode(t.Context(), before, false)
				both, _ := p.Tokens.Encode(t.Context(), before+text, false)
				if len(both) != len(alone)+n {
					t.Fatalf("%s: %q and %q have %d tokens, want %d", name, before, text, len(both), len(alone)+n)
				}
			}
		}
		if p.notes() != nil {
			t.Error(p.notes())
		}
	}
}

func TestPromptsDiffer(t *testing.T) {
	for _, name := range []string{"", "gpt2"} {
		p, seen := newWords(t, name), map[string]bool{}
		for key := range uint64(2000) {
			ids := p.draw(nil, "row", key, 8)
			text := strings.Trim(strings.Join(strings.Fields(sprint(ids)), ","), "[]")
			if seen[text] {
				t.Fatalf("%q: prompt %d was there", name, key)
			}
			seen[text] = true
		}
	}
}

// What a purpose draws has nothing to do with another, or with another seed.
func TestDiceOfTwoPurposesDiffer(t *testing.T) {
	first := dice(1, "a", 0).Uint64()
	for what, other := range map[string]uint64{
		"purpose": dice(1, "b", 0).Uint64(), "number": dice(1, "a", 1).Uint64(), "seed": dice(2, "a", 0).Uint64(),
	} {
		if other == first {
			t.Errorf("another %s draws the same", what)
		}
	}
	if dice(1, "a", 0).Uint64() != first {
		t.Error("the same draws something else")
	}
}
