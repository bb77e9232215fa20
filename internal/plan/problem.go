package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Problem is a mistake in a setting: its path, its value, the reason, and a hint.
// Each front end renders the path in its own words: as a flag, as a place in a
// file, as a field of a form.
type Problem struct {
	Path  string `json:"path"`            // such as load[0].arrival.rate; empty for all of it
	Value string `json:"value,omitempty"` // as given; empty if absent, or if it may be secret
	Why   string `json:"why"`             // such as "must be positive"
	Hint  string `json:"hint,omitempty"`  // how to mend it; empty if Why says so

	at Place // in the file where it was found, if not that of the path
}

func (p Problem) Error() string { return p.Under(p.Path) }

// At is the place in the file where it was found, if not that of the path.
func (p Problem) At() Place { return p.at }

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

// Problems are all mistakes of a plan.
type Problems []Problem

// Error has one line per problem.
func (p Problems) Error() string { return listed(p) }

// listed is the text of errors, one after the other.
func listed[E error](all []E) string {
	lines := make([]string, len(all))
	for i, err := range all {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns p as an error, nil if it is empty.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// If adds a problem of a setting if cond holds. A nil value is not printed.
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

// Hint adds a hint to the last problem, if cond is the condition of that problem.
func (p *Problems) Hint(cond bool, hint string, a ...any) {
	if cond && len(*p) > 0 {
		(*p)[len(*p)-1].Hint = fmt.Sprintf(hint, a...)
	}
}

// Below returns the problems with their paths below path.
func (p Problems) Below(path string) Problems {
	out := make(Problems, len(p))
	for i, problem := range p {
		problem.Path = Join(path, problem.Path)
		out[i] = problem
	}
	return out
}

// Below prefixes the path of problems in err; other errors are returned unchanged.
func Below(path string, err error) error {
	var p Problems
	if errors.As(err, &p) {
		return p.Below(path)
	}
	return err
}

// Join joins two paths.
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

// Parent is the path of the setting that contains path, empty at the top.
func Parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// IntegerIn requires a number from low to high.
func (p *Problems) IntegerIn(path string, n, low, high int) {
	if low == 0 {
		p.If(n < 0, path, n, "must not be negative")
	} else {
		p.If(n < low, path, n, "must be at least %d", low)
	}
	p.If(n > high, path, n, "must be at most %d", high)
}

// Share requires a number from 0 to 1.
func (p *Problems) Share(path string, x float64) {
	p.If(!(x >= 0 && x <= 1), path, x, "must be between 0 and 1")
}

// OneOf requires one of names, or nothing.
func (p *Problems) OneOf(path, value string, names ...string) {
	p.If(value != "" && !slices.Contains(names, value), path, strconv.Quote(value), "unknown name%s; allowed: %s", Suggest(value, names), strings.Join(names, ", "))
}

// Merge appends groups of problems. A later group adds no problem to a setting that
// already has one, or to its children.
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

// Suggest returns a hint for a name that is not among names: the nearest one, if it
// is within two edits, as `, did you mean "gamma"?`; otherwise empty.
func Suggest(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ""
}

// Nearest is the name that differs from one by the fewest edits, at most two; empty if there
// is none.
func Nearest(name string, names []string) string {
	best, edits := "", 3
	for _, n := range names {
		if d := editDistance(name, n); d < edits && d < len(n) { // else no byte of n is in name
			best, edits = n, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// A Front is a front end: it words problems, and knows the names of settings there.
type Front interface {
	Explain(Problems) error
	NameOf(path string) string
}

// ByPath is the front of a Spec without one: settings are called by their paths.
type ByPath struct{}

// Explain returns the problems as they are.
func (ByPath) Explain(p Problems) error { return p }

// NameOf is the path.
func (ByPath) NameOf(path string) string { return path }
