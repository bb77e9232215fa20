package design

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
)

// ABOptions are the flags of `pitot ab`.
type ABOptions struct {
	// Before and After are each a URL of a server that is up, profile:NAME[,SETTING=VALUE...]
	// of the embedded engine, flags:FLAGS of the load, or else a command that starts a server.
	Before, After string
	Same          bool   // in place of After: Before again
	URL           string // where servers that are started answer, and where flags are sent
	Command       []string
	Name          string // empty: ab

	Restart       Restart
	Blocks, Runs  int
	MaxBlocks     int
	Seed          uint64
	Until         Until
	Precision     Share
	Budget        plan.Duration
	Margin, Level Share
	FailIf        []string
	Answers       Answers
	NotWorse      Points
	Cache         plan.Cache
	WarmUp        WarmUp
}

// The names of the two variants of `pitot ab`, and of the second one of an A/A experiment.
const (
	Before = "before"
	After  = "after"
	Again  = "again"
)

// AB is the experiment of a command line of `pitot ab`. Paths of problems are the names of flags, and "command" for
// the words behind --.
func AB(o ABOptions) (*Experiment, plan.Problems) {
	e := &Experiment{
		Version: Version, Name: cmp.Or(o.Name, "ab"),
		Workloads: []Workload{{Name: DefaultWorkload, Command: shell.Join(o.Command)}},
		Design: Design{
			Blocks: o.Blocks, MaxBlocks: o.MaxBlocks, Restart: o.Restart, Runs: o.Runs, Seed: o.Seed,
			Until: o.Until, Precision: o.Precision, Budget: o.Budget,
		},
		WarmUp: o.WarmUp, Cache: o.Cache, Level: o.Level, Margin: o.Margin, FailIf: o.FailIf, Answers: o.Answers, NotWorse: o.NotWorse,
	}
	var p plan.Problems
	p.If(o.Before == "", Before, nil, "is missing: a command that starts a server, a URL, profile:NAME or flags:FLAGS")
	p.If(o.Same && o.After != "", After, nil, "does not go with same, which repeats what is before")
	p.If(!o.Same && o.After == "", After, nil, "is missing; --same in its place measures the noise (A/A)")
	p.If(len(o.Command) == 0, "command", nil, "is missing: the load stands behind --, as in -- vllm bench serve --num-prompts 200")
	if p != nil {
		return e, p
	}
	before, wrong := side(Before, o.Before)
	second, text := After, o.After
	if o.Same {
		second, text = Again, o.Before
	}
	after, more := side(second, text)
	if !o.Same {
		wrong = append(wrong, more...)
	}
	e.Variants = []Variant{before, after}
	wrong = append(wrong, e.address(o.URL)...)
	return e, plan.Merge(wrong, e.flagged(e.Check()))
}

func side(name, text string) (v Variant, p plan.Problems) {
	v.Name = name
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	settings, profile := strings.CutPrefix(text, "profile:")
	flags, load := strings.CutPrefix(text, "flags:")
	switch {
	case profile:
		v.Server, p = embedded(settings)
		return v, p.Below(name)
	case load:
		v.Flags = strings.TrimSpace(flags)
		p.If(v.Flags == "", name, nil, "names no flags, as flags:--max-concurrency 32 does")
	case strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://"):
		v.Server.URL = text
	default:
		v.Server.Command = text
		p.If(text == "", name, nil, "is empty")
	}
	return v, p
}

// embedded is the engine of NAME[,SETTING=VALUE...], or of settings alone.
func embedded(text string) (s ServerSetup, p plan.Problems) {
	settings := &plan.Node{Kind: plan.Map}
	for i, part := range parts(text) {
		name, value, setting := strings.Cut(part, "=")
		switch {
		case !setting && i == 0:
			s.Profile = part
		case !setting || name == "":
			p.If(true, "", strconv.Quote(part), "must be SETTING=VALUE, as in profile:small-chat,max_model_len=4096")
		default:
			p = append(p, set(settings, strings.ReplaceAll(name, "-", "_"), value)...)
		}
	}
	p.If(s.Profile == "" && len(settings.Members) == 0, "", nil, "names no profile; `pitot profiles` lists them")
	if len(settings.Members) > 0 {
		s.Engine, _ = settings.JSON() // texts and short numbers
	}
	return s, p
}

// set adds a setting, a member of one, such as drift.change, or a field of the profile, such as cost.step; a fault may be
// given several times.
func set(settings *plan.Node, name, value string) (p plan.Problems) {
	name, member, nested := strings.Cut(name, ".")
	known := plan.Fields(&apiserver.Settings{})
	if nested && !slices.Contains(known, name) {
		name, value, nested = "set", name+"."+member+"="+value, false
	}
	p.If(!slices.Contains(known, name), "", name, "is not a setting of the engine%s; there are %s", plan.Suggest(name, known), strings.Join(known, ", "))
	old := settings.Member(name)
	n := plain(value)
	switch {
	case (name == "fault" || name == "set") && old != nil:
		old.Items = append(old.Items, &n)
	case name == "fault" || name == "set":
		settings.Members = append(settings.Members, plan.Member{Key: name, Value: &plan.Node{Kind: plan.List, Items: []*plan.Node{&n}}})
	case nested && old == nil:
		inner := []plan.Member{{Key: member, Value: &n}}
		settings.Members = append(settings.Members, plan.Member{Key: name, Value: &plan.Node{Kind: plan.Map, Members: inner}})
	case nested && old.Kind == plan.Map && old.Member(member) == nil:
		old.Members = append(old.Members, plan.Member{Key: member, Value: &n})
	case old != nil:
		p.If(true, "", name, "is given twice")
	default:
		settings.Members = append(settings.Members, plan.Member{Key: name, Value: &n})
	}
	return p
}

// parts splits at commas that are not in parentheses, as lognormal(50ms,0.2) has one.
func parts(text string) (out []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// address gives the URL of the command line to the sides that have a use for it.
func (e *Experiment) address(url string) (p plan.Problems) {
	if url == "" {
		return nil
	}
	var takes []int
	for i, v := range e.Variants {
		if !v.Server.Embedded() && v.Server.URL == "" {
			takes = append(takes, i)
		}
	}
	p.If(len(takes) == 0, "url", strconv.Quote(url), "is where servers that are started answer, and neither side starts one")
	if len(takes) == len(e.Variants) {
		e.Server.URL = url
		return p
	}
	for _, i := range takes {
		e.Variants[i].Server.URL = url
	}
	return p
}

// flagged are problems of an experiment under the names of flags.
func (e *Experiment) flagged(all plan.Problems) plan.Problems {
	for i := range all {
		all[i].Path = e.flagOf(all[i].Path)
	}
	return once(all)
}

// flagOf is the flag that a part of an experiment comes from.
func (e *Experiment) flagOf(path string) string {
	for i, v := range e.Variants {
		field, ok := strings.CutPrefix(path, plan.Item("variants", i))
		switch {
		case !ok:
		case field == ".server.url" && (v.Server.Starts() || v.Flags != ""):
			return "url"
		case i == 0 || v.Name == Again:
			return Before
		default:
			return After
		}
	}
	path = strings.TrimPrefix(path, "design.")
	switch {
	case strings.HasPrefix(path, "server"):
		return "url"
	case strings.HasPrefix(path, "workloads"):
		return "command"
	}
	name, _, _ := strings.Cut(path, "[")
	return strings.ReplaceAll(name, "_", "-")
}
