package python

import (
	"math"
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
