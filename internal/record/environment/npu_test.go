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

// npuTableOf is a table of cards with one chip, as rows of the two kinds.
func npuTableOf(rows ...string) string {
	return `
| npu-smi 26.0.rc1                 Version: 26.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+==========================+===============+=====================================================
` + strings.Join(rows, "\n+----x-----+\n")
}

func TestNPUForms(t *testing.T) {
	const card, chip = "| 0 910B3 | OK | 90 36 0 / 0 |\n", "| 0 0 | 0000:C1:00.0 | 0 0 / 0 3418 / 65536 |\n"
	list := "| NPU Chip | Process id | Process name | Process memory(MB) |\n"
	nine := "| NPU ID | Name | Health | Power(W) Temp(C) Hugepages-Usage(page) |\n| | | Bus-Id | NPU Util(%) Memory-Usage(MB) HBM-Usage(MB) |\n"
	for name, c := range map[string]struct{ text, want string }{
		"a rule with a typo": {npuTableOf(card + chip), "0.0 3418/65536 -1"},
		"no address":         {npuTableOf(card + "| 0 0 | NA | 0 5 / 8192 0 / 0 |"), "0.0 5/8192 -1"},
		"a card of four":     {npuTableOf(card + chip + strings.Replace(chip, "| 0 0", "| 1 1", 1)), "0.0 3418/65536 -1, 0.1 3418/65536 -1"},
		"950 on a UB board":  {nine + "| 3 | Ascend950DT | OK | 200 40 0 / 0 |\n| | | NA | 0 0 / 0 7 / 9 |\n", "3 7/9 -1"},
		"two on one address": {npuTableOf(card+chip, card+strings.Replace(chip, "| 0 0", "| 1 1", 1)), "0.0 3418/65536 -1, 0.1 3418/65536 -1"},
		"HBM not known":      {npuTableOf(card + "| 0 0 | NA | 0 5 / 8192 NA / NA |"), "0.0 0/0 -1"},
		"processes":          {npuTableOf(card+chip) + list + "| 0 0 | 88131 | a | 1 |\n| 0 0 | 2066378 | b | 1 | 7 |", "0.0 3418/65536 2"},
		"other processes":    {npuTableOf(card+chip) + list + "| 0 0 | 88131 | a | 1 |\n| 9 0 | 5 | b | 1 |", "0.0 3418/65536 -1; 9 0 | 5 | b | 1"},
		"a further cell":     {npuTableOf(card + "| 0 | 0 | 0000:C1:00.0 | 0 0 / 0 3418 / 65536 |"), "; 0 | 0 | 0000:C1:00.0 | 0 0 / 0 3418 / 65536"},
		"a pair too few":     {npuTableOf(card+chip, "| 1 910B3 | OK | 9 36 0 / 0 |\n| 0 1 | 0000:C2:00.0 | 0 0 / 0 |"), "; 0 1 | 0000:C2:00.0 | 0 0 / 0"},
		"more than all":      {npuTableOf(card + "| 0 0 | NA | 0 0 / 0 65537 / 65536 |"), "; 0 0 | NA | 0 0 / 0 65537 / 65536"},
		"cut":                {npuTableOf(card+chip, "| 1 910B3 | OK | 9 36 0 / 0 |"), "; NPU 1 910B3 has no second row"},
		"twice":              {npuTableOf(card+chip, card+chip), "; 0 0 | 0000:C1:00.0 | 0 0 / 0 3418 / 65536"},
		"another heading":    {"| Card | Health | Watts |\n" + card + chip, "; Card | Health | Watts"},
		"no heading":         {"0,1\n", "; 0,1"},
		"nothing":            {"", "; no output"},
	} {
		table := ReadNPUs(c.text)
		var chips []string
		for _, n := range table.Chips {
			chips = append(chips, fmt.Sprintf("%s %d/%d %d", n.ID, n.Used>>20, n.Total>>20, n.Processes))
		}
		got := strings.Join(chips, ", ")
		if table.Unread != "" {
			got += "; " + table.Unread
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
