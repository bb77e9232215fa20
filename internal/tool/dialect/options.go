package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The constructors below bind an option to a variable, which holds its default.
// A pointer variable may be nil, Python's None.

func flag(name string, v *bool) option {
	return option{
		name: name, arity: none,
		set:   func([]string) error { *v = true; return nil },
		repr:  func() string { return reprBool(*v) },
		value: func() any { return *v },
	}
}

// valued is an option with one value that read understands.
func valued[T any](name string, v *T, read func(string) (T, error), repr func(T) string) option {
	return option{
		name: name, arity: one,
		set: func(values []string) (err error) {
			*v, err = read(values[len(values)-1])
			return err
		},
		repr:  func() string { return repr(*v) },
		value: func() any { return *v },
	}
}

// nullable is valued for a variable that starts as None.
func nullable[T any](name string, v **T, read func(string) (T, error), repr func(T) string) option {
	return valued(name, v,
		func(s string) (*T, error) {
			x, err := read(s)
			return &x, err
		},
		func(x *T) string {
			if x == nil {
				return "None"
			}
			return repr(*x)
		})
}

func readString(s string) (string, error) { return s, nil }

func str(name string, v *string) option       { return valued(name, v, readString, pyString) }
func optStr(name string, v **string) option   { return nullable(name, v, readString, pyString) }
func num(name string, v *int) option          { return valued(name, v, pyInt, strconv.Itoa) }
func optNum(name string, v **int) option      { return nullable(name, v, pyInt, strconv.Itoa) }
func real64(name string, v *float64) option   { return valued(name, v, pyFloat, reprFloat) }
func optReal(name string, v **float64) option { return nullable(name, v, pyFloat, reprFloat) }

// choice is a string out of a list.
func choice(name string, v *string, from ...string) option {
	return valued(name, v, readChoice(from), pyString).shown(braces(from))
}

func optChoice(name string, v **string, from ...string) option {
	return nullable(name, v, readChoice(from), pyString).shown(braces(from))
}

// choices takes several out of a list.
func choices(name string, v *[]string, from ...string) option {
	return values(name, v, readChoice(from), pyString).shown(braces(from))
}

func braces(from []string) string { return "{" + strings.Join(from, ",") + "}" }

// shown is the option with what stands for its value in the usage.
func (o option) shown(meta string) option {
	o.meta = meta
	return o
}

// without is the option when another one bars it.
func (o option) without(name string) option {
	o.bars = name
	return o
}

// values is one or more values that read understands; nil is None.
func values[T any](name string, v *[]T, read func(string) (T, error), repr func(T) string) option {
	return option{
		name: name, arity: someOf,
		set: func(texts []string) error {
			all := make([]T, len(texts))
			for i, s := range texts {
				var err error
				if all[i], err = read(s); err != nil {
					return err
				}
			}
			*v = all
			return nil
		},
		repr: func() string {
			if *v == nil {
				return "None"
			}
			items := make([]string, len(*v))
			for i, x := range *v {
				items[i] = repr(x)
			}
			return "[" + strings.Join(items, ", ") + "]"
		},
		value: func() any { return *v },
	}
}

func readChoice(from []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(from, s) {
			return s, nil
		}
		quoted := make([]string, len(from))
		for i, f := range from {
			quoted[i] = pyString(f)
		}
		return "", fmt.Errorf("invalid choice: %s (choose from %s)", pyString(s), strings.Join(quoted, ", "))
	}
}

// list takes several values; a second occurrence replaces the first.
func list(name string, n arity, v *[]string, repr func([]string) string) option {
	return option{
		name: name, arity: n,
		set:   func(values []string) error { *v = append([]string{}, values...); return nil },
		repr:  func() string { return repr(*v) },
		value: func() any { return *v },
	}
}

func reprList(x []string) string {
	if x == nil {
		return "None"
	}
	quoted := make([]string, len(x))
	for i, s := range x {
		quoted[i] = pyString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// jsonObject is an option whose value is a JSON object.
func jsonObject(name string, v *json.RawMessage) option {
	o := valued(name, v, func(s string) (json.RawMessage, error) {
		var m map[string]any
		if err := json.Unmarshal([]byte(s), &m); err != nil {
			return nil, fmt.Errorf("invalid JSON object %s: %w", pyString(s), err)
		}
		return json.RawMessage(s), nil
	}, reprJSON)
	o.json = true
	return o
}

func reprJSON(b json.RawMessage) string {
	if b == nil {
		return "None"
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return reprNext(dec) // checked when it was set
}

// reprNext is the next value of dec as Python prints it: objects in the order in
// which they are written, whole numbers as long as they have neither point nor
// exponent.
func reprNext(dec *json.Decoder) string {
	token, _ := dec.Token()
	switch x := token.(type) {
	case json.Delim:
		var items []string
		for dec.More() {
			item := reprNext(dec)
			if x == '{' {
				item += ": " + reprNext(dec)
			}
			items = append(items, item)
		}
		closing, _ := dec.Token()
		return fmt.Sprint(x) + strings.Join(items, ", ") + fmt.Sprint(closing)
	case json.Number:
		if f, err := pyFloat(x.String()); strings.ContainsAny(x.String(), ".eE") && err == nil {
			return reprFloat(f)
		}
		return x.String()
	case string:
		return pyString(x)
	case bool:
		return reprBool(x)
	}
	return "None"
}

// finitePositive is a number above 0.
func finitePositive(s string) (float64, error) {
	f, err := pyFloat(s)
	if err != nil || math.IsInf(f, 0) || !(f > 0) {
		return 0, fmt.Errorf("expected a finite float > 0, got %s", pyString(s))
	}
	return f, nil
}

// readLimit reads NAME:MILLISECONDS.
func readLimit(s string) (Limit, error) {
	metrics := []string{"ttft", "tpot", "e2el"}
	name, value, _ := strings.Cut(s, ":")
	if !slices.Contains(metrics, name) {
		return Limit{}, fmt.Errorf("expected KEY:VALUE with KEY in %s, got %s", strings.Join(metrics, ", "), pyString(s))
	}
	ms, err := finitePositive(value)
	return Limit{name, ms}, err
}

func reprLimit(l Limit) string { return "(" + pyString(l.Name) + ", " + reprFloat(l.MS) + ")" }

// namespace prints the arguments as Python does.
func namespace(options []option) string {
	var items []string
	for _, o := range options {
		if o.repr != nil {
			items = append(items, strings.ReplaceAll(o.name, "-", "_")+"="+o.repr())
		}
	}
	return "Namespace(" + strings.Join(items, ", ") + ")"
}

// settings are the arguments by name, in text.
func settings(options []option) map[string]string {
	m := map[string]string{}
	for _, o := range options {
		if o.repr != nil {
			m[o.name] = o.repr()
		}
	}
	return m
}

// reprNumber prints a number that may be whole.
func reprNumber(v any) string {
	if f, ok := v.(float64); ok {
		return reprFloat(f)
	}
	return fmt.Sprint(v)
}

func reprBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// triState is --name and --no-name over a variable that starts as None.
func triState(name string, v **bool) []option {
	set := func(b bool) func([]string) error {
		return func([]string) error { *v = &b; return nil }
	}
	repr := func() string {
		if *v == nil {
			return "None"
		}
		return reprBool(**v)
	}
	return []option{
		{name: name, set: set(true), repr: repr, value: func() any { return *v }},
		{name: "no-" + name, set: set(false)},
	}
}

// silent takes an option out of the printout of all arguments.
func silent(o option) option {
	o.repr, o.value = nil, nil
	return o
}
