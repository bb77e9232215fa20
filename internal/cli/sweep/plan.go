package sweep

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A line is a command line as lists and what is the same at all points.
type line struct {
	axes    []search.Axis
	paths   map[string]bool // axes of --set that are settings of the plan
	fields  map[string]bool // and those that are fields of the profile
	words   []string        // flags of bench or sim with one value
	command string          // bench or sim
}

// plan compiles all points, so that mistakes are told before any traffic.
func (c *Cmd) plan(con *session.Session, k *kong.Context) (*search.Plan, []search.Axis, error) {
	name, err := c.name()
	if err != nil {
		return nil, nil, err
	}
	l, err := c.line(con, k)
	if err != nil {
		return nil, nil, err
	}
	points, err := search.Combine(l.axes, c.links())
	if err != nil {
		return nil, nil, session.Usage(err)
	}
	p := &search.Plan{Name: name, Points: points, Repeats: c.Repeats, Seed: uint64(c.Seed)}
	for _, point := range points {
		load, err := l.load(con, point)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", point, err)
		}
		p.Loads = append(p.Loads, load)
	}
	if total := len(points) * c.Repeats; total > search.MaxPoints {
		return nil, nil, session.Usagef("%d points, %d times, are more than %d runs", len(points), c.Repeats, search.MaxPoints)
	}
	return p, l.axes, nil
}

// line reads the command line.
func (c *Cmd) line(con *session.Session, k *kong.Context) (*line, error) {
	if c.Repeats < 1 || c.Devices < 1 {
		return nil, session.Usagef("--repeats and --devices: must be positive")
	}
	if !(c.Level >= 50 && c.Level <= 99.9) {
		return nil, session.Usagef("--level %g: must be from 50 to 99.9", c.Level)
	}
	l := &line{paths: map[string]bool{}, fields: map[string]bool{}, command: "sim"}
	var errs []error
	for _, f := range given(k) {
		errs = append(errs, c.flag(l, f))
	}
	for _, text := range c.Set {
		errs = append(errs, l.set(text))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, session.Usage(err)
	}
	if len(l.axes) == 0 {
		return nil, session.Usagef("no list of values given, such as --concurrency 1..64x2; see `pitot sweep --help`")
	}
	if c.Config != "" && l.command == "sim" { // the file may name a server
		if load, err := con.Command(append([]string{"bench"}, l.words...)); err == nil && load.Spec.Target.URL != "" {
			l.command = "bench"
		}
	}
	return l, session.Usage(c.checkMeasured(l))
}

// checkMeasured refuses what only simulations have where a server is measured.
func (c *Cmd) checkMeasured(l *line) error {
	if l.command == "sim" {
		if c.Model != "" && c.Profile.Profile == "" {
			return errors.New("--model: only applies to a server, and none is given; add --url URL to measure one")
		}
		return nil
	}
	for _, a := range l.axes {
		if l.fields[a.Name] {
			return fmt.Errorf("--set %s: is a field of a profile, and a server is measured; leave out its URL to simulate", a.Name)
		}
	}
	if c.Extrapolate {
		return errors.New("--extrapolate: only applies to simulated points; a server is measured")
	}
	return nil
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
	all, err := plan.ParseValues(text, search.MaxPoints)
	switch {
	case err != nil:
		return fmt.Errorf("--%s: %w", f.Name, err)
	case len(all) == 1:
		l.words = append(l.words, "--"+f.Name+"="+all[0])
	default:
		l.axes = append(l.axes, search.Axis{Name: f.Name, Values: all})
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
		return fmt.Errorf("--set %s: must be PATH=VALUES, such as request.sampling.temperature=0,1 or kv.tokens=1x,2x", strconv.Quote(text))
	}
	all, err := plan.ParseValues(list, search.MaxPoints)
	if err != nil {
		return fmt.Errorf("--set %s: %w", path, err)
	}
	if slices.ContainsFunc(l.axes, func(a search.Axis) bool { return a.Name == path }) {
		return fmt.Errorf("--set %s: is given twice", path)
	}
	switch {
	case search.IsPath(path):
		l.paths[path] = true
	case profile.IsField(path):
		l.fields[path] = true
	default:
		first, _, _ := strings.Cut(path, ".")
		return fmt.Errorf("--set %s: is neither in the plan, as `pitot plan` prints it, nor a field of a profile, as `pitot profiles NAME` prints it%s",
			path, plan.Suggest(first, slices.Concat(plan.Names(plan.Spec{}), plan.Names(profile.Profile{}))))
	}
	l.axes = append(l.axes, search.Axis{Name: path, Values: all})
	return nil
}

// load compiles a point.
func (l *line) load(con *session.Session, p curve.Point) (experiment.Load, error) {
	words := append([]string{l.command}, l.words...)
	for _, s := range p {
		if !l.paths[s.Name] && !l.fields[s.Name] {
			words = append(words, "--"+s.Name+"="+s.Value)
		}
	}
	load, err := con.Command(words)
	if err != nil {
		return load, err
	}
	var fields []string
	for _, s := range p {
		switch {
		case l.paths[s.Name]:
			spec, problems := search.Set(load.Spec, s.Name, s.Value)
			if problems != nil {
				return load, session.Usagef("--set %s: %w", s.Name, problems.Err())
			}
			load.Spec = spec
		case l.fields[s.Name]:
			fields = append(fields, s.Name+"="+s.Value)
		}
	}
	if len(l.paths) > 0 {
		if _, err := con.Spec(load.Spec); err != nil {
			return load, session.Usagef("--set: %w", err)
		}
	}
	load.Spec, err = vary(load.Spec, fields)
	return load, session.Usage(err)
}

// vary adds fields to those that a simulation sets of its profile, and checks them.
func vary(s plan.Spec, fields []string) (plan.Spec, error) {
	if fields == nil {
		return s, nil
	}
	var had apiserver.Settings // of a plan in --config
	if s.Target.Engine != nil {
		if problems := plan.DecodeJSON(s.Target.Engine, &had); problems != nil {
			return s, problems.Below("target.engine")
		}
	}
	set, err := json.Marshal(slices.Concat(had.Set, fields))
	if err != nil {
		return s, err
	}
	out, problems := search.Set(s, "target.engine.set", string(set))
	if problems != nil {
		return s, problems
	}
	_, base, err := apiserver.Deployment(out.Target.Engine, files.ReadSmall)
	if err == nil && base == nil {
		return s, fmt.Errorf("--set %s: is a field of a profile, and the engine has latencies in place of one; leave them out", fields[0])
	}
	return out, bySet(err)
}

// bySet is an error of a deployment with its problems under the flag that they are of.
func bySet(err error) error {
	var problems plan.Problems
	if !errors.As(err, &problems) {
		return err
	}
	var errs []error
	for _, p := range problems {
		if strings.HasPrefix(p.Path, "set") && p.Value != "" {
			p.Path, p.Value = p.Value, ""
		}
		errs = append(errs, fmt.Errorf("--set %w", p))
	}
	return errors.Join(errs...)
}
