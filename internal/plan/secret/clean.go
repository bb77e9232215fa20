package secret

import (
	"encoding/json"
	"reflect"
)

// Clean returns v with the secrets in it hidden, wherever there is a string: in fields, items, keys and values.
// Changed parts are copied, so that v stays as it was. Texts of a defined type, such as a status, are Pitot's own
// words and stay.
func Clean[T any](s *Set, v T) T {
	if len(s.all()) == 0 {
		return v
	}
	out := s.clean(reflect.ValueOf(&v).Elem())
	return out.Interface().(T)
}

var (
	errorType = reflect.TypeFor[error]()
	textType  = reflect.TypeFor[string]()
	jsonType  = reflect.TypeFor[json.RawMessage]()
)

func (s *Set) clean(v reflect.Value) reflect.Value {
	switch {
	case v.Type() == textType:
		return reflect.ValueOf(s.Hide(v.String()))
	case v.Type() == jsonType:
		return reflect.ValueOf(json.RawMessage(s.HideJSON(v.Bytes())))
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		s.cleanBehind(v, out)
	case reflect.Struct:
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(s.clean(v.Field(i)))
			}
		}
	case reflect.Slice:
		s.cleanItems(v, out)
	case reflect.Map:
		s.cleanMembers(v, out)
	}
	return out
}

func (s *Set) cleanBehind(v, out reflect.Value) {
	switch {
	case v.IsNil():
	case v.Type() == errorType:
		out.Set(reflect.ValueOf(s.Error(v.Interface().(error))))
	case v.Kind() == reflect.Interface:
		out.Set(s.clean(v.Elem()))
	default:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(s.clean(v.Elem()))
	}
}

func (s *Set) cleanItems(v, out reflect.Value) {
	if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
		return
	}
	out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
	for i := range v.Len() {
		out.Index(i).Set(s.clean(v.Index(i)))
	}
}

func (s *Set) cleanMembers(v, out reflect.Value) {
	if v.IsNil() {
		return
	}
	out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
	for at := v.MapRange(); at.Next(); {
		out.SetMapIndex(s.clean(at.Key()), s.clean(at.Value()))
	}
}
