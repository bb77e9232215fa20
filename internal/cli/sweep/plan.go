package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// A line is a command line: its lists, and the settings common to all points.
type line struct {
	axes   []search.Axis
	paths  map[string]bool // axes of --set that are settings of the plan
	fields map[string]bool // and those that are fields of the profile
	draft  *pitot.Draft    // with the flags of one value
	server bool            // its flags or its file name one
}

// plan compiles all points, so that mistakes are reported before any traffic.
func (c *Cmd) plan(sess *session.Session, k *kong.Context) (*search.PointLoads, []search.Axis, error) {
	name, err := c.name()
	if err != nil {
		return nil, nil, err
	}
	l, err := c.line(sess, k)
	if err != nil {
		return nil, nil, err
	}
	points, err := search.Combine(l.axes, c.links())
	if err != nil {
		return nil, nil, session.Usage(err)
	}
	p := &search.PointLoads{Name: name, Points: points, Repeats: c.Repeats, Seed: uint64(c.Seed)}
	for _, point := range points {
		load, err := l.load(sess, point)
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

func (c *Cmd) line(sess *session.Session, k *kong.Context) (*line, error) {
	if c.Repeats < 1 || c.Devices < 0 {
		return nil, session.Usagef("--repeats and --devices: must be positive")
	}
	if c.PerHour() > 0 && c.Devices == 0 {
		return nil, session.Usagef("--cost: the number of devices behind the server is not known; give --devices N")
	}
	if !(c.Level >= 50 && c.Level <= 99.9) {
		return nil, session.Usagef("--level %g: must be from 50 to 99.9", c.Level)
	}
	l := &line{paths: map[string]bool{}, fields: map[string]bool{}}
	given := slices.DeleteFunc(pitot.Given(k), func(s pitot.Setting) bool { return s.Path == "" || s.Path == "seed" })
	l.server = slices.ContainsFunc(given, func(s pitot.Setting) bool { return slices.Contains(ofServer, s.Path) })
	if err := l.begin(sess, c.Config); err != nil {
		return nil, err
	}
	var errs []error
	for _, s := range given {
		errs = append(errs, c.takeFlag(l, s))
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
	return l, session.Usage(c.checkMeasured(l))
}

// ofServer are settings that say which server is measured.
var ofServer = []string{"target.url", "target.host", "target.port"}

// begin makes the draft of bench where a server is measured, else of sim. A file may name the server.
func (l *line) begin(sess *session.Session, config string) (err error) {
	var words []string
	if config != "" {
		words = []string{"--config=" + config}
		if d, err := sess.Draft(append([]string{"bench"}, words...)...); err == nil && !l.server {
			c, err := d.Compile()
			l.server = err == nil && c.Spec.Target.URL != ""
		}
	}
	l.draft, err = sess.Draft(append([]string{map[bool]string{true: "bench", false: "sim"}[l.server]}, words...)...)
	return err
}

// checkMeasured refuses settings of simulations where a server is measured.
func (c *Cmd) checkMeasured(l *line) error {
	if !l.server {
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

// takeFlag takes a flag of bench: as a list, or as it is.
func (c *Cmd) takeFlag(l *line, s pitot.Setting) error {
	name := strings.TrimPrefix(s.Flag, "--")
	text, list := c.lists[name]
	if !list {
		l.draft = l.draft.With(s)
		return l.draft.Check(s)
	}
	all, err := plan.ParseValues(text, search.MaxPoints)
	switch {
	case err != nil:
		return fmt.Errorf("--%s: %w", name, err)
	case len(all) == 1:
		one, err := l.draft.Parse(name, all[0])
		l.draft = l.draft.With(one)
		return err
	}
	l.axes = append(l.axes, search.Axis{Name: name, Values: all})
	return nil
}

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

func (l *line) load(sess *session.Session, p curve.Point) (experiment.VariantLoad, error) {
	d := l.draft
	for _, s := range p {
		if l.paths[s.Name] || l.fields[s.Name] {
			continue
		}
		one, err := d.Parse(s.Name, s.Value)
		if err != nil {
			return experiment.VariantLoad{}, session.Usage(err)
		}
		d = d.With(one)
	}
	load, err := sess.Load(d)
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
		if _, err := sess.Spec(load.Spec); err != nil {
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
