package torture

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	_ "github.com/pitot-bench/pitot/internal/cli" // a changed program invalidates cached results
	"github.com/pitot-bench/pitot/internal/test/program"
)

var (
	long  = flag.Bool("long", false, "run every case, each alone")
	given = flag.String("pitot", "", "program to test, such as one of an archive, instead of one built here")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what is chosen at random")
)

// pitot is the program as shipped: static, without cgo.
var pitot string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		log.Print("skipped: whole processes run without -short")
		return
	}
	if err := flag.Set("test.parallel", "4"); err != nil { // most cases wait
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "pitot-torture-")
	if err != nil {
		log.Fatal(err)
	}
	_ = os.Chmod(folder, 0o755)     // for children of another user
	debug.SetMemoryLimit(128 << 20) // the peak memory of a child is at least that of its parent
	code := 1
	if err := build(folder); err != nil {
		log.Print(err)
	} else if _, err := clean(); err != nil {
		log.Print(err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func build(folder string) error {
	if *given != "" {
		var err error
		pitot, err = filepath.Abs(*given)
		return err
	}
	var err error
	pitot, err = program.Build(folder)
	return err
}

// random returns the numbers of a test: the same for the same seed, whatever else runs.
func random(name string) *rand.Rand {
	var sum uint64
	for _, b := range []byte(name) {
		sum = sum*31 + uint64(b)
	}
	return rand.New(rand.NewPCG(*seed, sum))
}

// again is the command that repeats a test alone.
func again(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("go test ./internal/test/torture -count=1 -long -seed=%d -run '%s'", *seed, strings.Join(parts, "/"))
}

// onlyLong skips a test in the short form.
func onlyLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("in the long form only: make torture")
	}
}

// either returns the first value in the short form and the second in the long one.
func either[T any](short, extended T) T {
	if *long {
		return extended
	}
	return short
}
