package known

import (
	"cmp"
	"encoding/json"
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
	tool       string // that generated the dataset; empty: Pitot
	settings   map[string]any
	rate       float64 // requests per second; 0: all at once
	burstiness float64
	expressed  []string // paths of settings that have a flag, or of groups of them
	extra      []string // left out in addition to them
}

// engine is where `pitot serve` listens.
const engine = "http://127.0.0.1:8000"

func loadOf(run trace.Run) load {
	l := load{spec: *run.Plan.Spec, simulated: run.Plan.Spec.Target.URL == "", burstiness: 1}
	if l.simulated {
		l.spec.Target.URL = engine
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

// length is a setting that is an integer; false: it is a distribution, or missing.
func (l *load) length(name string) (string, bool) {
	v, there := l.settings[name]
	n := numberOf(v)
	if !there || n != float64(int(n)) || n == 0 && v != 0.0 && v != "0" {
		return "", false
	}
	l.hasOf(name)
	return strconv.Itoa(int(n)), true
}

// has says that settings have a flag, by their paths.
func (l *load) has(paths ...string) { l.expressed = append(l.expressed, paths...) }

// hasOf says it of settings of the dataset.
func (l *load) hasOf(names ...string) {
	for _, n := range names {
		l.has(datasetPath + n)
	}
}

// The paths of datasets and arrivals of a single stream.
const (
	datasetPath = "load[0].dataset."
	arrivalPath = "load[0].arrival."
)

// lost are the settings of the load that a command line has no flag for.
func (l *load) lost() (names []string) {
	for _, s := range plan.Flat(&l.spec) {
		covered := slices.ContainsFunc(l.expressed, func(path string) bool { return isOrIn(s.Path, path) })
		if (s.Role == plan.LoadRole || s.Role == plan.ReportRole) && !covered && !slices.Contains([]string{"", "0", "false"}, s.Value) {
			names = append(names, s.Name())
		}
	}
	slices.Sort(names)
	return append(names, l.extra...)
}

// isOrIn reports whether a setting is another, or a part of it.
func isOrIn(name, whole string) bool {
	rest, in := strings.CutPrefix(name, whole)
	return in && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (l *load) common(c *command) {
	s := &l.spec
	l.has("request.protocol", arrivalPath+"kind") // each tool in its own way
	l.hasOf("kind", "version", "backend", "limit")
	c.add("--base-url", s.Target.URL)
	l.has("target.url")
	if m := s.Request.Model; m != "" {
		root := cmp.Or(s.Request.Root, m)
		c.add("--model", root)
		if root != m {
			c.add("--served-model-name", m)
		}
		l.has("request.model")
	}
	if s.Requests > 0 {
		c.add("--num-prompts", strconv.Itoa(s.Requests))
		l.has("requests")
	}
	if l.rate > 0 {
		c.add("--request-rate", strconv.FormatFloat(l.rate, 'g', -1, 64))
		l.has(arrivalPath + "rate")
	}
	if n := s.Gate.Concurrency; n > 0 {
		c.add("--max-concurrency", strconv.Itoa(n))
		l.has("gate.concurrency")
	}
	if s.Request.Stream {
		l.has("request.stream")
	}
	if n := max(numberOf(l.settings["texts"]), numberOf(l.settings["batch"])); n <= 1 {
		l.hasOf("texts", "batch")
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

func (l *load) headers(c *command) {
	var all []string
	for _, h := range slices.Concat(l.spec.Target.Headers, l.spec.Request.Headers) {
		if h.From == nil {
			all = append(all, h.Name+"="+h.Value)
		}
	}
	if all != nil {
		c.add("--header", all...)
		l.has("target.headers", "request.headers")
	}
}

func (l *load) file(c *command, name, output string) {
	c.add("--dataset-name", name)
	if path, ok := l.settings["data"].(string); ok && path != "" {
		c.add("--dataset-path", path)
		l.hasOf("data")
	}
	if n, ok := l.length("output_len"); ok && n != "0" {
		c.add(output, n)
	}
}

// objectives adds limits for goodput, in milliseconds.
func (l *load) objectives(c *command) {
	var all []string
	for i, o := range l.spec.Objectives {
		if o.Metric != "itl" && !o.OfRun() {
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
