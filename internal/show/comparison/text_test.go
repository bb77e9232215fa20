package comparison

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// comparisons are those that goldens are of.
func comparisons() map[string]compare.Comparison {
	return map[string]compare.Comparison{
		"ablation": ablation(), "nightly": nightly(), "single": single(), "mixed": mixed(), "alone": alone(), "nothing": {}, "hostile": hostile(),
	}
}

func textOf(t *testing.T, c compare.Comparison, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Text(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	for name, c := range comparisons() {
		for _, width := range []int{0, 80, 120} {
			if width > 0 && name != "ablation" && name != "nightly" && name != "mixed" {
				continue
			}
			got := textOf(t, c, Options{Width: width})
			golden.Check(t, fmt.Sprintf("testdata/%s-%d.txt", name, width), got)
			for line := range strings.Lines(got) {
				if n := doc.Width(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
					t.Errorf("%s at %d: %d columns in %q", name, width, n, line)
				}
			}
		}
	}
	for _, width := range []int{56, 60, 72, 100} {
		for line := range strings.Lines(textOf(t, nightly(), Options{Width: width}) + textOf(t, ablation(), Options{Width: width})) {
			if n := doc.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("at %d: %d columns in %q", width, n, line)
			}
		}
	}
	golden.Check(t, "testdata/nightly-color.txt", textOf(t, nightly(), Options{Width: 120, Color: true}))
	golden.Check(t, "testdata/nightly-zh.txt", textOf(t, nightly(), Options{Width: 100, Lang: words.In("zh")}))
	golden.Check(t, "testdata/ablation-zh.txt", textOf(t, ablation(), Options{Width: 120, Lang: words.In("zh")}))
	golden.Check(t, "testdata/ablation-all.txt", textOf(t, ablation(), Options{All: true}))
}
