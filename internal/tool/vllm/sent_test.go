package vllm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

type localTokens struct{ *tokenizer.Tokenizer }

func (l localTokens) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	return l.Tokenizer.Encode(text, special), nil
}

func (l localTokens) Decode(_ context.Context, ids []int32) (string, error) {
	return l.Tokenizer.Decode(ids, false), nil
}

// Send times of the tool's own loop (vllm 0.33.0) after its own classes drew the
// prompts, for three seeds; the script is beside package dataset's golden files.
func TestSendTimesEqualVLLM(t *testing.T) {
	b, err := os.ReadFile("testdata/sent.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Dataset    string
		Seed       int
		Burstiness float64
		Sent       []float64
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(os.DirFS("../../load/tokenizer/testdata"), "qwen")
	if err != nil {
		t.Fatal(err)
	}
	v := workload.Vocabulary{Size: tok.VocabSize(), Special: tok.SpecialIDs(), Around: tok.NumSpecial()}
	for _, c := range cases {
		a := parse(t, fmt.Sprintf("--dataset-name %s --seed %d --burstiness %g --request-rate 10 --num-prompts %d --input-len 9 --output-len 3 "+
			"--prefix-repetition-prefix-len 6 --prefix-repetition-suffix-len 5 --prefix-repetition-num-prefixes 4", c.Dataset, c.Seed, c.Burstiness, len(c.Sent)))
		if a.is("sharegpt") { // of the recorded lengths, with the files of the datasets
			a.OutputLen, a.DatasetPath, a.Backend = nil, new(string), "openai-chat"
			*a.DatasetPath = "pictured.json"
		}
		w := built(t, a, workload.Source{Tokens: localTokens{tok}, Local: true, Vocab: v, Files: workload.Files{Open: func(name string) (workload.Reader, error) {
			return os.Open("testdata/files/" + name)
		}}})
		i := 0
		for _, due := range arranged(t, a, &w) {
			if math.Abs(due.Seconds()-c.Sent[i]) > 1e-9 {
				t.Errorf("%s, seed %d, burstiness %g: request %d is due at %v, want %v", c.Dataset, c.Seed, c.Burstiness, i, due.Seconds(), c.Sent[i])
			}
			i++
		}
		if i != len(c.Sent) {
			t.Errorf("%s, seed %d: %d requests, want %d", c.Dataset, c.Seed, i, len(c.Sent))
		}
	}
}
