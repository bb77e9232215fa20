package sweep

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/measuring"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/sweep"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan/values"
)

// A line is a command line as lists and what is the same at all points.
type line struct {
	axes    []sweep.Axis
	paths   map[string]bool // axes of --set
	words   []string        // flags of bench or sim with one value
	command string          // bench or sim
}

// plan compiles all points, so that mistakes are told before any traffic.
func (c *Cmd) plan(m measuring.Maker, k *kong.Context) (*sweep.Plan, []sweep.Axis, error) {
	name, err := c.name()
	if err != nil {
		return nil, nil, err
	}
	l, err := c.line(m, k)
	if err != nil {
		return nil, nil, err
	}
	points, err := sweep.Combine(l.axes, c.links())
	if err != nil {
		return nil, nil, console.Usage(err)
	}
	p := &sweep.Plan{Name: name, Points: points, Repeats: c.Repeats, Seed: uint64(c.Seed)}
	for _, point := range points {
		load, err := l.load(m, point)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", point, err)
		}
		p.Loads = append(p.Loads, load)
	}
	if total := len(points) * c.Repeats; total > sweep.MaxPoints {
		return nil, nil, console.Usagef("%d points, %d times, are more than %d runs", len(points), c.Repeats, sweep.MaxPoints)
	}
	return p, l.axes, nil
}

// line reads the command line.
func (c *Cmd) line(m measuring.Maker, k *kong.Context) (*line, error) {
	if c.Repeats < 1 || c.Devices < 1 {
		return nil, console.Usagef("--repeats and --devices: must be positive")
	}
	l := &line{paths: map[string]bool{}, command: "sim"}
	var errs []error
	for _, f := range given(k) {
		errs = append(errs, c.flag(l, f))
	}
	for _, text := range c.Set {
		errs = append(errs, l.set(text))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, console.Usage(err)
	}
	if len(l.axes) == 0 {
		return nil, console.Usagef("no list of values given, such as --concurrency 1..64x2; see `pitot sweep --help`")
	}
	if c.Config != "" && l.command == "sim" { // the file may name a server
		if load, err := m.Command(append([]string{"bench"}, l.words...)); err == nil && load.Spec.Target.URL != "" {
			l.command = "bench"
		}
	}
	return l, nil
}

// given are the flags of bench on the command line, each once.
func given(k *kong.Context) (all []*kong.Flag) {
	for _, element := range k.Path {
		f := element.Flag
		if f != nil && (f.Tag.Get("path") != "" || f.Name == "config") && f.Name != "seed" && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// flag takes a flag of bench: as a list, or as it is.
func (c *Cmd) flag(l *line, f *kong.Flag) error {
	if f.Name == "url" || f.Name == "host" || f.Name == "port" {
		l.command = "bench"
	}
	text, list := c.lists[f.Name]
	if !list {
		l.words = append(l.words, wordsOf(f)...)
		return nil
	}
	all, err := values.Parse(text, sweep.MaxPoints)
	switch {
	case err != nil:
		return fmt.Errorf("--%s: %w", f.Name, err)
	case len(all) == 1:
		l.words = append(l.words, "--"+f.Name+"="+all[0])
	default:
		l.axes = append(l.axes, sweep.Axis{Name: f.Name, Values: all})
	}
	return nil
}

// wordsOf are the words that give a flag its value.
func wordsOf(f *kong.Flag) (words []string) {
	name := "--" + f.Name
	v := reflect.Indirect(f.Target)
	switch x := v.Interface().(type) {
	case bool:
		return []string{name + "=" + strconv.FormatBool(x)}
	case []string:
		for _, item := range x {
			words = append(words, name+"="+item)
		}
		return words
	case encoding.TextMarshaler:
		text, _ := x.MarshalText()
		return []string{name + "=" + string(text)}
	}
	return []string{name + "=" + fmt.Sprint(v.Interface())}
}

// set takes PATH=VALUES.
func (l *line) set(text string) error {
	path, list, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return fmt.Errorf("--set %s: must be PATH=VALUES, such as request.sampling.temperature=0,1", strconv.Quote(text))
	}
	all, err := values.Parse(list, sweep.MaxPoints)
	if err != nil {
		return fmt.Errorf("--set %s: %w", path, err)
	}
	if slices.ContainsFunc(l.axes, func(a sweep.Axis) bool { return a.Name == path }) {
		return fmt.Errorf("--set %s: is given twice", path)
	}
	l.paths[path] = true
	l.axes = append(l.axes, sweep.Axis{Name: path, Values: all})
	return nil
}

// load compiles a point.
func (l *line) load(m measuring.Maker, p curve.Point) (experiment.Load, error) {
	words := append([]string{l.command}, l.words...)
	for _, s := range p {
		if !l.paths[s.Name] {
			words = append(words, "--"+s.Name+"="+s.Value)
		}
	}
	load, err := m.Command(words)
	if err != nil {
		return load, err
	}
	for _, s := range p {
		if !l.paths[s.Name] {
			continue
		}
		spec, problems := sweep.Set(load.Spec, s.Name, s.Value)
		if problems != nil {
			return load, console.Usagef("--set %s: %w", s.Name, problems.Err())
		}
		load.Spec = spec
	}
	if len(l.paths) > 0 {
		if _, err := m.Spec(load.Spec); err != nil {
			return load, console.Usagef("--set: %w", err)
		}
	}
	return load, nil
}
