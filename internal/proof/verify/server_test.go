package verify

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/truth"
)

// A server can be made of every cell of the program's grids.
func TestServersOfNamedGrids(t *testing.T) {
	for _, name := range conform.GridNames() {
		cells, _ := conform.Named(name)
		for _, c := range cells {
			if _, err := truth.New(Server(c, 1)); err != nil {
				t.Errorf("%s: %s: %v", name, c.Name, err)
			}
		}
	}
}

func TestServerOfACell(t *testing.T) {
	cells, err := conform.ParseCells("streams=1 arrivals=lockstep; streams=2 faults=0.3")
	if err != nil {
		t.Fatal(err)
	}
	if s := Server(cells[0], 7); !s.Lockstep || s.Jitter != 0 || s.Seed != 7 || s.Validate() != nil {
		t.Errorf("%+v", s)
	}
	if s := Server(cells[1], 0); s.Lockstep || s.Jitter != jitter || s.Faults.Reset+s.Faults.Truncate+s.Faults.HTTP500 < 0.299 {
		t.Errorf("%+v", s)
	}
}

// Whatever a file holds, it ends in cells that a server can be made of, or in an
// error that names the place.
func FuzzReadGrid(f *testing.F) {
	f.Add("# two loads\ncells:\n  - streams: 64\n    arrivals: lockstep\n    step: 20ms\n    busy: true\n  - {name: open, rate: 100, output: 4, faults: 0.3}\n")
	f.Add("- {rate: 1e3}\n- ? streams\n  : 5\n")
	f.Add("cells: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		cells, err := conform.ReadGrid("g.yaml", []byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), "g.yaml:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, c := range cells {
			if _, err := truth.New(Server(c, 0)); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}
