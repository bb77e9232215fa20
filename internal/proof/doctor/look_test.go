package doctor

import (
	"runtime"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestLook(t *testing.T) {
	f, err := Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]trace.Lag{"timer": f.Timer, "Go's timer": f.Runtime, "error": f.Stamps.Error, "reading": f.Stamps.Lag} {
		if f.Stamps.Stamped == 0 && (name == "error" || name == "reading") {
			continue
		}
		if l.Reads < 100 || l.P50 < 0 || l.P50 > l.P99 || l.P99 > l.Max {
			t.Errorf("%s: %+v is not in order", name, l)
		}
	}
	if f.Clock.Reading <= 0 || f.Files == 0 || f.Ports == nil || f.CPUs.Usable == 0 {
		t.Errorf("%+v", f)
	}
	if runtime.GOOS == "linux" && (f.Others == nil || f.Quota == nil || f.Memory == 0 || f.CPUs.Machine < f.CPUs.Usable) {
		t.Errorf("%+v", f)
	}
}
