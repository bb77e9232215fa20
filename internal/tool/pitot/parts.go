package pitot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// Where the parts of a mix and tenants stand.
const (
	mixPath    = "load[0].mix"
	tenantPath = "load"
)

// A partList is the parts of a mix, or tenants, as they were given: texts of NAME=VALUE
// pairs, or maps.
type partList struct {
	path string
	node *plan.Node
	origin
}

// addParts puts them into the tree.
func (c *compiler) addParts() {
	if len(c.mix) == 0 {
		return
	}
	if len(c.mix) > 1 {
		c.problems.If(true, tenantPath, nil, "--mix and --tenant each say who sends what; give one of them: a tenant has one workload")
		return
	}
	list := c.mix[0]
	for path, o := range maps.Clone(c.names) {
		own := strings.HasPrefix(path, "load[0].dataset.")
		timed := strings.HasPrefix(path, "load[0].arrival.") && list.path == tenantPath
		typed := o.doc == nil // a file may serve several loads
		c.problems.If(own && typed, path, nil, "only applies to the parts of --mix or --tenant")
		c.problems.If(timed && typed, path, nil, "only applies to each --tenant")
		if own || timed {
			c.remove(path)
		}
	}
	if dataset := c.get("load[0].dataset"); dataset != nil && len(dataset.Members) == 0 {
		c.remove("load[0].dataset")
	}
	var names []string
	for i, item := range list.node.Items {
		p := &partReader{compiler: c, list: list, path: plan.Item(list.path, i), flag: list.name, at: list.at}
		p.read(item)
		names = append(names, p.finish(names))
	}
}

type partReader struct {
	*compiler
	list *partList
	path string
	flag string // --mix or --tenant, or the key of a file
	at   plan.Place
}

func (p *partReader) mixed() bool { return p.list.path == mixPath }

func (p *partReader) read(item *plan.Node) {
	members := item.Members
	if members == nil {
		words, err := splitWords(item.Text)
		p.parts[p.path] = origin{name: p.flag, doc: p.list.doc, at: p.at}
		p.problems.If(err != nil, p.path, nil, "%v", err)
		for _, w := range words {
			name, value, ok := strings.Cut(w, "=")
			p.problems.If(!ok || strings.HasPrefix(name, "-"), p.path, strconv.Quote(name), "must be NAME=VALUE, such as workload=random")
			members = append(members, plan.Member{Key: name, Value: scalar(value)})
		}
	}
	var shown []string
	for _, m := range members {
		shown = append(shown, secret.Pair(m.Key+"="+quoted(m.Value.Text)))
		if m.Key == "header" {
			shown[len(shown)-1] = "header=" + secret.Pair(m.Value.Text)
		}
	}
	p.parts[p.path] = origin{name: strings.TrimSpace(p.flag + " " + strings.Join(shown, " ")), doc: p.list.doc, at: p.at}
	seen := map[string]bool{}
	for _, m := range members {
		p.problems.If(seen[m.Key] && m.Key != "header", p.path, nil, "%s is given twice", m.Key)
		seen[m.Key] = true
		if at := m.At; at != (plan.Place{}) {
			p.at = at
		}
		p.setting(m.Key, m.Value)
	}
}

func (p *partReader) setting(name string, n *plan.Node) {
	below, belongs := p.pathOf(name)
	if belongs != "" {
		p.names[plan.Join(p.path, name)] = origin{name: p.parts[p.path].name, doc: p.list.doc, at: p.at}
		p.problems.If(true, plan.Join(p.path, name), nil, "%s %s", name, belongs)
		return
	}
	path := plan.Join(p.path, below)
	p.names[path] = origin{name: p.parts[p.path].name + ": " + name, doc: p.list.doc, at: p.at}
	if below == "headers" {
		list := n
		if n.Kind != plan.List {
			list = &plan.Node{Kind: plan.List, Items: []*plan.Node{n}}
		}
		n = p.headers(path, p.get(path).All(), list)
	}
	p.set(path, n)
}

// pathOf is where a setting of that name stands below a part, or why there is none.
func (p *partReader) pathOf(name string) (path, why string) {
	switch name {
	case "name", "model":
		return name, ""
	case "header":
		return "headers", ""
	case "api-key-env":
		return "key.env", ""
	case "weight":
		if !p.mixed() {
			return "", "only applies to --mix: a tenant has a rate"
		}
		return name, ""
	case "requests":
		if p.mixed() {
			return "", "is for --requests, which counts the whole mix"
		}
		return name, ""
	case "conversations":
		return "", "is decided by --requests and by when they begin"
	}
	i := slices.IndexFunc(p.flags, func(f *kong.Flag) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
	if i >= 0 {
		if below, ok := strings.CutPrefix(p.flags[i].Tag.Get("path"), "load[0]."); ok && below != "mix" {
			if p.mixed() && strings.HasPrefix(below, "arrival") {
				return "", "is for the whole mix, or for --tenant"
			}
			return below, ""
		}
	}
	return "", "is an unknown setting" + plan.Suggest(name, p.partNames())
}

func (p *partReader) partNames() []string {
	names := []string{"name", "weight", "model", "header", "api-key-env"}
	for _, f := range p.flags {
		if strings.HasPrefix(f.Tag.Get("path"), "load[0].") {
			names = append(names, f.Name)
		}
	}
	return names
}

// finish adds the defaults of a part, and returns its name, which is not in others.
func (p *partReader) finish(others []string) string {
	kind := plan.Join(p.path, "dataset.kind")
	p.setDefault(kind, "random")
	if p.mixed() {
		p.setDefault(plan.Join(p.path, "weight"), "1")
	}
	name := plan.Join(p.path, "name")
	if p.get(name) == nil && p.mixed() {
		own := p.get(kind).Text
		for n := 2; slices.Contains(others, own); n++ {
			own = fmt.Sprintf("%s-%d", p.get(kind).Text, n)
		}
		p.set(name, quote(own))
	}
	p.problems.If(p.get(name) == nil, p.path, nil, "needs a name=NAME")
	if n := p.get(name); n != nil {
		return n.Text
	}
	return ""
}

// quoted is a value that splitWords gives back.
func quoted(value string) string {
	if value == "" || strings.ContainsAny(value, " \t\n\"'\\") {
		return strconv.Quote(value)
	}
	return value
}

// splitWords splits at blanks outside of quotes.
func splitWords(text string) (words []string, err error) {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		word := ""
		for rest != "" && !strings.ContainsRune(" \t\n", rune(rest[0])) {
			if rest[0] == '"' || rest[0] == '\'' {
				inside, n, err := quotedPiece(rest)
				if err != nil {
					return nil, err
				}
				word, rest = word+inside, rest[n:]
				continue
			}
			i := strings.IndexAny(rest, " \t\n\"'")
			if i < 0 {
				i = len(rest)
			}
			word, rest = word+rest[:i], rest[i:]
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return nil, errors.New("is empty; it must be NAME=VALUE pairs, such as workload=random")
	}
	return words, nil
}

// quotedPiece returns the text between the leading quotes, and the index of their end.
func quotedPiece(text string) (string, int, error) {
	if text[0] == '\'' {
		end := strings.IndexByte(text[1:], '\'')
		if end < 0 {
			return "", 0, fmt.Errorf("%s: the quote is not closed", text)
		}
		return text[1 : 1+end], end + 2, nil
	}
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", 0, fmt.Errorf("%s: the quote is not closed", text)
	}
	inside, err := strconv.Unquote(prefix)
	return inside, len(prefix), err
}
