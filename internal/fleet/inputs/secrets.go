package inputs

import (
	"reflect"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Secrets are the files and the variables that a Spec names as sources of secrets, wherever it
// does, each once and in order. Variables that need not be set are among them.
func Secrets(spec plan.Spec) (files, vars []string) {
	eachSource(reflect.ValueOf(spec), func(from plan.Source) {
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

// eachSource calls do for every plan.Source in a value.
func eachSource(v reflect.Value, do func(plan.Source)) {
	if from, ok := v.Interface().(plan.Source); ok {
		do(from)
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
