package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Every code has words in every language, with the same arguments.
func TestEveryLanguageSaysTheSame(t *testing.T) {
	english := In(Default)
	if got := Names(); !slices.Equal(got, []string{"en", "zh"}) {
		t.Errorf("languages %v", got)
	}
	for _, name := range Names() {
		l := In(name)
		for code, text := range english.texts {
			if !l.Knows(code) {
				t.Errorf("%s has no words for %s", name, code)
				continue
			}
			if want, got := placeholders(text), placeholders(l.texts[code]); !maps.Equal(want, got) {
				t.Errorf("%s: %s has the arguments %v, in %s %v", code, Default, slices.Sorted(maps.Keys(want)), name, slices.Sorted(maps.Keys(got)))
			}
		}
		for code := range l.texts {
			if !english.Knows(code) {
				t.Errorf("%s has words for %s, %s none", name, code, Default)
			}
		}
	}
}

// placeholders are the names of arguments in a text.
func placeholders(text string) map[string]bool {
	names := map[string]bool{}
	for {
		_, inner, rest, ok := braces(text)
		if !ok {
			return names
		}
		name, format, _ := strings.Cut(inner, ":")
		names[name] = true
		maps.Copy(names, placeholders(format))
		text = rest
	}
}

// No catalogue is reached by a sentence: codes are names, and every constant that is one
// has words.
func TestCodesAreNamesWithWords(t *testing.T) {
	form := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*([-._][a-zA-Z0-9]+)*$`)
	for code := range In(Default).texts {
		if !form.MatchString(string(code)) {
			t.Errorf("%q is no name", code)
		}
	}
	for code, where := range constants(t) {
		if code != string(plan.TextCode) && !In(Default).Knows(plan.Code(code)) {
			t.Errorf("%s: no catalogue has words for %s", where, code)
		}
	}
}

// constants are the constants of type plan.Code in the module, with their files.
func constants(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	set := token.NewFileSet()
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				collect(found, file, spec.(*ast.ValueSpec))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("found no code at all")
	}
	return found
}

func collect(found map[string]string, file string, spec *ast.ValueSpec) {
	switch kind := spec.Type.(type) {
	case *ast.Ident:
		if kind.Name != "Code" || !strings.Contains(file, "/plan/") {
			return
		}
	case *ast.SelectorExpr:
		if pkg, ok := kind.X.(*ast.Ident); !ok || pkg.Name != "plan" || kind.Sel.Name != "Code" {
			return
		}
	default:
		return
	}
	for _, value := range spec.Values {
		if text, ok := value.(*ast.BasicLit); ok {
			if code, err := strconv.Unquote(text.Value); err == nil {
				found[code] = file
			}
		}
	}
}

func language(t *testing.T, catalogue string) *Language {
	t.Helper()
	l := &Language{Name: "xx", texts: map[plan.Code]string{}}
	if err := l.read(catalogue); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSay(t *testing.T) {
	l := language(t, `
list.comma: ", "
list.and: " and "
list.stop: "; "
a: P99 {p99:ms %.1f} ms, {share:pct %.3g} %, {n} of {m:%.0f}, {took:dur}
b: {n:one request|{n} requests} of {names}: {why}
c: {all}; {missing}
d: {names:and}; {all:stop}{why:?, since {why}}, {yes:streamed|whole}
e: ""
`)
	for want, m := range map[string]plan.Message{
		"P99 12.3 ms, 5 %, 1234567 of 7, 1m30s": plan.Say("a", "p99", 0.0123, "share", 0.05, "n", 1234567, "m", 7, "took", 90),
		"P99 0.0 ms, 1234 %, 1e-07 of 7, 1s":    plan.Say("a", "p99", 0, "share", 12.345, "n", 1e-7, "m", 7, "took", 1),
		"one request of x, y: 3 requests of : z": plan.Say("b", "n", 1, "names", []string{"x", "y"},
			"why", plan.Say("b", "n", 3, "names", []string{}, "why", "z")),
		"d, e; ?":                         plan.Say("c", "all", []plan.Message{plan.Text("d"), plan.Text("e")}),
		"x, y and z; d; , since w, whole": plan.Say("d", "names", []string{"x", "y", "z"}, "all", []plan.Message{plan.Text("d"), plan.Say("e")}, "why", "w", "yes", false),
		"x and y; , streamed":             plan.Say("d", "names", []string{"x", "y"}, "all", []string{}, "why", "", "yes", true),
		`{"code":"new","args":{"x":1}}`:   plan.Say("new", "x", 1),
		"as it stood {x}":                 plan.Text("as it stood {x}"),
		"":                                {},
	} {
		if got := l.Say(m); got != want {
			t.Errorf("%s: %q, want %q", m.Key(), got, want)
		}
	}
}

// Where an argument meets the text of a script without blanks, there is one beside Latin
// letters and digits, and none elsewhere. What an argument holds itself is left alone.
func TestBlanksOfAScriptWithoutThem(t *testing.T) {
	l := language(t, "language.unspaced: Han\nlist.comma: 、\na: 按名称取 {x} 为基线：{y}，{z}项（ {x} ）")
	for want, m := range map[string]plan.Message{
		"按名称取优化 前为基线：A b，5 项（优化 前）": plan.Say("a", "x", "优化 前", "y", "A b", "z", 5),
		"按名称取 v1 为基线：优化后、x，另有项（v1）": plan.Say("a", "x", "v1", "y", []string{"优化后", "x"}, "z", "另有"),
		"按名称取 +3% 为基线：，（x）项（+3%）":   plan.Say("a", "x", "+3%", "y", "", "z", "（x）"),
	} {
		if got := l.Say(m); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMistakesInACatalogue(t *testing.T) {
	for _, text := range []string{"no colon", "a: x\na: y", "a: \"\"\na: y"} {
		if err := (&Language{texts: map[plan.Code]string{}}).read(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	l := language(t, "# c\na: x\n   y\n\nb: z: {q}\n")
	if l.texts["a"] != "x y" || l.texts["b"] != "z: {q}" {
		t.Errorf("%q", l.texts)
	}
}
