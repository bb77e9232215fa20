package traffic

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// upTo draws from 1 to n.
func upTo(n int) Size {
	var s Size
	if err := s.UnmarshalText(fmt.Appendf(nil, "uniform(1,%d)", n)); err != nil {
		panic(err)
	}
	return s
}

// inside compares fields that are not exported.
var inside = cmp.AllowUnexported(pair{}, trace{}, traceRow{})

func TestLengths(t *testing.T) {
	lengths := drawn{Input: upTo(100), Output: Size{Fixed: 7}}
	pairs, notes := lengths.draw(1000, 5, 60)
	if len(pairs) != 1000 || len(notes) != 1 || notes[0].Code != promptsCut || notes[0].Args["limit"] != 60.0 {
		t.Fatal(len(pairs), notes)
	}
	longest := slices.MaxFunc(pairs, func(a, b pair) int { return a.input - b.input })
	if longest != (pair{53, 7}) {
		t.Errorf("the longest is %v", longest)
	}
	again, _ := lengths.draw(1000, 5, 60)
	other, _ := lengths.draw(1000, 6, 60)
	if !slices.Equal(pairs, again) || slices.Equal(pairs, other) {
		t.Error("the seed does not decide")
	}
}

// pairs that were seen stay together.
func TestLengthsThatWereSeen(t *testing.T) {
	seen, err := readLengths(strings.NewReader("\ufeffinput,output\n10,1\n\n# a comment\n 20 , 2 \n30,3\n"))
	if diff := cmp.Diff([]pair{{10, 1}, {20, 2}, {30, 3}}, seen, inside); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	lengths := drawn{Output: Size{Fixed: 99}, seen: seen}
	pairs, _ := lengths.draw(300, 1, 0)
	counts := map[pair]int{}
	for _, p := range pairs {
		counts[p]++
	}
	for _, p := range seen {
		if counts[p] < 60 { // of 300 in three ways; 5 standard deviations below 100
			t.Errorf("%v is drawn %d times", p, counts[p])
		}
	}
	if len(counts) != 3 {
		t.Errorf("%v", counts)
	}
	alone, err := readLengths(strings.NewReader("5\n6.0\n"))
	lengths.seen = alone
	if pairs, _ := lengths.draw(9, 1, 0); err != nil || pairs[0].output != 99 {
		t.Errorf("%v %v", pairs, err)
	}
}

func TestMistakesInLengths(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "no lengths in it",
		"input\n":          "no lengths in it",
		"5\nx\n":           `line 2: "x" is not a number of tokens`,
		"5,6\n7\n":         `line 2: "7": 1 numbers, and the lines before have 2`,
		"1,2,3\n":          `line 1: "1,2,3": must be the length of a prompt, or that, a comma`,
		"5\n0\n":           "line 2: 0: must be at least 1",
		"1\na\nb\nc\nd\ne": "the lines after that were not looked at",
	} {
		if _, err := readLengths(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
