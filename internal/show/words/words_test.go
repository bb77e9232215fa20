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
	if got := Names(); got[0] != Default || !slices.Contains(got, "zh") {
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

// No catalogue is reached by a sentence: codes are names.
func TestCodesAreNames(t *testing.T) {
	for code := range In(Default).texts {
		if !form.MatchString(string(code)) {
			t.Errorf("%q is no name", code)
		}
	}
}

var form = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*([-._][a-zA-Z0-9]+)*$`)

// Every code in the source has words, and what it is said with has the arguments that
// the words have.
func TestCodesHaveWords(t *testing.T) {
	l, prefixes := In(Default), map[string]bool{}
	for code := range l.texts {
		prefix, _, _ := strings.Cut(string(code), ".")
		prefixes[prefix] = true
	}
	speaks := regexp.MustCompile(`^\.\./\.\./(judge|proof|record|show)/`) // elsewhere names of other things begin alike
	codes := 0
	source(t, func(where string, n ast.Node) {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, code := range constants(where, n) {
				if codes++; code != string(plan.TextCode) && !l.Knows(plan.Code(code)) {
					t.Errorf("%s: no catalogue has words for %s", where, code)
				}
			}
		case *ast.CallExpr:
			if code, args, ok := codeOf(n); ok {
				codes++
				if !l.Knows(code) {
					t.Errorf("%s: no catalogue has words for %s", where, code)
				} else if missing := without(required(l.texts[code]), args); args != nil && len(missing) > 0 {
					t.Errorf("%s: %s is said without %v", where, code, missing)
				}
			}
		case *ast.BasicLit:
			text, _ := strconv.Unquote(n.Value)
			prefix, _, dotted := strings.Cut(text, ".")
			if dotted && prefixes[prefix] && form.MatchString(text) && speaks.MatchString(where) && !l.Knows(plan.Code(text)) {
				t.Errorf("%s: no catalogue has words for %s", where, text)
			}
		}
	})
	if codes < 100 {
		t.Errorf("found %d codes", codes)
	}
}

// Every text is said by somebody: its code stands in the source, or the beginning of it
// that a name is put behind.
func TestNoWordsAreLeftOver(t *testing.T) {
	used, beginnings := map[string]bool{}, map[string]bool{}
	source(t, func(_ string, n ast.Node) {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				used[text] = true
				beginnings[text] = strings.HasSuffix(text, ".")
			}
		}
	})
	for code := range In(Default).texts {
		prefix, name, _ := strings.Cut(string(code), ".")
		switch {
		case used[string(code)] || prefix == "list" && used[name]:
		case !beginnings[prefix+"."]:
			t.Errorf("nobody says %s", code)
		}
	}
}

// source visits every node of the module's Go files, but for tests.
func source(t *testing.T, visit func(where string, n ast.Node)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if n != nil {
				visit(set.Position(n.Pos()).String(), n)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// constants are the values of a declaration of type plan.Code.
func constants(where string, spec *ast.ValueSpec) (codes []string) {
	switch kind := spec.Type.(type) {
	case *ast.Ident:
		if kind.Name != "Code" || !strings.Contains(where, "/plan/") {
			return nil
		}
	case *ast.SelectorExpr:
		if pkg, ok := kind.X.(*ast.Ident); !ok || pkg.Name != "plan" || kind.Sel.Name != "Code" {
			return nil
		}
	default:
		return nil
	}
	for _, value := range spec.Values {
		if text, ok := value.(*ast.BasicLit); ok {
			if code, err := strconv.Unquote(text.Value); err == nil {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

// codeOf returns the code of a call of Msg or Word, and the names of its arguments; nil where
// they come as a list.
func codeOf(call *ast.CallExpr) (code plan.Code, args map[string]bool, ok bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if name != "Msg" && name != "Word" || len(call.Args) == 0 {
		return "", nil, false
	}
	text := func(e ast.Expr) (string, bool) {
		lit, ok := e.(*ast.BasicLit)
		if !ok {
			return "", false
		}
		s, err := strconv.Unquote(lit.Value)
		return s, err == nil
	}
	first, ok := text(call.Args[0])
	ok = ok && form.MatchString(first) // tables have labels that are said likewise
	if !ok || call.Ellipsis.IsValid() {
		return plan.Code(first), nil, ok
	}
	args = map[string]bool{}
	for i := 1; i < len(call.Args); i += 2 {
		if name, ok := text(call.Args[i]); ok {
			args[name] = true
		}
	}
	return plan.Code(first), args, true
}

// required are the arguments that a text cannot do without.
func required(text string) map[string]bool {
	names := map[string]bool{}
	for {
		_, inner, rest, ok := braces(text)
		if !ok {
			return names
		}
		name, format, _ := strings.Cut(inner, ":")
		if !strings.HasPrefix(format, "?") {
			names[name] = true
			maps.Copy(names, required(format))
		}
		text = rest
	}
}

func without(names, given map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool { return given[name] })
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
		"P99 12.3 ms, 5 %, 1234567 of 7, 1m30s": plan.Msg("a", "p99", 0.0123, "share", 0.05, "n", 1234567, "m", 7, "took", 90),
		"P99 0.0 ms, 1234 %, 1e-07 of 7, 1s":    plan.Msg("a", "p99", 0, "share", 12.345, "n", 1e-7, "m", 7, "took", 1),
		"one request of x, y: 3 requests of : z": plan.Msg("b", "n", 1, "names", []string{"x", "y"},
			"why", plan.Msg("b", "n", 3, "names", []string{}, "why", "z")),
		"d, e; ?":                         plan.Msg("c", "all", []plan.Message{plan.Text("d"), plan.Text("e")}),
		"x, y and z; d; , since w, whole": plan.Msg("d", "names", []string{"x", "y", "z"}, "all", []plan.Message{plan.Text("d"), plan.Msg("e")}, "why", "w", "yes", false),
		"x and y; , streamed":             plan.Msg("d", "names", []string{"x", "y"}, "all", []string{}, "why", "", "yes", true),
		`{"code":"new","args":{"x":1}}`:   plan.Msg("new", "x", 1),
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
		"按名称取优化 前为基线：A b，5 项（优化 前）": plan.Msg("a", "x", "优化 前", "y", "A b", "z", 5),
		"按名称取 v1 为基线：优化后、x，另有项（v1）": plan.Msg("a", "x", "v1", "y", []string{"优化后", "x"}, "z", "另有"),
		"按名称取 +3% 为基线：，（x）项（+3%）":   plan.Msg("a", "x", "+3%", "y", "", "z", "（x）"),
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
