package workload

import (
	"os"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
)

// BenchmarkDue makes prompts of 256 tokens as they are due, by a tokenizer and without one.
func BenchmarkDue(b *testing.B) {
	gpt2, err := tokenizer.Load(os.DirFS("../tokenizer/testdata"), "gpt2")
	if err != nil {
		b.Fatal(err)
	}
	for name, tok := range map[string]Tokenizer{"ids": nil, "gpt2": local{gpt2}} {
		b.Run(name, func(b *testing.B) {
			r := Random{Requests: 100_000, Input: 256, Output: 1, Exact: true, Window: 1}
			w, err := r.Build(b.Context(), Vocabulary{Size: gpt2.VocabSize(), Special: gpt2.SpecialIDs()}, tok)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := w.List.At(i).Unspooled(); err != nil {
					b.Fatal(err)
				}
				i = (i + 1) % w.List.N
			}
		})
	}
}
