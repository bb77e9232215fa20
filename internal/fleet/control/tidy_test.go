package control

import (
	"errors"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// What arrives before it was asked for is no answer, unless the wall clock that the kernel stamps by was set.
func TestAnAnswerBeforeItsRequest(t *testing.T) {
	const s = trace.Instant(time.Second)
	answered := func(stamps trace.Stamps, at trace.Instant) *trace.Record {
		r := trace.NewRecord(0)
		r.Due, r.Released, r.Sent, r.FirstByte, r.Done = 90*s, 90*s, 90*s, at, at
		r.Stamps, r.Chunks = stamps, []trace.Chunk{{At: at}}
		return r
	}
	for _, x := range []struct {
		stamps trace.Stamps
		at     trace.Instant
		want   error
	}{
		{trace.UserStamps, 91 * s, nil},
		{trace.UserStamps, 60 * s, errOrder},
		{trace.KernelStamps, 60 * s, nil},
		{trace.KernelStamps, 20 * s, errOrder},
		{trace.KernelStamps, 200 * s, errInstant},
	} {
		if err := checkForm(answered(x.stamps, x.at), 100*s); !errors.Is(err, x.want) {
			t.Errorf("%s stamps, %v: %v, want %v", x.stamps, time.Duration(x.at), err, x.want)
		}
	}
}
