package template

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hostile templates make much of little, or take long to make nothing.
var hostile = []string{
	"{{ ('a\n'*10000)|indent(1000000) }}",
	"{{ ('a\n'*10000)|indent('x'*100000) }}",
	"{{ [1]|batch(1000000000, 0)|list }}",
	"{{ ('9'*1000000)|int }}",
	"{{ 'a' * 999999999999 }}",
	"{{ ['a'] * 999999999999 }}",
	"{{ 'a'|center(9223372036854775807) }}",
	"{{ 'a'.ljust(9223372036854775807, 'xx') }}{{ 'a'.zfill(1000000000) }}",
	"{{ ('a'*100000)|replace('', 'b'*100000) }}",
	"{{ ('a'*100000).replace('a', 'b'*100000) }}",
	"{{ ('a'*100000)|join('b'*100000) }}{{ ('b'*100000).join('a'*100000) }}",
	"{{ '%9999d' % 1 }}{{ ('%9999s'*10000)|format(*(['a']*10000)) }}",
	"{{ ('%.999f'*10000)|format(*([1.5]*10000)) }}",
	"{{ ('{0}'*10000).format('a'*100000) }}",
	"{{ ([1]*10000)|tojson(separators=['x'*100000, ':']) }}",
	"{{ ([[[[1]]]]*10000)|tojson(indent='x'*100000) }}",
	"{{ ('\x01'*200000)|tojson }}{{ [('\\x01'*200000)]|string }}",
	"{{ ('&'*200000)|escape }}",
	"{{ ('a '*200000).split() }}{{ ('a '*200000).split('a') }}{{ ('a\n'*200000).splitlines() }}",
	"{{ ('a'*500000)|list }}{{ ('a'*500000)|reverse }}{{ ('a'*500000)[::2] }}",
	"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
	"{% set l = range(100000) %}{% for i in l %}{% set x = l|list %}{% endfor %}",
	"{% set l = 'Ab'*100000 %}{{ ([l]*100000)|sort }}",
	"{% set l = 'Ab'*100000 %}{% for i in range(100000) %}{% if l|length %}{% endif %}{% endfor %}",
	"{% set l = 'ab'*100000 %}{% set m = 'ab'*99999 ~ 'ac' %}{% for i in range(100000) %}{% if l == m %}{% endif %}{% " +
		"endfor %}",
	"{% set l = 'ab'*100000 %}{% for i in range(100000) %}{% if l.strip(l) %}{% endif %}{% endfor %}",
	"{% set l = 'ab'*100000 %}{% for i in range(100000) %}{{ {}[l] }}{{ {}|attr(l) }}{% endfor %}",
	"{% set l = 'ab'*100000 %}{% for i in range(100000) %}{% if 'x'.startswith((l,)*1000) %}{% endif %}{% endfor %}",
	"{% for i in range(100000) %}" + strings.Repeat("{% set x = ["+strings.Repeat("1,", 1000)+"] %}", 10) + "{% endfor %}",
	"{% for i in range(100000) %}" + strings.Repeat("{% with %}{% endwith %}", 1000) + "{% endfor %}",
	"{% for i in range(100000) %}{% if " + strings.Repeat("0 or ", 1000) + "0 %}{% endif %}{% endfor %}",
	"{% set ns = namespace(a=[]) %}{% for i in range(100000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a }}",
	"{% set ns = namespace(a=[], b=[]) %}{% for i in range(100000) %}{% set ns.a = [ns.a] %}{% set ns.b = [ns.b] %}{% " +
		"endfor %}{{ ns.a == ns.b }}",
	"{% set ns = namespace(a=3) %}{% for i in range(100000) %}{% set ns.a = ns.a * ns.a %}{% endfor %}",
	"{% set ns = namespace(a=3) %}{% for i in range(100000) %}{% set ns.a = ns.a ** 4096 %}{% endfor %}",
	"{% set ns = namespace(a=3) %}{% for i in range(100000) %}{% set ns.a = ns.a + ns.a %}{% endfor %}",
	"{% set ns = namespace(a={}) %}{% for i in range(100000) %}{% set ns.a = dict(ns.a, x=ns.a.items()|list, y=ns.a) " +
		"%}{% endfor %}{{ ns.a }}",
	"{% macro m() %}{% endmacro %}{% set ns = namespace(a=1) %}{% for i in range(100000) %}{% macro n() %}{% endmacro " +
		"%}{% set ns.a = [ns.a, n] %}{% endfor %}",
	"{% macro m(a) %}{{ a }}{% endmacro %}{% for i in range(100000) %}{{ m('a'*10000) }}{% endfor %}",
	"{% for i in range(100000) %}{% filter upper %}{{ 'ß'*10000 }}{% endfilter %}{% endfor %}",
	"{{ strftime_now('%c'*200000) }}",
	"{{ raise_exception('a'*800000) }}",
	"{{ " + strings.Repeat("'a'", 10000) + " }}",
	"{{ " + strings.Repeat("9", 100000) + " }}",
	"{{ x" + strings.Repeat("[:]", 10000) + " }}",
	"{{ 1" + strings.Repeat(" if 1", 10000) + " }}",
	"{{ ('ßX '*200000).title() }}{{ ('ßX '*200000)|title }}",
	strings.Repeat("{% filter upper %}{% endfilter %}", 10000),
	"{{ range(0, 9223372036854775807, 4611686018427387904) }}",
	"{{ '%d' % ('nan'|float) }}{{ '%d' % ('inf'|float) }}",
}

// TestEverythingMadeIsCharged renders hostile templates with a budget of 256 KiB: what
// is allocated in all, garbage and stacks too, stays within a fixed multiple of it.
func TestEverythingMadeIsCharged(t *testing.T) {
	const budget, factor, fixed = 1 << 18, 16, 16 << 20
	for _, source := range hostile {
		var before, after runtime.MemStats
		tmpl, err := parseOne(source, nil)
		text := ""
		runtime.ReadMemStats(&before)
		if err == nil {
			text, err = tmpl.render(tmpl.named[defaultName], map[string]value{"x": "abc"}, budget)
		}
		runtime.ReadMemStats(&after)
		// stacks may be given back
		made := after.TotalAlloc - before.TotalAlloc + max(after.StackSys, before.StackSys) - before.StackSys
		if made > factor*budget+fixed {
			t.Errorf("%.80q makes %d MiB of a budget of %d KiB", source, made>>20, budget>>10)
		}
		if len(text) > budget || err != nil && len(err.Error()) > 2000 {
			t.Errorf("%.80q: a text of %d bytes, an error of %d", source, len(text), len(err.Error()))
		}
	}
}

// TestTheBudgetGrowsWithTheChat renders a chat that is larger than the constant part.
func TestTheBudgetGrowsWithTheChat(t *testing.T) {
	chat, err := json.Marshal([]map[string]string{{"role": "user", "content": strings.Repeat("hello world ", 1<<18)}})
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := parseOne("{% for m in messages %}{{ m.content|trim|replace('x', 'y')|upper|lower }}{% endfor %}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := tmpl.Render(chat, Options{}); err != nil || len(text) < 3<<20-1 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestTooLargeATemplateOrChat(t *testing.T) {
	if _, err := parseOne(strings.Repeat("a", maxSource+1), nil); err == nil ||
		!strings.Contains(err.Error(), "more than 1024 KiB of templates") {
		t.Error(err)
	}
	tmpl, err := parseOne("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if _, err := tmpl.Render(json.RawMessage(deep), Options{}); err == nil ||
		!strings.Contains(err.Error(), "nested more than 1000 levels deep") {
		t.Error(err)
	}
}

// A chat has 4 MiB, less what making it takes, and 4 bytes more for each of the input.
func TestTheLargestChat(t *testing.T) {
	for _, tt := range []struct {
		input, output int // MiB
		good          bool
	}{{0, 3, true}, {0, 4, false}, {1, 6, true}, {1, 8, false}} {
		m, err := parseAll(map[string]string{defaultName: fmt.Sprintf("{{ 'a' * %d }}", tt.output<<20)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		chat := fmt.Sprintf(`[{"role":"user","content":"%s"}]`, strings.Repeat("x", tt.input<<20))
		if text, err := m.Render(json.RawMessage(chat), Options{}); (err == nil) != tt.good ||
			tt.good && len(text) != tt.output<<20 {
			t.Errorf("%+v: %d bytes, %v", tt, len(text), err)
		}
	}
}
