package sglang

import (
	"os"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Prompts of 8192 tokens, drawn and tokenized, with those that do not fit into 256 MiB
// spooled.
func benchmark(b *testing.B, prompts int, d workload.Dataset) {
	tok, v := loadTokenizer(b, "gpt2")
	file, err := os.Create(b.TempDir() + "/prompts")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for b.Loop() {
		s := &workload.Source{Requests: prompts, Seed: 1, Tokens: tok, Vocab: v, Files: files{}.from(), Spool: workload.NewSpool(file, 256<<20)}
		if _, err := build(b, d, s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(prompts*b.N)/b.Elapsed().Seconds(), "prompts/s")
}

func BenchmarkRandom(b *testing.B) {
	benchmark(b, 23, &random{lengths: lengths{8192, 1, 1}, data: data{Data: "talks.json"}})
}

func BenchmarkRandomIDs(b *testing.B) {
	benchmark(b, 256, &random{lengths: lengths{8192, 1, 1}, ids: true})
}

func BenchmarkSharedPrefix(b *testing.B) {
	benchmark(b, 256, &sharedPrefix{Groups: 64, PerGroup: 4, System: 7168, Question: 1024, Output: 1, Ratio: 1, Turns: 1})
}

// BenchmarkReadShareGPT reads a file of 16 MB in the form of ShareGPT's.
func BenchmarkReadShareGPT(b *testing.B) {
	turn := `{"from": "human", "value": "` + strings.Repeat("some words of a talk, ", 45) + `"}`
	talk := `{"id": "x", "conversations": [` + strings.TrimSuffix(strings.Repeat(turn+", ", 8), ", ") + `]}`
	content := "[" + strings.TrimSuffix(strings.Repeat(talk+",\n", 2000), ",\n") + "]"
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if talks, err := readShareGPT(textFile(content), true); err != nil || len(talks) != 2000 {
			b.Fatal(len(talks), err)
		}
	}
}
