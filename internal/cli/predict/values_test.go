package predict

import (
	"slices"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"3": "3", "1,2,4": "1 2 4", "1..4": "1 2 3 4", "1..64x2": "1 2 4 8 16 32 64", "1..50x2": "1 2 4 8 16 32", "2x, 4x": "2x 4x", "1,8..10": "1 8 9 10",
		"4..10x1.5": "4 6 9", "1..2x1.2": "1 2", "uniform(1,20)": "uniform(1,20)", "uniform(1,20),30": "uniform(1,20) 30", "[{at: 1, time: 2ms}]": "[{at: 1, time: 2ms}]", `"a,b"`: `"a,b"`,
		"vllm,sglang": "vllm sglang", "0..2": "0 1 2", "1..1": "1",
	} {
		got, err := valuesOf(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{
		"": "empty", "1,,2": "empty", "1,": "empty", "8..1": "ends before", "0..8x2": "begins above 0", "1..8x1": "above 1", "1..8x0.5": "above 1", "1..8x1.2.3": "not a range",
		"1..65": "more than 64", "1..99999999999999999999": "not a range", strings.Repeat("1,", 64) + "1": "65 values",
	} {
		if got, err := valuesOf(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q, %v, want %s", text, got, err, why)
		}
	}
}

func TestSets(t *testing.T) {
	fixed, several, err := sets([]string{"kv.tokens=2x", "replicas.count=1..3", "cost.jitter=0"})
	if err != nil || len(fixed) != 2 || len(several) != 3 || several[2].String() != "replicas.count=3" {
		t.Errorf("%v %v %v", fixed, several, err)
	}
	for _, wrong := range [][]string{{"a=1,2", "b=1,2"}, {"a=1", "a=2"}, {"a"}, {"a=1..0"}} {
		if _, _, err := sets(wrong); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// Nothing that somebody types breaks a list.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"1..8x2", "a,b", "(1,2", "'", "1..2,3x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := valuesOf(text)
		if err == nil && (len(values) == 0 || len(values) > mostValues || slices.Contains(values, "")) {
			t.Errorf("%q: %q", text, values)
		}
	})
}
