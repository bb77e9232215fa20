package tokenizer

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var benchFiles = flag.String("tokenizers", "", "more tokenizer.json and tiktoken files to measure, with commas between")

// BenchmarkKinds encodes three inputs, the same as bench/hf_tokenizers.py:
//
//	texts   the golden texts, of all scripts, one by one
//	prose   words of sentences and code, in one piece
//	random  decoded random ids, in one piece: hardly a word repeats
func BenchmarkKinds(b *testing.B) {
	texts := goldenTexts(b)
	for _, kind := range append(kinds, otherKinds...) {
		benchKind(b, kind, loadKind(b, kind), texts)
	}
	if *benchFiles == "" {
		return
	}
	for _, name := range strings.Split(*benchFiles, ",") {
		tok, err := Load(os.DirFS(filepath.Dir(name)), filepath.Base(name))
		if err != nil {
			b.Fatal(err)
		}
		benchKind(b, filepath.Base(name), tok, texts)
	}
}

func benchKind(b *testing.B, kind string, tok *Tokenizer, texts []string) {
	inputs := map[string][]string{
		"texts":  texts,
		"prose":  {prose(texts)},
		"random": {tok.Decode(randomIDs(50_000, tok.VocabSize()), false)},
	}
	for _, name := range []string{"texts", "prose", "random"} {
		b.Run(kind+"/"+name, func(b *testing.B) {
			size := len(strings.Join(inputs[name], ""))
			b.SetBytes(int64(size))
			start := processorTime(b)
			for b.Loop() {
				for _, text := range inputs[name] {
					tok.Encode(text, false)
				}
			}
			spent := processorTime(b) - start
			b.ReportMetric(float64(size)*float64(b.N)/1e6/spent.Seconds(), "MB/cpu-s")
		})
	}
}

// processorTime is the CPU time of this process, which other processes affect less
// than wall time.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// prose draws words from the sentences and lines of code at the beginning of the
// golden texts.
func prose(texts []string) string {
	var words []string
	for _, text := range texts[4:48] {
		words = append(words, strings.Split(text, " ")...)
	}
	var b strings.Builder
	for _, i := range randomIDs(30_000, len(words)) {
		b.WriteString(words[i])
		b.WriteByte(" \n"[i%2])
	}
	return b.String()
}
