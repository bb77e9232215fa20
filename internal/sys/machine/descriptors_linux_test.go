package machine

import (
	"os"
	"testing"
)

// Room for descriptors takes none away: the lowest free one is the next, as before.
func TestReservedDescriptorsAreFree(t *testing.T) {
	next := func() uintptr {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.Fd()
	}
	before := next()
	ReserveDescriptors()
	if after := next(); after != before {
		t.Errorf("the next descriptor is %d, and %d before", after, before)
	}
	limit, _ := fileLimit()
	if size, ok := Field("/proc/self/status", "FDSize:"); !ok || uint64(size) < min(limit, mostReserved) {
		t.Errorf("there is room for %d descriptors of %d", size, limit)
	}
}
