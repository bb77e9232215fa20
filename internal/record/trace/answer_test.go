package trace

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var testMarker = NewMarker(MarkKey{1, 2, 3})

// marked are the marks of some bytes of parts, cut at random.
func marked(t interface{ Helper() }, m *Marker, rng *rand.Rand, parts ...string) (Marks, Defects) {
	t.Helper()
	var a Answer
	a.Begin(m)
	for i, text := range parts {
		part := []Part{VisiblePart, ReasoningPart}[i%2]
		for text != "" {
			n := len(text)
			if rng != nil {
				n = min(n, 1+rng.IntN(100))
			}
			if n%2 == 0 {
				a.AddString(part, text[:n])
			} else {
				a.Add(part, []byte(text[:n]))
			}
			text = text[n:]
		}
	}
	return a.End(false, false)
}

func digest(t testing.TB, m Marks) Digest {
	t.Helper()
	d, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func randomText(rng *rand.Rand, n int) string {
	words := []string{"tube ", "the ", "Pitot ", "né ", "空速 ", "\n", "\x01", "\uFFFD", "<think>", "</think>", "<|end|>", "<", "!!!!!!!!"}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[rng.IntN(len(words))])
	}
	return b.String()[:n]
}

func TestMarksDoNotDependOnChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		parts := []string{randomText(rng, rng.IntN(300)), randomText(rng, rng.IntN(3000)), randomText(rng, rng.IntN(3000))}
		want, defects := marked(t, testMarker, nil, parts...)
		for range 5 {
			if got, also := marked(t, testMarker, rng, parts...); got != want || also != defects {
				t.Fatalf("%q: marks %x and %x, defects %v and %v", parts, got, want, also.Names(), defects.Names())
			}
		}
	}
}

func TestFirstDifference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	text := []byte(randomText(rng, 1500))
	one, _ := marked(t, testMarker, nil, string(text))
	for i := range text {
		other := slices.Clone(text)
		other[i] ^= 1
		two, _ := marked(t, testMarker, rng, string(other))
		n := digest(t, one).Common(digest(t, two))
		if n > i || i-n >= markEvery || i < markEvery && n < (i+1)/2 {
			t.Errorf("they differ at %d: %d bytes in common", i, n)
		}
	}
	if n := digest(t, one).Common(digest(t, one)); n != len(text) {
		t.Errorf("the same: %d bytes in common, want %d", n, len(text))
	}
	shorter, _ := marked(t, testMarker, nil, string(text[:700]))
	if n := digest(t, one).Common(digest(t, shorter)); n != 640 {
		t.Errorf("a text and its beginning: %d bytes in common, want 640", n)
	}
}

func TestDigest(t *testing.T) {
	plain, _ := marked(t, testMarker, nil, "the Pitot tube né")
	thought, _ := marked(t, testMarker, nil, "", "so", "the Pitot tube né")
	p, r := digest(t, plain), digest(t, thought)
	if p.Bytes != 18 || p.Characters != 17 || r.Bytes != 22 || r.Characters != 19 {
		t.Errorf("bytes and characters: %d %d, %d %d", p.Bytes, p.Characters, r.Bytes, r.Characters)
	}
	if p.Visible != r.Visible || p.Visible != p.End || p.End == r.End {
		t.Errorf("visible %x %x, end %x %x", p.Visible, r.Visible, p.End, r.End)
	}
	mixed, _ := marked(t, testMarker, nil, "the Pitot", "hm", " tube né")
	if d := digest(t, mixed); d.Visible != p.Visible {
		t.Errorf("visible text around a thought: %x, want %x", d.Visible, p.Visible)
	}
	joined, _ := marked(t, testMarker, nil, "ab")
	if split, _ := marked(t, testMarker, nil, "a", "b"); digest(t, joined).End == digest(t, split).End {
		t.Error("a part makes no difference")
	}
	padded, _ := marked(t, testMarker, nil, "ab\x00")
	if digest(t, joined).End == digest(t, padded).End {
		t.Error("a byte 0 at the end makes no difference")
	}
	for i := range plain {
		if _, err := plain[:i].Digest(); err == nil {
			t.Errorf("%d of %d bytes of marks are read", i, len(plain))
		}
	}
	var back Marks
	text, _ := plain.MarshalText()
	if err := back.UnmarshalText(text); err != nil || back != plain {
		t.Errorf("%s: %x, %v", text, back, err)
	}
	if err := back.UnmarshalText(text[2:]); err == nil {
		t.Error("truncated marks are read")
	}
}

func TestAnotherKey(t *testing.T) {
	other := NewMarker(MarkKey{1, 2, 4})
	if other.ID() == testMarker.ID() {
		t.Errorf("two keys have the name %s", other.ID())
	}
	a, _ := marked(t, testMarker, nil, "the Pitot tube")
	b, _ := marked(t, other, nil, "the Pitot tube")
	if d := digest(t, a); d.Common(digest(t, b)) != 0 || d.End == digest(t, b).End {
		t.Error("marks of two keys have something in common")
	}
}

func TestDefects(t *testing.T) {
	long := strings.Repeat("the Pitot tube measures what streams past it, ", 9)
	for _, test := range []struct {
		name      string
		parts     []string
		cut, open bool
		want      string
	}{
		{name: "sound", parts: []string{long + strings.Join(strings.Split(long, "t"), "T")}},
		{name: "empty", want: "empty"},
		{name: "blanks", parts: []string{" \n\t"}, want: "empty"},
		{name: "only thoughts", parts: []string{"", "hm"}, want: "empty"},
		{name: "thoughts up to a limit", parts: []string{"", "hm"}, cut: true},
		{name: "one character", parts: []string{long + strings.Repeat("!", 512)}, want: "loop"},
		{name: "not long enough", parts: []string{long + strings.Repeat("!", 511)}},
		{name: "period 128", parts: []string{strings.Repeat(long[:128], 4)}, want: "loop"},
		{name: "period 129", parts: []string{strings.Repeat(long[:129], 4)}},
		{name: "a loop that ended", parts: []string{strings.Repeat("ab", 2000) + "."}},
		{name: "thoughts in a loop", parts: []string{"", strings.Repeat("wait, ", 100), "", ""}, cut: true, want: "loop"},
		{name: "replacements", parts: []string{strings.Repeat("a", 97) + "\uFFFDé\uFFFD"}, want: "garbage"},
		{name: "one in a hundred", parts: []string{strings.Repeat("a", 99) + "\uFFFD"}},
		{name: "half a character", parts: []string{"空\uFFFD"}, cut: true},
		{name: "half a character at an end", parts: []string{"空\uFFFD"}, want: "garbage"},
		{name: "controls", parts: []string{"a\x00b"}, want: "garbage"},
		{name: "lines", parts: []string{"a\r\n\tb"}},
		{name: "end token", parts: []string{"yes<|im_end|>"}, want: "leaked"},
		{name: "wide end token", parts: []string{"yes<｜end▁of▁sentence｜>"}, want: "leaked"},
		{name: "operators", parts: []string{"f <| x |> g, a <|b, c|> d"}},
		{name: "end of a sequence", parts: []string{"yes</s>"}, want: "leaked"},
		{name: "struck out", parts: []string{"<s>no</s> yes"}},
		{name: "think tags", parts: []string{"<think>hm</think>yes"}},
		{name: "stray", parts: []string{"hm</think>yes"}, want: "leaked"},
		{name: "unclosed", parts: []string{"<think>hm"}, want: "leaked"},
		{name: "unclosed at a limit", parts: []string{"<think>hm"}, cut: true},
		{name: "cut", parts: []string{"yes"}, cut: true, open: true, want: "cut"},
		{name: "two", parts: []string{strings.Repeat("\uFFFD", 400)}, want: "loop garbage"},
	} {
		var a Answer
		a.Begin(testMarker)
		for i, text := range test.parts {
			a.AddString([]Part{VisiblePart, ReasoningPart}[i%2], text)
		}
		_, d := a.End(test.cut, test.open)
		if got := strings.Join(d.Names(), " "); got != test.want || d&Inspected == 0 {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestTagsAcrossTheWindow(t *testing.T) {
	for n := range 2000 {
		_, d := marked(t, testMarker, nil, strings.Repeat("a", n)+"<|im_end|>"+strings.Repeat("b", n%700))
		if d&DefectLeaked == 0 {
			t.Fatalf("a token after %d bytes is not seen", n)
		}
	}
}

func TestCallsAreNotEmpty(t *testing.T) {
	var a Answer
	a.Begin(testMarker)
	a.AddString(ToolNamePart, "f")
	a.AddString(ToolInputPart, "{}")
	if _, d := a.End(false, false); d != Inspected {
		t.Errorf("a call has the defects %v", d.Names())
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	var a Answer
	text := []byte("tube né\n")
	run := func() {
		a.Begin(testMarker)
		for range 2000 {
			a.Add(VisiblePart, text)
		}
		a.Add(ReasoningPart, text)
		a.AddString(VisiblePart, "tube")
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAnswer(b *testing.B) {
	for _, token := range []string{" tube", "空速", "\n"} {
		b.Run(strings.TrimSpace(token), func(b *testing.B) {
			var a Answer
			text := []byte(token)
			for b.Loop() {
				a.Begin(testMarker)
				for range 256 {
					a.Add(VisiblePart, text)
				}
				a.End(false, false)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/token")
		})
	}
}
