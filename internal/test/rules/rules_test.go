package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const (
	module = "github.com/pitot-bench/pitot"
	root   = "../../.."
)

// areas are in order: each imports only itself and those after it; tests import any.
var areas = []string{"cli", "session", "fleet", "experiment", "run", "show", "proof", "tool", "model", "judge", "wire", "record", "load", "plan", "sys", "test"}

// level is the height of an area above the bottom.
func level(area string) int { return len(areas) - slices.Index(areas, area) }

// areaOf is the first folder of a package below internal.
func areaOf(pkg string) string {
	area, _, _ := strings.Cut(pkg, "/")
	return area
}

// hidden are packages that an area or a package must not reach, directly or
// indirectly.
var hidden = []struct{ from, to, why string }{
	{"run", "show", "a run is prepared and executed without words"},
	{"experiment", "show", "an experiment makes runs and judges them; others word it"},
	{"show", "proof/truth", "what is shown of clients are results, not the server that gave them"},
	{"show", "model/apiserver", "what is shown of a simulation is its trace"},
	{"show", "wire", "what is shown has been received"},
}

// system are the packages of the operating system, and their permitted users.
var (
	system      = []string{"os", "os/exec", "os/signal"}
	systemUsers = []string{"cli", "session", "sys", "test", "wire/clock", "wire/transport"} // timers of clock are files, and the epoll of a poller
)

// A house is the packages of the module without tests: the files of each, and its
// imports within the module, both by path below internal.
type house struct {
	files   map[string][]*ast.File
	imports map[string][]string
}

func readHouse(t *testing.T) house {
	t.Helper()
	h := house{map[string][]*ast.File{}, map[string][]string{}}
	set := token.NewFileSet()
	eachFile(t, func(name string) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "scripts/") { // no part of the program
			return
		}
		f, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(path.Dir(name), "internal/")
		h.files[pkg] = append(h.files[pkg], f)
		for _, other := range imported(f) {
			if ours, ok := strings.CutPrefix(other, module+"/internal/"); ok && !slices.Contains(h.imports[pkg], ours) {
				h.imports[pkg] = append(h.imports[pkg], ours)
			}
		}
	})
	if len(h.files) < 30 {
		t.Fatalf("found %d packages", len(h.files))
	}
	return h
}

// eachFile calls do with every Go file of the module, named from its root.
func eachFile(t *testing.T, do func(name string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || file != root && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if name, err := filepath.Rel(root, file); err == nil && strings.HasSuffix(name, ".go") {
			do(filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func imported(f *ast.File) (paths []string) {
	for _, spec := range f.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

func TestEveryPackageHasADocAndAPlace(t *testing.T) {
	for pkg, files := range readHouse(t).files {
		docs := 0
		for _, f := range files {
			if f.Doc != nil {
				docs++
			}
		}
		if docs != 1 {
			t.Errorf("%s: %d files have a package doc, want 1", pkg, docs)
		}
		if pkg == "cmd/pitot" {
			continue
		}
		if !slices.Contains(areas, areaOf(pkg)) {
			t.Errorf("%s is in none of the areas %v", pkg, areas)
		}
		if name := files[0].Name.Name; name != path.Base(pkg) {
			t.Errorf("%s: package %s is not named after its folder", pkg, name)
		}
	}
}

func TestAnAreaImportsOnlyWhatStandsBelowIt(t *testing.T) {
	h := readHouse(t)
	for pkg, others := range h.imports {
		for _, other := range others {
			if pkg == "cmd/pitot" {
				if other != "cli" {
					t.Errorf("%s imports %s: it calls cli and nothing else", pkg, other)
				}
				continue
			}
			if areaOf(pkg) != "test" && level(areaOf(other)) > level(areaOf(pkg)) {
				t.Errorf("%s imports %s, which stands above it", pkg, other)
			}
		}
	}
	for pkg := range h.imports {
		for _, r := range hidden {
			if within(pkg, r.from) {
				if way := h.way(pkg, r.to, nil); way != nil {
					t.Errorf("%s: %s", strings.Join(way, " imports "), r.why)
				}
			}
		}
	}
}

// within reports whether a package is an area, or in it.
func within(pkg, area string) bool { return pkg == area || strings.HasPrefix(pkg, area+"/") }

// way returns a chain of imports from one package to another, nil if there is none.
func (h house) way(from, to string, passed map[string]bool) []string {
	if passed == nil {
		passed = map[string]bool{}
	}
	if passed[from] {
		return nil
	}
	passed[from] = true
	for _, next := range h.imports[from] {
		if within(next, to) {
			return []string{from, next}
		}
		if rest := h.way(next, to, passed); rest != nil {
			return append([]string{from}, rest...)
		}
	}
	return nil
}

// forTests are packages of which a build has nothing.
var forTests = []string{"test"}

func TestWhatIsForTestsIsNotBuilt(t *testing.T) {
	isForTests := func(pkg string) bool {
		return slices.ContainsFunc(forTests, func(area string) bool { return within(pkg, area) })
	}
	for pkg, others := range readHouse(t).imports {
		for _, other := range others {
			if isForTests(other) && !isForTests(pkg) {
				t.Errorf("%s imports %s, which is for tests", pkg, other)
			}
		}
	}
}

func TestOnlySysAndCLIUseTheOperatingSystem(t *testing.T) {
	for pkg, files := range readHouse(t).files {
		allowed := slices.ContainsFunc(systemUsers, func(user string) bool { return within(pkg, user) })
		for _, f := range files {
			for _, other := range imported(f) {
				if slices.Contains(system, other) && !allowed {
					t.Errorf("%s imports %s, which is for %v", pkg, other, systemUsers)
				}
				if other == "C" || other == "unsafe" && pkg != "wire/transport" && pkg != "proof/truth" {
					t.Errorf("%s imports %s", pkg, other)
				}
			}
		}
	}
}

// openers are the functions that open a file whatever it is, a pipe without a writer too, and
// their permitted users: those that open files of the system, or none that a user names.
var (
	openers     = []string{"Open", "OpenFile", "ReadFile", "DirFS", "OpenRoot", "OpenInRoot"}
	openerUsers = []string{"sys/files", "sys/machine", "sys/probe", "sys/proc", "test"}
)

func TestFilesAreOpenedBySysFiles(t *testing.T) {
	for pkg, files := range readHouse(t).files {
		if slices.ContainsFunc(openerUsers, func(user string) bool { return within(pkg, user) }) {
			continue
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(openers, s.Sel.Name) {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
						t.Errorf("%s calls os.%s: sys/files opens regular files only, and waits for no pipe", pkg, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// inTests are modules whose packages only tests import, so that none is in the binary.
var inTests = []string{"pgregory.net/rapid", "github.com/google/go-cmp"}

func TestModulesOfTestsAreNotInTheBinary(t *testing.T) {
	for pkg, files := range readHouse(t).files {
		for _, f := range files {
			for _, other := range imported(f) {
				if !within(pkg, "test") && slices.ContainsFunc(inTests, func(module string) bool { return strings.HasPrefix(other, module) }) {
					t.Errorf("%s imports %s, which is for tests", pkg, other)
				}
			}
		}
	}
}

// banned are modules that were evaluated and rejected, and those that need cgo.
var banned = map[string]string{
	"github.com/mattn/go-sqlite3":                "needs cgo; modernc.org/sqlite does not",
	"github.com/marcboeker/go-duckdb":            "needs cgo",
	"github.com/apache/arrow-go":                 "27 MiB for what parquet-go does",
	"go.opentelemetry.io/otel/sdk":               "90 modules for one header",
	"github.com/pressly/goose":                   "77 modules for 40 lines",
	"github.com/goreleaser/goreleaser":           "make release does it",
	"github.com/stretchr/testify":                "the standard library and go-cmp do it",
	"github.com/pkg/errors":                      "the standard library does it",
	"github.com/golang/protobuf":                 "superseded",
	"gopkg.in/yaml.v3":                           "goccy/go-yaml shows the line and a caret",
	"github.com/spf13/cobra":                     "kong parses commands",
	"github.com/prometheus/client_golang":        "the engine writes its own few metrics",
	"github.com/confluentinc/confluent-kafka-go": "needs cgo",
}

// otherWords are files outside the catalogues with words of a language: to
// recognize notes and names, or as answers of a test server.
var otherWords = []string{"internal/tool/ingest/", "internal/tool/grid/", "internal/tool/lexicon/", "internal/record/environment/listing.go", "internal/judge/compare/variant.go", "internal/proof/truth/texts.go"}

// A sentence in Go code is always shown in one language; Chinese text is certainly
// a sentence.
func TestOnlyCataloguesHaveWordsOfALanguage(t *testing.T) {
	eachFile(t, func(name string) {
		if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(otherWords, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return
		}
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(b), "\n") {
			if i := strings.IndexFunc(line, func(r rune) bool {
				return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
			}); i >= 0 {
				t.Errorf("%s:%d: %q: words belong into internal/show/words/catalogues", name, n+1, line[i:])
			}
		}
	})
}

func TestBannedDependenciesStayOut(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
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
	eachFile(t, func(name string) {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n > 600 {
			t.Errorf("%s has %d lines, the limit is 600", name, n)
		}
	})
}

// What has no other place lands in package cli. A group of commands has one of its own.
func TestTheCommandLineIsThin(t *testing.T) {
	for folder, limit := range map[string]int{"internal/cli": 6100, "internal/session": 2500} {
		lines := 0
		eachFile(t, func(name string) {
			if filepath.ToSlash(filepath.Dir(name)) != folder || strings.HasSuffix(name, "_test.go") {
				return
			}
			b, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(b), "\n")
		})
		if lines == 0 || lines > limit {
			t.Errorf("%s has %d lines, the limit is %d", folder, lines, limit)
		}
	}
}

// The map is short, and every file and folder that it names is there.
func TestTheMapIsTrue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 8<<10 {
		t.Errorf("ARCHITECTURE.md has %d bytes, the limit is %d", len(text), 8<<10)
	}
	named := regexp.MustCompile("`([a-z0-9_]+(?:/[a-zA-Z0-9_.]+)+)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		found := slices.ContainsFunc([]string{"", "internal"}, func(below string) bool {
			_, err := os.Stat(filepath.Join(root, below, m[1]))
			return err == nil
		})
		if !found && m[1] != "testing/synctest" {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", m[1])
		}
	}
	if len(named) < 30 {
		t.Errorf("found %d names", len(named))
	}
}
