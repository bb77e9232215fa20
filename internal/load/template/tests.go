package template

import (
	"fmt"
	"slices"
	"unicode"
)

var tests map[string]function

func init() {
	tests = map[string]function{
		"defined":   is(func(v value) bool { _, missing := v.(undefined); return !missing }),
		"undefined": is(func(v value) bool { _, missing := v.(undefined); return missing }),
		"none":      is(func(v value) bool { return v == nil }),
		"boolean":   is(func(v value) bool { _, ok := v.(bool); return ok }),
		"true":      is(func(v value) bool { return v == true }),
		"false":     is(func(v value) bool { return v == false }),
		"string":    is(func(v value) bool { _, ok := plain(v); return ok }),
		"number":    is(func(v value) bool { _, ok := number(v); return ok }),
		"integer":   is(func(v value) bool { _, isBool := v.(bool); _, ok := integral(v); return ok && !isBool }),
		"float":     is(func(v value) bool { _, ok := v.(float64); return ok }),
		"mapping":   is(func(v value) bool { _, ok := v.(*dict); return ok }),
		"iterable":  is(iterable),
		"sequence":  is(sequence),
		"callable":  is(callable),
		"escaped":   is(func(v value) bool { _, ok := v.(markup); return ok }),
		"lower":     {do: func(x *run, v value, _ []value) value { return isCase(x.text(v), unicode.IsLower) }},
		"upper":     {do: func(x *run, v value, _ []value) value { return isCase(x.text(v), unicode.IsUpper) }},
		"odd":       {do: func(x *run, v value, _ []value) value { return x.equal(x.binary("%", v, int64(2)), int64(1)) }},
		"even":      {do: func(x *run, v value, _ []value) value { return x.equal(x.binary("%", v, int64(2)), int64(0)) }},
		"divisibleby": {params: "num", do: func(x *run, v value, a []value) value {
			return x.equal(x.binary("%", v, a[0]), int64(0))
		}},
		"sameas": {params: "other", do: func(x *run, v value, a []value) value {
			return fmt.Sprintf("%T", v) == fmt.Sprintf("%T", a[0]) && x.equal(v, a[0])
		}},
		"filter": {do: func(_ *run, v value, _ []value) value {
			s, _ := plain(v)
			_, ok := filters[s]
			return ok || slices.Contains(otherFilters, s)
		}},
		"test": {do: func(_ *run, v value, _ []value) value { s, _ := plain(v); _, ok := tests[s]; return ok }},
	}
	for name, operator := range map[string]string{
		"==": "==", "eq": "==", "equalto": "==", "!=": "!=", "ne": "!=", "<": "<", "lt": "<", "lessthan": "<",
		"<=": "<=", "le": "<=", ">": ">", "gt": ">", "greaterthan": ">", ">=": ">=", "ge": ">=", "in": "in",
	} {
		tests[name] = function{
			params: "other", do: func(x *run, v value, a []value) value { return x.compare(operator, v, a[0]) },
		}
	}
}

func is(f func(v value) bool) function {
	return function{do: func(_ *run, v value, _ []value) value { return f(v) }}
}

// An undefined value counts as iterable, as a sequence and as callable, as in
// Jinja.

func iterable(v value) bool {
	switch v.(type) {
	case string, markup, *list, *dict, *view, *iterator, undefined, *loop:
		return true
	}
	return false
}

func sequence(v value) bool {
	switch v.(type) {
	case string, markup, *list, *dict, undefined:
		return true
	}
	return false
}

func callable(v value) bool {
	switch v.(type) {
	case *method, *closure, undefined:
		return true
	}
	return false
}
