package tokenizer

import (
	"strings"
	"testing"
)

// benchTexts repeat little enough to use the word cache realistically.
var benchTexts = map[string]string{
	"english": strings.Repeat("The quick brown fox, it's said, jumps over 1234 lazy dogs!\n  return x + 1\n", 200),
	"mixed": strings.Repeat("快速的棕色狐狸跳过了懒狗。Это просто текст, 2024 год. "+
		"Größe é 🙂 ", 200),
}

func BenchmarkEncode(b *testing.B) {
	for _, kind := range kinds {
		tok := load(b, kind)
		for name, text := range benchTexts {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					tok.Encode(text, false)
				}
			})
		}
	}
}

// BenchmarkEncodeRandom encodes decoded random ids, like the random dataset of a
// benchmark. Hardly a word occurs twice.
func BenchmarkEncodeRandom(b *testing.B) {
	tok := load(b, "llama3")
	text := tok.Decode(randomIDs(50_000, tok.VocabSize()), false)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Encode(text, false)
	}
}

func BenchmarkDecode(b *testing.B) {
	tok := load(b, "llama3")
	ids := randomIDs(50_000, tok.VocabSize())
	b.SetBytes(int64(len(tok.Decode(ids, false))))
	for b.Loop() {
		tok.Decode(ids, false)
	}
}

func BenchmarkParse(b *testing.B) {
	file := patched(b, nil)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := Parse(file, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func randomIDs(n, below int) []int32 {
	ids := make([]int32, n)
	state := uint32(1)
	for i := range ids {
		state = state*1664525 + 1013904223
		ids[i] = int32(state>>8) % int32(below)
	}
	return ids
}
