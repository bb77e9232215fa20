package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// permissions are those of a store and of the files beside it.
func permissions(t *testing.T, file string) (all []fs.FileMode) {
	t.Helper()
	for _, name := range append(sidecarFiles(file), file) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Mode().Perm())
	}
	return all
}

func TestAStoreIsPrivate(t *testing.T) {
	s := open(t)
	if _, err := s.Import(imported(), nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, mode := range permissions(t, s.file) {
			if mode != 0o600 {
				t.Errorf("permissions %o", mode)
			}
		}
		for _, name := range append(sidecarFiles(s.file), s.file) {
			if err := os.Chmod(name, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		openFile(t, s.file)
	}
}

// readOnly copies the file of a store, without those beside it, as it is on a disk that
// cannot be written.
func readOnly(t *testing.T, s *Store) string {
	t.Helper()
	if err := s.Close(); err != nil { // empties the log
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	data, err := os.ReadFile(s.file)
	if err := errors.Join(err, os.WriteFile(file, data, 0o400)); err != nil {
		t.Fatal(err)
	}
	return file
}

// The way of OpenRead where SQLite cannot even make files beside the database. Root can, and
// so may the user who runs the tests.
func TestAStoreOnAReadOnlyDiskIsRead(t *testing.T) {
	s := open(t)
	if _, err := s.Import(imported(), records(sample(0)), nil); err != nil {
		t.Fatal(err)
	}
	file := readOnly(t, s)
	r, err := connectImmutable(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.Load("imp-1")
	if err != nil || len(got.Records) != 1 {
		t.Fatalf("%v: %+v", err, got)
	}
	if list, err := r.List(Filter{}); err != nil || len(list) != 1 {
		t.Errorf("%v: %+v", err, list)
	}
	if err := r.StoreFigures(got, "d", "1", nil); err != nil {
		t.Error(err)
	}
	if err := r.tryWrite(); err == nil || !strings.Contains(err.Error(), "store "+file+" cannot be written: attempt to write a readonly database") {
		t.Errorf("error %v", err)
	}
	if _, err := connectImmutable(unpack(t, oldest, "")); err == nil || !strings.Contains(err.Error(), "written by an older pitot, and it cannot be upgraded") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(file+"-wal", []byte("newer records"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := connectImmutable(file); err == nil || !strings.Contains(err.Error(), "copy.db-wal") {
		t.Errorf("error %v", err)
	}
}

func TestAStoreThatCannotBeWrittenIsFoundAtOnce(t *testing.T) {
	s := open(t)
	if w, err := OpenWrite(s.file); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	other := openFile(t, s.file)
	synctest.Test(t, func(t *testing.T) {
		tx, err := other.db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.tryWrite(); err == nil || !strings.Contains(err.Error(), "locked") {
			t.Errorf("error %v", err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	})
}
