package apiserver

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

func TestParseFault(t *testing.T) {
	for _, test := range []struct{ in, out, err string }{
		{"reset=0.05@10", "reset=0.05@10", ""},
		{" reset = 1 @ 2 ", "reset=1@2", ""},
		{"http-429=0", "http-429=0", ""},
		{"crlf=1e-3", "crlf=0.001", ""},
		{"reset", "", `fault "reset": want name=share or name=share@tokens`},
		{"rest=0.1", "", `unknown fault "rest", did you mean "reset"?; allowed: refuse, reset, stall,`},
		{"explode=0.1", "", `unknown fault "explode"; allowed: refuse,`},
		{"reset=x", "", `share "x" is not a number`},
		{"reset=10", "", "share 10 is not between 0 and 1"},
		{"reset=NaN", "", "share NaN is not between 0 and 1"},
		{"reset=0.1@", "", `tokens "" is not a whole number`},
		{"reset=0.1@-1", "", "tokens -1 is negative"},
		{"crlf=0.1@5", "", "takes no @tokens"},
		{"http-500=2@5", "", "share 2 is not between 0 and 1\nfault http-500: it does not strike"},
	} {
		f, err := ParseFault(test.in)
		switch {
		case test.err == "" && (err != nil || f.String() != test.out):
			t.Errorf("%q: %s, %v; want %s", test.in, f, err, test.out)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%q: error %v, want %s", test.in, err, test.err)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"reset=0.05@10", "crlf=1", "refuse=0.5", "x=1", "stall=1@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseFault(s)
		if err != nil {
			return
		}
		b, err := ParseFault(a.String())
		if err != nil || a != b {
			t.Errorf("%q is %s and comes back as %s, %v", s, a, b, err)
		}
	})
}

func TestFaultText(t *testing.T) {
	var f Fault
	if err := f.UnmarshalText([]byte("cut=0.5@3")); err != nil {
		t.Fatal(err)
	}
	if b, err := f.MarshalText(); err != nil || string(b) != "cut=0.5@3" {
		t.Errorf("%s, %v", b, err)
	}
}

// Each fault falls on its share of the requests, independently of the others;
// of two fatal ones the first in the list goes first.
func TestDealtShares(t *testing.T) {
	const n = 20_000
	faults := []Fault{
		{"reset", 0.2, 0}, {"reset", 0.2, 5}, {"cut", 0.5, 0}, {"crlf", 0.25, 0}, {"split", 0.5, 0}, {"refuse", 1, 0},
	}
	count := map[string]float64{}
	for i := range uint64(n) {
		l := deal(faults, 1, i)
		if l.fatal != nil {
			count[l.fatal.String()]++
		}
		count[strings.Join(l.variations, "+")]++
	}
	for key, share := range map[string]float64{
		"reset=0.2":   0.2,
		"reset=0.2@5": 0.8 * 0.2,
		"cut=0.5":     0.8 * 0.8 * 0.5,
		"crlf":        0.25 * 0.5,
		"split":       0.75 * 0.5,
		"crlf+split":  0.25 * 0.5,
		"":            0.75 * 0.5,
	} {
		if got := count[key] / n; math.Abs(got-share) > 5*math.Sqrt(share*(1-share)/n) {
			t.Errorf("share of %q is %.4f, want %.4f", key, got, share)
		}
	}
	if len(count) != 7 {
		t.Errorf("dealt: %v", count)
	}
}

// Which requests a fault falls on depends on nothing else that is configured.
func TestDealIsStable(t *testing.T) {
	hit := func(seed uint64, faults ...Fault) (out []uint64) {
		for i := range uint64(1000) {
			if slices.Contains(deal(faults, seed, i).variations, "crlf") {
				out = append(out, i)
			}
		}
		return out
	}
	few, many := Fault{"crlf", 0.1, 0}, Fault{"crlf", 0.3, 0}
	alone := hit(1, few)
	if got := hit(1, Fault{"reset", 0.5, 0}, Fault{"split", 0.5, 0}, few); !slices.Equal(got, alone) {
		t.Error("other faults change where one falls")
	}
	more := hit(1, many)
	for _, i := range alone {
		if !slices.Contains(more, i) {
			t.Errorf("request %d is hit at a share of 0.1 but not at 0.3", i)
		}
	}
	if slices.Equal(hit(2, few), alone) {
		t.Error("the seed changes nothing")
	}
}

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	err := Config{
		MaxModelLen: -1, TruthLimit: -1, Latency: engine.Latency{Slots: -1},
		Faults: []Fault{{"rset", 0.5, 0}, {"cut", 2, 0}, {"cut", 0.1, 0}, {"cut", 0.1, 3}},
	}.Validate()
	for _, want := range []string{
		"MaxModelLen is negative", "TruthLimit is negative", "Latency.Slots is negative",
		`unknown fault "rset", did you mean "reset"?`, "share 2 is not", "fault cut is given twice",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if _, err := New(Config{MaxModelLen: -1}); err == nil {
		t.Error("New takes a bad config")
	}
}

func TestGateWindows(t *testing.T) {
	g := &gate{share: 0.4}
	for _, test := range []struct {
		at    time.Duration
		open  bool
		until time.Duration
	}{
		{0, true, 30 * ms},
		{29 * ms, true, 30 * ms},
		{30 * ms, false, 50 * ms},
		{49 * ms, false, 50 * ms},
		{50 * ms, true, 80 * ms},
		{130 * ms, false, 150 * ms},
	} {
		if open, until := g.window(test.at); open != test.open || until != test.until {
			t.Errorf("at %v: open %v until %v", test.at, open, until)
		}
	}
	if open, until := (&gate{share: 1}).window(0); open || until != refusePeriod {
		t.Errorf("a gate that is always closed: open %v until %v", open, until)
	}
}
