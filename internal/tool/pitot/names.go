package pitot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Explain tells problems in the user's words: under the flags that were given, or at their
// places in a file.
func (c *Compiled) Explain(problems plan.Problems) error {
	all := slices.Clone(c.inFile)
	var ofSpec plan.Problems
	for _, p := range problems {
		o := c.origin(p.Path)
		switch {
		case o.doc != nil:
			at := cmp.Or(p.At(), o.at)
			all = append(all, placed{at, o.doc.At(at, p.Under(o.name))})
		case o.name == "" && c.spec != nil:
			ofSpec = append(ofSpec, p)
		case o.name == "":
			all = append(all, placed{err: p})
		default:
			all = append(all, placed{err: errors.New(p.Under(o.name))})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column))
	})
	var errs []error
	for i, one := range all { // one setting may be two of a Spec's
		if len(errs) == mostListed {
			errs = append(errs, fmt.Errorf("and %d more mistakes", len(all)-i))
			break
		}
		if i == 0 || one.err.Error() != all[i-1].err.Error() {
			errs = append(errs, one.err)
		}
	}
	if ofSpec != nil {
		errs = append(errs, c.spec.Explain(ofSpec))
	}
	return errors.Join(errs...)
}

// mostListed limits the mistakes that are listed at once.
const mostListed = 50

// A placed error is about a place in the file, zero for the command line.
type placed struct {
	at  plan.Place
	err error
}

// origin is the user's name of the setting at a path: the given one, else that of a setting that
// contains it or lies below it, else the flag.
func (c *compiler) origin(path string) origin {
	if o, ok := c.names[path]; ok {
		return o
	}
	for base, o := range c.parts {
		if below, ok := strings.CutPrefix(path, base); ok {
			if flag := c.flagFor("load[0]" + below); flag != "" {
				o.name += ": " + strings.TrimPrefix(flag, "--")
			}
			return o
		}
	}
	for at := path; at != ""; at = plan.Parent(at) {
		if o, ok := c.names[at]; ok {
			return o
		}
		if o, ok := c.names[plan.Join(at, "kind")]; ok {
			return o
		}
		for _, given := range slices.Sorted(maps.Keys(c.names)) {
			if strings.HasPrefix(given, at+".") {
				return c.names[given]
			}
		}
		if flag := c.flagFor(at); flag != "" && c.spec == nil {
			return origin{name: flag}
		}
	}
	return origin{}
}

// flagFor is the flag of a setting, empty if there is none.
func (c *compiler) flagFor(path string) string {
	for _, f := range c.flags {
		if own := f.Tag.Get("path"); own != "" && (own == path || own == plan.Join(path, "kind")) {
			return "--" + f.Name
		}
	}
	return ""
}

// NameOf is what the user calls a setting.
func (c *Compiled) NameOf(path string) string { return c.origin(path).name }
