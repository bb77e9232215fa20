package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/hub"
)

// explain tells problems in the user's words: under the flags that were given, or at their
// places in a file.
func (c *compiler) explain(problems plan.Problems) error {
	all := slices.Clone(c.inFile)
	var ofSpec plan.Problems
	for _, p := range problems {
		o := c.origin(p.Path)
		switch {
		case o.doc != nil:
			at := cmp.Or(p.At(), o.at)
			all = append(all, placed{at, o.doc.At(at, p.Under(o.name))})
		case o.name == "" && c.whole != nil:
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
		if i == 0 || one.err.Error() != all[i-1].err.Error() {
			errs = append(errs, one.err)
		}
	}
	if ofSpec != nil {
		errs = append(errs, c.whole.Explain(ofSpec))
	}
	return usage(errors.Join(errs...))
}

// A placed error is about a place in the file, zero for the command line.
type placed struct {
	at  plan.Place
	err error
}

// origin is what the user calls the setting at a path: as it was given, else the flag for
// it, for what is below it, or for what it stands in.
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
		if flag := c.flagFor(at); flag != "" && c.whole == nil {
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

// A namer is a front end that tells problems in its own words, and knows what a setting is
// called there.
type namer interface {
	explain(plan.Problems) error
	nameOf(path string) string
}

// nameOf is what the user calls a setting.
func (c *compiler) nameOf(path string) string { return c.origin(path).name }

// inWords tells what went wrong with a run in the words of a front end.
func inWords(front namer, err error) error {
	var problems plan.Problems
	var remedy *run.RemedyError
	var gone *run.UnreachableError
	var missing *hub.Missing
	if errors.As(err, &gone) { // nothing else is in it
		wait := errors.As(err, &remedy)
		err = fmt.Errorf("cannot reach %s: %s (%w)", gone.URL, english.Word(gone.Class.Code()), gone.Err)
		if wait {
			err = &run.RemedyError{Err: err, Path: remedy.Path, Does: remedy.Does}
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &problems):
		return front.explain(problems)
	case errors.As(err, &remedy):
		if name := front.nameOf(remedy.Path); name != "" {
			return errors.Join(err, errors.New(name+" "+remedy.Does))
		}
	case errors.As(err, &missing):
		if flag := front.nameOf("tokenizer.download"); flag != "" && missing.Variable == hub.DownloadVariable {
			return usagef("%w, or use %s", err, flag)
		}
		return usage(err)
	}
	return err
}
