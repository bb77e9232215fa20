package machine

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Ten idle ticks and two of waiting for a disk, four busy ones with one of our own,
// and four stolen ones.
func TestOthersBetween(t *testing.T) {
	const head = "cpu  100 10 50 1000 20 5 5 7 3 0\ncpu0 50 5 25 500 10 2 2 3 1 0\ncpu1 50 5 25 500 10 3 3 4 2 0\n" +
		"intr 12345 0 9\nctxt 99\n"
	before, after := parseCPUTimes(head), parseCPUTimes("cpu  101 11 51 1010 22 5 6 11 3 0\n")
	if before.processors != 2 {
		t.Errorf("%d processors", before.processors)
	}
	want := &Others{Busy: 3. / 20, Steal: 4. / 20}
	if diff := cmp.Diff(want, othersBetween(before, after, 10*time.Millisecond)); diff != "" {
		t.Error(diff)
	}
	if got := othersBetween(before, after, time.Hour); got.Busy != 0 {
		t.Errorf("%+v, although all was our own", got)
	}
	for _, text := range []string{"", "cpu", "cpu 1 2 3\n"} {
		if got := othersBetween(parseCPUTimes(text), parseCPUTimes(text), 0); got != nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Besides the known load, others use no more than the machine has.
func TestOtherProcessors(t *testing.T) {
	w := WatchLoad()
	for time.Since(w.began) < 2*Tick { // so that there is something to measure
	}
	got := w.OtherProcessors(0)
	if runtime.GOOS != "linux" {
		if got != -1 {
			t.Errorf("%v processors", got)
		}
		return
	}
	if got < 0 {
		t.Errorf("%v processors", got)
	}
	if got := w.OtherProcessors(time.Hour); got != 0 {
		t.Errorf("%v processors, although all is known", got)
	}
}
