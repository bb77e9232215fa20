package pyrand

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// A pick is [population, number, Python's pick].
type pick struct {
	n, k int
	want []int
}

func (p *pick) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.n, &p.k, &p.want})
}

// TestSamplesEqualPython compares with CPython 3.12.1 and numpy 2.5.5.
func TestSamplesEqualPython(t *testing.T) {
	var runs []struct {
		Seed             uint32
		Samples, Choices []pick
		Zipf             []struct {
			N                 int
			Alpha             float64
			P                 []float64
			Last              float64
			Generator, Legacy []int
		}
	}
	readGolden(t, "samples.json", &runs)
	for _, run := range runs {
		r := NewRandom(int64(run.Seed))
		for _, p := range run.Samples {
			if got := r.Sample(p.n, p.k); !slices.Equal(got, p.want) {
				t.Fatalf("seed %d: Sample(%d, %d) = %v, want %v", run.Seed, p.n, p.k, got, p.want)
			}
		}
		r = NewRandom(int64(run.Seed))
		for _, p := range run.Choices {
			if got := r.Choices(p.n, p.k); !slices.Equal(got, p.want) {
				t.Fatalf("seed %d: Choices(%d, %d) = %v, want %v", run.Seed, p.n, p.k, got, p.want)
			}
		}
		for _, z := range run.Zipf {
			p := Zipf(z.N, z.Alpha)
			for i, want := range append(z.P, z.Last) {
				got := append(slices.Clone(p[:len(z.P)]), p[len(p)-1])[i]
				if math.Abs(got-want) > 1e-15*want {
					t.Errorf("Zipf(%d, %v)[%d] = %v, want %v", z.N, z.Alpha, i, got, want)
				}
			}
			w := NewWeights(p)
			g, legacy := NewGenerator(uint64(run.Seed)), NewLegacy(run.Seed)
			for i := range z.Generator {
				if got := w.Index(g.Float64()); got != z.Generator[i] {
					t.Fatalf("seed %d: draw %d of %d ranks = %d, want %d", run.Seed, i, z.N, got, z.Generator[i])
				}
				if got := w.Index(legacy.Float64()); got != z.Legacy[i] {
					t.Fatalf("seed %d: legacy draw %d of %d ranks = %d, want %d", run.Seed, i, z.N, got, z.Legacy[i])
				}
			}
		}
	}
}

func TestSampleOfTooManyPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewRandom(0).Sample(3, 4)
}
