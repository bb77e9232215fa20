package pyrand

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// The files under testdata are written by testdata/make_golden.py, with numpy 2.4.6
// and CPython 3.11.7 on x86-64 with glibc.

// A call is [method, [argument…], result] as Python gave it.
type call struct {
	method string
	args   []json.Number
	want   json.RawMessage
}

func (c *call) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&c.method, &c.args, &c.want})
}

func (c call) int(i int) int64 {
	v, err := c.args[i].Int64()
	if err != nil {
		panic(err)
	}
	return v
}

func (c call) floats() []float64 {
	values := make([]float64, len(c.args))
	for i, arg := range c.args {
		v, err := arg.Float64()
		if err != nil {
			panic(err)
		}
		values[i] = v
	}
	return values
}

func readGolden(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func TestDrawsEqualPython(t *testing.T) {
	var runs []struct {
		Generator string
		Seed      string
		Calls     []call
	}
	readGolden(t, "draws.json", &runs)
	for _, run := range runs {
		t.Run(run.Generator+"/"+run.Seed, func(t *testing.T) {
			draw := newDrawer(t, run.Generator, run.Seed)
			for i, c := range run.Calls {
				if got := draw(c); !equal(t, c, got) {
					t.Fatalf("call %d: %s%v = %v, want %s", i, c.method, c.args, got, c.want)
				}
			}
		})
	}
}

// newDrawer seeds the named generator and returns a function that calls it.
func newDrawer(t *testing.T, name, seed string) func(call) any {
	t.Helper()
	signed, errSigned := strconv.ParseInt(seed, 10, 64)
	unsigned, errUnsigned := strconv.ParseUint(seed, 10, 64)
	if errSigned != nil && errUnsigned != nil {
		t.Fatal(errSigned)
	}
	switch name {
	case "legacy":
		r := NewLegacy(uint32(unsigned))
		return func(c call) any { return callLegacy(r, c) }
	case "generator":
		g := NewGenerator(unsigned)
		return func(c call) any { return callGenerator(g, c) }
	case "python":
		r := NewRandom(signed)
		return func(c call) any { return callRandom(r, c) }
	}
	t.Fatalf("unknown generator %q", name)
	return nil
}

func callLegacy(r *Legacy, c call) any {
	switch c.method {
	case "Float64":
		return r.Float64()
	case "Exponential":
		return r.Exponential(c.floats()[0])
	case "Normal":
		return r.Normal()
	case "Gamma":
		return r.Gamma(c.floats()[0], c.floats()[1])
	case "Randint":
		return r.Randint(c.int(0), c.int(1))
	case "Shuffle":
		return shuffled(c, r.Shuffle)
	}
	return "no such method"
}

func callGenerator(g *Generator, c call) any {
	switch c.method {
	case "Float64":
		return g.Float64()
	case "Integers":
		return g.Integers(c.int(0), c.int(1))
	case "FillIntegers":
		dst := make([]int64, c.int(0))
		g.FillIntegers(dst, c.int(1), c.int(2))
		return dst
	case "Uint8s":
		dst := make([]byte, c.int(0))
		g.Uint8s(dst)
		return widened(dst)
	case "Choice":
		return int64(g.Choice(c.floats()))
	}
	return "no such method"
}

func callRandom(r *Random, c call) any {
	switch c.method {
	case "Float64":
		return r.Float64()
	case "Bits":
		return r.Bits(int(c.int(0)))
	case "Below":
		return int64(r.Below(int(c.int(0))))
	case "Shuffle":
		return shuffled(c, r.Shuffle)
	}
	return "no such method"
}

func shuffled(c call, shuffle func(int, func(i, j int))) []int64 {
	items := make([]int64, c.int(0))
	for i := range items {
		items[i] = int64(i)
	}
	shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

func widened(p []byte) []int64 {
	items := make([]int64, len(p))
	for i, b := range p {
		items[i] = int64(b)
	}
	return items
}

// equal compares a draw with Python's: exactly, except for variates computed with a
// logarithm or a power, where the C library is allowed 1e-15.
func equal(t *testing.T, c call, got any) bool {
	t.Helper()
	switch got := got.(type) {
	case float64:
		want := decode[float64](t, c.want)
		if c.method == "Float64" {
			return got == want
		}
		return math.Abs(got-want) <= 1e-15*math.Abs(want)
	case int64:
		return got == decode[int64](t, c.want)
	case uint64:
		return got == decode[uint64](t, c.want)
	case []int64:
		return slices.Equal(got, decode[[]int64](t, c.want))
	}
	return false
}

func decode[T any](t *testing.T, data []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLibmIsCorrectlyRounded compares with 60-digit arithmetic.
func TestLibmIsCorrectlyRounded(t *testing.T) {
	var rows [][4]float64
	readGolden(t, "libm.json", &rows)
	for _, row := range rows {
		x, y := row[0], row[1]
		if got := log(x); got != row[2] {
			t.Errorf("log(%v) = %v, want %v", x, got, row[2])
		}
		if got := pow(x, y); got != row[3] {
			t.Errorf("pow(%v, %v) = %v, want %v", x, y, got, row[3])
		}
	}
}

func TestLibmLimits(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{log(0), math.Inf(-1)},
		{log(1), 0},
		{log(math.SmallestNonzeroFloat64), -744.4400719213812},
		{pow(0, 3), 0},
		{pow(1, 1e9), 1},
		{pow(0.5, 1e9), 0},
		{pow(2, 1e9), math.Inf(1)},
		{pow(2, 0.5), math.Sqrt2},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// TestArrivalVectors checks the normalised send times of vllm bench serve at 10
// requests per second, seed 0, for three burstiness values.
func TestArrivalVectors(t *testing.T) {
	for _, c := range []struct {
		shape float64
		want  string
	}{
		{1, "[0.092258660 0.237847554 0.344868610 0.436121845 0.500000000]"},
		{0.5, "[0.078640916 0.176494368 0.222924139 0.272457924 0.500000000]"},
		{2, "[0.170861916 0.245289591 0.425737339 0.448898273 0.500000000]"},
	} {
		r := NewLegacy(0)
		due := make([]float64, 5)
		var sum float64
		for i := range due {
			sum += r.Gamma(c.shape, 1/(10*c.shape))
			due[i] = sum
		}
		for i := range due {
			due[i] *= 0.5 / sum
		}
		if got := fmt.Sprintf("%.9f", due); got != c.want {
			t.Errorf("burstiness %v: %s, want %s", c.shape, got, c.want)
		}
	}
}

func TestEmptyRangesPanic(t *testing.T) {
	for name, draw := range map[string]func(){
		"Randint":  func() { NewLegacy(0).Randint(3, 3) },
		"Integers": func() { NewGenerator(0).Integers(3, 2) },
		"Below":    func() { NewRandom(0).Below(0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			draw()
		})
	}
}
