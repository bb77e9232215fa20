package endpoint

import "testing"

func TestABodyIsWrittenWhereAnotherWas(t *testing.T) {
	var f freeBodies
	sent := append(f.take(100), "sent"...)
	f.put(sent)
	again := f.take(50)
	if len(again) != 0 || cap(again) != cap(sent) || &again[:1][0] != &sent[0] {
		t.Errorf("%d of %d bytes in other memory", len(again), cap(again))
	}
	f.put(again)
	if larger := f.take(101); cap(larger) < 101 {
		t.Errorf("room for %d bytes, want 101", cap(larger))
	}
	for range 2 * mostBodies {
		f.put(make([]byte, 10))
	}
	f.put(make([]byte, largestBody+1))
	if n := len(f.free); n != mostBodies {
		t.Errorf("keeps %d bodies, want %d", n, mostBodies)
	}
	if f.take(largestBody + 1); len(f.free) != mostBodies {
		t.Error("spent a small one on a large one")
	}
}
