package plot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMeanOfDigests(t *testing.T) {
	one := Digest{Latencies: Latencies{TTFT: Quantiles{1, 3}}, Output: Flow{Window: 1, Tokens: []float64{4, 8, 2}, End: 2.5}, Timeline: Timeline{Every: 3}}
	if got := Mean([]Digest{one}); !cmp.Equal(got, one) {
		t.Errorf("of one: %+v", got)
	}
	other := Digest{Latencies: Latencies{TTFT: Quantiles{3, 5}, ITL: Quantiles{7}}, Output: Flow{Window: 2, Tokens: []float64{20, 6}, End: 4}}
	got := Mean([]Digest{one, other, {}})
	want := Digest{Latencies: Latencies{TTFT: Quantiles{2, 4}, ITL: Quantiles{7}}, Output: Flow{Window: 2, Tokens: []float64{16, 4}, End: 4}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Mean(nil); got.TTFT != nil || got.Output.Window != 0 {
		t.Errorf("of none: %+v", got)
	}
}
