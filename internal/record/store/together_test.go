package store

import (
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// Two processes make one new store at once: one of them writes while the other turns its journal into a
// write-ahead log, for which SQLite does not wait.
func TestANewStoreIsWrittenByAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "runs.db")
		other, err := sql.Open("sqlite", file+"?_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		tx, err := other.Begin()
		if err != nil {
			t.Fatal(err)
		}
		opened := make(chan error)
		go func() {
			s, err := Open(file)
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
		synctest.Wait() // it was refused, and will try again
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-opened; err != nil {
			t.Error(err)
		}
	})
}
