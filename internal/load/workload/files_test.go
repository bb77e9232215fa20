package workload

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
)

var disk = Files{Open: func(name string) (Reader, error) { return os.Open(name) }}

func TestFilesAreUnpacked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace.csv.gz")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	if _, err := z.Write([]byte("TIMESTAMP")); err != nil || z.Close() != nil || file.Close() != nil {
		t.Fatal(err)
	}
	err = disk.With("data", name, func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if string(b) != "TIMESTAMP" {
			t.Errorf("read %q", b)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(name, []byte("TIMESTAMP,ContextTokens"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = disk.With("data", name, func(io.Reader) error { return nil })
	var p plan.Problems
	if !errors.As(err, &p) || p[0].Path != "data" || p[0].Value != name ||
		!strings.Contains(p[0].Why, "unpack: gzip: invalid header") {
		t.Error(err)
	}
}

// An error of a file names its setting; an error of a server, and a problem with
// its own path, are unchanged.
func TestBlame(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "gone"))
	inner := plan.Problems{{Path: "fit", Why: "is small"}}
	busy := passing{}
	for _, tt := range []struct {
		err  error
		want error
	}{
		{nil, nil},
		{missing, plan.Problems{{Path: "data", Value: "x", Why: "no such file or directory"}}},
		{errors.New("line 3: torn"), plan.Problems{{Path: "data", Value: "x", Why: "line 3: torn"}}},
		{inner, inner},
		{busy, busy},
	} {
		if got := Blame("data", "x", tt.err); (got == nil) != (tt.want == nil) ||
			got != nil && got.Error() != tt.want.Error() {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}

// passing is an error of a server.
type passing struct{}

func (passing) Error() string { return "busy" }
func (passing) MayPass() bool { return true }
