package vllm

import "testing"

// Values of CPython 3.12 with PYTHONHASHSEED=0.
func TestPythonHash(t *testing.T) {
	for s, want := range map[string]uint64{
		"":             0,
		"a":            4644417185603328019,
		"7:16":         176705773863358892,
		"46:512":       15680617855214856305,
		"abcdefgh":     4574395652268504554,
		"abcdefghi:16": 15785532574684602878,
	} {
		if got := pythonHash(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
