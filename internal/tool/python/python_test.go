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
