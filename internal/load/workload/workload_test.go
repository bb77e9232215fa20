package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/plan"
)

// words is a tokenizer that uses the words of a text as tokens: id n is "wn". It is
// exact unless merge is set: then adjacent "w1 w2" become one token, as in real
// tokenizers, so that decoding and encoding again shortens.
type words struct {
	merge bool
	grow  bool // a text gains a token each time
	// growAfter: a text gains a token if its last word is below it
	growAfter int32
	fail      error
	mu        sync.Mutex
	calls     int
}

func (w *words) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	if w.fail != nil {
		return nil, w.fail
	}
	var ids []int32
	if special {
		ids = append(ids, 0)
	}
	for f := range strings.FieldsSeq(text) {
		id := int32(0)
		for _, c := range strings.TrimPrefix(f, "w") {
			id = id*10 + c - '0'
		}
		if n := len(ids); w.merge && n > 0 && ids[n-1] == 1 && id == 2 {
			ids[n-1] = 12
			continue
		}
		ids = append(ids, id)
	}
	if w.grow || len(ids) > 0 && ids[len(ids)-1] < w.growAfter {
		ids = append(ids, 7)
	}
	return ids, nil
}

func (w *words) Decode(_ context.Context, ids []int32) (string, error) {
	if w.fail != nil {
		return "", w.fail
	}
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('w')
		b.WriteString(itoa(id))
	}
	return b.String(), nil
}

func itoa(id int32) string {
	if id < 10 {
		return string('0' + id)
	}
	return itoa(id/10) + itoa(id%10)
}

var errTokenizer = errors.New("tokenizer is gone")

func TestRandomIsTheSameOnAnyNumberOfCores(t *testing.T) {
	build := func(procs int) []Request {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		w, err := Random{Requests: 200, Input: 30, Output: 10, InputRange: 0.5, Prefix: 3, Seed: 9}.
			Build(t.Context(), Vocabulary{Size: 40}, &words{merge: true})
		if err != nil {
			t.Fatal(err)
		}
		return w.Requests
	}
	if diff := cmp.Diff(build(1), build(8)); diff != "" {
		t.Error(diff)
	}
}

func TestRandomWithoutATokenizerSendsIDs(t *testing.T) {
	w, err := Random{
		Requests: 3, Input: 5, Output: 2, Prefix: 2, Seed: 1,
	}.Build(t.Context(), Vocabulary{Size: 100, Special: []int32{0, 1, 2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range w.Requests {
		if len(r.Tokens) != 7 || r.PromptTokens != 7 || r.Text != "" || r.OutputTokens != 2 {
			t.Errorf("request %d: %+v", i, r)
		}
		if !slices.Equal(r.Tokens[:2], w.Requests[0].Tokens[:2]) {
			t.Errorf("request %d has a prefix of its own", i)
		}
		if slices.ContainsFunc(r.Tokens, func(id int32) bool { return id < 3 || id >= 100 }) {
			t.Errorf("request %d: ids %v", i, r.Tokens)
		}
	}
}

// A tokenizer that merges "1 2" shortens sequences, so random ids are drawn until
// the length is right.
func TestRandomFillsUpWhatTheTokenizerMerges(t *testing.T) {
	w, err := Random{
		Requests: 20, Input: 12, Output: 1, Seed: 2,
	}.Build(t.Context(), Vocabulary{Size: 13}, &words{merge: true})
	if err != nil || len(w.Notes) != 0 {
		t.Fatal(err, w.Notes)
	}
	for i, r := range w.Requests {
		if n := len(strings.Fields(r.Text)); r.PromptTokens != 12 || n < 12 {
			t.Errorf("request %d: %d tokens, %d words", i, r.PromptTokens, n)
		}
	}
}

// A tokenizer that adds a token to a text ending in one of a few words sometimes
// defeats ten corrections; no other draw depends on the remedy.
func TestRandomInsistsOnExactLengths(t *testing.T) {
	build := func(exact bool) Workload {
		r := Random{Requests: 200, Input: 2, Prefix: 3, Output: 1, Seed: 3, Exact: exact}
		w, err := r.Build(t.Context(), Vocabulary{Size: 50}, &words{growAfter: 20})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	loose, exact := build(false), build(true)
	if len(loose.Notes) != 1 || len(exact.Notes) != 0 {
		t.Errorf("notes %q, exact %q", loose.Notes, exact.Notes)
	}
	for i, r := range loose.Requests {
		if !strings.HasPrefix(exact.Requests[i].Text, strings.Join(strings.Fields(loose.Requests[0].Text)[:3], " ")+" ") {
			t.Errorf("request %d: %q has lost the prefix", i, exact.Requests[i].Text)
		}
		if e := exact.Requests[i]; e.PromptTokens != 5 || r.PromptTokens == 5 && e.Text != r.Text {
			t.Errorf("request %d: %d tokens, %q was %q", i, e.PromptTokens, e.Text, r.Text)
		}
	}
}

// dropper is a tokenizer that loses more tokens than the prefix leaves.
type dropper struct{ words }

func (d *dropper) Encode(ctx context.Context, text string, special bool) ([]int32, error) {
	ids, err := d.words.Encode(ctx, text, special)
	return slices.DeleteFunc(ids, func(id int32) bool { return id%3 == 0 }), err
}

func TestRandomGivesUpOnATokenizerThatLosesTokens(t *testing.T) {
	for seed := range uint64(30) {
		tok := &dropper{}
		r := Random{Requests: 20, Input: 2, Prefix: 60, Output: 1, Seed: seed, Exact: true}
		w, err := r.Build(t.Context(), Vocabulary{Size: 40}, tok)
		if err != nil || len(w.Requests) != 20 {
			t.Fatalf("%d requests, error %v", len(w.Requests), err)
		}
	}
	tok := &words{grow: true}
	if _, err := (Random{
		Requests: 50, Input: 5, Output: 1, Exact: true,
	}).Build(t.Context(), Vocabulary{Size: 50}, tok); err != nil {
		t.Fatal(err)
	}
	if most := (50 + (maxHopeless+1)*otherEnds) * (corrections + 1); tok.calls > most {
		t.Errorf("%d encodings for 50 prompts, at most %d make sense", tok.calls, most)
	}
}

func TestRandomSaysWhenLengthsCannotBeMet(t *testing.T) {
	tok := &words{grow: true}
	w, err := Random{Requests: 2, Input: 5, Output: 1}.Build(t.Context(), Vocabulary{Size: 50}, tok)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]plan.Message{plan.Msg(PromptsInexact, "inexact", 2, "of", 2, "surplus", 2)},
		w.Notes); diff != "" {
		t.Error(diff)
	}
	if w.Requests[0].PromptTokens != 6 || tok.calls != 2*(corrections+1) {
		t.Errorf("%d tokens after %d encodings", w.Requests[0].PromptTokens, tok.calls)
	}
}

func TestBuildErrors(t *testing.T) {
	ctx, v := t.Context(), Vocabulary{Size: 50}
	random := Random{Requests: 2, Input: 5, Output: 1}
	mm := RandomMM{Random: random, Items: 1, Limits: DefaultLimits(), Buckets: DefaultBuckets()}
	gone := &words{fail: errTokenizer}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	build := func(_ Workload, err error) error { return err }
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"tokenizer", build(random.Build(ctx, v, gone)), errTokenizer.Error()},
		{"prefix", build(Random{Requests: 1, Input: 5, Output: 1, Prefix: 2}.Build(ctx, v, gone)), errTokenizer.Error()},
		{"cancelled", build(random.Build(cancelled, v, &words{})), "context canceled"},
		{"empty vocabulary", build(random.Build(ctx, Vocabulary{}, &words{})), "a vocabulary of 0 ids leaves none"},
		{
			"BOS alone", build(Random{Requests: 1, Input: 1, Output: 1}.Build(ctx, Vocabulary{Size: 9, Around: 1}, &words{})),
			"of which the tokenizer adds 1 itself, with range 0 allows an empty prompt",
		},
		{"pictures without text", build(mm.Build(ctx, v, nil)), "text needs a tokenizer"},
		{"pictures, tokenizer", build(mm.Build(ctx, v, gone)), errTokenizer.Error()},
		{
			"talks without a tokenizer", build(ShareGPT{Requests: 1}.Build(ctx, make(Conversations, 1), nil)),
			"needs a tokenizer",
		},
		{
			"no talks", build(ShareGPT{Requests: 1}.build(ctx, strings.NewReader("[]"), &words{})),
			"no conversation of two turns among 0",
		},
		{
			"not JSON", build(ShareGPT{Requests: 1}.build(ctx, strings.NewReader(`[{"conversations": 3}]`), &words{})),
			"read a list of conversations, at byte",
		},
		{
			"nothing fits",
			build(ShareGPT{Requests: 1}.build(ctx, strings.NewReader(`[{"conversations":[{"value":"w1"},{"value":"w2"}]}]`),
				&words{})), "none of 1 conversations",
		},
		{
			"with an image",
			build(ShareGPT{Requests: 1}.build(ctx,
				strings.NewReader(`[{"conversations":[{"value":"w1"},{"value":"w2"}],"image":"x"}]`), &words{})),
			"where only text is sent",
		},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, tt.err, tt.want)
		}
	}
}

func TestValidate(t *testing.T) {
	err := Random{Requests: 0, Input: -1, Output: 0, Prefix: -1, InputRange: 1, OutputRange: -0.5}.Check().Err()
	if err == nil || strings.Count(err.Error(), "\n") != 5 {
		t.Errorf("six faults:\n%v", err)
	}
	ok := RandomMM{
		Random: Random{Requests: 1, Input: 4, Output: 1}, Items: 1, Limits: DefaultLimits(), Buckets: DefaultBuckets(),
	}
	if err := ok.Check().Err(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(r *RandomMM){
		"items -1":               func(r *RandomMM) { r.Items = -1 },
		"items_range 2":          func(r *RandomMM) { r.ItemsRange = 2 },
		"at least 3 are wanted":  func(r *RandomMM) { r.Items, r.Limits = 3, map[string]int{"image": 2, "video": 1} },
		"must be at least 1":     func(r *RandomMM) { r.Buckets = []Bucket{{0, 5, 1, 1}} },
		"must not be negative":   func(r *RandomMM) { r.Buckets = []Bucket{{5, 5, 1, -1}} },
		"a JPEG has at most":     func(r *RandomMM) { r.Buckets = []Bucket{{70000, 5, 1, 1}} },
		`limits: no "video"`:     func(r *RandomMM) { r.Limits = map[string]int{"image": 2} },
		"video is not supported": func(r *RandomMM) { r.Buckets = []Bucket{{5, 5, 2, 1}} },
		"buckets: at least one":  func(r *RandomMM) { r.Buckets = []Bucket{{5, 5, 1, 0}} },
	} {
		r := ok
		spoil(&r)
		if err := r.Check().Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestMistakesHaveThePathsOfTheirSettings(t *testing.T) {
	r := RandomMM{Random: Random{Requests: 1, Output: 1, InputRange: 2}}
	got := map[string]string{}
	for _, p := range r.Check() {
		got[p.Path] = p.Under("--" + p.Path)
	}
	if !strings.HasPrefix(got["input_range"], "--input_range 2: must be") ||
		!strings.HasPrefix(got["buckets"], "--buckets: at least one") {
		t.Error(got)
	}
}

func TestPicturesAreJPEGsOfTheirSize(t *testing.T) {
	r := RandomMM{
		Random: Random{Requests: 3, Input: 4, Output: 1, Seed: 4}, Items: 2, Limits: map[string]int{"image": 9},
		Buckets: []Bucket{{40, 64, 1, 1}},
	}
	build := func() []Request {
		w, err := r.Build(t.Context(), Vocabulary{Size: 50}, &words{})
		if err != nil {
			t.Fatal(err)
		}
		return w.Requests
	}
	requests := build()
	for _, req := range requests {
		for _, m := range req.Media {
			c, err := jpeg.DecodeConfig(bytes.NewReader(m.Data))
			if err != nil || c.Width != 64 || c.Height != 40 || m.MIME != "image/jpeg" {
				t.Errorf("%v: %+v %s", err, c, m.MIME)
			}
		}
		if len(req.Media) != 2 {
			t.Errorf("%d pictures", len(req.Media))
		}
	}
	if diff := cmp.Diff(requests, build()); diff != "" {
		t.Error("a second drawing differs")
	}
}

func TestParseBuckets(t *testing.T) {
	two := []Bucket{{256, 256, 1, 0.5}, {720, 1280, 16, 0.25}}
	for s, want := range map[string][]Bucket{
		"{(256,256,1):0.5,(720,1280,16):0.25}":                two,
		" { (256, 256, 1) : 5e-1 , (720, 1280, 16,): 0.25, }": two,
		`{"(256, 256, 1)": 0.5, '(720, 1280, 16)': 0.25}`:     two,
		"{(8,8,1):1,(8,8,1):2}":                               {{8, 8, 1, 2}},
		"":                                                    nil,
		"{}":                                                  nil,
		"{(8,8):1}":                                           nil,
		"{(8,8,1)}":                                           nil,
		"{(8,8,1):x}":                                         nil,
		`{"(8,8,1)':1}`:                                       nil,
		"(8,8,1):1":                                           nil,
		"{(99999999999999999999,8,1):1}":                      nil,
	} {
		got, err := ParseBuckets(s)
		if diff := cmp.Diff(want, got); want != nil && (diff != "" || err != nil) {
			t.Errorf("%s: %v %s", s, err, diff)
		}
		if want == nil && err == nil {
			t.Errorf("%s: accepted as %v", s, got)
		}
	}
	got, err := ParseSizes("256x128=0.5, 1280x720")
	if diff := cmp.Diff([]Bucket{{128, 256, 1, 0.5}, {720, 1280, 1, 1}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for _, s := range []string{"", "256", "axb", "1x1=z"} {
		if _, err := ParseSizes(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestCustomLines(t *testing.T) {
	file := `{"prompt": "w1 w2", "output_tokens": 3, "timestamp": 1.5, "other": {}}

{"prompt": [5, 6, 7], "output_tokens": 4.0}
{"messages": [{"role": "user", "content": "hi"}], "output_tokens": 5}
`
	w, err := Custom{IDPrefix: "c"}.build(t.Context(), strings.NewReader(file), &words{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{ID: "c0", Text: "w1 w2", PromptTokens: 3, OutputTokens: 3, At: 1500 * time.Millisecond},
		{ID: "c1", Tokens: []int32{5, 6, 7}, PromptTokens: 3, OutputTokens: 4},
		{ID: "c2", Messages: json.RawMessage(`[{"role": "user", "content": "hi"}]`), OutputTokens: 5},
	}
	if diff := cmp.Diff(want, w.Requests); diff != "" {
		t.Error(diff)
	}
}

func TestCustomErrors(t *testing.T) {
	for _, tt := range []struct {
		name, file, want string
		c                Custom
	}{
		{"not JSON", "{\n", "line 1: not a JSON object", Custom{}},
		{
			"every faulty line",
			"{\"prompt\":\"a\",\"output_tokens\":1}\n{\"output_tokens\":1}\n{\"prompt\":3,\"output_tokens\":1}\n",
			"line 2: field \"prompt\" is missing\nline 3: field \"prompt\" must be a string or",
			Custom{},
		},
		{"empty file", "\n \n", "no requests", Custom{}},
		{"no length", `{"prompt":"a"}`, `output_len: is needed, as line 1 of the file has no field "output_tokens"`, Custom{}},
		{"length of zero", `{"prompt":"a","output_tokens":0}`, `field "output_tokens" is 0`, Custom{}},
		{"half a token", `{"prompt":"a","output_tokens":1.5}`, `field "output_tokens" is 1.5`, Custom{}},
		{"null prompt", `{"prompt":null,"output_tokens":1}`, `must be a string`, Custom{}},
		{"empty list", `{"prompt":[],"output_tokens":1}`, `must be a string or a list`, Custom{}},
		{"messages that are none", `{"messages":"x","output_tokens":1}`, `field "messages" must be a list`, Custom{}},
		{
			"a length that is not wanted", `{"prompt":"a","output_tokens":"n/a"}`, `not a JSON object of a request`,
			Custom{Output: 3},
		},
		{"no timestamp", `{"prompt":"a"}`, `field "timestamp" is missing`, Custom{NeedTime: true, Output: 3}},
		{
			"timestamp in milliseconds of the epoch", `{"prompt":"a","timestamp":1700000000000}`, `must be in seconds`,
			Custom{Output: 3},
		},
	} {
		_, err := tt.c.build(t.Context(), strings.NewReader(tt.file), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if _, err := (Custom{Output: 1}).build(t.Context(), strings.NewReader(`{"prompt":"w1"}`),
		&words{fail: errTokenizer}); !errors.Is(err, errTokenizer) {
		t.Error(err)
	}
}

func TestFillSaysWhatItDid(t *testing.T) {
	file := "{\"prompt\":\"w1\"}\n{\"prompt\":\"w2\"}\n"
	w, err := Custom{Requests: 5, Output: 3, IDPrefix: "r"}.build(t.Context(), strings.NewReader(file), nil)
	if err != nil || len(w.Requests) != 5 || w.Requests[4].ID != "r4" ||
		!cmp.Equal(w.Notes, []plan.Message{plan.Msg(Oversampled, "have", 2, "copies", 3, "asked", 5)}) {
		t.Errorf("%v: %+v", err, w)
	}
	w, err = Custom{Requests: 5, Output: 3, NoOversample: true}.build(t.Context(), strings.NewReader(file), nil)
	if err != nil || len(w.Requests) != 2 ||
		!cmp.Equal(w.Notes, []plan.Message{plan.Msg(FileShort, "have", 2, "asked", 5)}) {
		t.Errorf("%v: %+v", err, w)
	}
}

func TestShareGPTInTheOrderOfTheFile(t *testing.T) {
	file := `[{"conversations":[{"value":"a b c d"},{"value":"e f g h"}]},{"conversations":[{"value":"i j k l"},` +
		`{"value":"m n o p"}]},{"conversations":[{"value":"q r s t"},{"value":"u v w x"}]}]`
	w, err := ShareGPT{Requests: 3, NoShuffle: true}.build(t.Context(), strings.NewReader(file), &words{})
	if err != nil || w.Requests[0].Text != "a b c d" || w.Requests[1].Text != "i j k l" ||
		w.Requests[2].Text != "q r s t" {
		t.Errorf("%v: %+v", err, w.Requests)
	}
}

func TestShareGPTTakesEmptyMediaForNone(t *testing.T) {
	for _, media := range []string{"null", `""`, "[]", "{}", "false"} {
		file := `[{"conversations":[{"value":"a b c d"},{"value":"e f g h"}],"image":` + media + `,"video":` + media + `}]`
		w, err := ShareGPT{Requests: 1}.build(t.Context(), strings.NewReader(file), &words{})
		if err != nil || len(w.Requests) != 1 {
			t.Errorf("%s: %v: %+v", media, err, w.Requests)
		}
	}
}

// Any request parsed from a file can be sent.
func FuzzCustom(f *testing.F) {
	f.Add(`{"prompt": "hello", "output_tokens": 3, "timestamp": 1.5}`)
	f.Add("{\"prompt\": [1, 2], \"output_tokens\": 3}\n{\"messages\": [{\"role\": \"user\"}], \"output_tokens\": 1}")
	f.Add(`{"prompt": 3}`)
	f.Fuzz(func(t *testing.T, file string) {
		w, err := Custom{}.build(t.Context(), strings.NewReader(file), nil)
		if err != nil {
			return
		}
		for _, r := range w.Requests {
			kinds := 0
			for _, is := range []bool{r.Tokens != nil, r.Messages != nil} {
				if is {
					kinds++
				}
			}
			if kinds > 1 || kinds == 1 && r.Text != "" || r.OutputTokens < 1 {
				t.Fatalf("%q -> %+v", file, r)
			}
			if r.Messages != nil && !json.Valid(r.Messages) {
				t.Fatalf("messages %q", r.Messages)
			}
		}
	})
}

func BenchmarkRandom(b *testing.B) {
	r := Random{Requests: 100, Input: 1024, Output: 128}
	for b.Loop() {
		if _, err := r.Build(b.Context(), Vocabulary{Size: 100_000}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNoiseJPEG720p(b *testing.B) {
	rgb := make([]byte, 3*720*1280)
	pyrand.NewGenerator(1).Uint8s(rgb)
	for b.Loop() {
		if _, err := noiseJPEG(rgb, 1280, 720); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleRandom() {
	w, _ := Random{Requests: 2, Input: 6, Output: 4, Seed: 1}.Build(context.Background(), Vocabulary{Size: 1000}, nil)
	for _, r := range w.Requests {
		fmt.Println(r.Tokens, "->", r.OutputTokens)
	}
	// Output:
	// [473 474 475 476 477 478] -> 4
	// [512 513 514 515 516 517] -> 4
}

func TestDistinctPromptsDoNotStartAlike(t *testing.T) {
	v := Vocabulary{Size: 100}
	seen := map[[2]int32]int{}
	for _, seed := range []uint64{0, 1, 1<<33 ^ 1} {
		w, err := Random{Requests: 250, Input: 2, Output: 1, Seed: seed, Distinct: true}.Build(t.Context(), v, nil)
		if err != nil {
			t.Fatal(err)
		}
		alone := map[[2]int32]bool{}
		for i, r := range w.Requests {
			start := [2]int32(r.Tokens)
			if alone[start] {
				t.Errorf("seed %d: request %d starts as another, %v", seed, i, start)
			}
			alone[start] = true
			seen[start]++
		}
	}
	if alike := 750 - len(seen); alike > 250 {
		t.Errorf("%d of 500 prompts of other seeds start as one of seed 0", alike)
	}
}
