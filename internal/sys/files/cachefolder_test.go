package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPruneRemovesWhatWasNotUsedForTheLongest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := MakeFolder(dir); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"oldest": 9 * time.Hour, "old": 5 * time.Hour, "young": 2 * time.Hour, "used": 8 * time.Hour, "recent": time.Minute,
		".x.abc.incomplete": 30 * time.Hour, ".y.abc.incomplete": time.Hour,
	} {
		at := now.Add(-age)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), make([]byte, 10), 0o600),
			os.Chtimes(filepath.Join(dir, name), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(Touch(filepath.Join(dir, "used")), os.Mkdir(filepath.Join(dir, "folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int64
		want string
	}{
		{50, ".y.abc.incomplete folder old oldest recent used young"},
		{40, ".y.abc.incomplete folder old recent used young"},
		{0, ".y.abc.incomplete folder recent used"}, // the others were used just now
	} {
		if err := Prune(dir, c.most, now.Add(-time.Hour)); err != nil || names(t, dir) != c.want {
			t.Errorf("%d bytes: %v, %s, want %s", c.most, err, names(t, dir), c.want)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := Prune(filepath.Join(dir, "none"), 0, now); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
