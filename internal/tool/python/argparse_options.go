package python

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The constructors below bind an option to a variable, which holds its default.
// A pointer variable may be nil, Python's None.

// option is one of a variable, which read makes of the values that are given.
func option[T any](name string, n arity, v *T, read func([]string) (T, error)) Option {
	return Option{
		name: name, arity: n,
		set: func(values []string) error {
			x, err := read(values)
			if err == nil {
				*v = x
			}
			return err
		},
		repr:  func() string { return Repr(*v) },
		value: func() any { return *v },
	}
}

// ShownAs is the option with another repr than that of its variable.
func (o Option) ShownAs(repr func() string) Option {
	o.repr = repr
	return o
}

// Flag is an option without a value: store_true.
func Flag(name string, v *bool) Option {
	return option(name, none, v, func([]string) (bool, error) { return true, nil })
}

// Valued is an option with one value that read understands.
func Valued[T any](name string, v *T, read func(string) (T, error)) Option {
	return option(name, one, v, func(values []string) (T, error) { return read(values[len(values)-1]) })
}

// Nullable is valued for a variable that starts as None.
func Nullable[T any](name string, v **T, read func(string) (T, error)) Option {
	return Valued(name, v, func(s string) (*T, error) {
		x, err := read(s)
		return &x, err
	})
}

// Choice is a text out of a list.
func Choice[T ~string](name string, v *T, from ...T) Option {
	o := Valued(name, v, OneOf(from))
	o.meta = braces(from)
	return o
}

// Choices takes several out of a list.
func Choices[T ~string](name string, v *[]T, from ...T) Option {
	o := Values(name, v, OneOf(from))
	o.meta = braces(from)
	return o
}

func braces[T ~string](from []T) string { return "{" + strings.Join(Names(from), ",") + "}" }

// Values is one or more values that read understands; nil is None.
func Values[T any](name string, v *[]T, read func(string) (T, error)) Option {
	return option(name, atLeastOne, v, func(texts []string) ([]T, error) {
		all := make([]T, len(texts))
		for i, s := range texts {
			var err error
			if all[i], err = read(s); err != nil {
				return nil, err
			}
		}
		return all, nil
	})
}

// OneOf reads one of a list of names.
func OneOf[T ~string](from []T) func(string) (T, error) {
	return func(s string) (T, error) {
		if slices.Contains(from, T(s)) {
			return T(s), nil
		}
		return "", fmt.Errorf("invalid choice: %s (choose from %s)", Quote(s), strings.Trim(Repr(from), "[]"))
	}
}

// JSON is an option that json.loads parses.
func JSON(name string, v *json.RawMessage) Option {
	o := Valued(name, v, func(s string) (json.RawMessage, error) {
		raw, err := Loads(s)
		if err != nil {
			return nil, fmt.Errorf("invalid loads value: %s", Quote(s))
		}
		return raw, nil
	})
	o.json = true
	return o
}

// PositiveFloat is a number above 0.
func PositiveFloat(s string) (float64, error) {
	f, err := ParseFloat(s)
	if err != nil || math.IsInf(f, 0) || !(f > 0) {
		return 0, fmt.Errorf("expected a finite float > 0, got %s", Quote(s))
	}
	return f, nil
}

// printed are the options that a printout of all arguments has.
func printed(options []Option) []Option {
	return slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return o.hidden })
}

// Namespace prints the arguments as Python does.
func Namespace(options []Option) string {
	var items []string
	for _, o := range printed(options) {
		items = append(items, strings.ReplaceAll(o.name, "-", "_")+"="+o.repr())
	}
	return "Namespace(" + strings.Join(items, ", ") + ")"
}

// Fill sets arguments to reported values: texts by name, with underscores, as ReadNamespace gives
// them. Values without an option, or that it cannot read, are ignored.
func Fill(options []Option, given map[string]string) {
	for _, o := range printed(options) {
		text := given[strings.ReplaceAll(o.name, "-", "_")]
		switch {
		case text == "" || text == "None":
		case o.arity != none && o.arity != one:
			if items := Strings(text); items != nil {
				_ = o.set(items) // unreadable values are ignored
			}
		case o.arity == one || text == "True":
			_ = o.set([]string{text})
		}
	}
}

// TriState is --name and --no-name over a variable that starts as None.
func TriState(name string, v **bool) []Option {
	set := func(b bool) func([]string) error {
		return func([]string) error { *v = &b; return nil }
	}
	return []Option{
		{name: name, set: set(true), repr: func() string { return Repr(*v) }, value: func() any { return *v }},
		{name: "no-" + name, set: set(false), hidden: true},
	}
}

// AllValues are the values of the arguments by name, with underscores.
func AllValues(options []Option) map[string]any {
	m := map[string]any{}
	for _, o := range printed(options) {
		m[strings.ReplaceAll(o.name, "-", "_")] = o.value()
	}
	return m
}

// Value is what an argument is that may be None; then it is the zero of its type.
func Value[T any](v *T) (value T) {
	if v != nil {
		value = *v
	}
	return value
}

// Names are texts of a type of their own as choices.
func Names[T ~string](all []T) (names []string) {
	for _, v := range all {
		names = append(names, string(v))
	}
	return names
}
