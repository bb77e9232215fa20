package files

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestASpoolThatCannotBeWrittenSaysWhereItIs(t *testing.T) {
	_, err := NewSpool(filepath.Join(t.TempDir(), "gone")).WriteAt([]byte("x"), 0)
	if err == nil || !strings.Contains(err.Error(), "PITOT_STORE names another file") {
		t.Error(err)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	f := NewSpool(t.TempDir())
	if n, err := f.WriteAt([]byte("hello"), 3); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	b := make([]byte, 5)
	if n, err := f.ReadAt(b, 3); n != 5 || err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(f.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("a name leads to it: %v, %v", left, err)
	}
}
