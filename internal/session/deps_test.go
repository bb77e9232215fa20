package session

import (
	"reflect"
	"strings"
	"testing"
)

// What a setting is by default must be written down also where it is zero: else a Spec
// that is read again has the default in its place.
func TestSettingsOfKindsComeBack(t *testing.T) {
	all := Kinds()
	for name, kind := range all.Datasets {
		checkDefaults(t, name, reflect.ValueOf(kind.New()).Elem())
	}
	for name, create := range all.Arrivals {
		checkDefaults(t, name, reflect.ValueOf(create()).Elem())
	}
}

func checkDefaults(t *testing.T, kind string, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag.Get("json")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			checkDefaults(t, kind, v.Field(i))
		case f.IsExported() && !v.Field(i).IsZero() && strings.Contains(tag, ",omit"):
			t.Errorf("%s: %s is %v by default, and left out where it is zero", kind, f.Name, v.Field(i))
		}
	}
}
