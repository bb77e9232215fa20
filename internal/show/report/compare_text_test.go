package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// comparisons are those that goldens are of.
func comparisons() map[string]compare.Comparison {
	return map[string]compare.Comparison{
		"ablation": ablation(), "nightly": nightly(), "single": single(), "mixed": mixed(), "alone": alone(), "nothing": {}, "hostile": hostile(),
	}
}

func textOf(t *testing.T, c compare.Comparison, o CompareOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := CompareText(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCompareText(t *testing.T) {
	for name, c := range comparisons() {
		for _, width := range []int{0, 80, 120} {
			if width > 0 && name != "ablation" && name != "nightly" && name != "mixed" {
				continue
			}
			got := textOf(t, c, CompareOptions{Width: width})
			golden.Check(t, fmt.Sprintf("testdata/compare-%s-%d.txt", name, width), got)
			for line := range strings.Lines(got) {
				if n := columnsOf(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
					t.Errorf("%s at %d: %d columns in %q", name, width, n, line)
				}
			}
		}
	}
	golden.Check(t, "testdata/compare-nightly-color.txt", textOf(t, nightly(), CompareOptions{Width: 120, Color: true}))
	golden.Check(t, "testdata/compare-nightly-zh.txt", textOf(t, nightly(), CompareOptions{Width: 100, Lang: Zh}))
	golden.Check(t, "testdata/compare-ablation-zh.txt", textOf(t, ablation(), CompareOptions{Width: 120, Lang: Zh}))
	golden.Check(t, "testdata/compare-ablation-all.txt", textOf(t, ablation(), CompareOptions{All: true}))
}
