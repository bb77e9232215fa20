package torture

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// templates are chat templates that make much of little.
var templates = []string{
	`{{ ('a\n'*10000)|indent(1000000) }}`,
	`{{ 'a' * 1000000000 }}`,
	`{{ 'a' * 100000000 * 100000000 }}`,
	`{{ [1] * 1000000000 }}`,
	`{{ [[1] * 10000] * 10000 }}`,
	`{% for i in range(1000000000) %}x{% endfor %}`,
	`{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}`,
	`{{ range(1000000000)|list|length }}`,
	`{{ range(10)|batch(1000000000,0)|list }}`,
	`{{ range(10)|slice(1000000000)|list }}`,
	`{{ ('9'*1000000)|int }}`,
	`{{ 9**999999999 }}`,
	`{{ 10**10**10 }}`,
	`{{ 7**7**7**7 % 10 }}`,
	`{{ ('9'*100000)|int * ('9'*100000)|int }}`,
	`{% set n = namespace(s='aaaaaaaaaa') %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s|length }}`,
	`{% set n = namespace(s='a') %}{% for i in range(12) %}{% set n.s = n.s.replace('a', 'aaaaaaaaaa') %}{% endfor %}{{ n.s|length }}`,
	`{% set n = namespace(l=[1]) %}{% for i in range(40) %}{% set n.l = n.l + n.l %}{% endfor %}{{ n.l|length }}`,
	`{% set n = namespace(l=[1]) %}{% for i in range(40) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}`,
	`{% set n = namespace(l=[1]) %}{% for i in range(40) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l|tojson }}`,
	`{% set n = namespace(l=[1]) %}{% for i in range(40) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l == n.l }}`,
	`{% set l = [] %}{{ l.append(l) }}{{ l }}`,
	`{% set l = [] %}{{ l.append(l) }}{{ l|tojson }}`,
	`{{ ('a'*100000).replace('', 'b'*100000)|length }}`,
	`{{ ('a'*100000)|replace('a', 'b'*100000) }}`,
	`{{ (','*1000000).split(',')|join('x'*100000) }}`,
	`{{ ('x'*100000).join((','*1000000).split(',')) }}`,
	`{{ '%1000000000d' % 1 }}`,
	`{{ '%.1000000000f'|format(1.5) }}`,
	`{{ '{:1000000000}'.format(1) }}`,
	`{{ 'a'|center(1000000000) }}`,
	`{{ 'a'.ljust(1000000000) }}`,
	`{{ '1'.zfill(1000000000) }}`,
	`{{ ('a '*1000000)|wordwrap(1)|title|upper|length }}`,
	`{{ messages|tojson(indent=1000000000) }}`,
	`{% filter indent(1000000) %}{{ 'a\n'*10000 }}{% endfilter %}`,
	`{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}`,
	`{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}`,
	`{% macro f(n) %}{{ caller() }}{% endmacro %}{% call f() %}{% call f() %}x{% endcall %}{% endcall %}`,
	`{{ raise_exception('` + `\x1b[2J` + `' * 1000000) }}`,
	`{{ raise_exception('\x1b]0;x\x07\x9b31m') }}`,
	`{{ strftime_now('%c' * 1000000) }}`,
	`{{ ('a' * 1000000)|list|map('upper')|map('replace', 'A', 'b' * 1000)|join }}`,
	`{{ ['a' * 1000000] * 100000 }}`,
	`{{ range(3000000)|list|sort(reverse=true)|unique|list|length }}`,
	`{{ range(100000)|map('string')|sum(start='') }}`,
	`{{ ('a' * 10000000).split('a')|groupby('x')|list }}`,
	`{{ 1e308 * 1e308 }}{{ (1e308 * 1e308)|int }}`,
	`{{ range(1, 9223372036854775807, 1)|length }}{{ range(9223372036854775807)[5:] }}`,
	`{{ 'abc'[-9223372036854775808:9223372036854775807:-9223372036854775808] }}`,
}

// long templates are those whose own text is nested or long.
func longTemplates() []string {
	n := either(100_000, 1_000_000)
	repeat := strings.Repeat
	return []string{
		"{{ " + repeat("(", n) + "1" + repeat(")", n) + " }}",
		"{{ " + repeat("[", n) + repeat("]", n) + " }}",
		"{{ " + repeat("not ", n) + "1 }}",
		"{{ " + repeat("-", n) + "1 }}",
		"{{ 1" + repeat("+1", n) + " }}",
		"{{ 1" + repeat("**1", n) + " }}",
		"{{ 'a'" + repeat("~'a'", n) + " }}",
		"{{ a" + repeat(".a", n) + " }}",
		"{{ a" + repeat("[0]", n) + " }}",
		"{{ a" + repeat("()", n) + " }}",
		"{{ 'a'" + repeat("|upper", n) + " }}",
		"{{ 1" + repeat(" if 1 else 1", n) + " }}",
		repeat("{% if 1 %}", n) + repeat("{% endif %}", n),
		repeat("{% for i in [1,2] %}", 40) + "x" + repeat("{% endfor %}", 40),
		"{% if 1 %}" + repeat("{% elif 1 %}", n) + "{% endif %}",
		repeat("{% macro f() %}", n),
		"{# " + repeat("{# ", n),
		"{{ '" + repeat("\\", n),
		repeat("{{", n),
	}
}

// Templates are rendered within a budget of time and of bytes made.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for i, source := range append(templates[:len(templates):len(templates)], longTemplates()...) {
		if !*long && i%3 != 0 {
			continue
		}
		t.Run(fmt.Sprintf("%d", i), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, "tokenizer/chat_template.jinja", source)
			input{as: "tokenizer/chat_template.jinja", args: inputNamed(t, "template").args}.read(t, p)
		})
	}
}

func inputNamed(t *testing.T, name string) input {
	t.Helper()
	for _, in := range inputs {
		if in.name == name {
			return in
		}
	}
	t.Fatalf("no input %s", name)
	return input{}
}

// tokenizers are parts put into a tokenizer.json, as its key and JSON.
func tokenizers() [][2]string {
	replace := `{"type":"Replace","pattern":{"String":"a"},"content":"` + strings.Repeat("a", 100) + `"}`
	sequence := func(kind, part string, n int) string {
		return `{"type":"Sequence","` + kind + `":[` + strings.Repeat(part+",", n-1) + part + `]}`
	}
	regex := func(p string) string {
		b, _ := json.Marshal(p)
		return `{"type":"Split","pattern":{"Regex":` + string(b) + `},"behavior":"Isolated","invert":false}`
	}
	nested := strings.Repeat(`{"type":"Sequence","normalizers":[`, 50_000) + strings.Repeat("]}", 50_000)
	added := `[` + strings.Repeat(`{"id":1,"content":"a","special":false},`, 100_000) + `{"id":9223372036854775807,"content":"","special":true}]`
	return [][2]string{
		{"normalizer", sequence("normalizers", replace, 12)},
		{"normalizer", sequence("normalizers", `{"type":"Replace","pattern":{"String":""},"content":"aaaaaaaaaaaaaaaa"}`, 12)},
		{"normalizer", sequence("normalizers", `{"type":"Replace","pattern":{"Regex":"(a*)*$"},"content":"aaaa"}`, 12)},
		{"normalizer", sequence("normalizers", `{"type":"Prepend","prepend":"`+strings.Repeat("p", 1000)+`"}`, 10_000)},
		{"normalizer", sequence("normalizers", `{"type":"NFKD"}`, 100_000)},
		{"normalizer", nested},
		{"normalizer", `{"type":"Precompiled","precompiled_charsmap":"` + strings.Repeat("/////w", 20_000) + `"}`},
		{"normalizer", `{"type":"Precompiled","precompiled_charsmap":"AAAA"}`},
		{"normalizer", `{"type":"Strip","strip_left":1e999}`},
		{"pre_tokenizer", regex(`(a+)+$`)},
		{"pre_tokenizer", regex(`(a|a)*b`)},
		{"pre_tokenizer", regex(`(?=(a+))*b`)},
		{"pre_tokenizer", regex(strings.Repeat("(", 100_000))},
		{"pre_tokenizer", regex(strings.Repeat("a?", 10_000) + strings.Repeat("a", 10_000))},
		{"pre_tokenizer", regex(`(((a{1000}){1000}){1000}){1000}`)},
		{"pre_tokenizer", sequence("pretokenizers", `{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}`, 10_000)},
		{"pre_tokenizer", `{"type":"Metaspace","replacement":"` + strings.Repeat("_", 100_000) + `","prepend_scheme":"always"}`},
		{"added_tokens", added},
		{"added_tokens", `[{"id":-1,"content":"\u001b[2J","special":true},{"id":1e30,"content":"x"}]`},
		{"decoder", sequence("decoders", replace, 12)},
		{"post_processor", `{"type":"TemplateProcessing","single":[` + strings.Repeat(`{"SpecialToken":{"id":"x","type_id":0}},`, 300_000) + `{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"x":{"id":"x","ids":[1],"tokens":["x"]}}}`},
		{"model", `{"type":"BPE","vocab":{"a":9223372036854775807,"b":-5},"merges":["a a","a b"]}`},
		{"model", `{"type":"BPE","vocab":{"a":4000000000},"merges":[]}`},
		{"model", `{"type":"BPE","vocab":{"a":1e18,"` + escape[:3] + `":2},"merges":["\u001b[2J"]}`},
		{"model", `{"type":"WordPiece","vocab":{"a":0},"unk_token":"\u001b[2J","continuing_subword_prefix":"` + strings.Repeat("#", 100_000) + `","max_input_chars_per_word":9223372036854775807}`},
		{"model", `{"type":"Unigram","unk_id":9223372036854775807,"vocab":[["a",1e999],["b",-1e999]]}`},
		{"model", `{"type":"Unigram","unk_id":0,"vocab":[` + strings.Repeat(`["a",-1],`, 500_000) + `["a",0]]}`},
		{"model", `{"type":"\u001b[2J"}`},
		{"truncation", `{"max_length":9223372036854775807,"stride":-1}`},
		{"padding", `{"strategy":{"Fixed":1000000000000},"pad_id":1,"pad_token":"x","direction":"Right"}`},
	}
}

// Tokenizers work within a budget of time and of bytes made.
func TestTokenizers(t *testing.T) {
	t.Parallel()
	for i, part := range tokenizers() {
		t.Run(fmt.Sprintf("%d-%s", i, part[0]), func(t *testing.T) {
			t.Parallel()
			var whole map[string]json.RawMessage
			if err := json.Unmarshal([]byte(tokenizer(t)), &whole); err != nil {
				t.Fatal(err)
			}
			whole[part[0]] = json.RawMessage(part[1])
			made := make([]string, 0, len(whole))
			for k, v := range whole {
				made = append(made, fmt.Sprintf("%q:%s", k, v))
			}
			p := newPlace(t)
			p.write(t, "tokenizer/tokenizer.json", "{"+strings.Join(made, ",")+"}")
			p.write(t, "tokenizer/chat_template.jinja", "{{ messages[0].content }}")
			input{as: "tokenizer/tokenizer.json", args: inputNamed(t, "template").args}.read(t, p)
		})
	}
}
