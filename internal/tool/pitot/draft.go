package pitot

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Draft is a command line before defaults: its settings, by the paths of a Spec. To vary a load,
// change its Draft and compile again, since defaults depend on the given settings: --concurrency
// without --rate is a closed loop, --duration removes the default number of requests.
type Draft struct {
	command string // bench or sim
	flags   []*kong.Flag
	given   []Setting
	options Options
}

// A Setting is a flag with its value.
type Setting struct {
	Flag string // such as --rate
	Path string // in a Spec; empty: it is about the results

	texts []string // values as words of a command line
	value *plan.Node
}

// Paths of settings that make a leg of a search.
const (
	Rate     = "load[0].arrival.rate"
	InFlight = "gate.concurrency"
	Requests = "requests"
	Duration = "duration"
)

// OfLegs are the settings that each leg of a search has of its own.
var OfLegs = []string{
	"target.url", "target.host", "target.port", Rate, "load[0].arrival.ramp", "load[0].arrival.file", InFlight, Requests, Duration, "seed", "name",
}

// NewDraft is the draft of a command line.
func NewDraft(k *kong.Context, o Options) *Draft {
	return &Draft{command: k.Selected().Name, flags: k.Flags(), given: Given(k), options: o}
}

// Given are the flags on a command line, each once.
func Given(k *kong.Context) (given []Setting) {
	for _, f := range givenFlags(k) {
		given = append(given, setting(f))
	}
	return given
}

func setting(f *kong.Flag) Setting {
	s := Setting{Flag: "--" + f.Name, Path: f.Tag.Get("path")}
	if s.value = nodeOf(f.Target); s.value.Kind == plan.List && reflect.Indirect(f.Target).Type() == reflect.TypeFor[[]string]() {
		for _, item := range s.value.Items {
			s.texts = append(s.texts, item.Text)
		}
		return s
	}
	s.texts = []string{s.value.Text}
	if s.value.Kind == plan.List {
		var items []string
		for _, item := range s.value.Items {
			items = append(items, item.Text)
		}
		s.texts = []string{strings.Join(items, ",")}
	}
	return s
}

// Set gives the setting at a path, which has a flag, a value.
func (d *Draft) Set(path string, value any) Setting {
	s := Setting{Path: path, value: nodeOf(reflect.ValueOf(value))}
	s.texts = []string{s.value.Text}
	if i := slices.IndexFunc(d.flags, func(f *kong.Flag) bool { return f.Tag.Get("path") == path }); i >= 0 {
		s.Flag = "--" + d.flags[i].Name
	}
	return s
}

// Parse reads the value of a flag as the command line does.
func (d *Draft) Parse(flag, text string) (Setting, error) {
	i := slices.IndexFunc(d.flags, func(f *kong.Flag) bool { return f.Name == flag || slices.Contains(f.Aliases, flag) })
	if i < 0 {
		return Setting{}, d.unknown("--" + flag)
	}
	f := d.flags[i]
	f.Target.SetZero()
	if err := f.Parse(kong.Scan(text), f.Target); err != nil {
		return Setting{}, err
	}
	return setting(f), nil
}

// With is the draft with more settings, each in place of those given for its path.
func (d *Draft) With(more ...Setting) *Draft {
	out := *d
	out.given = slices.DeleteFunc(slices.Clone(d.given), func(s Setting) bool {
		return slices.ContainsFunc(more, func(m Setting) bool { return m.Path != "" && m.Path == s.Path })
	})
	out.given = append(out.given, more...)
	return &out
}

// Gives is the first flag that gives one of these paths; empty: none does. The empty path is that of the flags about
// the results.
func (d *Draft) Gives(paths ...string) string {
	for _, s := range d.given {
		if slices.Contains(paths, s.Path) && s.Flag != "--config" {
			return s.Flag
		}
	}
	return ""
}

// Check refuses settings that the command has no flag for.
func (d *Draft) Check(settings ...Setting) error {
	for _, s := range settings {
		if s.Flag != "--config" && !slices.ContainsFunc(d.flags, func(f *kong.Flag) bool { return f.Tag.Get("path") == s.Path }) {
			return d.unknown(s.Flag)
		}
	}
	return nil
}

func (d *Draft) unknown(flag string) error {
	if d.command == "sim" {
		return fmt.Errorf("%s: only applies to a server, and none is given; add --url URL to measure one", flag)
	}
	return fmt.Errorf("unknown flag %s", flag)
}

// Words are the draft as a command line.
func (d *Draft) Words() []string { return append([]string{d.command}, Words(d.given...)...) }

// Words are settings as words of a command line.
func Words(settings ...Setting) (words []string) {
	for _, s := range settings {
		for _, text := range s.texts {
			words = append(words, s.Flag+"="+text)
		}
	}
	return words
}

// Compile makes a Spec of a draft. All that is wrong is reported at once.
func (d *Draft) Compile() (*Compiled, error) {
	c := newCompiled(d.command, d.flags)
	if d.options.Config != "" {
		if err := c.file(d.options, d.given); err != nil {
			return nil, err
		}
	}
	c.take(d.given)
	if d.options.Simulated {
		c.set("target.simulated", scalar("true"))
	}
	c.address()
	c.addParts()
	if c.spec == nil {
		c.defaults()
	}
	c.sampling()
	c.temperature()
	c.Spec, c.Given = plan.Spec{Request: plan.Request{Stream: true}}, c.given
	problems := plan.Merge(c.problems, plan.Decode(c.root, &c.Spec))
	if problems != nil || c.inFile != nil {
		return nil, c.Explain(plan.Merge(problems, d.options.Check(c.Spec)))
	}
	return c, nil
}
