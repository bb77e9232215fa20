package conform

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// The server has two processors for goroutines, however many there are of the system.
func TestProcessorsOfTheServer(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	release, err := makeRoom(proc.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("%d processors", n)
	}
	if release(); runtime.GOMAXPROCS(0) != 1 {
		t.Error("nothing is undone")
	}
}

func TestCellsThatAreBoundToRunOutOfFilesAreRefused(t *testing.T) {
	cells, err := conform.ParseCells("streams=100; streams=936; streams=937; rate=5000")
	if err != nil {
		t.Fatal(err)
	}
	err = enoughFilesFor(cells, 1000)
	if err == nil || !strings.HasPrefix(err.Error(), `--grid: cell "937 spread 20ms": 937 streams need about 1001 open files`) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// What a client has written in place of a report is not read into memory, whatever its size.
func TestAReportThatIsTooLarge(t *testing.T) {
	r := clientRun{dir: t.TempDir()}
	r.result = filepath.Join(r.dir, "result.json")
	for _, pattern := range []string{r.result, filepath.Join(r.dir, "*.json")} {
		if err := os.WriteFile(r.result, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		one := clientRun{dir: r.dir, result: pattern}
		if b, err := one.report(); err != nil || string(b) != "{}" {
			t.Errorf("%q, %v", b, err)
		}
		if err := os.Truncate(r.result, mostReport+1); err != nil {
			t.Fatal(err)
		}
		if _, err := one.report(); err == nil || !strings.Contains(err.Error(), "larger than 256 MiB") {
			t.Error(err)
		}
	}
}
