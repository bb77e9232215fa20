package phrase

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/plan"
)

// What a body may have.
const (
	mostValues = 1 << 18 // numbers not counted
	mostNoted  = 1000    // of what does not fit
	mostLoose  = 1 << 20 // bytes of a list of ids that are not all plain
)

const (
	notString = "Input should be a valid string"
	notList   = "Input should be a valid list"
	notDict   = "Input should be a valid dictionary"
	notObject = notDict + " or object to extract fields from"
)

// A schema reads typed fields out of a JSON body and collects the values that do not
// fit, so that one answer reports all of them. Numbers and booleans written as
// strings are taken, as pydantic takes them. A null leaves the field as it is.
type schema struct {
	nest string // the object that is read, with a dot, unless it is the body
	bad  []invalid
}

func (s *schema) note(loc, kind, msg string) {
	if len(s.bad) >= mostNoted {
		return
	}
	s.bad = append(s.bad, invalid{kind: kind, loc: "body." + s.nest + loc, msg: msg})
}

// err is everything noted, or nil.
func (s *schema) err() *Error {
	if len(s.bad) == 0 {
		return nil
	}
	return schemaError(s.bad...)
}

func (s *schema) str(loc string, v gjson.Result, dst *string) {
	switch v.Type {
	case gjson.Null:
	case gjson.String:
		*dst = v.Str
	default:
		s.note(loc, "string_type", notString)
	}
}

func (s *schema) boolean(loc string, v gjson.Result, dst *bool) {
	switch {
	case v.Type == gjson.Null:
	case v.IsBool():
		*dst = v.Bool()
	case v.Type == gjson.String || v.Type == gjson.Number:
		b, ok := looseBool(v)
		if !ok {
			s.note(loc, "bool_parsing", "Input should be a valid boolean, unable to interpret input")
			return
		}
		*dst = b
	default:
		s.note(loc, "bool_type", "Input should be a valid boolean")
	}
}

// looseBool reads the strings and numbers that pydantic 2 takes for booleans.
func looseBool(v gjson.Result) (value, ok bool) {
	if v.Type == gjson.Number {
		return v.Num == 1, v.Num == 0 || v.Num == 1
	}
	switch strings.ToLower(v.Str) {
	case "1", "t", "true", "y", "yes", "on":
		return true, true
	case "0", "f", "false", "n", "no", "off":
		return false, true
	}
	return false, false
}

// integer reads an integer; set, if not nil, receives whether there was one.
func (s *schema) integer(loc string, v gjson.Result, dst *int, set *bool) {
	x := v.Num
	switch v.Type {
	case gjson.Null:
		return
	case gjson.Number:
	case gjson.String:
		n, err := strconv.ParseFloat(v.Str, 64)
		if err != nil || n != math.Trunc(n) {
			s.note(loc, "int_parsing", "Input should be a valid integer, unable to parse string as an integer")
			return
		}
		x = n
	default:
		s.note(loc, "int_type", "Input should be a valid integer")
		return
	}
	if x != math.Trunc(x) {
		s.note(loc, "int_from_float", "Input should be a valid integer, got a number with a fractional part")
		return
	}
	if math.Abs(x) > 1<<53 {
		s.note(loc, "int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
		return
	}
	*dst = int(x)
	if set != nil {
		*set = true
	}
}

// ids reads a list of token ids. Those beyond the vocabulary are taken too: a client
// may well have another tokenizer, and only their number and identity matter here.
func (s *schema) ids(loc string, list gjson.Result) []int32 {
	if ids, ok := plainIDs(list.Raw); ok {
		return ids
	}
	if len(list.Raw) > mostLoose {
		s.note(loc, "int_type", "Input should be a list of valid integers")
		return nil
	}
	var out []int32
	for i, e := range list.Array() {
		id := -1
		before := len(s.bad)
		at := loc + "." + strconv.Itoa(i)
		if e.Type != gjson.Number {
			s.note(at, "int_type", "Input should be a valid integer")
			continue
		}
		s.integer(at, e, &id, nil)
		if len(s.bad) == before && (id < 0 || id > math.MaxInt32) {
			s.note(at, "greater_than_equal", "Input should be greater than or equal to 0 and fit 31 bits")
		}
		out = append(out, int32(id))
	}
	return out
}

// plainIDs reads a list of numbers of digits alone, in one walk: a prompt may be long.
func plainIDs(list string) (ids []int32, ok bool) {
	ids = make([]int32, 0, strings.Count(list, ",")+1)
	id, digits := 0, 0
	for i := 1; i < len(list); i++ {
		switch c := list[i]; {
		case '0' <= c && c <= '9' && digits < 10:
			id, digits = 10*id+int(c-'0'), digits+1
		case (c == ',' || c == ']') && digits > 0 && id <= math.MaxInt32:
			ids = append(ids, int32(id))
			id, digits = 0, 0
		case c != ' ':
			return nil, false
		}
	}
	return ids, true
}

func parseObject(body []byte) (gjson.Result, *Error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return gjson.Result{}, schemaError(invalid{"missing", "body", "Field required"})
	}
	if plan.Check(body) != nil || !gjson.ValidBytes(body) {
		return gjson.Result{}, jsonError(body)
	}
	if bytes.Count(body, []byte(",")) > mostValues && plan.Values(body) > mostValues {
		e := BadRequest("", nil, "the body has more than %d values", mostValues)
		e.Code = http.StatusRequestEntityTooLarge
		return gjson.Result{}, e
	}
	v := gjson.ParseBytes(body)
	if !v.IsObject() {
		return gjson.Result{}, schemaError(invalid{"model_attributes_type", "body", notObject})
	}
	return v, nil
}

// jsonError finds where body stops being JSON.
func jsonError(body []byte) *Error {
	var at int64
	var v any
	if e := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(body, &v), &e) {
		at = e.Offset
	}
	loc := "body." + strconv.FormatInt(at, 10)
	return schemaError(invalid{"json_invalid", loc, "JSON decode error"})
}
