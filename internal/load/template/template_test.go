package template

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// A golden is the output of jinja2 configured like transformers. It is written by
// testdata/golden.py.
type golden struct {
	Tokens   map[string]string
	Chats    map[string]json.RawMessage
	Settings []struct {
		Prompt    bool
		Tools     json.RawMessage
		Arguments map[string]json.RawMessage
	}
	Rendered []struct {
		Template, Chat string
		Setting        int
		rendered
	}
	Values   map[string]json.RawMessage
	Snippets []struct {
		Source string
		rendered
	}
}

// rendered is a text, or an error.
type rendered struct {
	Text  *string
	Error string
}

func readGolden(t testing.TB) golden {
	t.Helper()
	f, err := os.Open("testdata/golden.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.NewDecoder(unpacked).Decode(&g); err != nil {
		t.Fatal(err)
	}
	return g
}

// sameDay is the instant at which the goldens were made.
func sameDay() time.Time { return time.Date(2026, 3, 5, 9, 7, 3, 4500_000, time.UTC) }

func (r rendered) compare(t *testing.T, what, text string, err error) {
	t.Helper()
	switch {
	case r.Text == nil && err == nil:
		t.Errorf("%s: %q, and Python says %s", what, text, r.Error)
	case r.Text != nil && err != nil:
		t.Errorf("%s: %v, and Python gives %q", what, err, *r.Text)
	case r.Text != nil && text != *r.Text:
		t.Errorf("%s:\n%q, and Python gives\n%q", what, text, *r.Text)
	}
}

// parseOne parses one template.
func parseOne(source string, tokens map[string]string) (*Template, error) {
	return parseAll(map[string]string{defaultName: source}, tokens)
}

func TestChatsEqualHuggingFace(t *testing.T) {
	g := readGolden(t)
	templates := map[string]*Template{}
	for _, r := range g.Rendered {
		if templates[r.Template] == nil {
			source, err := os.ReadFile(filepath.Join("testdata", "chat", r.Template))
			if err != nil {
				t.Fatal(err)
			}
			if templates[r.Template], err = parseOne(string(source), g.Tokens); err != nil {
				t.Fatalf("%s: %v", r.Template, err)
			}
			templates[r.Template].Now = sameDay
		}
		s := g.Settings[r.Setting]
		text, err := templates[r.Template].Render(g.Chats[r.Chat], Options{s.Prompt, s.Tools, s.Arguments})
		r.compare(t, r.Template+" of "+r.Chat, text, err)
	}
	if len(templates) < 11 || len(g.Rendered) < 1000 {
		t.Errorf("%d templates, %d texts", len(templates), len(g.Rendered))
	}
}

func TestSnippetsEqualJinja(t *testing.T) {
	g := readGolden(t)
	for _, s := range g.Snippets {
		text, err := "", error(nil)
		tmpl, err := parseOne(s.Source, g.Tokens)
		if err == nil {
			tmpl.Now = sameDay
			text, err = tmpl.Render(json.RawMessage(`[{"role":"user","content":"x"}]`), Options{Arguments: g.Values})
		}
		s.compare(t, s.Source, text, err)
	}
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"a\n{{ x|nosuch }}", "line 2: the filter |nosuch is not supported"},
		{"a{{ x is nosuch }}", `line 1: the test "is nosuch" is not supported`},
		{"\n{% nosuch %}", "line 2: the tag {% nosuch %} is not supported"},
		{"{% if x %}{% endif %}\n{{ x|nosuch }}", "line 2: the filter |nosuch is not supported"},
		{"{% if x %}\n", "the template ends before {% endif %}"},
		{"a\n{{ x", "line 2: a tag is not closed by }}"},
	} {
		if _, err := parseOne(c.source, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.source, err, c.want)
		}
	}
}

func TestFailuresAreNamedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"\n{{ raise_exception('not so') }}", "line 2: the template refuses this chat: not so"},
		{"{% if x is nosuch %}{% endif %}", `line 1: the test "is nosuch" is not supported`},
		{"\n\n{% include 'x' %}", "line 3: the tag {% include %} is not supported"},
		{"{{ messages[0].content.\nencode() }}", "line 2: the method .encode() is not supported"},
		{"{{ lipsum() }}", "line 1: the function lipsum() is not supported"},
		{"{{ 'a' '\\N{BULLET}' }}", `line 1: the escape \N is not supported`},
		{"{{ messages|xmlattr }}", "line 1: the filter |xmlattr is not supported"},
		{"{% if true %}\n{% block x %}{% endblock %}{% endif %}", "line 2: the tag {% block %} is not supported"},
		{"{{ namespace(_a=1) }}", "begins with an underscore"},
		{"{{ x.y.z }}", "line 1: 'x' is undefined"},
		{"\n{{ messages[0].content.nope.z }}", "line 2: a text has no attribute 'nope'"},
		{"{% set a = [] %}{{ a.append(1) }}", "line 1: .append() modifies a list, which templates must not do"},
		{"{{ strftime_now('%Q') }}", "the conversion %Q of a date is not supported"},
		{"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "calls and operations are nested more than"},
		{
			"{% set ns = namespace(a='x') %}{% for i in range(99) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}",
			"exceeds the limit for rendering a chat",
		},
		{
			"{% set ns = namespace(a=[1]) %}{% for i in range(99) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}",
			"exceeds the limit for rendering a chat",
		},
		{"{{ 'a' * 999999999999 }}", "exceeds the limit for rendering a chat"},
		{"{{ 2 ** 99999999 }}", "is too large"},
	} {
		tmpl, err := parseOne(c.source, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tmpl.Render(json.RawMessage(`[{"content":"x"}]`), Options{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.source, err, c.want)
		}
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	tmpl, err := parseOne("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, messages := range []string{"", "[]", "{}", "[1] 2", "[1]", `[{}, "x"]`, "[", "null"} {
		if text, err := tmpl.Render(json.RawMessage(messages), Options{}); err == nil ||
			!strings.Contains(err.Error(), "messages") {
			t.Errorf("%q gives %q, %v", messages, text, err)
		}
	}
}

func TestWhereATemplateIsFound(t *testing.T) {
	config := `{"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}, "pad_token": null,
		"add_bos_token": true,
		"extra_special_tokens": {"image_token": "<i>"}, "chat_template": `
	vars := `{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ image_token }}{{ add_bos_token }}`
	named := `[{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools {{ tools|length }}"}]}`
	for name, c := range map[string]struct {
		files       map[string]string
		text, tools string // without and with tools
		err         string
	}{
		"config": {
			map[string]string{"tokenizer_config.json": config + `"` + vars + `"}`}, "<s></s><i>", "<s></s><i>", "",
		},
		"list": {map[string]string{"tokenizer_config.json": config + named}, "plain", "tools 1", ""},
		"file": {
			map[string]string{"tokenizer_config.json": config + `"no"}`, "chat_template.jinja": vars},
			"<s></s><i>",
			"<s></s><i>", "",
		},
		"json": {map[string]string{"chat_template.json": `{"chat_template": "j"}`}, "j", "j", ""},
		"additional": {
			map[string]string{"chat_template.jinja": "p", "additional_chat_templates/tool_use.jinja": "t"}, "p", "t", "",
		},
		"none":     {map[string]string{"tokenizer_config.json": config + `null}`}, "", "", "no chat template"},
		"nothing":  {map[string]string{"x": ""}, "", "", "no chat template"},
		"broken":   {map[string]string{"tokenizer_config.json": "{"}, "", "", "tokenizer_config.json: "},
		"mistaken": {map[string]string{"chat_template.jinja": "{{"}, "", "", "chat template default: line 1: "},
		"wrong": {
			map[string]string{"tokenizer_config.json": config + `3}`}, "", "", "chat_template: neither a text nor a list",
		},
		"nameless": {
			map[string]string{"tokenizer_config.json": config + `[{"template": "x"}]}`}, "", "", "lacks name or template",
		},
		"no default": {
			map[string]string{"tokenizer_config.json": config +
				`[{"name": "rag", "template": "x"}, {"name": "tool_use", "template": "t"}]}`}, "", "t", "but no default",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, data := range c.files {
				fsys["a [x]/"+file] = &fstest.MapFile{Data: []byte(data)}
			}
			tmpl, err := Load(fsys, "a [x]")
			var text, tools string
			if err == nil {
				text, err = tmpl.Render(json.RawMessage(`[{}]`), Options{})
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" && err != nil {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if strings.HasPrefix(c.err, "no chat") != errors.Is(err, ErrNone) {
				t.Errorf("%v is ErrNone: %v", err, errors.Is(err, ErrNone))
			}
			if tmpl != nil {
				if tools, err = tmpl.Render(json.RawMessage(`[{}]`), Options{Tools: json.RawMessage(`[{}]`)}); err != nil {
					t.Fatal(err)
				}
			}
			if text != c.text || tools != c.tools {
				t.Errorf("%q and with tools %q", text, tools)
			}
		})
	}
}

// FuzzRender checks that no template and no messages panic or run forever.
func FuzzRender(f *testing.F) {
	g := readGolden(f)
	for _, s := range g.Snippets {
		f.Add(s.Source, `[{"role":"user","content":"x"}]`)
	}
	chats, err := filepath.Glob("testdata/chat/*.jinja")
	if err != nil || len(chats) == 0 {
		f.Fatal(err)
	}
	for _, name := range chats {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, messages := range g.Chats {
			f.Add(string(source), string(messages))
		}
	}
	f.Fuzz(func(_ *testing.T, source, messages string) {
		tmpl, err := parseOne(source, g.Tokens)
		if err != nil {
			return
		}
		vars, _, err := variables(json.RawMessage(messages),
			Options{Tools: json.RawMessage(`[{"function":{"name":"f"}}]`), Arguments: g.Values})
		if err != nil {
			return
		}
		_, _ = tmpl.render(tmpl.named[defaultName], vars, 1<<16)
	})
}

func BenchmarkRender(b *testing.B) {
	g := readGolden(b)
	source, err := os.ReadFile("testdata/chat/chatml.jinja")
	if err != nil {
		b.Fatal(err)
	}
	tmpl, err := parseOne(string(source), g.Tokens)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(g.Chats["turns"])))
	for b.Loop() {
		if _, err := tmpl.Render(g.Chats["turns"], Options{GenerationPrompt: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestToolsAndDocumentsThatAreNone(t *testing.T) {
	tmpl, err := parseOne("{{ tools|length }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{`[]`: "0", `[{}]`: "1", `{}`: "", `[1]`: "", `"x"`: ""} {
		for name, o := range map[string]Options{
			"tools": {Tools: json.RawMessage(raw)},
			"documents": {
				Tools: json.RawMessage(`[{}]`), Arguments: map[string]json.RawMessage{"documents": json.RawMessage(raw)},
			},
		} {
			text, err := tmpl.Render(json.RawMessage(`[{}]`), o)
			if want == "" && (err == nil || !strings.Contains(err.Error(), name)) || want != "" && err != nil {
				t.Errorf("%s %s: %q, %v", name, raw, text, err)
			}
		}
	}
}
