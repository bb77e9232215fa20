package template

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// fromJSON converts JSON to values, with the key order of objects.
func fromJSON(raw json.RawMessage) (value, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	v, err := readJSON(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func readJSON(d *json.Decoder) (value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		if strings.ContainsAny(t.String(), ".eE") {
			f, _ := t.Float64() // overflow is infinite, as in Python
			return f, nil
		}
		return integer(t.String()), nil
	case json.Delim:
		if t == '[' {
			return readList(d)
		}
		return readDict(d)
	}
	return t, nil
}

func readList(d *json.Decoder) (value, error) {
	l := &list{}
	for d.More() {
		v, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, v)
	}
	_, err := d.Token()
	return l, err
}

func readDict(d *json.Decoder) (value, error) {
	made := newDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		made.set(key.(string), v)
	}
	_, err := d.Token()
	return made, err
}
