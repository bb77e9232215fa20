package tokenizer

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/rangetable"
)

func count(t *unicode.RangeTable) (n int) {
	rangetable.Visit(t, func(rune) { n++ })
	return n
}

// TestVersion: the characters are those of Unicode 16.0.0, of which its DerivedGeneralCategory
// counts these, as tokenizers 0.23.3 knows them.
func TestVersion(t *testing.T) {
	head, _, _ := strings.Cut(properties, "\n")
	if want := "# Unicode " + Version + ", as in tokenizers 0.23.3: "; !strings.HasPrefix(head, want) {
		t.Errorf("the head is %q, want %q", head, want)
	}
	for name, want := range map[string]int{
		"Lu": 1858, "Ll": 2258, "Lt": 31, "Lm": 404, "Lo": 136477, "Nd": 760, "So": 7376, "Cf": 170, "L": 141028,
		"M": 2501, "S": 8514,
	} {
		if got := count(Table(name)); got != want {
			t.Errorf("%s has %d characters, want %d", name, got, want)
		}
	}
}

// TestAges: each part of the library has its own version.
func TestAges(t *testing.T) {
	for _, c := range []struct {
		name string
		r    rune
		want bool
	}{
		{"Lu", 0xa7cb, true},     // Unicode 16
		{"L", 0x2ebf0, true},     // 15.1
		{"Lo", 0x323b0, false},   // 17
		{"Garay", 0x10d50, true}, // 16
		{"numeric", 0x11de0, true},
		{"Nd", 0x11de0, false}, // 17
		{"punctuation", '$', true},
		{"punctuation", 0xa9, false},
		{"punctuation", 0x9fd, false}, // 10
		{"regex word", 0xb2, false},
		{"word", 0x24b6, true},
		{"word", 0x200d, true},
		{"extend", 0x301, true},
		{"prepend", 0x600, true},
		{"L", -1, false},
		{"L", unicode.MaxRune + 1, false},
	} {
		if got := Is(c.name, c.r); got != c.want {
			t.Errorf("%s of %#x is %v", c.name, c.r, got)
		}
	}
	for _, name := range []string{"", "#", "C", "X", "LX", "nosuch"} {
		if Table(name) != nil {
			t.Errorf("there is a property %q", name)
		}
	}
}

func TestToLower(t *testing.T) {
	for r, want := range map[rune]rune{
		'A': 'a', 'a': 'a', 'É': 'é', 0x100: 0x101, 0x101: 0x101, 0x1e9e: 0xdf, 0x130: 0x130, 0x212a: 'k',
		0xa7cb: 0x264 /* Unicode 16 */, 0x16ea0: 0x16ebb /* 17 */, '水': '水', unicode.MaxRune: unicode.MaxRune,
	} {
		if got := ToLower(r); got != want {
			t.Errorf("the lower case of %#x is %#x, want %#x", r, got, want)
		}
	}
}

func TestScriptOf(t *testing.T) {
	if ScriptOf('水') != ScriptOf('あ') || ScriptOf('ー') != ScriptOf('ア') {
		t.Error("kana is not Han")
	}
	if ScriptOf('a') == ScriptOf('я') || ScriptOf('a') == ScriptOf('1') || ScriptOf('1') != ScriptOf('\n') {
		t.Error("scripts are mixed up")
	}
	if ScriptOf(' ') != Neutral || ScriptOf(0x378) != Neutral || ScriptOf(unicode.MaxRune+1) != Neutral {
		t.Error("a space has a script")
	}
}
