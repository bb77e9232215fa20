package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// fromJSON converts JSON to values, with the key order of objects.
func fromJSON(raw json.RawMessage) (value, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	v, err := readJSON(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// maxNested is how deep lists and objects may be in each other.
const maxNested = 1000

func readJSON(d *json.Decoder, depth int) (value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxNested {
		return nil, fmt.Errorf("nested more than %d levels deep", maxNested)
	}
	switch t := t.(type) {
	case json.Number:
		if strings.ContainsAny(t.String(), ".eE") {
			f, _ := t.Float64() // overflow is infinite, as in Python
			return f, nil
		}
		n, ok := integer(t.String())
		if !ok {
			return nil, fmt.Errorf("an integer of more than %d digits", maxDigits)
		}
		return n, nil
	case json.Delim:
		if t == '[' {
			return readList(d, depth)
		}
		return readDict(d, depth)
	}
	return t, nil
}

func readList(d *json.Decoder, depth int) (value, error) {
	l := &list{}
	for d.More() {
		v, err := readJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
	}
	_, err := d.Token()
	return l, err
}

func readDict(d *json.Decoder, depth int) (value, error) {
	made := newDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		made.set(key.(string), v)
	}
	_, err := d.Token()
	return made, err
}
