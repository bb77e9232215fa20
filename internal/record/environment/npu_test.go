package environment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// The forms of npu-smi 21 to 26, on 310, 310P, 910A, 910B, A3 and 950: what each chip has.
func TestNPUs(t *testing.T) {
	files, err := filepath.Glob("testdata/npu/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		table := ReadNPUs(string(text))
		fmt.Fprintf(&b, "%s: driver %s\n", strings.TrimSuffix(filepath.Base(name), ".txt"), table.Version)
		for _, n := range table.Chips {
			fmt.Fprintf(&b, "  %s %s %s %d of %d MiB, %d processes\n", n.ID, n.Product, n.Health, n.Used>>20, n.Total>>20, n.Processes)
		}
		if table.Unread != "" {
			fmt.Fprintf(&b, "  unread: %s\n", table.Unread)
		}
	}
	golden.Check(t, "testdata/npu.golden", b.String())
}
