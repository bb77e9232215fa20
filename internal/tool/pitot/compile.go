package pitot

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// A compiler makes a Spec of flags and of a file, as a tree: given values are set at the
// path of the flag, defaults are added, and the tree is decoded. It knows the user's name
// of each setting, for the report of a problem.
type compiler struct {
	root     *plan.Node
	flags    []*kong.Flag
	names    map[string]origin // by path
	parts    map[string]origin // a part of a mix or a tenant as it was given, by its path
	inFile   []placed          // mistakes in the form of the file
	mix      []*partList       // the flags and keys that gave them
	given    map[string]string // secrets, by path
	problems plan.Problems
	spec     *plan.Document // the file, if it is a Spec, which leaves nothing to defaults
	command  string         // bench
}

// An origin is where a setting was given.
type origin struct {
	name string         // as the user knows it: --rate, or the key of a file
	doc  *plan.Document // nil for a flag
	at   plan.Place
}

// Compiled is a command line as a Spec, with the user's names of the settings.
type Compiled struct {
	Spec  plan.Spec
	Given map[string]string // secrets, by path
	compiler
}

func newCompiled(command string, flags []*kong.Flag) *Compiled {
	return &Compiled{compiler: compiler{command: command, root: &plan.Node{Kind: plan.Map}, flags: flags, names: map[string]origin{}, parts: map[string]origin{}, given: map[string]string{}}}
}

// Options are what a command line is compiled with.
type Options struct {
	Config    string // file of settings, or of a Spec; empty for none
	Simulated bool
	Read      func(name string) ([]byte, error)
	Check     func(plan.Spec) plan.Problems // what else is wrong with a Spec
}

// Engine makes settings of the simulated engine of what a command line gives.
func Engine(k *kong.Context) (*Compiled, apiserver.Settings, error) {
	var s apiserver.Settings
	c := newCompiled(k.Selected().Name, k.Flags())
	c.take(Given(k))
	if n := c.get("target.engine"); n != nil {
		c.problems = plan.Decode(n, &s).Below("target.engine")
	}
	return c, s, c.Explain(c.problems)
}

// Watched compiles a command line to the parts of a Spec about sampling and the address of the
// server; url is its argument, empty without one. check reports their problems.
func Watched(k *kong.Context, url string, check func(plan.Spec) plan.Problems) (*Compiled, error) {
	c := newCompiled(k.Selected().Name, k.Flags())
	c.take(Given(k))
	if url != "" {
		c.assign("target.url", quote(url), origin{name: "URL"})
	}
	c.defaultKey()
	c.Given = c.given
	problems := plan.Merge(c.problems, plan.Decode(c.root, &c.Spec))
	if problems == nil {
		problems = check(c.Spec)
	}
	return c, c.Explain(problems)
}

// take puts settings into the tree.
func (c *compiler) take(given []Setting) {
	for _, s := range given {
		if s.Path != "" {
			c.override(s.Path)
			c.assign(s.Path, s.value.Clone(), origin{name: s.Flag})
		}
	}
}

// givenFlags are the flags on the command line, each once.
func givenFlags(k *kong.Context) (given []*kong.Flag) {
	for _, element := range k.Path {
		if f := element.Flag; f != nil && !slices.Contains(given, f) {
			given = append(given, f)
		}
	}
	return given
}

// nodeOf is the value of a flag as a node. Numbers stay numbers, also in a text.
func nodeOf(v reflect.Value) *plan.Node {
	switch x := reflect.Indirect(v).Interface().(type) {
	case fmt.Stringer: // a duration
		return scalar(x.String())
	case encoding.TextMarshaler:
		text, _ := x.MarshalText()
		return scalar(string(text))
	case []string:
		list := &plan.Node{Kind: plan.List}
		for _, item := range x {
			list.Items = append(list.Items, &plan.Node{Kind: plan.String, Text: item, Quoted: true})
		}
		return list
	case []float64:
		list := &plan.Node{Kind: plan.List}
		for _, item := range x {
			list.Items = append(list.Items, scalar(strconv.FormatFloat(item, 'g', -1, 64)))
		}
		return list
	case float64:
		return scalar(strconv.FormatFloat(x, 'g', -1, 64))
	default:
		return scalar(fmt.Sprint(x))
	}
}

// scalar is a node of a text: a number or a truth if it looks like one.
func scalar(text string) *plan.Node {
	kind := plan.String
	switch {
	case text == "true" || text == "false":
		kind = plan.Bool
	case json.Valid([]byte(text)) && strings.Trim(text, "0123456789+-.eE") == "":
		kind = plan.Number
	}
	return &plan.Node{Kind: kind, Text: text}
}

// file reads a file of settings, or of a Spec. Settings that are none of a Spec are given
// to their flags, unless they are on the command line.
func (c *compiler) file(o Options, onLine []Setting) error {
	data, err := o.Read(o.Config)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	doc, err := plan.Parse(o.Config, data)
	if err != nil {
		return err
	}
	if doc.Root.Member("version") != nil {
		if _, doc, err = plan.Read(o.Config, data); err == nil {
			c.root, c.spec = doc.Root, doc
		}
		return err
	}
	if doc.Root.Kind != plan.Map && doc.Root.Kind != plan.Null {
		return doc.At(doc.Root.At, "must be a map of settings")
	}
	s := settingsFile{compiler: c, doc: doc, onLine: onLine}
	s.members("", doc.Root)
	if err := doc.Explain(); err != nil {
		c.inFile = append(c.inFile, placed{err: err})
	}
	return nil
}

// assign sets what a flag or a key gives. Some of them are written otherwise than a Spec
// has them.
func (c *compiler) assign(path string, n *plan.Node, o origin) {
	c.names[path] = o
	switch path {
	case "request.stream": // --no-stream
		n = scalar(strconv.FormatBool(!strings.EqualFold(n.Text, "true")))
	case "request.usage", "before.warm_up.from":
		if !strings.EqualFold(n.Text, "true") {
			return
		}
		n = scalar(map[string]string{"request.usage": string(plan.UsageEach), "before.warm_up.from": plan.WarmMeasured}[path])
	case "before.profiler.start.route":
		if !strings.EqualFold(n.Text, "true") {
			return
		}
		n = scalar("/start_profile")
		c.set("before.profiler.stop.route", scalar("/stop_profile"))
	case "before.ready.timeout":
		c.set("before.ready.connect", n)
	case "target.url":
		n = c.baseURL(n)
	case "target.headers":
		n = c.headers(path, nil, n)
	case "target.site":
		n = sites(n)
	case "request.body":
		n = c.body(path, n)
	case "objectives":
		if n.Kind == plan.String { // a list in one text
			list := &plan.Node{Kind: plan.List, At: n.At}
			for item := range strings.SplitSeq(n.Text, ",") {
				list.Items = append(list.Items, quote(item))
			}
			n = list
		}
	case mixPath, tenantPath:
		c.mix = append(c.mix, &partList{path, n, o})
		return
	}
	c.positive(path, n)
	if n != nil {
		c.set(path, n)
	}
}

// sites are those of a list, in one text; a map has roles for keys.
func sites(n *plan.Node) *plan.Node {
	var texts []string
	for _, item := range n.Items {
		for _, m := range item.Members {
			texts = append(texts, m.Key+"="+m.Value.Text)
		}
		if item.Kind != plan.Map {
			texts = append(texts, item.Text)
		}
	}
	return quote(strings.Join(texts, " "))
}

// positive refuses a zero that would pass for a setting left out.
func (c *compiler) positive(path string, n *plan.Node) {
	zeroes := []string{"requests", "duration", "gate.concurrency", "load[0].arrival.rate", "load[0].dataset.output_len"}
	zero := n != nil && (n.Kind == plan.Number || path == "duration") && strings.Trim(n.Text, "+-0.s") == ""
	c.problems.If(zero && slices.Contains(zeroes, path), path, "0", "must be positive")
	c.problems.Hint(zero && slices.Contains(zeroes, path), "leave it out for the default")
}

// baseURL cuts a trailing slash and the route /v1.
func (c *compiler) baseURL(n *plan.Node) *plan.Node {
	const path = "target.url"
	if n.Text == "" {
		c.problems.If(true, path, nil, "is empty; leave it out to measure the embedded engine")
		return n
	}
	base := strings.TrimRight(n.Text, "/")
	for _, p := range endpoint.Protocols() {
		for _, route := range []string{p.Path(), p.PathOf(false)} {
			before, ok := strings.CutSuffix(base, route)
			if ok && strings.Contains(before, "://") {
				c.problems.If(plan.CheckURL(path, n.Text) == nil, path, strconv.Quote(n.Text), "leave the route out: %s", before)
				return n
			}
		}
	}
	return &plan.Node{Kind: plan.String, Text: strings.TrimSuffix(base, "/v1"), Quoted: true}
}

// headers are those of a list, and behind them NAME=VALUE pairs, or a map of them. A
// secret is given, and not a part of the Spec.
func (c *compiler) headers(path string, before []*plan.Node, n *plan.Node) *plan.Node {
	list := &plan.Node{Kind: plan.List, Items: slices.Clone(before)}
	add := func(name, value string) {
		at := plan.Item(path, len(list.Items))
		h := &plan.Node{Kind: plan.Map, Members: []plan.Member{{Key: "name", Value: quote(name)}}}
		if value != "" && (secret.Header(name) || secret.Known(value)) {
			c.given[at] = value
			h.Members = append(h.Members, plan.Member{Key: "from", Value: &plan.Node{Kind: plan.Map, Members: []plan.Member{{Key: "given", Value: scalar("true")}}}})
		} else {
			h.Members = append(h.Members, plan.Member{Key: "value", Value: quote(value)})
		}
		list.Items = append(list.Items, h)
	}
	for _, m := range n.Members {
		c.names[plan.Join(path, m.Key)] = origin{name: c.names[path].name, doc: c.names[path].doc, at: m.Value.At}
		c.problems.If(len(m.Value.Members)+len(m.Value.Items) > 0, plan.Join(path, m.Key), m.Key, "the value of a header must be plain")
		add(m.Key, m.Value.Text)
	}
	for _, item := range n.Items {
		name, value, ok := strings.Cut(item.Text, "=")
		if !ok { // what follows may be a key
			before, _, _ := strings.Cut(strings.TrimSpace(name), ":")
			before, _, _ = strings.Cut(before, " ")
			c.problems.If(true, path, strconv.Quote(before), "must be NAME=VALUE, with the name of an HTTP header")
			continue
		}
		add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return list
}

// sampling moves the object of sampling parameters out of the body, where the protocol has
// one: its members join those that the run writes itself.
func (c *compiler) sampling() {
	protocol := c.get("request.protocol")
	if protocol == nil {
		return
	}
	path := plan.Join("request.body", endpoint.Protocol(protocol.Text).Nest())
	n := c.get(path)
	if n == nil || path == "request.body" {
		return
	}
	c.problems.If(n.Kind != plan.Map, "request.body", nil, "%s must be an object", endpoint.Protocol(protocol.Text).Nest())
	c.set("request.sampling", n)
	c.remove(path)
	if len(c.get("request.body").Members) == 0 {
		c.takeOut("request.body")
	}
}

// quote is a node of a text, whatever it looks like.
func quote(s string) *plan.Node { return &plan.Node{Kind: plan.String, Text: s, Quoted: true} }

// body is an object, or its text in JSON.
func (c *compiler) body(path string, n *plan.Node) *plan.Node {
	if n.Kind == plan.Map {
		return n
	}
	object, err := plan.ParseJSON([]byte(n.Text))
	if err != nil || object.Kind != plan.Map {
		c.problems.If(true, path, nil, "must be a JSON object such as {\"temperature\": 0}, not %.60q", n.Text)
		return nil
	}
	return object
}
