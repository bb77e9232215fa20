package pitot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// The defaults.
const (
	defaultRate  = "10" // requests per second
	defaultReady = "30s"
	defaultKey   = "OPENAI_API_KEY"
)

// get is a node of the tree, nil if it is not there.
func (c *compiler) get(path string) *plan.Node { return c.at(path, false) }

// set puts a node into the tree.
func (c *compiler) set(path string, value *plan.Node) { *c.at(path, true) = *value }

// at is the node at a path, made if it is to be.
func (c *compiler) at(path string, create bool) *plan.Node {
	if path == "" {
		return c.root
	}
	above := plan.Parent(path)
	n := c.at(above, create)
	if n == nil {
		return nil
	}
	last := path[len(above):]
	if item, ok := strings.CutPrefix(last, "["); ok {
		i, _ := strconv.Atoi(strings.TrimSuffix(item, "]")) // of our own making
		for create && len(n.Items) <= i {
			n.Kind, n.Items = plan.List, append(n.Items, new(plan.Node))
		}
		if i < len(n.Items) {
			return n.Items[i]
		}
		return nil
	}
	key := strings.TrimPrefix(last, ".")
	m := n.Member(key)
	if m == nil && create {
		m = new(plan.Node)
		n.Kind, n.Members = plan.Map, append(n.Members, plan.Member{Key: key, Value: m})
	}
	return m
}

// remove takes a setting out of the tree.
func (c *compiler) remove(path string) {
	parent := c.get(plan.Parent(path))
	if parent == nil {
		return
	}
	key := path[strings.LastIndex(path, ".")+1:]
	parent.Members = slices.DeleteFunc(parent.Members, func(m plan.Member) bool { return m.Key == key })
	delete(c.names, path)
}

func (c *compiler) setDefault(path, value string) {
	if c.get(path) == nil {
		c.set(path, scalar(value))
	}
}

// instead are settings of a file that one on the command line puts out of force: those
// that say in another way where or when to send, or how fast the embedded engine is.
var instead = map[string][]string{
	"target.key.env": {"target.key.file"}, "target.key.file": {"target.key.env"},
	"target.url": {hostPath, portPath}, hostPath: {"target.url"}, portPath: {"target.url"},
	"load[0].arrival.rate": {"load[0].arrival.ramp", "load[0].arrival.file", "load[0].arrival.speed"},
	"load[0].arrival.ramp": {"load[0].arrival.rate", "load[0].arrival.file", "load[0].arrival.speed"},
	"load[0].arrival.file": {"load[0].arrival.rate", "load[0].arrival.ramp", "load[0].arrival.kind", "load[0].arrival.burstiness"},
	"target.engine.profile": {
		"target.engine.ttft", "target.engine.itl", "target.engine.per_prompt_token", "target.engine.per_image", "target.engine.slots",
	},
}

// override takes out of the tree what a flag stands in place of, as far as a file gave it.
func (c *compiler) override(path string) {
	for _, other := range instead[path] {
		if c.names[other].doc != nil || c.spec != nil {
			c.remove(other)
		}
	}
	if slices.Contains(instead["target.engine.profile"], path) && (c.names["target.engine.profile"].doc != nil || c.spec != nil) {
		c.remove("target.engine.profile")
	}
}

// defaults fills in what depends on other settings.
func (c *compiler) defaults() {
	c.setDefault("version", fmt.Sprint(plan.Version))
	if len(c.mix) == 0 {
		c.setDefault("load[0].dataset.kind", "random")
	}
	kinds := c.partsOfLoad()
	chats := slices.ContainsFunc(kinds, func(k workload.Kind) bool { return k.Chats })
	protocol := string(endpoint.Completions)
	if chats {
		protocol = string(endpoint.Chat)
	}
	c.setDefault("request.protocol", protocol)
	if endpoint.Protocol(c.get("request.protocol").Text).Silent() {
		c.set("request.stream", scalar("false"))
	}
	c.dropUnused()
	c.setDefault("request.usage", string(plan.UsageAtEnd))
	full := !slices.ContainsFunc(kinds, func(k workload.Kind) bool { return !k.Unwritten })
	c.setDefault("request.ignore_eos", fmt.Sprint(full))
	if where := c.get("tokenizer.where"); where != nil && where.Text != "server" && where.Text != "none" {
		c.set("tokenizer.required", scalar("true"))
	}
	c.setDefault("dialect.name", "pitot")
	if simulated := c.get("target.simulated"); simulated != nil {
		return
	}
	c.defaultKey()
	c.setDefault("client.timeout", "1h")
	c.warmUp()
	c.setDefault("before.ready.timeout", defaultReady)
	c.setDefault("before.ready.ask", plan.AskSmall)
}

// warmUp gives a run of a server a brief warm-up until it is steady, unless something else is asked for. The embedded
// engine compiles nothing; prompts that are sent ahead warm a server up themselves.
func (c *compiler) warmUp() {
	const path = "before.warm_up."
	stated := c.get(path+"requests") != nil || c.get(path+"from") != nil || c.get(path+"steady") != nil
	if cache := c.get("cache"); !stated && c.get("target.url") != nil && (cache == nil || cache.Text != string(plan.PrimedCache)) {
		c.setDefault(path+"requests", "0")
		c.setDefault(path+"steady", "true")
		c.setDefault(path+"brief", "true")
	}
	c.setDefault(path+"requests", "2")
	c.setDefault(path+"from", plan.WarmOther)
}

// defaultKey is where the key comes from, unless that is given.
func (c *compiler) defaultKey() {
	if c.get("target.key") == nil {
		c.set("target.key.env", quote(defaultKey))
		c.set("target.key.optional", scalar("true"))
	}
}

// dropUnused takes out of the tree what a file gives and the rest puts out of force: one file
// may serve several loads. On the command line that is a mistake.
func (c *compiler) dropUnused() {
	var known []string
	if kind := c.get("load[0].dataset.kind"); kind != nil {
		if all := traffic.Datasets(); all[kind.Text].New != nil {
			known = append(plan.Fields(all[kind.Text].New()), "kind")
		}
	}
	silent := endpoint.Protocol(c.get("request.protocol").Text).Silent()
	for path, o := range maps.Clone(c.names) {
		setting, ofDataset := strings.CutPrefix(path, "load[0].dataset.")
		idle := ofDataset && known != nil && !slices.Contains(known, setting) ||
			ofDataset && silent && strings.HasPrefix(setting, "output_") || ofDataset && !silent && setting == "texts" ||
			strings.HasPrefix(path, "target.engine.") && c.get("target.url") != nil
		if idle && o.doc != nil {
			c.remove(path)
		}
	}
	if engine := c.get("target.engine"); engine != nil && len(engine.Members) == 0 {
		c.remove("target.engine")
	}
}

// partsOfLoad settles how each stream arrives, and gives the kinds of all datasets.
func (c *compiler) partsOfLoad() (kinds []workload.Kind) {
	all := traffic.Datasets()
	for i, stream := range c.get("load").Items {
		path := plan.Item("load", i)
		var own []workload.Kind
		for _, part := range append([]*plan.Node{stream}, stream.Member("mix").All()...) {
			if dataset := part.Member("dataset"); dataset != nil && dataset.Member("kind") != nil {
				own = append(own, all[dataset.Member("kind").Text])
			}
		}
		timed := len(own) == 1 && own[0].Timed && c.get(plan.Join(path, "dataset.data")) != nil
		c.arrives(plan.Join(path, "arrival"), timed, len(c.get("load").Items) == 1 && c.get("gate.concurrency") != nil)
		kinds = append(kinds, own...)
	}
	return kinds
}

// arrives settles the kind of an arrival and its rate.
func (c *compiler) arrives(path string, timed, gated bool) {
	has := func(name string) bool { return c.get(plan.Join(path, name)) != nil }
	if endless(c.get(plan.Join(path, "rate"))) && !has("kind") {
		c.remove(plan.Join(path, "rate"))
		c.set(plan.Join(path, "kind"), scalar("at-once"))
	}
	nothing := !has("rate") && !has("ramp") && !has("file") && !has("kind")
	switch {
	case has("kind"):
	case has("file"):
		c.set(plan.Join(path, "kind"), scalar("replay"))
	case nothing && gated:
		c.set(plan.Join(path, "kind"), scalar("at-once"))
	case nothing && timed:
		c.set(plan.Join(path, "kind"), scalar("replay"))
		c.set(plan.Join(path, "file"), quote(traffic.ReplayData))
	default:
		c.set(plan.Join(path, "kind"), scalar("poisson"))
	}
	process := c.get(plan.Join(path, "kind")).Text
	if process != "at-once" && process != "replay" && !has("rate") && !has("ramp") {
		c.set(plan.Join(path, "rate"), scalar(defaultRate))
	}
}
