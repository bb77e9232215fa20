package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Row is one row of a table.
type Row struct {
	Number int // from 1
	Line   int // of the file, from 1; 0 if the format has no lines
	names  []string
	values []any // a json.RawMessage is not decoded yet
}

// Place is the position of the row for errors: "line 3" or "row 3".
func (r Row) Place() string {
	if r.Line > 0 {
		return fmt.Sprint("line ", r.Line)
	}
	return fmt.Sprint("row ", r.Number)
}

// Columns are the names of the row's columns, in file order.
func (r Row) Columns() []string { return r.names }

// Errorf is an error about column, with the position and the column's name.
func (r Row) Errorf(column, format string, a ...any) error {
	return fmt.Errorf("%s: column %q %w", r.Place(), column, fmt.Errorf(format, a...))
}

// at is the position of a column; among equal names the last counts, as in Python.
func (r Row) at(column string) int {
	for i := len(r.names) - 1; i >= 0; i-- {
		if r.names[i] == column {
			return i
		}
	}
	return -1
}

// Has reports whether the row has column with a value other than null.
func (r Row) Has(column string) bool {
	i := r.at(column)
	if i < 0 {
		return false
	}
	raw, ok := r.values[i].(json.RawMessage)
	return r.values[i] != nil && (!ok || !isNull(raw))
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }

// Value is the value of column: nil, bool, int64, float64, string, []byte,
// time.Time, []any or map[string]any. Cells of CSV are strings. An absent or null
// column is nil.
func (r Row) Value(column string) (any, error) {
	i := r.at(column)
	if i < 0 {
		return nil, nil
	}
	return r.decoded(column, r.values[i])
}

func (r Row) decoded(column string, v any) (any, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		return v, nil
	}
	v, err := decode(raw)
	if err != nil {
		return nil, r.Errorf(column, "is not JSON: %w", err)
	}
	return v, nil
}

// need is Value, which must exist.
func (r Row) need(column string) (any, error) {
	if !r.Has(column) {
		if r.at(column) < 0 {
			return nil, fmt.Errorf("%s: column %q is missing%s", r.Place(), column, r.others())
		}
		return nil, r.Errorf(column, "is null")
	}
	return r.Value(column)
}

// others lists the columns, if they are few.
func (r Row) others() string {
	const few = 12
	switch n := len(r.names); {
	case n == 0:
		return "; the row is empty"
	case n > few:
		return fmt.Sprintf("; there are %s and %d more", strings.Join(r.names[:few], ", "), n-few)
	}
	return "; there are " + strings.Join(r.names, ", ")
}

// typed is the value in column, which must be a T.
func typed[T any](r Row, column, must string) (t T, err error) {
	v, err := r.need(column)
	if err != nil {
		return t, err
	}
	t, ok := v.(T)
	if !ok {
		return t, r.Errorf(column, "is %s: must be %s", kind(v), must)
	}
	return t, nil
}

// String is the string in column.
func (r Row) String(column string) (string, error) { return typed[string](r, column, "text") }

// Bytes is the content of column: of an image or audio.
func (r Row) Bytes(column string) ([]byte, error) { return typed[[]byte](r, column, "bytes") }

// List is the list in column.
func (r Row) List(column string) ([]any, error) { return typed[[]any](r, column, "a list") }

// Object is the object in column: a struct of Parquet, an object of JSON.
func (r Row) Object(column string) (map[string]any, error) {
	return typed[map[string]any](r, column, "an object")
}

// Int is the integer in column, which may be written as text or with a fraction of
// zero.
func (r Row) Int(column string) (int64, error) {
	v, err := r.need(column)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v), nil
		}
		return 0, r.Errorf(column, "is %v: must be a whole number", v)
	case string:
		if n, ok := wholeNumber(v); ok {
			return n, nil
		}
		return 0, r.Errorf(column, "is %q: must be a whole number", v)
	}
	return 0, r.Errorf(column, "is %s: must be a whole number", kind(v))
}

func wholeNumber(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<63
}

// Float is the number in column, which may be written as text.
func (r Row) Float(column string) (float64, error) {
	v, err := r.need(column)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return 0, r.Errorf(column, "is %q: must be a number", v)
		}
		return f, nil
	}
	return 0, r.Errorf(column, "is %s: must be a number", kind(v))
}

// Decode decodes column into v like encoding/json.
func (r Row) Decode(column string, v any) error {
	if _, err := r.need(column); err != nil {
		return err
	}
	raw, err := r.JSON(column)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return r.Errorf(column, "has another form: %w", WrongType(err))
	}
	return nil
}

// JSON is column as JSON: unchanged from a JSON file, with its key order. An absent
// column is nil.
func (r Row) JSON(column string) (json.RawMessage, error) {
	i := r.at(column)
	if i < 0 {
		return nil, nil
	}
	if raw, ok := r.values[i].(json.RawMessage); ok {
		return raw, nil
	}
	raw, err := json.Marshal(r.values[i])
	if err != nil {
		return nil, r.Errorf(column, "cannot be JSON: %w", err)
	}
	return raw, nil
}

// kind describes a value in an error.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case int64, float64:
		return fmt.Sprint("the number ", v)
	case string:
		const short = 40
		if len(v) > short {
			return "a text"
		}
		return fmt.Sprintf("the text %q", v)
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(v)
}
