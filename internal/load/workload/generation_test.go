package workload

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
)

// BenchmarkPrompts draws PITOT_PROMPTS prompts of 8192 tokens with the tokenizer in
// the folder PITOT_TOKENIZER. bench/prompts.sh compares it with vLLM's generator;
// 100 000 prompts fit in memory because they are in a Spool.
func BenchmarkPrompts(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("PITOT_PROMPTS"))
	if err != nil {
		n = 64
	}
	folder := os.Getenv("PITOT_TOKENIZER")
	if folder == "" {
		folder = "../tokenizer/testdata/gpt2"
	}
	tok, err := tokenizer.Load(os.DirFS(filepath.Dir(folder)), filepath.Base(folder))
	if err != nil {
		b.Fatal(err)
	}
	file, err := os.CreateTemp(b.TempDir(), "prompts")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	v := Vocabulary{Size: tok.VocabSize(), Special: tok.SpecialIDs()}
	for b.Loop() {
		r := Random{Requests: n, Input: 8192, Output: 1, Spool: NewSpool(file, 64<<20)}
		if _, err := r.Build(b.Context(), v, local{tok}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "prompts/s")
	b.ReportMetric(float64(n*b.N)*8192/b.Elapsed().Seconds(), "tokens/s")
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		b.ReportMetric(float64(use.Maxrss)/1024, "peak-MiB")
	}
}
