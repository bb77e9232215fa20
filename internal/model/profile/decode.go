package profile

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan/yamltree"
)

// A decoder fills a struct from YAML. The library's own decoder ends at the
// first mistake and cuts fractions off whole numbers; this one goes on, and
// remembers where each field stands.
type decoder struct{ notebook }

func newDecoder(file string, data []byte) *decoder {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	return &decoder{notebook{
		file: file, lines: strings.Split(string(data), "\n"), places: map[string]*token.Token{}, wrong: map[string]bool{},
	}}
}

// document fills p, and reports whether the file holds one map.
func (d *decoder) document(data []byte, p *Profile) bool {
	file, err := parser.ParseBytes(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), 0, parser.AllowDuplicateMapKey())
	if bad := yaml.Error(nil); errors.As(err, &bad) {
		d.at(bad.GetToken(), bad.GetMessage())
		return false
	}
	if err != nil {
		d.at(nil, err.Error())
		return false
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
	case 1:
		return d.mapping("", reflect.ValueOf(p).Elem(), bodies[0])
	default:
		d.at(bodies[1].GetToken(), "a second document begins; a file holds one profile")
		return false
	}
	return true
}

// mapping fills a struct from a map, and reports whether it is one.
func (d *decoder) mapping(path string, dst reflect.Value, node ast.Node) bool {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.NullNode, *ast.CommentGroupNode:
	default:
		d.wrong[path] = true
		d.at(node.GetToken(), dotted(path, "")+"must be a map of fields")
		return false
	}
	fields, names := fieldsOf(dst)
	for _, pair := range yamltree.Pairs(node) {
		key := pair.Key.GetToken()
		name := key.Value
		field, known := fields[name]
		at := dotted(path, name)
		switch {
		case !known:
			d.field(at, key, "unknown field%s", hint(name, names))
		case d.places[at] != nil:
			d.field(at, key, "is given twice, first in line %d", d.places[at].Position.Line)
		default:
			d.places[at] = placeOf(pair)
			d.value(at, field, pair.Value)
		}
	}
	return true
}

// hint is what an unknown field may have been meant to be: one that is spelled
// alike, or that servers call so.
func hint(name string, names []string) string {
	plain := strings.ReplaceAll(strings.TrimLeft(name, "-"), "-", "_")
	if ours := elsewhere()[plain]; ours != "" {
		return fmt.Sprintf(": here it is %s", ours)
	}
	return engine.DidYouMean(name, names)
}

// elsewhere are fields by the names that the servers' flags have.
func elsewhere() map[string]string {
	return map[string]string{
		// vLLM
		"max_num_seqs": "scheduler.max_sequences", "max_num_batched_tokens": "scheduler.token_budget", "enable_chunked_prefill": "scheduler.whole_prompts, the other way round",
		"long_prefill_token_threshold": "scheduler.chunk", "scheduling_policy": "scheduler.order", "block_size": "kv.block", "num_gpu_blocks": "kv.tokens, in tokens",
		"num_gpu_blocks_override": "kv.tokens, in tokens", "enable_prefix_caching": "kv.prefix_cache", "num_speculative_tokens": "speculative.drafts",
		"max_loras": "lora.slots", "lora_modules": "model.adapters", "data_parallel_size": "replicas.count", "served_model_name": "model.name", "api_server_count": "frontend.workers",
		// SGLang
		"max_running_requests": "scheduler.max_sequences", "max_prefill_tokens": "scheduler.token_budget", "chunked_prefill_size": "scheduler.chunk", "context_length": "max_model_len",
		"enable_mixed_chunk": "scheduler.mixed", "schedule_policy": "scheduler.order", "page_size": "kv.block", "max_total_tokens": "kv.tokens", "disable_radix_cache": "kv.prefix_cache, the other way round",
		"speculative_num_draft_tokens": "speculative.drafts", "max_loras_per_batch": "lora.slots", "lora_paths": "model.adapters", "dp_size": "replicas.count",
	}
}

// dotted is the path of a member of what is at path; an empty name gives what
// stands before a message.
func dotted(path, name string) string {
	switch {
	case path == "":
		return name
	case name == "":
		return path + ": "
	}
	return path + "." + name
}

// placeOf is where a field is best pointed at: its value if that is on its line,
// else its name.
func placeOf(pair *ast.MappingValueNode) *token.Token {
	switch pair.Value.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return pair.Value.GetToken()
	}
	return pair.Key.GetToken()
}

// fieldsOf are the fields of a struct by the names they have in YAML, those of
// inlined structs among them.
func fieldsOf(v reflect.Value) (fields map[string]reflect.Value, names []string) {
	fields = map[string]reflect.Value{}
	for i := range v.NumField() {
		switch tag := v.Type().Field(i).Tag.Get("yaml"); tag {
		case "-":
		case ",inline":
			inner, more := fieldsOf(v.Field(i))
			for name, field := range inner {
				fields[name] = field
			}
			names = append(names, more...)
		default:
			fields[tag] = v.Field(i)
			names = append(names, tag)
		}
	}
	return fields, names
}

// value fills one field.
func (d *decoder) value(path string, dst reflect.Value, node ast.Node) {
	switch node.(type) {
	case *ast.NullNode: // as if it were not there
		return
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.field(path, node.GetToken(), "anchors, aliases and tags have no place in a profile")
		return
	}
	if u, ok := dst.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(path, u.UnmarshalText, node)
		return
	}
	switch dst.Kind() {
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		d.value(path, dst.Elem(), node)
	case reflect.Struct:
		d.mapping(path, dst, node)
	case reflect.Slice:
		d.sequence(path, dst, node)
	default:
		d.scalar(path, dst, node)
	}
}

func (d *decoder) sequence(path string, dst reflect.Value, node ast.Node) {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		d.field(path, node.GetToken(), "must be a list")
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(list.Values), len(list.Values)))
	for i, item := range list.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.places[at] = item.GetToken()
		if pairs := yamltree.Pairs(item); len(pairs) > 0 {
			d.places[at] = pairs[0].Key.GetToken()
		}
		d.value(at, dst.Index(i), item)
	}
}

func (d *decoder) text(path string, read func([]byte) error, node ast.Node) {
	text, ok := yamltree.Plain(node)
	if !ok {
		d.field(path, node.GetToken(), "must be a plain value")
		return
	}
	if err := read([]byte(text)); err != nil {
		d.field(path, node.GetToken(), "%v", err)
	}
}

// scalar fills a string, a bool or a number.
func (d *decoder) scalar(path string, dst reflect.Value, node ast.Node) {
	want := ""
	switch dst.Kind() {
	case reflect.String:
		text, ok := yamltree.Plain(node)
		dst.SetString(text)
		want = unless(ok, "a text")
	case reflect.Bool:
		b, ok := node.(*ast.BoolNode)
		if ok {
			dst.SetBool(b.Value)
		}
		want = unless(ok, "true or false")
	case reflect.Int:
		n, ok := wholeNumber(node)
		dst.SetInt(n)
		want = unless(ok, "a whole number")
	case reflect.Float64:
		x, ok := number(node)
		dst.SetFloat(x)
		want = unless(ok, "a number")
	}
	if want != "" {
		d.field(path, node.GetToken(), "%smust be %s", shown(node), want)
	}
}

func unless(ok bool, want string) string {
	if ok {
		return ""
	}
	return want
}

// shown is a scalar before a message.
func shown(node ast.Node) string {
	if text, ok := yamltree.Plain(node); ok {
		return fmt.Sprintf("%q: ", text)
	}
	return ""
}

func wholeNumber(node ast.Node) (int64, bool) {
	n, ok := node.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	switch v := n.Value.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(min(v, math.MaxInt64)), v <= math.MaxInt64
	}
	return 0, false
}

// number reads 25e9 too, which the library takes for a text.
func number(node ast.Node) (float64, bool) {
	switch n := node.(type) {
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode:
		x, err := strconv.ParseFloat(n.Value, 64)
		return x, err == nil && n.Token.Type == token.StringType && finite(x)
	}
	n, ok := wholeNumber(node)
	return float64(n), ok
}
