package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Problem is something wrong with a setting: where it stands, what stands there, why
// that cannot be, and a way out. Each front end names the path in its own words: as a
// flag, as a place in a file, as a field of a form.
type Problem struct {
	Path  string `json:"path"`            // as load[0].arrival.rate; empty for the whole
	Value string `json:"value,omitempty"` // as it was given; empty if there is none, or it may be secret
	Why   string `json:"why"`             // such as "must be positive"
	Hint  string `json:"hint,omitempty"`  // what to do; empty if Why tells

	at Place // in the file where it was found, if not that of the path
}

// Error is the problem under its path.
func (p Problem) Error() string { return p.Under(p.Path) }

// Under is the problem with its setting called name.
func (p Problem) Under(name string) string {
	text := p.Why
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	if p.Value != "" {
		name = strings.TrimSpace(name + " " + p.Value)
	}
	if name == "" {
		return text
	}
	return name + ": " + text
}

// Problems are what is wrong with a plan, all of it.
type Problems []Problem

// Error is a line each.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Err is p as an error, nil where nothing is wrong.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// If notes a problem of a setting where cond holds. A value of nil is not repeated.
func (p *Problems) If(cond bool, path string, value any, why string, a ...any) {
	if !cond {
		return
	}
	problem := Problem{Path: path, Why: fmt.Sprintf(why, a...)}
	if value != nil {
		problem.Value = fmt.Sprint(value)
	}
	*p = append(*p, problem)
}

// Hint adds a way out to the last problem, if cond holds as it did for that.
func (p *Problems) Hint(cond bool, hint string, a ...any) {
	if cond && len(*p) > 0 {
		(*p)[len(*p)-1].Hint = fmt.Sprintf(hint, a...)
	}
}

// Below are the problems of what stands at a path.
func (p Problems) Below(path string) Problems {
	out := make(Problems, len(p))
	for i, problem := range p {
		problem.Path = Join(path, problem.Path)
		out[i] = problem
	}
	return out
}

// Below puts a path before the problems that err may be; other errors stay as they are.
func Below(path string, err error) error {
	var p Problems
	if errors.As(err, &p) {
		return p.Below(path)
	}
	return err
}

// Join is the path of what stands below another.
func Join(path, below string) string {
	switch {
	case path == "" || below == "":
		return cmp.Or(path, below)
	case strings.HasPrefix(below, "["):
		return path + below
	}
	return path + "." + below
}

// Item is the path of an item of a list.
func Item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Parent is the path of what the setting at path stands in, empty at the top.
func Parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// Whole wants a number from low to high.
func (p *Problems) Whole(path string, n, low, high int) {
	p.If(n < low, path, n, "must be at least %d", low)
	p.If(n > high, path, n, "must be at most %d", high)
}

// Share wants a number from 0 to 1.
func (p *Problems) Share(path string, x float64) {
	p.If(!(x >= 0 && x <= 1), path, x, "must be between 0 and 1")
}

// OneOf wants one of names, or nothing.
func (p *Problems) OneOf(path, value string, names ...string) {
	p.If(value != "" && !slices.Contains(names, value), path, strconv.Quote(value), "unknown name%s; allowed: %s", Suggest(value, names), strings.Join(names, ", "))
}

// Merge is one group of problems behind the other. What is wrong already, or stands in
// what is, is not judged again by a later group.
func Merge(groups ...Problems) (all Problems) {
	wrong := map[string]bool{}
	for _, group := range groups {
		before := len(all)
		for _, p := range group {
			if !misread(wrong, p.Path) {
				all = append(all, p)
			}
		}
		for _, p := range all[before:] {
			wrong[p.Path] = true
		}
	}
	return all
}
