package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestASpoolThatCannotBeWrittenSaysWhereItIs(t *testing.T) {
	_, err := (&spoolFile{dir: filepath.Join(t.TempDir(), "gone")}).WriteAt([]byte("x"), 0)
	if err == nil || !strings.Contains(err.Error(), "PITOT_STORE names another file") {
		t.Error(err)
	}
}
