package inputs

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Secrets are the files and the variables that a Spec names as sources of secrets, wherever it
// does, each once and in order. Variables that need not be set are among them.
func Secrets(spec plan.Spec) (files, vars []string) {
	eachSource(reflect.ValueOf(spec), func(v reflect.Value) {
		from := v.Interface().(plan.Source)
		switch {
		case from.Given:
		case from.Env != "":
			vars = append(vars, from.Env)
		case from.File != "":
			files = append(files, from.File)
		}
	})
	slices.Sort(files)
	slices.Sort(vars)
	return slices.Compact(files), slices.Compact(vars)
}

// WithSources is a copy of a Spec in which change was applied to the source of every secret.
func WithSources(spec plan.Spec, change func(*plan.Source)) (out plan.Spec, err error) {
	b, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	eachSource(reflect.ValueOf(&out), func(v reflect.Value) { change(v.Addr().Interface().(*plan.Source)) })
	return out, err
}

// eachSource calls do for every plan.Source in a value.
func eachSource(v reflect.Value, do func(reflect.Value)) {
	if v.Type() == reflect.TypeFor[plan.Source]() {
		do(v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachSource(v.Elem(), do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachSource(v.Field(i), do)
			}
		}
	case reflect.Slice: // of bytes too, which have none
		for i := range v.Len() {
			eachSource(v.Index(i), do)
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			eachSource(at.Value(), do)
		}
	}
}
