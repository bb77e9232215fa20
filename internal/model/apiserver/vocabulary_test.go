package apiserver

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestVocabulary(t *testing.T) {
	v := newVocabulary()
	if n := v.size(); n < 20_000 || n > 25_000 {
		t.Errorf("%d tokens", n)
	}
	seen := map[string]bool{}
	for id, text := range v.text {
		if seen[text] || text == "" {
			t.Errorf("token %d %q is empty or there twice", id, text)
		}
		seen[text] = true
		if got := v.encode(nil, text); len(got) != 1 || got[0] != int32(id) {
			t.Errorf("token %d %q encodes to %v", id, text, got)
		}
	}
}

func TestEncode(t *testing.T) {
	v := newVocabulary()
	for _, test := range []struct{ in, want string }{
		{"the quick brown fox", "the| qui|ck| bro|wn| fox"},
		{"string strength", "st|rin|g| st|ren|gt|h"},
		{"which is a which, whichever", "whi|ch| is| a| which|,| whi|che|ver"},
		{"The I A", "Th|e| I| A"},
		{"I'll", "I|'|ll"},
		{"a  b   c", "a| | b|  | c"},
		{strings.Repeat(" ", 20) + "x", strings.Repeat(" ", 16) + "|   | x"},
		{"x   ", "x|   "},
		{"a\n\nb\n", "a|\n\n|b|\n"},
		{"naïve", "na|\xc3|\xaf|ve"},
		{"", ""},
	} {
		var got []string
		for _, id := range v.encode(nil, test.in) {
			got = append(got, v.text[id])
		}
		if s := strings.Join(got, "|"); s != test.want {
			t.Errorf("%q: %q, want %q", test.in, s, test.want)
		}
	}
}

// Lincoln, 1863.
const gettysburg = `Four score and seven years ago our fathers brought forth on this continent, a new nation,
conceived in Liberty, and dedicated to the proposition that all men are created equal. Now we are engaged in a
great civil war, testing whether that nation, or any nation so conceived and so dedicated, can long endure. We are
met on a great battle-field of that war. We have come to dedicate a portion of that field, as a final resting place
for those who here gave their lives that that nation might live. It is altogether fitting and proper that we should
do this.`

func TestEnglishIsThreeBytesAToken(t *testing.T) {
	v := newVocabulary()
	ratio := float64(len(gettysburg)) / float64(len(v.encode(nil, gettysburg)))
	if ratio < 2.8 || ratio > 3.5 {
		t.Errorf("%.2f bytes a token", ratio)
	}
}

func FuzzEncodeRoundTrip(f *testing.F) {
	for _, s := range []string{gettysburg, "", "  a  ", "\xff\x00", "日本語", " the", "ABCdef  \n\n\n"} {
		f.Add(s)
	}
	v := newVocabulary()
	f.Fuzz(func(t *testing.T, s string) {
		ids := v.encode(nil, s)
		if got := v.decode(ids); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
		// A whole text's tokens are what its text encodes to.
		if again := v.encode(nil, v.decode(ids)); !slices.Equal(again, ids) {
			t.Errorf("%q: %v comes back as %v", s, ids, again)
		}
	})
}

// Triples come back from their text as they were; of all tokens most do.
func TestDecodeEncode(t *testing.T) {
	v := newVocabulary()
	r := rand.New(rand.NewPCG(1, 1))
	first := v.encode(nil, "aaa")[0]
	var triples, mixed []int32
	for range 10_000 {
		triples = append(triples, first+r.Int32N(2*v.triples))
		mixed = append(mixed, 256+r.Int32N(int32(v.size())-256))
	}
	if got := v.encode(nil, v.decode(triples)); !slices.Equal(got, triples) {
		t.Error("triples do not come back")
	}
	again := v.encode(nil, v.decode(mixed))
	if d := len(again) - len(mixed); d < -200 || d > 200 {
		t.Errorf("10000 random tokens come back as %d", len(again))
	}
}

func TestAnswers(t *testing.T) {
	v := newVocabulary()
	a := newAnswer(v, 123)
	b, c, d := a, a, a
	long := string(a.appendText(nil, 5000))
	if n := len(v.encode(nil, long)); n != 5000 {
		t.Errorf("5000 tokens encode to %d", n)
	}
	if strings.Trim(long, "abcdefghijklmnopqrstuvwxyz ") != "" || strings.HasPrefix(long, " ") ||
		strings.Contains(long, "  ") {
		t.Errorf("not words and spaces: %.60q", long)
	}
	// In pieces it is the same text.
	var pieces []byte
	for _, n := range []int{1, 0, 3, 996, 4000} {
		pieces = b.appendText(pieces, n)
	}
	if string(pieces) != long {
		t.Error("in pieces the text differs")
	}
	c.visible = 10
	if got := string(c.appendText(c.appendText(nil, 2), 20)); got != long[:10] {
		t.Errorf("10 bytes visible: %q", got)
	}
	if other := newAnswer(v, 124); string(other.appendText(nil, 50)) == string(d.appendText(nil, 50)) {
		t.Error("another prompt has the same answer")
	}
}

func TestStopSearch(t *testing.T) {
	v := newVocabulary()
	a := newAnswer(v, 1)
	whole := a
	text := string(whole.appendText(nil, 30))
	two := text[7:9]
	for _, test := range []struct {
		stops []string
		limit int
		found bool
	}{
		{[]string{two}, 30, true},
		{[]string{"@", text[20:28], two}, 30, true},
		{[]string{text[40:50]}, 3, false},
		{[]string{"@"}, 30, false},
	} {
		got, found := a.stop(test.stops, false, 0, test.limit)
		if found != test.found {
			t.Errorf("%q: found %v", test.stops, found)
		}
		if found && (got.reason != two || got.visible != strings.Index(text, two)) {
			t.Errorf("%q: %+v", test.stops, got)
		}
	}
}
