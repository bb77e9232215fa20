// Package repo holds tests about the repository itself.
package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pitot-bench/pitot"

// imports is the table of ARCHITECTURE.md: what a package may import of ours.
var imports = map[string][]string{
	"pyrand":     {},
	"tokenizer":  {},
	"workload":   {"pyrand"},
	"rows":       {},
	"template":   {},
	"vllmdata":   {"pyrand", "rows", "workload"},
	"sglangdata": {"pyrand", "rows", "workload"},
	"traffic":    {"arrival", "pyrand", "rows", "workload"},
	"arrival":    {},
	"trace":      {},
	"stats":      {},
	"engine":     {},
	"profile":    {"engine", "yamltree"},
	"yamltree":   {},
	"sim":        {"arrival", "engine", "trace"},
	"reproduce":  {"arrival", "engine", "metrics", "profile", "sim", "stats", "trace"},
	"apiserver":  {"clock", "engine"},
	"clock":      {},
	"transport":  {"clock"},
	"truth":      {"clock", "transport"},
	"endpoint":   {"trace", "transport", "workload"},
	"driver":     {"arrival", "clock", "trace", "workload"},
	"metrics":    {"stats", "trace"},
	"dialect":    {"arrival", "metrics", "pyrand", "sglangdata", "trace", "vllmdata", "workload"},
	"ingest":     {"dialect", "metrics", "trace"},
	"compare":    {"metrics", "stats", "trace"},
	"store":      {"trace"},
	"doctor":     {"trace"},
	"conform":    {"ingest", "metrics", "stats", "trace", "truth", "yamltree"},
	"report":     {"compare", "conform", "metrics", "stats", "trace"},
	"note":       {"compare", "dialect", "metrics", "report", "trace"},
	"memnet":     {},
	"golden":     {},
	"cli": {
		"apiserver", "arrival", "clock", "compare", "conform", "dialect", "doctor", "driver", "endpoint", "engine", "ingest", "metrics", "note", "profile", "pyrand", "report", "reproduce", "rows", "sglangdata", "sim", "stats", "store", "template", "tokenizer", "trace", "traffic", "transport", "truth", "vllmdata", "workload", "yamltree",
	},
}

// files parses the Go files of the module that are not tests, by folder.
func files(t *testing.T) map[string][]*ast.File {
	t.Helper()
	out := map[string][]*ast.File{}
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		out[filepath.ToSlash(filepath.Dir(path))] = append(out[filepath.ToSlash(filepath.Dir(path))], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < len(imports) {
		t.Fatalf("found %d packages", len(out))
	}
	return out
}

func imported(f *ast.File) (paths []string) {
	for _, spec := range f.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

func TestEveryPackageHasADocAndAPlace(t *testing.T) {
	for dir, parsed := range files(t) {
		docs := 0
		for _, f := range parsed {
			if f.Doc != nil {
				docs++
			}
		}
		if docs != 1 {
			t.Errorf("%s: %d files have a package doc, want 1", dir, docs)
		}
		name, internal := strings.CutPrefix(dir, "internal/")
		if dir != "cmd/pitot" && (!internal || imports[name] == nil) {
			t.Errorf("%s has no row in the import table", dir)
		}
		if got := parsed[0].Name.Name; internal && got != name {
			t.Errorf("%s: package %s is not named like its folder", dir, got)
		}
	}
}

func TestTheImportTableHolds(t *testing.T) {
	table, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for dir, parsed := range files(t) {
		name, internal := strings.CutPrefix(dir, "internal/")
		for _, f := range parsed {
			for _, path := range imported(f) {
				other, ours := strings.CutPrefix(path, module+"/internal/")
				if internal && ours && !slices.Contains(imports[name], other) {
					t.Errorf("%s imports %s, which its row does not allow", name, other)
				}
				if !internal && ours && other != "cli" {
					t.Errorf("%s imports %s: it calls cli and nothing else", dir, other)
				}
				if internal && !slices.Contains([]string{"cli", "clock", "golden"}, name) && slices.Contains([]string{"os", "os/exec", "os/signal"}, path) {
					t.Errorf("%s imports %s: only cli touches the operating system, and clock, whose timer is a file, and golden, which is for tests", name, path)
				}
				if path == "C" || path == "unsafe" && name != "transport" && name != "truth" {
					t.Errorf("%s imports %s", dir, path)
				}
			}
		}
	}
	rows := packageRows(string(table))
	for name, of := range imports {
		want := strings.Join(of, ", ")
		switch got, ok := rows[name]; {
		case !ok:
			t.Errorf("ARCHITECTURE.md has no row for %s", name)
		case name != "cli" && got != want && (want != "" || got != "-"):
			t.Errorf("ARCHITECTURE.md lets %s import %q, the test %q", name, got, want)
		}
	}
	for name := range rows {
		if imports[name] == nil {
			t.Errorf("ARCHITECTURE.md has a row for %s, the test has none", name)
		}
	}
}

// packageRows are the rows of the table of packages in ARCHITECTURE.md: by
// package what it imports of ours.
func packageRows(text string) map[string]string {
	_, text, _ = strings.Cut(text, "\n## Packages\n")
	text, _, _ = strings.Cut(text, "\n## ")
	rows := map[string]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		if name := strings.TrimSpace(cells[1]); strings.HasPrefix(name, "`") {
			rows[strings.Trim(name, "`")] = strings.TrimSpace(cells[3])
		}
	}
	return rows
}

// banned are modules that were weighed and not taken, and what would need cgo.
var banned = map[string]string{
	"github.com/mattn/go-sqlite3":                "needs cgo; modernc.org/sqlite does not",
	"github.com/marcboeker/go-duckdb":            "needs cgo",
	"github.com/apache/arrow-go":                 "27 MiB for what parquet-go does",
	"go.opentelemetry.io/otel/sdk":               "90 modules for one header",
	"github.com/pressly/goose":                   "77 modules for 40 lines",
	"github.com/goreleaser/goreleaser":           "make dist does it",
	"github.com/stretchr/testify":                "the standard library and go-cmp do it",
	"github.com/pkg/errors":                      "the standard library does it",
	"github.com/golang/protobuf":                 "superseded",
	"gopkg.in/yaml.v3":                           "goccy/go-yaml shows the line and a caret",
	"github.com/spf13/cobra":                     "kong parses commands",
	"github.com/prometheus/client_golang":        "the engine writes its own few metrics",
	"github.com/confluentinc/confluent-kafka-go": "needs cgo",
}

func TestBannedDependenciesStayOut(t *testing.T) {
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		for module, why := range banned {
			if len(fields) > 0 && slices.ContainsFunc(fields, func(f string) bool { return f == module || strings.HasPrefix(f, module+"/") }) {
				t.Errorf("%s: %s", module, why)
			}
		}
	}
}

func TestNoFileIsTooLong(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		b, err := os.ReadFile(path)
		if n := strings.Count(string(b), "\n"); n > 600 {
			t.Errorf("%s has %d lines, the limit is 600", path, n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
