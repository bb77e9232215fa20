package cli

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	err = withFile("--data", name, func(r io.Reader) error {
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
	if err := withFile("--data", name, func(io.Reader) error { return nil }); err == nil || !strings.Contains(err.Error(), "unpack: gzip: invalid header") {
		t.Error(err)
	}
}

func TestASpoolThatCannotBeWrittenSaysWhereItIs(t *testing.T) {
	_, err := (&spoolFile{dir: filepath.Join(t.TempDir(), "gone")}).WriteAt([]byte("x"), 0)
	if err == nil || !strings.Contains(err.Error(), "PITOT_STORE names another file") {
		t.Error(err)
	}
}
