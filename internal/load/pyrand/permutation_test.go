package pyrand

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPermutationsEqualNumpy(t *testing.T) {
	b, err := os.ReadFile("testdata/permutations.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Seed                                           uint64
		N                                              int
		Permutation, Shuffle, Legacy, Sample, Replaced []int
		After                                          float64
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		g := NewGenerator(c.Seed)
		p := g.Permutation(c.N)
		list := permuted(c.N, g.Shuffle)
		for name, pair := range map[string][2][]int{
			"permutation":           {c.Permutation, p},
			"shuffle":               {c.Shuffle, list[:len(c.Shuffle)]},
			"permutation of legacy": {c.Legacy, NewLegacy(uint32(c.Seed)).Permutation(c.N)[:len(c.Legacy)]},
			"sample":                {c.Sample, NewLegacy(uint32(c.Seed)).Choice(c.N, len(c.Sample), false)},
			"sample with copies":    {c.Replaced, NewLegacy(uint32(c.Seed)).Choice(c.N, len(c.Replaced), true)},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("seed %d, n %d: %s: %s", c.Seed, c.N, name, diff)
			}
		}
		if got := g.Float64(); got != c.After {
			t.Errorf("seed %d, n %d: the draw after is %v, want %v", c.Seed, c.N, got, c.After)
		}
	}
}
