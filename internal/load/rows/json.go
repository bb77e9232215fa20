package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"unicode"

	"github.com/pitot-bench/pitot/internal/plan"
)

// jsonLines reads one object per line; blank lines count but give no row.
func jsonLines(r *bufio.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		row := Row{}
		for {
			b, err := r.ReadBytes('\n')
			if len(b) == 0 && errors.Is(err, io.EOF) {
				return
			}
			row = Row{Number: row.Number, Line: row.Line + 1}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(row, fmt.Errorf("%s: %w", row.Place(), err))
				return
			}
			if b = bytes.TrimSpace(b); len(b) == 0 {
				continue
			}
			row.Number++
			if err := row.object(b); !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// jsonValues reads the elements of an array, or consecutive values.
func jsonValues(r *bufio.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		row := Row{}
		d := json.NewDecoder(r)
		inArray, err := beginsArray(r, d)
		for err == nil && (!inArray || d.More()) {
			row = Row{Number: row.Number + 1}
			var raw json.RawMessage
			if err = d.Decode(&raw); err != nil {
				break
			}
			if err := row.object(raw); !yield(row, err) || err != nil {
				return
			}
		}
		if err == nil {
			_, err = d.Token() // the end of the array
		}
		if err == nil || errors.Is(err, io.EOF) && !inArray {
			return
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		row.Number = max(row.Number, 1)
		yield(row, fmt.Errorf("%s, at byte %d: %w", row.Place(), d.InputOffset(), err))
	}
}

// beginsArray consumes the bracket that opens an array, if there is one.
func beginsArray(r *bufio.Reader, d *json.Decoder) (bool, error) {
	for {
		c, _, err := r.ReadRune()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if unicode.IsSpace(c) {
			continue
		}
		if err := r.UnreadRune(); err != nil || c != '[' {
			return false, err
		}
		_, err = d.Token()
		return true, err
	}
}

// object reads the fields of the JSON object b, in order, undecoded.
func (r *Row) object(b []byte) error {
	if err := plan.Check(b); err != nil {
		return fmt.Errorf("%s: %w", r.Place(), err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	first, err := d.Token()
	if err == nil && first != json.Delim('{') {
		err = errors.New("must be an object, {…}")
	}
	for err == nil && d.More() {
		var name json.Token
		if name, err = d.Token(); err != nil {
			break
		}
		var raw json.RawMessage
		if err = d.Decode(&raw); err == nil {
			r.names, r.values = append(r.names, name.(string)), append(r.values, raw)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if err == nil && len(bytes.TrimSpace(b[d.InputOffset():])) > 0 {
		err = errors.New("something follows the object")
	}
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: the JSON ends in the middle", r.Place())
	case err != nil:
		return fmt.Errorf("%s: not a JSON object: %w", r.Place(), err)
	}
	return nil
}

// decode returns the value of raw JSON, integers as int64 if they fit.
func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return numbers(v), nil
}

// numbers replaces the text of numbers by Go's numbers.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n
		}
		f, _ := v.Float64() // infinite beyond its range, as in Python
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

// WrongType rewords a type error of encoding/json without Go's types.
func WrongType(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is a JSON %s", wrong.Value)
	}
	return fmt.Errorf("field %q is a JSON %s", wrong.Field, wrong.Value)
}
