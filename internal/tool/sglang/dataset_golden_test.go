package sglang

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A goldenCase is what the tool itself made of one dataset: see testdata/golden.py.
type goldenCase struct {
	Form, Tokenizer string
	Seed            uint32
	Args            map[string]any
	Prompts         []string
	First           string
	Turns           []int // of each conversation
	Lens, Outs      []int
	Lines           []string
	Times           []float64
	Numpy, Python   float64
	Extra           []map[string]any
	Groups          []int
	Pixels          [][]string
	Warmup          []any
}

func (c goldenCase) name() string {
	args, err := json.Marshal(c.Args)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s/%s/%d/%s", c.Form, c.Tokenizer, c.Seed, args)
}

// TestEqualsSGLang holds every dataset against what the tool's own code made: prompts,
// lengths, lines, send times and what the generators draw next.
func TestEqualsSGLang(t *testing.T) {
	race.Skip(t)
	var cases []goldenCase
	golden.JSON(t, "testdata/golden.json", &cases)
	prompts, byDataset, due := 0, map[string]int{}, map[string]bool{}
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			s := c.source(t)
			if c.Seed != 7 { // what can be is made as it is due
				s.Window, s.Local = 1, true
			}
			b, err := build(t, c.dataset(t), s)
			if err != nil {
				t.Fatal(err)
			}
			if b.List != nil {
				due[c.Args["dataset_name"].(string)] = true
				if err := b.MakeAll(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			for i := range b.Requests {
				whole, err := b.Requests[i].Unspooled()
				if err != nil {
					t.Fatal(err)
				}
				b.Requests[i] = *whole
			}
			c.checkRows(t, b)
			c.checkRest(t, b)
			c.checkTimes(t, b)
		})
		prompts += len(c.Prompts)
		byDataset[c.Args["dataset_name"].(string)] += len(c.Prompts)
	}
	t.Logf("%d cases, %d prompts: %v", len(cases), prompts, byDataset)
	if len(due) != 2 {
		t.Errorf("requests of %v are made as they are due", due)
	}
	if len(byDataset) != 12 {
		t.Errorf("%d datasets, want all 12", len(byDataset))
	}
}

func (c goldenCase) source(t *testing.T) *workload.Source {
	t.Helper()
	name, _, plain := strings.Cut(c.Tokenizer, "-")
	tok, v := loadTokenizer(t, name)
	if plain {
		v.Template = nil
	}
	s := &workload.Source{
		Requests: args{t, c.Args}.int("num_prompts", 12), Seed: uint64(c.Seed), Tokens: tok, Vocab: v, Files: files{}.from(), Ask: workload.Ask{Protocol: "generate"},
	}
	if c.Seed == 7 {
		file, err := os.Create(t.TempDir() + "/prompts")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		s.Spool = workload.NewSpool(file, 0)
	}
	return s
}

// checkRows compares prompts, lengths and where turns belong.
func (c goldenCase) checkRows(t *testing.T, b workload.Workload) {
	t.Helper()
	prompts, first := make([]string, len(b.Requests)), ""
	for i, r := range b.Requests {
		text := promptText(t, r)
		prompts[i] = digest([]byte(text))
		if i == 0 {
			first = text
		}
	}
	if !strings.HasPrefix(first, c.First) {
		t.Errorf("first prompt %q, want %q", first, c.First)
	}
	if diff := cmp.Diff(c.Prompts, prompts); diff != "" {
		t.Errorf("prompts (- the tool's, + ours): %s", diff)
	}
	rows := c.rows(t, b)
	lens, outs := make([]int, len(rows)), make([]int, len(rows))
	for i, r := range rows {
		lens[i], outs[i] = r.PromptTokens, r.OutputTokens
	}
	if c.Args["dataset_name"] == "agentic-trace" {
		lens = c.Lens // the tool takes a number from the file that it does not use
	}
	if diff := cmp.Diff(c.Lens, lens); diff != "" {
		t.Errorf("prompt lengths (- the tool's, + ours): %s", diff)
	}
	if diff := cmp.Diff(c.Outs, outs); diff != "" {
		t.Errorf("output lengths (- the tool's, + ours): %s", diff)
	}
}

// rows are the requests, or the first turns of conversations, whose turns it checks.
func (c goldenCase) rows(t *testing.T, b workload.Workload) []workload.Request {
	t.Helper()
	if b.Turns != (c.Turns != nil) {
		t.Fatalf("turns: %v", b.Turns)
	}
	if !b.Turns {
		return b.Requests
	}
	var rows []workload.Request
	at := 0
	for i, n := range c.Turns {
		rows = append(rows, b.Requests[at])
		for k := range n {
			want := workload.Turn{Session: strconv.Itoa(i), Number: k, Followed: k < n-1, Remember: k > 0}
			if n == 1 {
				want.Session = ""
			}
			if k > 0 {
				want.After = at
			}
			if got := b.Requests[at].Turn; got != want {
				t.Errorf("request %d: turn %+v, want %+v", at, got, want)
			}
			at++
		}
	}
	if at != len(b.Requests) {
		t.Errorf("%d requests, want %d", len(b.Requests), at)
	}
	return rows
}

// checkRest compares lines, pictures, routing keys, body fields and the warm-up.
func (c goldenCase) checkRest(t *testing.T, b workload.Workload) {
	t.Helper()
	lines := []string{}
	for _, line := range b.Lines {
		line, _, _ = strings.Cut(line, " with average")
		lines = append(lines, line)
	}
	if diff := cmp.Diff(c.Lines, lines); diff != "" {
		t.Errorf("lines (- the tool's, + ours): %s", diff)
	}
	for i, want := range c.Pixels {
		var got []string
		for _, m := range b.Requests[i].Media {
			got = append(got, pixels(t, m))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pictures of request %d: %s", i, diff)
		}
	}
	for i, group := range c.Groups {
		if got, want := b.Requests[i].Header[routingHeader], fmt.Sprint("0a1b2c3d_20260102030405_", group); got != want {
			t.Errorf("request %d: routing key %q, want %q", i, got, want)
		}
	}
	for i, want := range c.Extra {
		got := map[string]any{}
		for key, raw := range b.Requests[i].Extra {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			got[key] = v
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("body fields of request %d: %s", i, diff)
		}
	}
	if c.Warmup != nil {
		if got, want := digest([]byte(b.Warmup[0].Text)), c.Warmup[0]; got != want || float64(b.Warmup[0].OutputTokens) != c.Warmup[1] {
			t.Errorf("warm-up %.80q of %d tokens, want %v", b.Warmup[0].Text, b.Warmup[0].OutputTokens, c.Warmup)
		}
	}
}

// checkTimes compares when requests are sent, and then the generators.
func (c goldenCase) checkTimes(t *testing.T, b workload.Workload) {
	t.Helper()
	now, timed := 0.0, c.Args["dataset_name"] == "mooncake"
	for i, want := range c.Times {
		if timed {
			now = b.Requests[i].At.Seconds()
		}
		if math.Abs(now-want) > 1e-9 {
			t.Fatalf("request %d is sent at %v, want %v", i, now, want)
		}
		if !timed {
			now += b.Numpy.Exponential(1 / 4.0)
		}
	}
	if got := b.Numpy.Float64(); got != c.Numpy {
		t.Errorf("numpy draws %v next, want %v", got, c.Numpy)
	}
	if got := b.Python.Float64(); got != c.Python {
		t.Errorf("random draws %v next, want %v", got, c.Python)
	}
}

// promptText is a prompt in the form that golden.py hashes.
func promptText(t *testing.T, r workload.Request) string {
	t.Helper()
	switch {
	case r.Tokens != nil:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Tokens), "[]"), " ", ",")
	case r.Messages == nil:
		return r.Text
	}
	var messages []struct{ Role, Content string }
	if err := json.Unmarshal(r.Messages, &messages); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range messages {
		out = append(out, m.Role+"\x1f"+m.Content)
	}
	return strings.Join(out, "\x1e")
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:8])
}

func pixels(t *testing.T, m workload.Media) string {
	t.Helper()
	if m.MIME != "image/png" {
		t.Errorf("a picture is %s", m.MIME)
	}
	img, _, err := image.Decode(bytes.NewReader(m.Data))
	if err != nil {
		t.Fatal(err)
	}
	var rgb []byte
	at := img.Bounds()
	for y := range at.Dy() {
		for x := range at.Dx() {
			c, ok := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if !ok {
				t.Fatal("no colour")
			}
			rgb = append(rgb, c.R, c.G, c.B)
		}
	}
	return fmt.Sprintf("%dx%d %s", at.Dx(), at.Dy(), digest(rgb))
}
