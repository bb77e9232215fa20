package again

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A load is what a plan asks for, as far as other tools have a flag for it.
type load struct {
	spec       plan.Spec
	simulated  bool // there was no server
	dataset    string
	tool       string // whose generators made the dataset; empty: Pitot's
	settings   map[string]any
	rate       float64 // requests per second; 0: all at once
	burstiness float64
	told       map[string]string // every setting by its name
	expressed  map[string]bool   // those that have a flag
	extra      []string          // what is left out beside them
}

// engine is where `pitot serve` listens.
const engine = "http://127.0.0.1:8000"

func loadOf(run trace.Run) load {
	l := load{spec: *run.Plan.Spec, simulated: run.Plan.Spec.Target.URL == "", told: run.Plan.Told(), burstiness: 1, expressed: map[string]bool{}}
	if l.simulated {
		l.spec.Target.URL = engine
		var settings map[string]any
		_ = json.Unmarshal(run.Plan.Spec.Target.Engine, &settings) // an object, or none
		maps.DeleteFunc(l.told, func(name, _ string) bool {
			for own := range settings {
				if isOrIn(name, own) {
					return true
				}
			}
			return false
		})
	}
	if len(l.spec.Load) != 1 || l.spec.Load[0].Dataset.Kind == "" {
		return l
	}
	one := l.spec.Load[0]
	l.dataset = one.Dataset.Kind
	if tool, kind, foreign := strings.Cut(one.Dataset.Kind, "."); foreign {
		l.tool, l.dataset = tool, kind
	}
	l.settings = map[string]any{}
	if l.dataset == "random" && l.tool == "" { // of Pitot's own
		l.settings = map[string]any{"input_len": 256.0, "output_len": 64.0}
	}
	_ = json.Unmarshal(one.Dataset.Settings, &l.settings) // an object, or none
	var arrival map[string]any
	_ = json.Unmarshal(one.Arrival.Settings, &arrival)
	l.rate = numberOf(arrival["rate"])
	switch one.Arrival.Kind {
	case "at-once", "poisson", "sglang":
	case "constant":
		l.burstiness = 0
	case "gamma", "vllm":
		if b, ok := arrival["burstiness"]; ok {
			l.burstiness = numberOf(b)
		}
	default:
		l.extra = append(l.extra, "arrival "+one.Arrival.Kind)
	}
	return l
}

// numberOf is a number, which may be written as a text; 0 if it is none.
func numberOf(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		f, _ := strconv.ParseFloat(v, 64)
		return f
	}
	return 0
}

// length is a setting that is a whole number; false: it is a distribution, or not there.
func (l *load) length(name string) (string, bool) {
	v, there := l.settings[name]
	n := numberOf(v)
	if !there || n != float64(int(n)) || n == 0 && v != 0.0 && v != "0" {
		return "", false
	}
	l.has(name)
	return strconv.Itoa(int(n)), true
}

// has says that settings have a flag.
func (l *load) has(names ...string) {
	for _, n := range names {
		l.expressed[n] = true
	}
}

// silent are settings whose absence does not change the requests, or that say how the tool goes
// about it: their names, or groups of them.
var silent = []string{
	"version", "name", "dialect", "backend", "usage", "ids", "tokenizer", "timeout", "keep_alive", "keep_reusing", "new_connections", "idle_timeout", "engine", "procs", "max_event", "max_body",
	"telemetry", "percentiles", "metric_percentiles", "percentile_metrics", "keep_text", "before.ready", "before.settle", "before.warm_up.from", "before.warm_up.max_output", "before.warm_up.required", "before.warm_up.ungated",
	"after", "recount", "site", "tree", "simulated", "parts_always", "media_first", "load[0].arrival.kind", "load[0].dataset.kind", "direct", "ca", "protocol", "route", "root", "key", "limit", "client", "http2", "no_resend",
}

// lost are the settings that a command line has no flag for.
func (l *load) lost() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(l.told)) {
		quiet := slices.ContainsFunc(silent, func(s string) bool { return isOrIn(name, s) })
		if quiet || l.covered(name) || slices.Contains([]string{"", "0", "false"}, l.told[name]) {
			continue
		}
		names = append(names, name)
	}
	return append(names, l.extra...)
}

// covered reports whether a setting has a flag, or a group that it is in.
func (l *load) covered(name string) bool {
	for whole, has := range l.expressed {
		if has && isOrIn(name, whole) {
			return true
		}
	}
	return false
}

// isOrIn reports whether a setting is another, or a part of it.
func isOrIn(name, whole string) bool {
	rest, in := strings.CutPrefix(name, whole)
	return in && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// common adds what both tools call the same.
func (l *load) common(c *command) {
	s := &l.spec
	c.add("--base-url", s.Target.URL)
	l.has("url")
	if m := s.Request.Model; m != "" {
		root := s.Request.Root
		if root == "" {
			root = m
		}
		c.add("--model", root)
		if root != m {
			c.add("--served-model-name", m)
		}
		l.has("model")
	}
	if s.Requests > 0 {
		c.add("--num-prompts", strconv.Itoa(s.Requests))
		l.has("requests")
	}
	if l.rate > 0 {
		c.add("--request-rate", strconv.FormatFloat(l.rate, 'g', -1, 64))
		l.has("rate")
	}
	if n := s.Gate.Concurrency; n > 0 {
		c.add("--max-concurrency", strconv.Itoa(n))
		l.has("concurrency")
	}
	if s.Request.Stream {
		l.has("stream")
	}
	if n := max(numberOf(l.settings["texts"]), numberOf(l.settings["batch"])); n <= 1 {
		l.has("texts", "batch")
	}
	c.add("--seed", strconv.FormatUint(s.Seed, 10))
	l.has("seed")
	if w := s.Tokens.Where; w != "" && w != "server" && w != "none" {
		c.add("--tokenizer", w)
	}
	if k := s.Target.Key; k != nil && k.Env != "" && k.Env != "OPENAI_API_KEY" {
		c.env = `OPENAI_API_KEY="$` + k.Env + `" `
	}
	if needsSecrets(s) {
		c.note(giveSecrets)
	}
	l.headers(c)
}

// headers adds those that are no secrets.
func (l *load) headers(c *command) {
	var all []string
	for _, h := range slices.Concat(l.spec.Target.Headers, l.spec.Request.Headers) {
		if h.From == nil {
			all = append(all, h.Name+"="+h.Value)
		}
	}
	if all != nil {
		c.add("--header", all...)
		l.has("headers")
	}
}

// file adds a dataset that is read from a file.
func (l *load) file(c *command, name, output string) {
	c.add("--dataset-name", name)
	if path, ok := l.settings["data"].(string); ok && path != "" {
		c.add("--dataset-path", path)
		l.has("data")
	}
	if n, ok := l.length("output_len"); ok && n != "0" {
		c.add(output, n)
	}
}

// objectives adds limits for goodput, in milliseconds.
func (l *load) objectives(c *command) {
	var all []string
	for i, o := range l.spec.Objectives {
		if o.Metric != "itl" {
			all = append(all, o.Metric+":"+strconv.FormatFloat(o.Limit.Std().Seconds()*1000, 'g', -1, 64))
			l.has("objectives[" + strconv.Itoa(i) + "]")
		}
	}
	if all != nil {
		c.add("--goodput", all...)
	}
}

// end notes what a reader has to know.
func (l *load) end(c *command, tool, dialect string) {
	if l.simulated {
		c.note(noServer)
	}
	if l.tool != dialect && l.dataset != "custom" {
		c.note(ownPrompts, "tool", tool)
	}
	if lost := l.lost(); len(lost) > 0 {
		c.note(leftOut, "settings", lost)
	}
}

// unfit is the command of a load that a tool cannot send, and why.
func (l *load) unfit(tool string, protocols map[string]string) (c command, is bool) {
	_, known := protocols[l.spec.Request.Protocol]
	switch {
	case l.dataset == "":
		c.note(severalOnes, "tool", tool)
	case !slices.Contains([]string{"random", "sharegpt", "custom"}, l.dataset):
		c.note(noDataset, "tool", tool, "dataset", l.dataset)
	case !known:
		c.note(noProtocol, "tool", tool, "protocol", l.spec.Request.Protocol)
	}
	return c, c.notes != nil
}
