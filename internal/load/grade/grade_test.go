package grade

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// A peersCase is a text with the verdicts of lm-evaluation-harness 0.4.13 (task gsm8k: strict,
// flexible) and of AIPerf 0.13.0: whether it is right, and whether it lacks the form asked for.
type peersCase struct {
	Text, Answer          string
	Strict, Flexible      *bool
	AIPerf, Choice, Exact []bool
}

func TestPeersAgree(t *testing.T) {
	f, err := os.Open("testdata/peers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c peersCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		check := func(grader string, choices int, want bool) {
			t.Helper()
			n[grader]++
			g, err := New(grader)
			if err != nil {
				t.Fatal(err)
			}
			got := g.Grade(c.Text, c.Answer, choices)
			if got.Right() != want && !differs(grader, c) {
				t.Errorf("%s of %q for %q: %v, the other tool says %t", grader, c.Text, c.Answer, got, want)
			}
		}
		if c.Strict != nil {
			check("gsm8k.strict", 0, *c.Strict)
			check("gsm8k.flexible", 0, *c.Flexible)
			check("number", 0, c.AIPerf[0])
		}
		if c.Choice != nil {
			check("choice", 4, c.Choice[0])
		}
		if c.Exact != nil {
			check("exact", 0, c.Exact[0])
		}
	}
	for grader, least := range map[string]int{"gsm8k.strict": 200, "number": 200, "choice": 100, "exact": 7} {
		if n[grader] < least {
			t.Errorf("only %d texts for %s", n[grader], grader)
		}
	}
}

// differs reports a text that AIPerf reads otherwise: it knows no exponents, fractions, digits of
// other scripts, points without a digit before them, nor a dollar behind ####, takes the first of
// several ####, and the article A as an answer.
func differs(grader string, c peersCase) bool {
	has := func(in string, of ...string) bool {
		return slices.ContainsFunc(of, func(s string) bool { return strings.Contains(in, s) })
	}
	switch grader {
	case "number":
		return has(c.Text+c.Answer, "1e3", "3/4", " .5", "\u2212", "\uff15", "\u0663", "#### $") || strings.Count(c.Text, "####") > 1
	case "choice":
		return has(c.Text, "A train leaves")
	}
	return false
}

func TestGrade(t *testing.T) {
	for _, c := range []struct {
		grader, text, want string
		choices            int
		right              bool
		how                How
	}{
		{"exact", " yes\n", "yes", 0, true, Whole},
		{"exact", "Yes", "yes", 0, false, Whole},
		{"exact-i", "Yes", "yes", 0, true, Whole},
		{"exact", " \n", "yes", 0, false, Empty},
		{"exact", "<think>it is no</think>yes", "yes", 0, true, Whole},
		{"exact", "a</think>b</think> yes", "yes", 0, true, Whole},
		{"exact", "<think>yes", "yes", 0, false, Unfinished},
		{"contains", "the key\n is  K-17.", "is K-17", 0, true, Whole},
		{"contains", "<think>K-17</think>I do not know", "K-17", 0, false, Whole},
		{"number", "72.", "72", 0, true, Whole},
		{"number", "It is $1,234.50.", "1234.5", 0, true, Fallback},
		{"number", "#### 18 (see step 3)", "18", 0, true, Marked},
		{"number", `\boxed{\frac{3}{4}}, as 3+1=4`, "0.75", 0, true, Marked},
		{"number", `\boxed{5\text{ cm}} of 7`, "5", 0, true, Marked},
		{"number", "3-4", "4", 0, true, Fallback},
		{"number", "x = -4", "-4", 0, true, Fallback},
		{"number", "The answer is 1e3.", "1000", 0, true, Marked},
		{"number", "1e400000000", "1", 0, false, Fallback},
		{"number", "about 50%", "50", 0, true, Fallback},
		{"number", "the answer is not known; 3 of 4", "4", 0, false, Marked},
		{"number", "no idea", "4", 0, false, None},
		{"choice", "(C)", "C", 4, true, Whole},
		{"choice", "B\n\nbecause A is larger", "B", 4, true, Marked},
		{"choice", "The answer is (A). No, the answer is **B**", "B", 4, true, Marked},
		{"choice", "Vitamin E, so Answer: C", "C", 4, true, Marked},
		{"choice", "I think it is B", "B", 10, true, Fallback},
		{"choice", "Is it I? A train knows.", "I", 10, true, Fallback},
		{"choice", "the answer is E", "E", 4, false, None},
		{"json", "Here:\n```json\n{\"b\": 1.0, \"a\": [2]}\n```", `{"a":[2],"b":1}`, 0, true, Marked},
		{"json", `{"a":[2],"b":1,"c":0}`, `{"a":[2],"b":1}`, 0, false, Whole},
		{"json-subset", `{"a":[2],"b":1,"c":0}`, `{"a":[2],"b":1}`, 0, true, Whole},
		{"json-subset", `{"a":[2,3]}`, `{"a":[2]}`, 0, false, Whole},
		{"json", "[1, 2", "[1,2]", 0, false, None},
		{"regex:key=([0-9]+)", "key=1, key=2", "2", 0, true, Marked},
		{"regex:key=[0-9]+", "key=1, key=2", "", 0, true, Marked},
		{"regex:key=[0-9]+", "none", "", 0, false, None},
	} {
		g, err := New(c.grader)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := g.Grade(c.text, c.want, c.choices), Of(c.right, c.how); got != want {
			t.Errorf("%s of %q for %q: %v, want %+v", c.grader, c.text, c.want, got, want)
		}
	}
}

func TestReferencesAreChecked(t *testing.T) {
	for _, c := range []struct {
		grader, want string
		choices      int
		ok           bool
	}{
		{"exact", " ", 0, false},
		{"number", "x", 0, false},
		{"number", "so\n#### 1,200", 0, true},
		{"number", "3/0", 0, false},
		{"choice", "E", 4, false},
		{"choice", "D", 4, true},
		{"choice", "A", 40, false},
		{"json", "{", 0, false},
		{"json", "{} {}", 0, false},
		{"json", `{"a":1}`, 0, true},
		{"regex:x", "", 0, true},
	} {
		g, err := New(c.grader)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(c.want, c.choices); (err == nil) != c.ok {
			t.Errorf("%s for %q: %v, want ok %t", c.grader, c.want, err, c.ok)
		}
	}
	for _, name := range []string{"", "numbers", "regex:("} {
		if _, err := New(name); err == nil {
			t.Errorf("New(%q) is a grader", name)
		}
	}
}

func FuzzGrade(f *testing.F) {
	f.Add(`\boxed{{{ #### $-1e9 answer is (A) [[{"a":`, "1")
	f.Add(strings.Repeat("[", 5000), "{}")
	f.Fuzz(func(t *testing.T, text, want string) {
		for _, name := range append(Names()[:len(graders)], `regex:(a|b)+\d`) {
			g, err := New(name)
			if err != nil {
				t.Fatal(err)
			}
			_ = g.Check(want, 0)
			if got := g.Grade(text, want, 0); got.Right() && !got.Parsed() {
				t.Errorf("%s of %q: right without an answer", name, text)
			}
		}
	})
}
