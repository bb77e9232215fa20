package store

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What somebody else put into a store is named, and the store is left as it is.
func TestAStoreHasNothingOfAnotherProgram(t *testing.T) {
	const foreign = "pitot did not make its "
	for name, tt := range map[string]struct{ change, want string }{
		"trigger":          {"CREATE TRIGGER steal AFTER INSERT ON record BEGIN DELETE FROM run; END", foreign + `trigger "steal"`},
		"view":             {"CREATE VIEW mine AS SELECT * FROM run", foreign + `view "mine"`},
		"view for a table": {"ALTER TABLE run RENAME TO r; CREATE VIEW run AS SELECT * FROM r", foreign + `table "r"`},
		"table":            {"CREATE TABLE mine (x)", foreign + `table "mine"`},
		"virtual table":    {"CREATE VIRTUAL TABLE words USING fts5(text)", foreign + `table "words"`},
		"index":            {"CREATE INDEX mine ON run (name)", foreign + `index "mine"`},
		"index, expression": {
			"CREATE INDEX mine ON run (abs(beat_ns))", foreign + `index "mine"`,
		},
		"column":           {"ALTER TABLE run ADD COLUMN x TEXT", foreign + `table "run"`},
		"generated column": {"ALTER TABLE run ADD COLUMN x TEXT AS (hex(zeroblob(1000000)))", foreign + `table "run"`},
		"check":            {"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'model    TEXT NOT NULL', 'model TEXT CHECK (length(model) > 0)') WHERE name = 'run'", foreign + `table "run"`},
		"like SQLite's":    {"PRAGMA writable_schema = 1; CREATE VIEW v AS SELECT 1; UPDATE sqlite_schema SET name = 'sqlite_stat1' WHERE name = 'v'", "malformed database schema"},
		"many":             {"CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x); CREATE TABLE d (x); CREATE TABLE \"\x1b[2J\" (x)", `, 2 more; a store must`},
		"application":      {"PRAGMA application_id = 7", "database of another program"},
		"version 0":        {"PRAGMA user_version = 0", "database of another program"},
		"negative version": {"PRAGMA user_version = -1", "database of another program"},
		"older version":    {"PRAGMA user_version = 9", foreign + `table "run", table "record"`},
		"newer version":    {"PRAGMA user_version = 99", "written by a newer pitot (version 99"},
		"lost table":       {"DROP TABLE telemetry_block", `it has lost its table "telemetry_block"; ` + "`pitot runs repair`"},
		"lost index":       {"DROP INDEX run_started", `it has lost its index "run_started"`},
		"statistics":       {"ANALYZE", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, s.file, tt.change)
			for _, open := range []func(string) (*Store, error){Open, OpenRead, OpenWrite} {
				s, err := open(s.file)
				if err == nil {
					err = s.Close()
				}
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\n\x1b")) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			}
		})
	}
}

func TestADatabaseOfAnotherProgramIsLeftAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.db")
	execute(t, file, "CREATE TABLE run (id, beat_ns); CREATE TABLE record (x)")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); !errors.Is(err, ErrForeign) {
		t.Errorf("error %v", err)
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("%v: it was changed", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v: it has another mode", err)
	}
}

// What is no file is refused in a sentence, neither waited for nor changed. Each is said to be what it is.
func TestAStoreIsAFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	whole, err := os.ReadFile(threeRuns(t))
	err = errors.Join(err, os.Symlink("/dev/zero", at("link")), os.WriteFile(at("text"), []byte(strings.Repeat("words\n", 1000)), 0o644),
		os.WriteFile(at("short"), []byte("x"), 0o644), os.WriteFile(at("empty"), nil, 0o600), os.WriteFile(at("cut"), whole[:len(whole)/2], 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"/dev/null": "it is a device; a store is a file", at("link"): "it is a device", dir: "it is a folder", at("pipe"): "it is a named pipe",
		at("socket"): "it is a socket", at("text"): "file is not a database", at("short"): "it is too short for a database", at("cut"): "malformed", at("empty"): "",
	} {
		before, _ := os.Stat(file)
		s, err := Open(file)
		if err == nil {
			err = s.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file)) {
			t.Errorf("%s: error %v, want %q", file, err, want)
		}
		if after, err := os.Stat(file); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s has another mode: %v", file, after)
		}
	}
}

// A new migration has a fingerprint too, and no store that lacks an object, has another, or has other text has one of them.
func TestFingerprintsAreThoseOfTheMigrations(t *testing.T) {
	for version := oldest; version <= newest; version++ {
		all, err := objectsUpTo(version)
		if err != nil {
			t.Fatal(err)
		}
		all = slices.Clone(all)
		slices.Reverse(all)
		if got := fingerprint(all); got != fingerprints[version] {
			t.Errorf("version %d: the fingerprint is %q, not %q", version, got, fingerprints[version])
		}
		other := slices.Clone(all)
		other[3].sql += " "
		for _, found := range [][]object{all[1:], append(slices.Clip(all), object{"view", "v", "CREATE VIEW v AS SELECT 1"}), other} {
			if fingerprint(found) == fingerprints[version] {
				t.Errorf("version %d: other objects have the same fingerprint", version)
			}
		}
	}
}
