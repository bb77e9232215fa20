package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A config file says the same as flags: each key is a flag's name, and the
// flags of the embedded engine may stand in a map named engine. So the file is
// turned into flags, put ahead of those on the command line; whatever a flag
// says of a value, it says of the file's too, with the place in the file.

// An origin is where in a config file a flag was given.
type origin struct {
	file   string
	line   int // from 1
	column int // from 1, in characters
	text   string
}

// at writes msg behind the place, with the line and a caret under it.
func (o origin) at(msg string) string {
	number := fmt.Sprint(o.line)
	gutter := strings.Repeat(" ", len(number))
	caret := strings.Repeat(" ", max(0, o.column-1)) + "^"
	return fmt.Sprintf("%s:%d:%d: %s\n  %s | %s\n  %s | %s", o.file, o.line, o.column, msg, number, o.text, gutter, caret)
}

// origins are the flags that came from a config file, by name.
type origins map[string]origin

var flagName = regexp.MustCompile(`^--(?:no-)?([a-z0-9-]+)`)

// explain adds the place in the config file to every line of a usage error that
// begins with a flag from it.
func (o origins) explain(err error) error {
	var mistake usageError
	if len(o) == 0 || !errors.As(err, &mistake) {
		return err
	}
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if m := flagName.FindStringSubmatch(line); m != nil {
			if place, ok := o[m[1]]; ok {
				line = place.at(line)
			}
		}
		lines = append(lines, line)
	}
	return usagef("%s", strings.Join(lines, "\n"))
}

// expandConfig replaces --config FILE of `pitot bench` by the flags in the file.
func expandConfig(k *kong.Kong, args []string) ([]string, origins, error) {
	name, rest := cutConfig(args)
	if name == "" {
		return args, nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, usagef("--config: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	c := configFile{name: name, lines: strings.Split(string(data), "\n"), flags: benchFlags(k), origins: origins{}}
	if err := c.read(data); err != nil {
		return nil, nil, usage(err)
	}
	return slices.Concat(rest[:1], c.without(rest[1:]), rest[1:]), c.origins, nil
}

// cutConfig takes --config out of the arguments of `pitot bench`.
func cutConfig(args []string) (name string, rest []string) {
	if len(args) == 0 || args[0] != "bench" {
		return "", args
	}
	for i := 0; i < len(args); i++ {
		value, ok := strings.CutPrefix(args[i], "--config=")
		if !ok && args[i] == "--config" && i+1 < len(args) {
			i++
			value, ok = args[i], true
		}
		if ok {
			name = value
		} else {
			rest = append(rest, args[i])
		}
	}
	return name, rest
}

// benchFlags are the flags of `pitot bench` by name.
func benchFlags(k *kong.Kong) map[string]*kong.Flag {
	flags := map[string]*kong.Flag{}
	for _, node := range k.Model.Children {
		if node.Name == "bench" {
			for _, f := range node.Flags {
				flags[f.Name] = f
			}
		}
	}
	return flags
}

// A configFile is a config file on its way to flags.
type configFile struct {
	name    string
	lines   []string
	flags   map[string]*kong.Flag
	args    [][2]string // flag name and argument
	origins origins
	errs    []error
}

func (c *configFile) read(data []byte) error {
	file, err := yamlparser.ParseBytes(data, 0)
	if bad := yaml.Error(nil); errors.As(err, &bad) && bad.GetToken() != nil {
		return errors.New(c.origin(bad.GetToken()).at(bad.GetMessage()))
	}
	if err != nil {
		return fmt.Errorf("%s:%s", c.name, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	if len(file.Docs) > 1 {
		return fmt.Errorf("%s: holds %d documents, one is read", c.name, len(file.Docs))
	}
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		c.mapping("", file.Docs[0].Body)
	}
	return errors.Join(c.errs...)
}

func (c *configFile) origin(t *token.Token) origin {
	o := origin{file: c.name, line: t.Position.Line, column: t.Position.Column}
	if o.line >= 1 && o.line <= len(c.lines) {
		o.text = strings.TrimRight(c.lines[o.line-1], "\r")
	}
	return o
}

func (c *configFile) failf(t *token.Token, format string, a ...any) {
	c.errs = append(c.errs, errors.New(c.origin(t).at(fmt.Sprintf(format, a...))))
}

// mapping reads the keys of a map; prefix stands before each.
func (c *configFile) mapping(prefix string, node ast.Node) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	case *ast.NullNode, *ast.CommentGroupNode:
		return
	default:
		c.failf(node.GetToken(), "must be a map of settings")
		return
	}
	for _, v := range values {
		c.setting(prefix, v)
	}
}

func (c *configFile) setting(prefix string, v *ast.MappingValueNode) {
	key := v.Key.GetToken()
	name := prefix + key.Value
	if prefix == "" && name == "engine" {
		c.mapping("engine-", v.Value)
		return
	}
	flag, ok := c.flags[name]
	switch {
	case !ok || name == "config" || name == "help":
		c.failf(key, "unknown setting %q%s", name, suggest(name))
		return
	case c.origins[name].line > 0:
		c.failf(key, "%q is set twice, first in line %d", name, c.origins[name].line)
		return
	}
	c.origins[name] = c.origin(key)
	c.value(flag, v.Value)
}

// value adds the argument for one value, or one each for the items of a list.
func (c *configFile) value(flag *kong.Flag, node ast.Node) {
	switch n := node.(type) {
	case *ast.NullNode:
	case *ast.MappingNode, *ast.MappingValueNode:
		c.object(flag, node)
	case *ast.SequenceNode:
		if !flag.IsSlice() {
			c.failf(node.GetToken(), "%q takes one value, not a list", flag.Name)
			return
		}
		for _, item := range n.Values {
			c.scalar(flag, item)
		}
	default:
		c.scalar(flag, node)
	}
}

// object takes a map for the two settings that are one: --body, a JSON object,
// and --header, pairs.
func (c *configFile) object(flag *kong.Flag, node ast.Node) {
	var value yaml.MapSlice
	err := yaml.NodeToValue(node, &value)
	var texts []string
	switch {
	case err != nil:
	case flag.Name == "body":
		var b []byte
		if b, err = json.Marshal(jsonable(value)); err == nil {
			texts = []string{string(b)}
		}
	case flag.Name == "header":
		for _, item := range value {
			texts = append(texts, fmt.Sprintf("%v=%v", item.Key, item.Value))
		}
	default:
		err = fmt.Errorf("%q takes a plain value%s", flag.Name, orList(flag))
	}
	if err != nil {
		c.failf(node.GetToken(), "%v", err)
		return
	}
	for _, text := range texts {
		c.argument(flag, node, text)
	}
}

// jsonable is value with maps that JSON can carry.
func jsonable(value any) any {
	switch v := value.(type) {
	case yaml.MapSlice:
		m := map[string]any{}
		for _, item := range v {
			m[fmt.Sprint(item.Key)] = jsonable(item.Value)
		}
		return m
	case map[string]any:
		for key, item := range v {
			v[key] = jsonable(item)
		}
	case []any:
		for i, item := range v {
			v[i] = jsonable(item)
		}
	}
	return value
}

func orList(flag *kong.Flag) string {
	if flag.IsSlice() {
		return " or a list of them"
	}
	return ""
}

func (c *configFile) scalar(flag *kong.Flag, node ast.Node) {
	var text string
	switch n := node.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		text = node.GetToken().Value
	default:
		c.failf(node.GetToken(), "%q takes a plain value%s", flag.Name, orList(flag))
		return
	}
	c.argument(flag, node, text)
}

// argument adds what the parser takes.
func (c *configFile) argument(flag *kong.Flag, node ast.Node, text string) {
	arg := "--" + flag.Name + "=" + text
	if err := tryFlag(arg); err != nil {
		c.failf(node.GetToken(), "%v", err)
		return
	}
	c.args = append(c.args, [2]string{flag.Name, arg})
}

// tryFlag lets the parser look at one argument alone.
func tryFlag(arg string) error {
	var g grammar
	k, _, err := newParser(new(Process), &g)
	if err != nil {
		return err
	}
	_, err = k.Parse([]string{"bench", arg})
	return err
}

// pacing are the settings of which one decides when to send: each on the command
// line takes the place of any in the file.
var pacing = []string{"rate", "ramp", "replay"}

// without are the file's arguments, leaving out the flags that the command line
// gives itself.
func (c *configFile) without(args []string) []string {
	var out []string
	for _, a := range c.args {
		overridden := slices.ContainsFunc(args, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			short := c.flags[a[0]].Short
			return name == "--"+a[0] || name == "--no-"+a[0] || short != 0 && strings.HasPrefix(arg, "-"+string(short)) ||
				slices.Contains(pacing, a[0]) && slices.Contains(pacing, strings.TrimPrefix(name, "--"))
		})
		if overridden {
			delete(c.origins, a[0])
		} else {
			out = append(out, a[1])
		}
	}
	return out
}

// suggest is what the parser offers in place of an unknown flag.
func suggest(name string) string {
	err := tryFlag("--" + name + "=")
	if err == nil {
		return ""
	}
	_, offer, found := strings.Cut(err.Error(), ", did you mean ")
	if !found {
		return "; `pitot bench --help` lists them"
	}
	return ", did you mean " + strings.ReplaceAll(offer, "--", "")
}
