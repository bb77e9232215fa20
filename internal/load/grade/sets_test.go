package grade

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSetsAreSolvable(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() (string, string){
		"recall": func() (string, string) { return Recall(d, 1+d.IntN(200)) },
		"sums":   func() (string, string) { return Sum(d) },
		"copy":   func() (string, string) { return Copy(d, 1+d.IntN(50)) },
	}
	for set, draw := range draws {
		g, err := New(Sets[set])
		if err != nil {
			t.Fatal(err)
		}
		starts := map[string]bool{}
		for range 200 {
			prompt, answer := draw()
			if err := g.Check(answer, 0); err != nil {
				t.Fatalf("%s: %v", set, err)
			}
			got, ok := Solve("<user>" + prompt + "</user>\n")
			if !ok || got != answer {
				t.Fatalf("%s: %q is answered with %q, %t, want %q", set, prompt, got, ok, answer)
			}
			if !g.Grade(answer+"\n", answer, 0).Right() || g.Grade("I do not know 5", answer, 0).Right() {
				t.Fatalf("%s: %q is not graded", set, answer)
			}
			starts[prompt[:min(40, len(prompt))]] = true
		}
		if set == "recall" && len(starts) < 190 {
			t.Errorf("%d of 200 prompts of recall start differently", len(starts))
		}
	}
	if _, ok := Solve("What is the number of nobody at all? Answer with the number alone."); ok {
		t.Error("an entry that is missing has a number")
	}
}

func TestRecallNamesEachEntryOnce(t *testing.T) {
	prompt, _ := Recall(rand.New(rand.NewPCG(3, 4)), MostEntries)
	seen := map[string]bool{}
	for line := range strings.Lines(prompt) {
		if name, _, ok := strings.Cut(line, ": "); ok {
			if seen[name] {
				t.Fatalf("%q stands twice", name)
			}
			seen[name] = true
		}
	}
	if len(seen) != MostEntries {
		t.Errorf("%d entries, want %d", len(seen), MostEntries)
	}
}
