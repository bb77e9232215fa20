package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A config file says the same as flags: each key is a flag's name, and the
// flags of the embedded engine may stand in a map named engine. So the file is
// turned into flags, put ahead of those on the command line; whatever a flag
// says of a value, it says of the file's too, with the place in the file.

// An origin is where in a config file a flag was given.
type origin struct {
	doc   *plan.Document
	place plan.Place
}

// at writes msg behind the place, with the line and a caret under it.
func (o origin) at(msg string) string { return o.doc.At(o.place, msg).Error() }

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
			place, ok := o[m[1]]
			for of, p := range o { // an item of a list has a place of its own
				if strings.HasPrefix(line, "--"+of+":") {
					place, ok = p, true
				}
			}
			if ok {
				line = place.at(line)
			}
		}
		lines = append(lines, line)
	}
	return usagef("%s", strings.Join(lines, "\n"))
}

// expandConfig replaces --config FILE of `pitot bench` and `pitot sim` by the flags in the file.
func expandConfig(k *kong.Kong, args []string) ([]string, origins, error) {
	name, rest := cutConfig(args)
	if name == "" {
		return args, nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, usagef("--config: %w", err)
	}
	c := configFile{command: rest[0], flags: flagsOf(k, rest[0]), origins: origins{}}
	if err := c.read(name, data); err != nil {
		return nil, nil, usage(err)
	}
	return slices.Concat(rest[:1], c.without(rest[1:]), rest[1:]), c.origins, nil
}

// cutConfig takes --config out of the arguments of `pitot bench` and `pitot sim`.
func cutConfig(args []string) (name string, rest []string) {
	if len(args) == 0 || args[0] != "bench" && args[0] != "sim" {
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

// flagsOf are the flags of a command by each of their names.
func flagsOf(k *kong.Kong, command string) map[string]*kong.Flag {
	flags := map[string]*kong.Flag{}
	for _, node := range k.Model.Children {
		if node.Name == command {
			for _, f := range node.Flags {
				flags[f.Name] = f
				for _, name := range f.Aliases {
					flags[name] = f
				}
			}
		}
	}
	return flags
}

// A configFile is a config file on its way to flags.
type configFile struct {
	*plan.Document
	command string // bench or sim
	flags   map[string]*kong.Flag
	args    [][2]string // flag name and argument
	origins origins
	errs    []error
}

func (c *configFile) read(name string, data []byte) (err error) {
	if c.Document, err = plan.Parse(name, data); err != nil {
		return err
	}
	c.mapping("", c.Root)
	return errors.Join(append(c.errs, c.Explain())...)
}

func (c *configFile) failf(at plan.Place, format string, a ...any) {
	c.errs = append(c.errs, c.At(at, fmt.Sprintf(format, a...)))
}

// mapping reads the keys of a map; prefix stands before each.
func (c *configFile) mapping(prefix string, node *plan.Node) {
	if node.Kind != plan.Map && node.Kind != plan.Null {
		c.failf(node.At, "must be a map of settings")
	}
	for _, m := range node.Members {
		c.setting(prefix, m)
	}
}

func (c *configFile) setting(prefix string, m plan.Member) {
	name := prefix + m.Key
	if prefix == "" && name == "engine" {
		c.mapping("engine-", m.Value)
		return
	}
	if name == "engine-profile" { // among the others, as the sense has it
		name = "profile"
	}
	flag, ok := c.flags[name]
	switch {
	case !ok || name == "config" || name == "help":
		c.failf(m.At, "unknown setting %q%s", name, suggest(c.command, name))
		return
	case c.origins[flag.Name].place.Line > 0:
		c.failf(m.At, "%q is set twice, first in line %d", name, c.origins[flag.Name].place.Line)
		return
	}
	c.origins[flag.Name] = origin{c.Document, m.At}
	c.value(flag, m.Value)
}

// value adds the argument for one value, or one each for the items of a list.
func (c *configFile) value(flag *kong.Flag, node *plan.Node) {
	switch node.Kind {
	case plan.Null:
	case plan.Map:
		c.object(flag, node)
	case plan.List:
		if !flag.IsSlice() {
			c.failf(node.At, "%q takes one value, not a list", flag.Name)
			return
		}
		for _, item := range node.Items {
			if flag.Name == "mix" || flag.Name == "tenant" {
				c.part(flag, item)
			} else {
				c.scalar(flag, item)
			}
		}
	default:
		c.scalar(flag, node)
	}
}

// object takes a map for the two settings that are one: --body, a JSON object,
// and --header, pairs.
func (c *configFile) object(flag *kong.Flag, node *plan.Node) {
	switch flag.Name {
	case "body":
		b, err := node.JSON()
		if err != nil {
			c.failf(node.At, "%v", err)
			return
		}
		c.argument(flag, node.At, string(b))
	case "header":
		for _, m := range node.Members {
			if plain(m.Value) {
				c.argument(flag, m.Value.At, m.Key+"="+m.Value.Text)
			} else {
				c.failf(m.Value.At, "the value of a header must be plain")
			}
		}
	default:
		c.failf(node.At, "%q takes a plain value%s", flag.Name, orList(flag))
	}
}

// plain tells scalars from lists and maps.
func plain(n *plan.Node) bool {
	return n.Kind == plan.String || n.Kind == plan.Number || n.Kind == plan.Bool
}

// part takes a map for a workload of a mix, or a tenant, and makes of it the text that
// the flag takes.
func (c *configFile) part(flag *kong.Flag, node *plan.Node) {
	if node.Members == nil {
		c.scalar(flag, node)
		return
	}
	var words []string
	before := len(c.errs)
	for _, m := range node.Members {
		values := []*plan.Node{m.Value}
		if m.Value.Kind == plan.List {
			values = m.Value.Items
		}
		for _, v := range values {
			words = append(words, c.word(flag, m, v))
		}
	}
	if text := strings.Join(words, " "); len(c.errs) == before {
		c.argument(flag, node.Members[0].At, text)
		c.origins[flag.Name+" "+text] = origin{c.Document, node.Members[0].At}
	}
}

// word is a setting of a part, of which the parser has said that it can be.
func (c *configFile) word(flag *kong.Flag, m plan.Member, value *plan.Node) string {
	if !plain(value) {
		c.failf(value.At, "%q takes a plain value", m.Key)
		return ""
	}
	word := m.Key + "=" + quoted(value.Text)
	if err := tryFlag(c.command, "--"+flag.Name+"="+word); err != nil {
		c.failf(m.At, "%s", strings.TrimPrefix(err.Error(), "--"+flag.Name+": "))
	}
	return word
}

func orList(flag *kong.Flag) string {
	if flag.IsSlice() {
		return " or a list of them"
	}
	return ""
}

func (c *configFile) scalar(flag *kong.Flag, node *plan.Node) {
	if !plain(node) {
		c.failf(node.At, "%q takes a plain value%s", flag.Name, orList(flag))
		return
	}
	c.argument(flag, node.At, node.Text)
}

// argument adds what the parser takes.
func (c *configFile) argument(flag *kong.Flag, at plan.Place, text string) {
	arg := "--" + flag.Name + "=" + text
	if err := tryFlag(c.command, arg); err != nil {
		c.failf(at, "%v", err)
		return
	}
	c.args = append(c.args, [2]string{flag.Name, arg})
}

// tryFlag lets the parser look at one argument alone.
func tryFlag(command, arg string) error {
	var g grammar
	k, _, err := newParser(new(Process), &g)
	if err != nil {
		return err
	}
	_, err = k.Parse([]string{command, arg})
	return err
}

// instead are settings of a file that a flag on the command line puts out of
// force beside its own: those that say in another way when to send, or how fast
// the embedded engine is.
var instead = map[string][]string{
	"rate":   {"ramp", "replay", "speed"},
	"ramp":   {"rate", "replay", "speed"},
	"replay": {"rate", "ramp", "arrival", "burstiness"},

	"profile":                 {"engine-ttft", "engine-itl", "engine-per-prompt-token", "engine-per-image", "engine-slots"},
	"engine-ttft":             {"profile"},
	"engine-itl":              {"profile"},
	"engine-per-prompt-token": {"profile"},
	"engine-per-image":        {"profile"},
	"engine-slots":            {"profile"},
}

// without are the file's arguments, leaving out the flags that the command line
// gives itself.
func (c *configFile) without(args []string) []string {
	var out []string
	for _, a := range c.args {
		overridden := slices.ContainsFunc(args, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			f := c.flags[a[0]]
			flag, long := strings.CutPrefix(name, "--")
			return long && (c.flags[flag] == f || flag == "no-"+a[0] || c.displaces(flag, f)) ||
				f.Short != 0 && strings.HasPrefix(arg, "-"+string(f.Short))
		})
		if overridden {
			delete(c.origins, a[0])
		} else {
			out = append(out, a[1])
		}
	}
	return out
}

// displaces tells whether a flag on the command line puts f, from the file, out
// of force. Both may have several names.
func (c *configFile) displaces(flag string, f *kong.Flag) bool {
	given := c.flags[flag]
	if given == nil {
		return false
	}
	for _, name := range append([]string{given.Name}, given.Aliases...) {
		if slices.ContainsFunc(instead[name], func(other string) bool { return c.flags[other] == f }) {
			return true
		}
	}
	return false
}

// suggest is what the parser offers in place of an unknown flag.
func suggest(command, name string) string {
	err := tryFlag(command, "--"+name+"=")
	if err == nil {
		return ""
	}
	_, offer, found := strings.Cut(err.Error(), ", did you mean ")
	if !found {
		return "; `pitot " + command + " --help` lists them"
	}
	if strings.Contains(offer, "\"-") && !strings.Contains(offer, "\"--") || strings.HasPrefix(offer, "one of") {
		return "; `pitot " + command + " --help` lists them" // short names are none here
	}
	return ", did you mean " + strings.ReplaceAll(offer, "--", "")
}
