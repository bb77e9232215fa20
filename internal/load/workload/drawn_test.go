package workload

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawnCase is a workload drawn by the classes of vllm 0.33.0; the script is next
// to the golden files of package vllm.
type drawnCase struct {
	Kind, Tokenizer          string
	Seed                     uint64
	Requests, Input, Output  int
	Prefix, Suffix, Prefixes int
	Batch                    int
	Ratio                    float64
	Reranker                 bool
	Prompts, IDs             []string
	Lens, Outs               []int
	After, Python            float64
}

func drawnCases(t *testing.T, kind string) (out []drawnCase) {
	t.Helper()
	b, err := os.ReadFile("testdata/drawn.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []drawnCase
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no golden %s", kind)
	}
	return out
}

// inGolden is a prompt in the form of the golden file: short texts, digests of
// others and of lists as JSON.
func inGolden(t *testing.T, r Request) string {
	t.Helper()
	text := r.Text
	if r.Batch == nil && len([]rune(text)) < 60 {
		return text
	}
	if r.Batch != nil {
		text = pythonJSON(t, r.Batch)
	}
	return digest([]byte(text))
}

// pythonJSON is json.dumps of a list of texts.
func pythonJSON(t *testing.T, list []string) string {
	t.Helper()
	out := "["
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		out += pythonString(s)
	}
	return out + "]"
}

func pythonString(s string) string {
	out := `"`
	for _, c := range s {
		switch c {
		case '"', '\\':
			out += `\` + string(c)
		case '\n':
			out += `\n`
		case '\r':
			out += `\r`
		case '\t':
			out += `\t`
		case '\b':
			out += `\b`
		case '\f':
			out += `\f`
		default:
			if c < ' ' {
				b, _ := json.Marshal(string(c))
				out += string(b[1 : len(b)-1])
				continue
			}
			out += string(c)
		}
	}
	return out + `"`
}

func (c drawnCase) check(t *testing.T, w Workload) {
	t.Helper()
	var prompts, ids []string
	var lens, outs []int
	for _, r := range w.Requests {
		prompts, ids = append(prompts, inGolden(t, r)), append(ids, r.ID)
		lens, outs = append(lens, r.PromptTokens), append(outs, r.OutputTokens)
	}
	for what, diff := range map[string]string{
		"prompts": cmp.Diff(c.Prompts, prompts), "ids": cmp.Diff(c.IDs, ids),
		"prompt lengths": cmp.Diff(c.Lens, lens), "output lengths": cmp.Diff(c.Outs, outs),
	} {
		if diff != "" {
			t.Errorf("%s, %s, seed %d: %s: %s", c.Kind, c.Tokenizer, c.Seed, what, diff)
		}
	}
}

// Prompts, lengths and order equal the tool's, and so do the next draws of both
// generators, which send times and adapters use.
func TestPrefixRepetitionEqualsVLLM(t *testing.T) {
	for _, c := range drawnCases(t, "prefix_repetition") {
		tok, v := loadTokenizer(t, c.Tokenizer)
		p := PrefixRepetition{
			Requests: c.Requests, Prefixes: c.Prefixes, Prefix: c.Prefix, Suffix: c.Suffix, Output: c.Output, Seed: c.Seed,
		}
		w, err := p.Build(t.Context(), v, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
		if got := w.Numpy.Exponential(1); got != c.After {
			t.Errorf("seed %d: numpy's next is %v, want %v", c.Seed, got, c.After)
		}
		if got := w.Python.Float64(); got != c.Python {
			t.Errorf("seed %d: Python's next is %v, want %v", c.Seed, got, c.Python)
		}
	}
}

// What does not divide evenly among the prefixes is left out, and a note says how much.
func TestPrefixRepetitionLeavesTheRemainderOut(t *testing.T) {
	w, err := PrefixRepetition{
		Requests: 11, Prefixes: 3, Prefix: 4, Suffix: 2,
	}.Build(t.Context(), Vocabulary{Size: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Requests) != 9 || len(w.Notes) != 1 || w.Notes[0].Args["left"] != 2.0 {
		t.Errorf("%d requests, %q", len(w.Requests), w.Notes)
	}
}

func TestRerankEqualsVLLM(t *testing.T) {
	for _, c := range drawnCases(t, "random-rerank") {
		tok, v := loadTokenizer(t, c.Tokenizer)
		r := Rerank{
			Random: Random{
				Requests: c.Requests, Input: c.Input, InputRange: c.Ratio, Seed: c.Seed, Batch: c.Batch, IDPrefix: "b-",
			}, NoReranker: !c.Reranker,
		}
		w, err := r.Build(t.Context(), v, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
	}
}

func TestBatchesEqualVLLM(t *testing.T) {
	for _, c := range drawnCases(t, "batch") {
		tok, v := loadTokenizer(t, c.Tokenizer)
		r := Random{
			Requests: c.Requests, Input: c.Input, Output: c.Output, InputRange: c.Ratio, OutputRange: c.Ratio, Prefix: c.Prefix,
			Seed: c.Seed, Batch: c.Batch, IDPrefix: "b-",
		}
		w, err := r.Build(t.Context(), v, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
	}
}

func TestRefusedDrawings(t *testing.T) {
	for name, err := range map[string]error{
		"no prefixes":         PrefixRepetition{Requests: 4, Prefix: 1}.Check().Err(),
		"fewer than prefixes": PrefixRepetition{Requests: 2, Prefixes: 3, Prefix: 1}.Check().Err(),
		"empty":               PrefixRepetition{Requests: 4, Prefixes: 2}.Check().Err(),
		"one text":            Rerank{Random: Random{Requests: 4, Input: 40, Batch: 1}, NoReranker: true}.Check().Err(),
		"short":               Rerank{Random: Random{Requests: 4, Input: 3, Batch: 1}}.Check().Err(),
		"no batch":            Rerank{Random: Random{Requests: 4, Input: 40}}.Check().Err(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
