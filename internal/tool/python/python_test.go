package python

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestPythonFloats(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", 10: "10.0", 0.5: "0.5", 1e-4: "0.0001", 1e-5: "1e-05", 123456789: "123456789.0",
		1e15: "1000000000000000.0", 1e16: "1e+16", 1.5e300: "1.5e+300", math.Inf(1): "inf", math.Inf(-1): "-inf", -2.25: "-2.25",
	} {
		if got := Float(f); got != want {
			t.Errorf("%g: %s, want %s", f, got, want)
		}
	}
	for s, want := range map[string]string{
		"it's": `"it's"`, `it's "x"`: `'it\'s "x"'`, "a\n\t\\": `'a\n\t\\'`, "é": "'é'", "\x01\u200b": `'\x01\u200b'`,
	} {
		if got := Quote(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	if got := string(AppendString(nil, "\"\\\n\x7f😀é")); got != `"\"\\\n\u007f\ud83d\ude00\u00e9"` {
		t.Error(got)
	}
}

// TestDumps holds json.dumps(json.loads(x)) of CPython 3.12.
func TestDumps(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"b":[true,null,"x"],"c":{}}`: `{"a": 1, "b": [true, null, "x"], "c": {}}`,
		`[1.50,1e3,-0,-0.0,1E400,1e16,1e-5]`: `[1.5, 1000.0, 0, -0.0, Infinity, 1e+16, 1e-05]`,
		`"é😀\u007f\u2028</\/\"\\\n"`:         `"\u00e9\ud83d\ude00\u007f\u2028<//\"\\\n"`,
		`0.0001`:                             `0.0001`,
		`123456789012345678901234567890`:     `123456789012345678901234567890`,
	} {
		if got := string(Dumped(json.RawMessage(raw))); got != want {
			t.Errorf("Dumped(%s) = %s, want %s", raw, got, want)
		}
	}
}

func FuzzDumps(f *testing.F) {
	f.Add(`{"a":[1,2.5,"x"]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		once := string(Dumped(json.RawMessage(raw)))
		if strings.Contains(once, "Infinity") { // Python's, but not JSON
			return
		}
		if twice := string(Dumped(json.RawMessage(once))); twice != once {
			t.Errorf("%q becomes %q", once, twice)
		}
	})
}

func TestStr(t *testing.T) {
	for raw, want := range map[string]string{`"a\"b"`: `a"b`, `12`: "12", `-0`: "0", `1e3`: "1000.0", `true`: "True", `null`: "None"} {
		if got, err := Str(json.RawMessage(raw)); got != want || err != nil {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`[1]`, `{}`, ``} {
		if got, err := Str(json.RawMessage(raw)); err == nil {
			t.Errorf("%s: %q", raw, got)
		}
	}
}

// TestNumbers holds int() and float() of CPython 3.12.
func TestNumbers(t *testing.T) {
	for s, want := range map[string][2]string{
		"12": {"12", "12.0"}, " \u300012\u2003": {"12", "12.0"}, "１２": {"12", "12.0"}, "-٣": {"-3", "-3.0"}, "１_０": {"10", "10.0"}, "𝟘𝟡": {"9", "9.0"},
		"٠.٥": {"", "0.5"}, "१.५e-२": {"", "0.015"}, "+nan": {"", "nan"}, "-NaN": {"", "nan"}, "-inf": {"", "-inf"}, "1e999": {"", "inf"},
		"²": {}, "Ⅳ": {}, "−5": {}, "1__0": {}, "_1": {}, "1 2": {}, "12\x1f": {}, "": {}, "+": {}, "0x10": {}, "nan1": {},
	} {
		i, f := "", ""
		if n, err := ParseInt(s); err == nil {
			i = Repr(n)
		}
		if x, err := ParseFloat(s); err == nil {
			f = Float(x)
		}
		if got := [2]string{i, f}; got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// TestLoads holds repr(json.loads(x)) of CPython 3.12, and bool of it.
func TestLoads(t *testing.T) {
	for s, want := range map[string]string{
		`{"a":1,"b":2,"a":{"c":1,"c":NaN}}`: "{'a': {'c': nan}, 'b': 2}", `{"\u0061":1,"a":2}`: "{'a': 2}", `{"NaN":"NaN, Infinity"}`: "{'NaN': 'NaN, Infinity'}",
		`[NaN,Infinity , -Infinity]`: "[nan, inf, -inf]", `[1]`: "[1]", `3`: "3", ` null `: "None", "NaN": "nan", `{"a" : 1.50}`: "{'a': 1.5}",
		"{": "", "": "", "nan": "", "5NaN": "", "NaN5": "", "-NaN": "", "[NaN": "", `"NaN`: "", "01": "", "[1,]": "", "\ufeff{}": "",
	} {
		raw, err := Loads(s)
		if (err == nil) != (want != "") || err == nil && Repr(raw) != want {
			t.Errorf("%s: %s, %v, want %s", s, Repr(raw), err, want)
		}
	}
	if _, err := Loads(strings.Repeat("[", 1e6)); err == nil {
		t.Error("a million brackets are read")
	}
	for s, want := range map[string]bool{
		"[]": false, "{ }": false, `""`: false, "0": false, "-0.0": false, "false": false, "null": false, "[NaN]": true, `{"a":0}`: true, `"x"`: true, "1e-5": true, "true": true, "NaN": true,
	} {
		if raw, err := Loads(s); err != nil || Truth(raw) != want {
			t.Errorf("%s is %v, %v", s, Truth(raw), err)
		}
	}
}
