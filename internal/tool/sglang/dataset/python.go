package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// dumps is raw as Python's json.dumps(json.loads(raw)) writes it: ", " and ": " between
// things, ASCII alone, numbers as Python prints them.
func dumps(raw json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var b strings.Builder
	if err := dump(&b, dec); err != nil {
		return "", err
	}
	return b.String(), nil
}

func dump(b *strings.Builder, dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return dumpInside(b, dec, v)
	case string:
		dumpString(b, v)
	case json.Number:
		b.WriteString(pythonNumber(v))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
	return nil
}

// dumpInside writes a list or an object after its opening.
func dumpInside(b *strings.Builder, dec *json.Decoder, open json.Delim) error {
	b.WriteString(open.String())
	for first := true; dec.More(); first = false {
		if !first {
			b.WriteString(", ")
		}
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			dumpString(b, fmt.Sprint(key))
			b.WriteString(": ")
		}
		if err := dump(b, dec); err != nil {
			return err
		}
	}
	end, err := dec.Token()
	if err != nil {
		return err
	}
	_, err = io.WriteString(b, fmt.Sprint(end))
	return err
}

var escapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`)

func dumpString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range escapes.Replace(s) {
		switch {
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

// pythonNumber is a JSON number as Python prints what it reads of it.
func pythonNumber(n json.Number) string {
	if !strings.ContainsAny(n.String(), ".eE") {
		if n == "-0" {
			return "0"
		}
		return n.String()
	}
	f, _ := n.Float64() // out of range: infinite, as in Python
	return pythonFloat(f)
}

// pythonFloat is repr of a float.
func pythonFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64) // exponents of two digits or more in both
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pythonStr is how an f-string shows a JSON value: a text as it is.
func pythonStr(raw json.RawMessage) (string, error) {
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil && raw[0] == '"':
		return text, nil
	case string(raw) == "null":
		return "None", nil
	case string(raw) == "true":
		return "True", nil
	case string(raw) == "false":
		return "False", nil
	case raw[0] == '[' || raw[0] == '{':
		return "", fmt.Errorf("%.40s is neither a text nor a number", raw)
	}
	return pythonNumber(json.Number(raw)), nil
}
