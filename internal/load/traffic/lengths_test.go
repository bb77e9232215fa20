package traffic

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// always is the Count of one number.
type always int

func (n always) Draw(*rand.Rand) int { return int(n) }

// upTo draws from 1 to n.
type upTo int

func (n upTo) Draw(r *rand.Rand) int { return 1 + r.IntN(int(n)) }

func TestLengths(t *testing.T) {
	pairs, notes := Lengths{Input: upTo(100), Output: always(7), Fit: 60}.Draw(1000, 5)
	if len(pairs) != 1000 || len(notes) != 1 || notes[0].Code != promptsCut || notes[0].Args["limit"] != 60.0 {
		t.Fatal(len(pairs), notes)
	}
	longest := slices.MaxFunc(pairs, func(a, b Pair) int { return a.Input - b.Input })
	if longest != (Pair{53, 7}) {
		t.Errorf("the longest is %v", longest)
	}
	again, _ := Lengths{Input: upTo(100), Output: always(7), Fit: 60}.Draw(1000, 5)
	other, _ := Lengths{Input: upTo(100), Output: always(7), Fit: 60}.Draw(1000, 6)
	if !slices.Equal(pairs, again) || slices.Equal(pairs, other) {
		t.Error("the seed does not decide")
	}
}

// Pairs that were seen stay together.
func TestLengthsThatWereSeen(t *testing.T) {
	seen, err := ReadLengths(strings.NewReader("\ufeffinput,output\n10,1\n\n# a comment\n 20 , 2 \n30,3\n"))
	if diff := cmp.Diff([]Pair{{10, 1}, {20, 2}, {30, 3}}, seen); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	pairs, _ := Lengths{Seen: seen, Output: always(99)}.Draw(300, 1)
	counts := map[Pair]int{}
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
	alone, err := ReadLengths(strings.NewReader("5\n6.0\n"))
	if pairs, _ := (Lengths{Seen: alone, Output: always(99)}).Draw(9, 1); err != nil || pairs[0].Output != 99 {
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
		if _, err := ReadLengths(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
