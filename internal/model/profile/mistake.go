package profile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan/yamltree"
)

// A notebook collects the mistakes of one file.
type notebook struct {
	file     string
	lines    []string
	places   map[string]*token.Token // of the fields that were found, by path
	wrong    map[string]bool         // paths of fields that have a mistake
	mistakes []*yamltree.Mistake
}

// at notes a mistake at a token; without one it is of a field that neither the
// file nor its parent has.
func (n *notebook) at(t *token.Token, problem string) {
	m := yamltree.NewMistake(n.file, n.lines, t)
	m.Problem = problem
	n.mistakes = append(n.mistakes, &m)
}

// field notes a mistake of the field at path, at a token.
func (n *notebook) field(path string, t *token.Token, format string, a ...any) {
	n.wrong[path] = true
	n.at(t, path+": "+fmt.Sprintf(format, a...))
}

// explain notes the mistakes joined in err, *engine.FieldErrors, at the places
// of their fields, or of the nearest parents that the file has. What was
// misread already, or is in what was, is not judged by the value it was left with.
func (n *notebook) explain(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			n.explain(e)
		}
		return
	}
	var f *engine.FieldError
	if errors.As(err, &f) && !n.misread(f.Path) {
		n.at(n.place(f.Path), f.Error())
	}
}

// misread reports whether the field at path, or one it is in, has a mistake.
func (n *notebook) misread(path string) bool {
	for ; path != ""; path = parent(path) {
		if n.wrong[path] {
			return true
		}
	}
	return false
}

// parent is the path of what the field at path is in, "" at the top.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// place is where the field at path stands, or else the nearest of its parents.
func (n *notebook) place(path string) *token.Token {
	for ; path != ""; path = parent(path) {
		if t := n.places[path]; t != nil {
			return t
		}
	}
	return nil
}

// err joins the mistakes in order of their places.
func (n *notebook) err() error {
	slices.SortStableFunc(n.mistakes, func(a, b *yamltree.Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var errs []error
	for _, m := range n.mistakes {
		errs = append(errs, m)
	}
	return errors.Join(errs...)
}
